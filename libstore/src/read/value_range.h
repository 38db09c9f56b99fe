/*
 * value_range.h - the values of a packed index that are in a range: an id index has (id, rank) in each, a name index
 * (hash, number of the name).
 */
#ifndef SS_VALUE_RANGE_H
#define SS_VALUE_RANGE_H

#include "store/segment.h"

/* A range, whose blocks are read through a slot. */
typedef struct ss_value_range {
    uint64_t first, last;
    ss_block_slot *slot;
    sstore_status (*take)(void *context, uint64_t value, sstore_error *error);
    void *context;
    bool has_taken;
    uint64_t taken; /* the last one */
} ss_value_range;

/* Take all values of the range, in ascending order. IO, DAMAGED, and what `take` returns. */
sstore_status ss_value_range_take(ss_value_range *self, const ss_segment *index, sstore_error *error);

#endif

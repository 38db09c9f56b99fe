/*
 * cursor.h - the scratch memory of one thread's queries: loaded blocks, a group's values, and how to query at the distance
 * that was asked last.
 */
#ifndef SS_CURSOR_H
#define SS_CURSOR_H

#include "engine/store.h"

/* A place for one block; remembers which it holds, so that probes that share a block load it once. */
typedef struct ss_block_slot {
    const ss_block_reader *reader; /* NULL: empty */
    uint64_t number;
    const uint8_t *bytes; /* `buffer` or memory of the reader */
    uint8_t *buffer;
} ss_block_slot;

struct sstore_cursor {
    const sstore *store;
    ss_query_plan *plans;       /* one a segment, for the distance asked last */
    uint32_t planned_distance;  /* NOT_PLANNED at first */
    ss_block_slot probed;       /* the block that is searched for candidates */
    ss_block_slot ranked;       /* the block of table 0 where a match's rank is looked up */
    ss_block_slot identified;   /* the block of ids */
    uint64_t *values;           /* of one group, for scans */
};

/* Make sure that the slot holds the reader's block. */
sstore_status ss_block_slot_load(ss_block_slot *slot, const ss_block_reader *reader, uint64_t number,
                                 sstore_error *error);

/* The same, and look at the block's frame. */
sstore_status ss_block_slot_open(ss_block_slot *slot, const ss_table *table, uint64_t number, ss_block *block_out,
                                 sstore_error *error);

/* The plans for a distance, one a segment. */
const ss_query_plan *ss_cursor_plans(sstore_cursor *cursor, uint32_t distance);

#endif

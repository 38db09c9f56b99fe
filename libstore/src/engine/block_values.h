/*
 * block_values.h - the fingerprints of one block at a time, decoded as far as they are asked for. For walks through a table
 * that touch some blocks densely and others hardly.
 */
#ifndef SS_BLOCK_VALUES_H
#define SS_BLOCK_VALUES_H

#include "engine/store.h"

typedef struct ss_block_values {
    const ss_table *table;
    uint64_t number;       /* of the block that is there, or SS_NO_BLOCK */
    ss_block block;
    uint8_t *buffer;
    uint64_t *values;      /* where decoded, by index in the block */
    uint32_t values_capacity;
    bool whole;            /* decode blocks whole when going to them, for walks with many steps a block */
    uint32_t hint;         /* in a whole block, where the last range began */
    uint64_t decoded[SS_BLOCK_MAX_COUNT / 4 / 64 + 1]; /* a bit for each four groups */
} ss_block_values;

#define SS_NO_BLOCK UINT64_MAX

/* Room for one block of the table. MEMORY. Close also after a failure. */
sstore_status ss_block_values_open(ss_block_values *self, const ss_table *table, sstore_error *error);
void ss_block_values_close(ss_block_values *self);

/* Go to a block. */
sstore_status ss_block_values_go(ss_block_values *self, uint64_t number, sstore_error *error);

/* Find the fingerprints first .. last in the block: values[*begin_out .. *end_out - 1]. In a whole block `first` must not be
 * below that of the call before. */
sstore_status ss_block_values_range(ss_block_values *self, uint64_t first, uint64_t last, uint32_t *begin_out,
                                    uint32_t *end_out, sstore_error *error);

#endif

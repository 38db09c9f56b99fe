/*
 * block_table.h - tables of fingerprints for tests of the block codec: their code, their encoded blocks, and each block
 * as the portable and the best kernels read it.
 */
#ifndef BLOCK_TABLE_H
#define BLOCK_TABLE_H

#include "codec/block.h"
#include "support/data.h"
#include "support/random.h"

#define BLOCK_SMALLEST_SHIFT 8
#define BLOCK_SIZE_COUNT 9 /* 256 to 65536 */

/* Distinct ascending fingerprints and the code made from them, as for a table. */
typedef struct block_table {
    uint64_t *values;
    size_t count;
    ss_code code;
} block_table;

/* Take over `values`, in any order and with repeats. */
void block_table_init(block_table *made, uint64_t *values, size_t count);
void block_table_make(block_table *made, rng *random, data_kind kind, size_t count);
void block_table_free(block_table *made);

/* Encode as many as one block takes, from values[first] on, with noise for a trailer. Returns how many. */
uint32_t block_table_encode(const block_table *from, size_t first, uint32_t block_bytes, uint8_t *to);

/* The forms of the kernels that a block is read by: the one for any processor, and the best one here. */
#define BLOCK_WAYS 2u

/* The block, to be read in one of them. Stays until the next call with that way. */
const ss_block *block_in_way(const ss_block *block, uint32_t way);

#endif

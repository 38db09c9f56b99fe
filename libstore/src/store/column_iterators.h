/*
 * column_iterators.h - iterators in ascending order over the fingerprints of a table, and over the blocks of an id
 * column. Everything that they return is checked: errors are IO, DAMAGED and MEMORY. Close each iterator, also after a
 * failed open; a zeroed one is allowed.
 */
#ifndef SS_COLUMN_ITERATORS_H
#define SS_COLUMN_ITERATORS_H

#include "codec/ids.h"
#include "store/checked_block.h"

/* ===== fingerprints of a table ===== */

/* One block at a time; permuted as in the file. */
typedef struct ss_table_iterator {
    const ss_checked_blocks *checked; /* borrowed */
    uint64_t next_block, end_block;
    bool has_last;                   /* the previous block was decoded */
    uint64_t last[SSTORE_MAX_WORDS]; /* its last fingerprint */
    ss_read_ahead ahead;
    const uint8_t *bytes; /* of the current block */
    uint8_t *buffer;
    uint64_t *values;
    uint32_t capacity; /* of values, in fingerprints */
} ss_table_iterator;

sstore_status ss_table_iterator_open(ss_table_iterator *iterator, const ss_checked_blocks *checked,
                                     sstore_error *error);
/* Continue with block `first`, and end before block `end` or at the table's end. Either may be beyond it. */
void ss_table_iterator_seek(ss_table_iterator *iterator, uint64_t first, uint64_t end);
void ss_table_iterator_close(ss_table_iterator *iterator);

/* The bytes of an iterator over a table, about. */
uint64_t ss_table_iterator_bytes(const ss_block_reader *reader);

/* Decode the next block; *count_out is the number of its fingerprints, 0 at the end. The values, checked->words for
 * each, ascend strictly, also across blocks, and are valid until the next call. After a damaged block the next call
 * continues with the block after it. */
sstore_status ss_table_iterator_next(ss_table_iterator *iterator, const uint64_t **values_out, uint32_t *count_out,
                                     sstore_error *error);

/* ===== blocks of an id column ===== */

typedef struct ss_ids_iterator {
    const ss_checked_blocks *checked; /* borrowed */
    ss_ids_block block;               /* the current one; count 0: none */
    uint64_t next_block, next_rank;   /* next_rank: after the current block */
    bool has_last;                    /* the current block is valid, so the next one must follow it */
    uint64_t record_count;            /* in the blocks so far */
    ss_id_order order;                /* of the ids checked last; `any`: the last rank continues */
    uint64_t max_id;                  /* of them */
    ss_read_ahead ahead;
    uint8_t *buffer;
} ss_ids_iterator;

sstore_status ss_ids_iterator_open(ss_ids_iterator *iterator, const ss_checked_blocks *checked, sstore_error *error);
/* Continue with block `number`; from 0 on, the order of the entire column is checked. */
void ss_ids_iterator_seek(ss_ids_iterator *iterator, uint64_t number);
void ss_ids_iterator_close(ss_ids_iterator *iterator);

/* Open the next block, of which there must be one. Its ranks follow those of the block before. After a damaged block
 * the next call continues with the block after it. */
sstore_status ss_ids_iterator_next(ss_ids_iterator *iterator, sstore_error *error);

/* Check that the ids of each rank of the current block ascend, also from the block before, which was checked. */
sstore_status ss_ids_iterator_check(ss_ids_iterator *iterator, sstore_error *error);

/* Whether all blocks were read, and their records are those of this many ranks. */
bool ss_ids_iterator_has_all(const ss_ids_iterator *iterator, uint64_t rank_count, uint64_t record_count);

#endif

/*
 * record_iterator.h - iterators in ascending order: over the fingerprints of a table, the blocks of an id column, the
 * records of a segment, and the merged records of stores. Each uses those before. Everything that they return is
 * checked: errors are IO, DAMAGED and MEMORY. Close each iterator, also after a failed open; a zeroed one is allowed.
 */
#ifndef SS_RECORD_ITERATOR_H
#define SS_RECORD_ITERATOR_H

#include "codec/ids.h"
#include "store/checked_block.h"
#include "store/segment.h"
#include "store/store.h"

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

/* Whether all blocks were read, and their records are those of so many ranks. */
bool ss_ids_iterator_has_all(const ss_ids_iterator *iterator, uint64_t rank_count, uint64_t record_count);

/* ===== records of a segment ===== */

/* Table 0 and the id column, read in parallel. */
typedef struct ss_segment_iterator {
    const ss_segment *segment;
    bool has_ids;
    uint32_t words; /* of a fingerprint */
    ss_table_iterator fingerprints;
    const uint64_t *values; /* of the current block of table 0 */
    const uint64_t *last;   /* the fingerprint of the last record; valid until the next call */
    uint32_t value_count, value_index;
    uint32_t single_count; /* records from the current one on with a fingerprint each, which do not end a block */
    uint64_t rank;         /* of values[value_index] */
    ss_ids_iterator ids;
    uint32_t ids_index;   /* of the next record in the current block of ids */
    uint64_t ids_rank;    /* its rank */
    ss_id_order id_order; /* of the current fingerprint's ids */
    bool from_first;      /* reading began with the first record */
    bool sums;            /* compare the records with the segment's content sum, the first time that all are read */
    ss_u128 sum;          /* of the records so far */
} ss_segment_iterator;

sstore_status ss_segment_iterator_open(ss_segment_iterator *iterator, const ss_segment *segment, bool has_ids,
                                       sstore_error *error);
void ss_segment_iterator_close(ss_segment_iterator *iterator);

/* Skip some of the next records that are the only ones of their fingerprints in the segment. Returns how many. */
uint32_t ss_segment_iterator_pass_singles(ss_segment_iterator *iterator);

/* Get the next record; *more_out is false at the end. The records ascend strictly. */
sstore_status ss_segment_iterator_next(ss_segment_iterator *iterator, sstore_record *record_out, bool *more_out,
                                       sstore_error *error);

/* ===== records of stores ===== */

/*
 * The records of one or several stores, each once. Segments that have a record add and remove it in turn, and the
 * store's oldest one adds it (store/manifest.h); anything else is DAMAGED. So the newest one decides whether the record
 * is in the store. If only some consecutive segments of a store are merged, their oldest one may also remove a record,
 * which an older segment then has.
 */

/* A segment's iterator, with its next record. */
typedef struct ss_merge_input {
    ss_segment_iterator iterator;
    uint32_t store, age; /* which store, and which of its segments, the oldest first */
    bool is_removal;
    sstore_record record;
} ss_merge_input; /* record.fingerprint is the first word; all are iterator.last */

typedef struct ss_merge_iterator {
    uint32_t words;   /* of a fingerprint */
    bool has_ids;     /* merge records; else fingerprints, each once */
    bool removed;     /* return removed records, not added ones; for consecutive segments of one store */
    bool in_turn;     /* fingerprints are merged with ids: segments must add and remove each record in turn */
    bool from_oldest; /* the segments include the stores' oldest */
    bool sums;        /* whoever reads all records of a segment learns whether they are those that were written */
    size_t input_count, capacity;
    ss_merge_input *inputs; /* one a segment */
    size_t *heap;           /* indices of unfinished inputs; the smallest record first, of equal ones the oldest */
    size_t heap_count;
    uint32_t store_count;
    const ss_merge_input *from;      /* an input that had the last record; NULL at first */
    uint64_t last[SSTORE_MAX_WORDS]; /* the fingerprint of the last record, if there are several words */
} ss_merge_iterator;

/* The path of a file that has the last record. */
const char *ss_merge_iterator_file(const ss_merge_iterator *merge);

/* Open an iterator before the first record of a store, which must stay open. Close it also after a failure. Reading all
 * records checks the content sums of the segments. */
sstore_status ss_merge_iterator_open(ss_merge_iterator *merge, const sstore *store, sstore_error *error);
/* Open an iterator in steps: begin with no segments, add the segments first .. end - 1 of each store, then rewind or
 * seek. */
void ss_merge_iterator_init(ss_merge_iterator *merge, uint32_t words, bool has_ids);
sstore_status ss_merge_iterator_add(ss_merge_iterator *merge, const sstore *store, uint32_t first, uint32_t end,
                                    sstore_error *error);
/* The memory for reading the segments first .. end - 1 of a store, including the open segments. */
uint64_t ss_merge_iterator_bytes(const sstore *store, uint32_t first, uint32_t end);
/* Go before the first record. */
sstore_status ss_merge_iterator_rewind(ss_merge_iterator *merge, sstore_error *error);
/* Go before the first record with at least this fingerprint. Not for a store that is open for records only. */
sstore_status ss_merge_iterator_seek(ss_merge_iterator *merge, const uint64_t *fingerprint, sstore_error *error);
/* For one word: as ss_merge_iterator_seek(), but only forward: sequentially or by a seek, whichever is faster. */
sstore_status ss_merge_iterator_skip(ss_merge_iterator *merge, uint64_t fingerprint, sstore_error *error);
/* Get the next record; *more_out is false at the end. The records ascend strictly. */
sstore_status ss_merge_iterator_next(ss_merge_iterator *merge, sstore_record *record_out, bool *more_out,
                                     sstore_error *error);
/* All words of the fingerprint of the record that was returned last. */
static inline const uint64_t *ss_merge_iterator_fingerprint(const ss_merge_iterator *merge, const sstore_record *record)
{
    return merge->words == 1 ? &record->fingerprint : merge->last;
}
void ss_merge_iterator_close(ss_merge_iterator *merge);

#endif

/*
 * record_iterator.h - the records of one or several stores in ascending order, each once, merged from those of their
 * segments. All are checked: errors are IO, DAMAGED and MEMORY.
 *
 * Segments that have a record add and remove it in turn, and the store's oldest one adds it (store/manifest.h);
 * anything else is DAMAGED. So the newest one decides whether the record is in the store. If only some consecutive
 * segments of a store are merged, their oldest one may also remove a record, which an older segment then has.
 */
#ifndef SS_RECORD_ITERATOR_H
#define SS_RECORD_ITERATOR_H

#include "store/segment_iterator.h"
#include "store/store.h"

/* A segment's iterator, with its next record. */
typedef struct ss_merge_input {
    ss_segment_iterator iterator;
    uint32_t store, age; /* which store, and which of its segments, the oldest first */
    bool is_removal;
    uint64_t id_offset; /* that is added to the ids */
    ss_record record;
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
    uint64_t id_offset;              /* of the store that is added next: added to its ids */
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
sstore_status ss_merge_iterator_next(ss_merge_iterator *merge, ss_record *record_out, bool *more_out,
                                     sstore_error *error);
/* All words of the fingerprint of the record that was returned last. */
static inline const uint64_t *ss_merge_iterator_fingerprint(const ss_merge_iterator *merge, const ss_record *record)
{
    return merge->words == 1 ? &record->fingerprint : merge->last;
}
void ss_merge_iterator_close(ss_merge_iterator *merge);

#endif

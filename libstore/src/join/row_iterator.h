/*
 * row_iterator.h - the records of a store of fingerprints of several words, in ascending order. The number of a
 * fingerprint is how many distinct ones of the store are below it. It has 64 bits, so that the code that connects
 * fingerprints (components.h) knows only these.
 */
#ifndef SS_ROW_ITERATOR_H
#define SS_ROW_ITERATOR_H

#include "store/record_iterator.h"

/* The segment whose ranks are the numbers; NULL if there are several segments. */
static inline const ss_segment *ss_only_segment(const sstore *store)
{
    return store->manifest.segment_count == 1 ? store->segments[0] : NULL;
}

/* Records in ascending order. */
typedef struct ss_row_iterator {
    uint32_t words;
    ss_merge_iterator records;
    sstore_record next; /* the current record; its fingerprint is ss_row_iterator_fingerprint() */
    bool more;          /* there is one */
    uint64_t number;    /* of its fingerprint */
} ss_row_iterator;

/* Begin with the first record. Without ids, each fingerprint comes once, also one whose records are all removed. Close
 * it also after a failure; a zeroed one is allowed. MEMORY, IO, DAMAGED. */
sstore_status ss_row_iterator_open(ss_row_iterator *iterator, const sstore *store, bool has_ids, sstore_error *error);
void ss_row_iterator_close(ss_row_iterator *iterator);

static inline const uint64_t *ss_row_iterator_fingerprint(const ss_row_iterator *iterator)
{
    return iterator->records.last;
}

/* Whether the current record has this fingerprint. */
bool ss_row_iterator_at(const ss_row_iterator *iterator, const uint64_t *fingerprint);

/* Go to the next record. `fingerprint` is a copy of the current one. IO, DAMAGED. */
sstore_status ss_row_iterator_next(ss_row_iterator *iterator, const uint64_t *fingerprint, sstore_error *error);

#endif

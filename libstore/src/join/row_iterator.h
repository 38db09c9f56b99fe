/*
 * row_iterator.h - the records of a store, in ascending order. The number of a fingerprint is how many distinct ones of
 * the store are below it. It has 64 bits, so that the code that connects fingerprints of several words (components.h)
 * knows only these.
 */
#ifndef SS_ROW_ITERATOR_H
#define SS_ROW_ITERATOR_H

#include "base/words.h"
#include "store/record_iterator.h"

/* Records in ascending order. */
typedef struct ss_row_iterator {
    uint32_t words;
    ss_merge_iterator records;
    ss_record next;  /* the current record; its fingerprint is ss_row_iterator_fingerprint() */
    bool more;       /* there is one */
    uint64_t number; /* of its fingerprint */
} ss_row_iterator;

/* Begin with the first record. Without ids, each fingerprint comes once, also one whose records are all removed. Close
 * it also after a failure; a zeroed one is allowed. MEMORY, IO, DAMAGED. */
sstore_status ss_row_iterator_open(ss_row_iterator *iterator, const sstore *store, bool has_ids, sstore_error *error);
void ss_row_iterator_close(ss_row_iterator *iterator);

static inline const uint64_t *ss_row_iterator_fingerprint(const ss_row_iterator *iterator)
{
    return ss_merge_iterator_fingerprint(&iterator->records, &iterator->next);
}

/* Whether the current record has this fingerprint. */
static inline bool ss_row_iterator_at(const ss_row_iterator *iterator, const uint64_t *fingerprint)
{
    if (iterator->words == 1)
        return iterator->more && iterator->next.fingerprint == *fingerprint;
    return iterator->more && ss_words_equal(iterator->records.last, fingerprint, iterator->words);
}

/* Go to the next record. `fingerprint` is a copy of the current one. IO, DAMAGED. */
static inline sstore_status ss_row_iterator_next(ss_row_iterator *iterator, const uint64_t *fingerprint,
                                                 sstore_error *error)
{
    const sstore_status status = ss_merge_iterator_next(&iterator->records, &iterator->next, &iterator->more, error);
    iterator->number += !ss_row_iterator_at(iterator, fingerprint);
    return status;
}

#endif

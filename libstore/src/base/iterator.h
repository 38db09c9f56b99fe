/*
 * iterator.h - what all iterators have in common. The struct of each begins with an sstore_iterator, whose methods say
 * which columns it fills, and how. The public calls check arguments and remember failures, so that the methods do not.
 */
#ifndef SS_ITERATOR_H
#define SS_ITERATOR_H

#include "base/words.h"

/* The columns of an sstore_columns. */
enum {
    SS_COLUMN_FINGERPRINT = 1 << 0,
    SS_COLUMN_ID = 1 << 1,
    SS_COLUMN_DISTANCE = 1 << 2,
    SS_COLUMN_QUERY_INDEX = 1 << 3,
    SS_COLUMN_OTHER_FINGERPRINT = 1 << 4,
    SS_COLUMN_OTHER_ID = 1 << 5,
    SS_COLUMN_CLUSTERS = 1 << 6, /* their number and size, and who represents them */
    SS_RECORD_COLUMNS = SS_COLUMN_FINGERPRINT | SS_COLUMN_ID,
    SS_MATCH_COLUMNS = SS_RECORD_COLUMNS | SS_COLUMN_DISTANCE | SS_COLUMN_QUERY_INDEX,
    SS_PAIR_COLUMNS = SS_RECORD_COLUMNS | SS_COLUMN_DISTANCE | SS_COLUMN_OTHER_FINGERPRINT | SS_COLUMN_OTHER_ID,
    SS_DROPPED_COLUMNS = SS_COLUMN_ID | SS_COLUMN_OTHER_ID | SS_COLUMN_DISTANCE,
    SS_CLUSTER_COLUMNS = SS_RECORD_COLUMNS | SS_COLUMN_DISTANCE | SS_COLUMN_CLUSTERS
};

typedef struct ss_iterator_methods {
    unsigned columns; /* those that it fills */
    /* Put the next results at *count of the columns on, and raise *count, until it is `capacity` or none are left. */
    sstore_status (*fill)(sstore_iterator *iterator, const sstore_columns *columns, size_t capacity, size_t *count,
                          sstore_error *error);
    /* Free the iterator, also one whose opening failed. */
    void (*free)(sstore_iterator *iterator);
} ss_iterator_methods;

struct sstore_iterator {
    const ss_iterator_methods *methods;
    sstore_status status; /* of an earlier call */
};

/* Give a new iterator to the caller, or free it if its opening failed. Returns the status of the opening. */
sstore_status ss_iterator_give(sstore_iterator *iterator, sstore_status status, sstore_iterator **iterator_out);

/* Copy the caller's columns, or none if they are NULL. ARGUMENT, also if they have any but `allowed`; UNSUPPORTED. */
sstore_status ss_take_columns(sstore_columns *to, const sstore_columns *from, unsigned allowed, sstore_error *error);

static inline void ss_set_word(uint64_t *column, size_t at, uint64_t value)
{
    if (column != NULL)
        column[at] = value;
}

static inline void ss_set_distance(uint32_t *column, size_t at, uint32_t value)
{
    if (column != NULL)
        column[at] = value;
}

static inline void ss_set_fingerprint(uint64_t *column, size_t at, const uint64_t *fingerprint, uint32_t words)
{
    if (column != NULL)
        ss_words_set(column, at, fingerprint, words);
}

#endif

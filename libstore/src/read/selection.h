/*
 * selection.h - the first matches, by (distance, fingerprint, id), of those that come in any order. The caller's
 * columns are the only memory: once they are full, they are a heap whose first row is the last match. Columns that are
 * not wanted do not count for the order.
 */
#ifndef SS_SELECTION_H
#define SS_SELECTION_H

#include "base/common.h"

typedef struct ss_selection {
    sstore_columns to;
    uint32_t words;            /* of a fingerprint */
    size_t capacity, count;    /* of rows */
    const sstore_match *after; /* only matches behind this one are taken; NULL: all. Needs all columns */
    bool is_heap;
} ss_selection;

/* Whether a match may be taken, or another one of its fingerprint with a higher id. */
bool ss_selection_may_take(ss_selection *self, const sstore_match *match);

/* Whether a match has the distance and the fingerprint of `after`. */
bool ss_selection_follows(const ss_selection *self, const sstore_match *match);

/* Take a match if it is among the first ones so far. False: neither it nor any match behind it can be. */
bool ss_selection_add(ss_selection *self, const sstore_match *match);

/* The largest distance of a match that may still be taken, and at most `max`. Needs the column of distances. */
uint32_t ss_selection_bound(ss_selection *self, uint32_t max);

/* Drop all rows. */
static inline void ss_selection_clear(ss_selection *self)
{
    self->count = 0;
    self->is_heap = false;
}

/* Sort the rows. */
void ss_selection_sort(ss_selection *self);

/* Set row `at` of the columns. */
void ss_set_match(const sstore_columns *columns, size_t at, uint32_t words, const sstore_match *match);

#endif

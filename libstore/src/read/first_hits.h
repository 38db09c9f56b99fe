/*
 * first_hits.h - which hits of a batch need no look-up: those that are only counted, and, if each query wants only its
 * first matches, those behind them.
 *
 * For each query there is a bound: enough hits at or below that distance are kept, so those above it are not among the
 * first matches. Packed with it are the number of hits kept below it, and the largest distance of these: once they are
 * as many as the limit, that distance is the new bound. Threads share the bounds without locks. One may undo what
 * another has just noted. Then the bound stays higher for longer, which is right as well.
 */
#ifndef SS_FIRST_HITS_H
#define SS_FIRST_HITS_H

#include <stdatomic.h>

#include "read/cursor.h"

/* Begins zeroed: then all hits are kept. */
typedef struct ss_first_hits {
    uint64_t limit;        /* on the matches of each query; 0: none are wanted */
    atomic_ullong *bounds; /* one a query; NULL without a limit */
    uint32_t count;        /* of the queries */
    uint64_t *counts;      /* of their matches; NULL: not wanted */
    bool skips;            /* hits in the current segment may be skipped, */
    uint32_t *records; /* if their rank has a number of records here; NULL: each rank has one, or it does not count */
} ss_first_hits;

/* Begin a round. `limit` on the matches of each query; 0: they are only counted. MEMORY. */
sstore_status ss_first_hits_open(ss_first_hits *first, uint32_t count, uint64_t limit, uint64_t *counts,
                                 sstore_error *error);
/* A zeroed one is allowed. */
void ss_first_hits_close(ss_first_hits *first);

/* Begin with a segment, and set whether hits in it may be skipped. `cursor` is one of the store. If it is not NULL, the
 * records of all ranks may be counted first, unless that took long in comparison with a full scan. Errors: MEMORY, IO,
 * DAMAGED. */
sstore_status ss_first_hits_begin(ss_first_hits *first, sstore_cursor *cursor, const sstore *store, uint32_t segment,
                                  sstore_error *error);

/* The largest distance of hits that a query still needs, -1 if none; `max` if there is no bound yet. */
int32_t ss_first_hits_bound(const ss_first_hits *first, uint32_t query, uint32_t max);

/* Whether a hit is kept. If not, its records are counted. */
bool ss_first_hits_keep_or_count(const ss_first_hits *first, uint32_t query, uint32_t distance, uint32_t max,
                                 uint64_t rank);

/* The number of records that are counted if a hit of a rank is skipped. */
static inline uint64_t ss_first_hits_records(const ss_first_hits *first, uint64_t rank)
{
    return first->records == NULL ? 1 : first->records[rank];
}

/* Count the records of hits that are skipped. */
static inline void ss_first_hits_skip(const ss_first_hits *first, uint32_t query, uint64_t records)
{
    if (first->counts != NULL && records > 0)
        __atomic_fetch_add(&first->counts[query], records, __ATOMIC_RELAXED);
}

#endif

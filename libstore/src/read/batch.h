/* batch.h - many queries at once. */
#ifndef SS_BATCH_H
#define SS_BATCH_H

#include <stdatomic.h>

#include "base/common.h"
#include "store/lookup.h"
#include "store/store.h"

/* ===== order of matches ===== */

/* The order in which the matches of a query are reported where they are sorted. */

/* Ascending by (distance, fingerprint, id), for qsort(). */
static inline int ss_compare_matches(const void *left, const void *right)
{
    const sstore_match *a = left, *b = right;
    if (a->distance != b->distance)
        return a->distance < b->distance ? -1 : 1;
    if (a->fingerprint != b->fingerprint)
        return a->fingerprint < b->fingerprint ? -1 : 1;
    return (a->id > b->id) - (a->id < b->id);
}

/* ===== batch ===== */

/*
 * Many queries at once. A round of queries is answered in one of three ways, whichever is estimated to take
 * least:
 *   one by one   each query for itself, on all threads
 *   swept        the blocks of every table that is probed are got once, in slices that stay in the cache while all queries with
 *                a probe there are tested
 *   scanned      so are those of table 0, and all queries tested against them
 * Hits (a query and a matching fingerprint) are gathered in any order; these are then turned into matches with ids,
 * put in the order of the queries and handed on. A round that finds too much is taken again in halves.
 */

#define SS_ROUND_QUERIES (UINT32_C(1) << 20) /* at most; an index in a round takes 20 bits */
#define SS_ROUND_QUERY_BITS 20u
#define SS_ROUND_MATCHES ((size_t)1 << 21) /* at most, unless one query alone has more */

/* A matching fingerprint of one query of the round. */
typedef struct ss_batch_hit {
    uint64_t fingerprint;
    uint64_t rank; /* or SS_NO_RANK */
    uint32_t query, segment;
    bool maybe_in_newer; /* a hit in a newer segment has the same fingerprint; set by ss_batch_report() */
} ss_batch_hit;

/* Hits of one worker. */
typedef struct ss_hit_list {
    ss_batch_hit *hits;
    size_t count, capacity;
} ss_hit_list;

/* A round of queries, on one segment after the other. */
typedef struct ss_batch {
    const sstore *store;
    uint32_t segment_index;
    const ss_segment *segment; /* that one */
    const ss_query_plan *plan;        /* for it */
    ss_query_plan *plans;      /* for all of them */
    const uint64_t *fingerprints;
    uint32_t count;
    uint32_t distance, threads;
    ss_hit_list *lists; /* one a worker */
    atomic_llong *room; /* how many hits all lists may still grow by; NULL: any number */
} ss_batch;

/* Append a hit in the present segment, whose index need not be set, to a worker's list. STOPPED where that is too much, MEMORY. */
sstore_status ss_batch_add_hit(const ss_batch *batch, uint32_t worker, ss_batch_hit hit, sstore_error *error);

/* Forget all hits. */
void ss_batch_clear_hits(const ss_batch *batch);

/* Find the hits of all queries, by a sweep of all tables that the plan probes, or by a scan of table 0. */
sstore_status ss_batch_pass(const ss_batch *batch, bool scan, sstore_error *error);

/* What it takes, in estimated nanoseconds of one thread. */
double ss_batch_pass_cost(const ss_batch *batch, bool scan);

/* Turn the hits into matches, in the order of the queries, those of one query by (distance, fingerprint, id): *matches_out, to be
 * freed. The first query of the round has the index `first_index`. STOPPED if there are more than SS_ROUND_MATCHES of several
 * queries; then *too_many_out is true. Unless
 * OK is returned, there are no matches. */
sstore_status ss_batch_report(const ss_batch *batch, uint64_t first_index, bool *too_many_out, sstore_match **matches_out,
                              size_t *count_out, sstore_error *error);

#endif

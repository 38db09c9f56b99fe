/*
 * batch_pass.h - many queries of 64 bits on an index, and passes of all of them over its tables. An index is the tables
 * of a segment, or of one of its word indexes: it knows fingerprints and ranks, but neither ids nor other segments.
 */
#ifndef SS_BATCH_PASS_H
#define SS_BATCH_PASS_H

#include <stdatomic.h>

#include "base/tasks.h"
#include "read/cursor.h"
#include "read/first_hits.h"

/* A fingerprint of the index within the distance of a query. */
typedef struct ss_index_hit {
    uint64_t fingerprint;
    uint64_t rank; /* SS_NO_RANK if it was not found in table 0 */
    uint32_t query;
} ss_index_hit;

/* Takes a hit; a status other than OK ends the batch. Threads with different `worker` call it at the same time. */
typedef sstore_status (*ss_index_hit_fn)(void *context, uint32_t worker, const ss_index_hit *hit, sstore_error *error);

/* The hits (a query and a fingerprint within the distance) come in any order, from all threads, each of them once. */
typedef struct ss_index_batch {
    const ss_segment *index;
    const ss_query_plan *plan;
    const uint64_t *queries;
    uint32_t count, distance, threads;
    const ss_cursors *cursors; /* one a thread */
    ss_index_hit_fn on_hit;
    void *context;
    const ss_first_hits *first; /* tells which hits a full scan leaves out; NULL: none */
    atomic_llong *budget_ns;    /* how many nanoseconds, about, all threads may spend; NULL: any number */
    uint64_t *block_count;      /* the blocks that passes read are added to it; those of cursors are not */
    ss_progress *progress;      /* only asked whether to stop */
} ss_index_batch;

/* Find the hits of all queries by a pass over each table that the plan probes, or by a full scan. STOPPED if `on_hit`
 * or the progress says so, or if the budget is spent. */
sstore_status ss_batch_pass(const ss_index_batch *batch, bool full_scan, sstore_error *error);

/* The cost of ss_batch_pass(), in estimated nanoseconds of one thread. */
double ss_batch_pass_cost(const ss_index_batch *batch, bool full_scan);

/* Count work that was done, in estimated nanoseconds. STOPPED if that is more than the batch may spend. */
static inline sstore_status ss_index_batch_spend(const ss_index_batch *batch, uint64_t ns)
{
    if (batch->budget_ns == NULL)
        return SSTORE_OK;
    const long long left = atomic_fetch_sub_explicit(batch->budget_ns, (long long)ns, memory_order_relaxed);
    return left > (long long)ns ? SSTORE_OK : SSTORE_STOPPED;
}

#endif

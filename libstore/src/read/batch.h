/*
 * batch.h - many queries at once.
 *
 * A round of queries is answered segment by segment, each time in the way that is estimated to be fastest:
 *   one by one   each query alone, on all threads
 *   table pass   each probed table is read once, in slices that stay in the cache while all queries that probe them
 *                are tested
 *   full scan    a table pass over table 0 alone, which tests all queries against every fingerprint
 * The hits (a query and a matching fingerprint) come in any order. ss_batch_report() then looks up their records and
 * sorts the matches by query. A round with too many hits is answered again in halves.
 */
#ifndef SS_BATCH_H
#define SS_BATCH_H

#include <stdatomic.h>

#include "base/tasks.h"
#include "base/words.h"
#include "read/first_hits.h"
#include "store/cursor.h"

/* Compare two matches by (distance, fingerprint, id), for qsort(): the order in which a query's matches are
 * reported. */
static inline int ss_compare_matches(const void *left, const void *right)
{
    const sstore_match *a = left, *b = right;
    if (a->distance != b->distance)
        return a->distance < b->distance ? -1 : 1;
    if (a->fingerprint != b->fingerprint)
        return a->fingerprint < b->fingerprint ? -1 : 1;
    return ss_compare_u64(a->id, b->id);
}

/* The same for matches of several words, for qsort_r(): `context` points to their number, a uint32_t. */
static inline int ss_compare_row_matches(const void *left, const void *right, void *context)
{
    const sstore_match *a = left, *b = right;
    const uint32_t *words = context;
    if (a->distance != b->distance)
        return a->distance < b->distance ? -1 : 1;
    const int order = ss_words_compare(a->words, b->words, *words);
    return order != 0 ? order : ss_compare_u64(a->id, b->id);
}

#define SS_ROUND_QUERY_BITS 20u               /* a round has at most 2^20 queries */
#define SS_ROUND_MATCHES ((long long)1 << 21) /* the maximum of a round, unless a single query has more */

/* A matching fingerprint of one query of the round. */
typedef struct ss_batch_hit {
    uint64_t fingerprint;
    uint64_t rank; /* or SS_NO_RANK */
    uint32_t query, segment;
    bool maybe_in_newer; /* a hit in a newer segment has the same fingerprint; set by ss_batch_report() */
} ss_batch_hit;

/* The memory of one thread. */
typedef struct ss_batch_worker {
    ss_batch_hit *hits;
    size_t count, capacity;
    sstore_cursor *cursor; /* NULL until ss_batch_cursor() makes it */
    uint64_t block_count;  /* of the blocks that passes read */
} ss_batch_worker;

/* A round of queries, on one segment after the other. */
typedef struct ss_batch {
    const sstore *store;
    const uint64_t *fingerprints;
    uint32_t count, distance, threads;
    uint32_t segment_index; /* of the current segment */
    const ss_segment *segment;
    const ss_query_plan *plan; /* for it */
    ss_batch_worker *workers;  /* one a thread */
    uint64_t *block_count;     /* the blocks read are added to it; NULL: not wanted */
    long long max_matches;     /* of the round, and about its hits */
    uint64_t limit;            /* on the matches of each query; 0: none */
    bool counts_only;          /* no matches are wanted, only their numbers */
    uint64_t *match_counts;    /* of each query, or NULL */
    ss_first_hits first;       /* tells which hits need not be stored */
    atomic_llong *room;        /* how many more hits all workers may store; NULL: any number */
    atomic_llong *budget_ns;   /* how many nanoseconds, about, all workers may spend; NULL: any number */
    ss_progress *progress;     /* in queries; workers only ask it whether to stop */
} ss_batch;

/* Append a hit in the current segment, whose index need not be set, unless it need not be stored. STOPPED if there are
 * too many; MEMORY. */
sstore_status ss_batch_add_hit(const ss_batch *batch, uint32_t worker, ss_batch_hit hit, sstore_error *error);

/* Count work that was done, in estimated nanoseconds. STOPPED if that is more than the batch may spend. */
static inline sstore_status ss_batch_spend(const ss_batch *batch, uint64_t ns)
{
    if (batch->budget_ns == NULL)
        return SSTORE_OK;
    const long long left = atomic_fetch_sub_explicit(batch->budget_ns, (long long)ns, memory_order_relaxed);
    return left > (long long)ns ? SSTORE_OK : SSTORE_STOPPED;
}

/* Get the worker's cursor. Errors as sstore_cursor_create(). */
sstore_status ss_batch_cursor(const ss_batch *batch, uint32_t worker, sstore_cursor **cursor_out, sstore_error *error);

/* Find the hits of all queries in the current segment, by a pass over each table that the plan probes, or by a full
 * scan. */
sstore_status ss_batch_pass(const ss_batch *batch, bool full_scan, sstore_error *error);

/* The cost of ss_batch_pass(), in estimated nanoseconds of one thread. */
double ss_batch_pass_cost(const ss_batch *batch, bool full_scan);

/*
 * Turn the hits into matches, in the order of the queries, those of one query by (distance, fingerprint, id). The
 * caller frees *matches_out. The first query of the round has the index `first_index`. STOPPED if there are more than
 * batch->max_matches. If the status is not OK, there are no matches, and the counts are wrong.
 */
sstore_status ss_batch_report(const ss_batch *batch, uint64_t first_index, sstore_match **matches_out,
                              size_t *count_out, sstore_error *error);

/* The cost of answering a round in the current segment in the best way, in the same unit. */
double ss_batch_cost(const ss_batch *batch);

/* Limit an iterator: it has at most `max_at_once` matches at once (0: as many as without this call), finds about
 * `max_in_all` at most, also counting those of rounds that it repeats, and spends about `*budget_ns` nanoseconds
 * (NULL: any number), which are counted down. If a single query has more matches, or one of the other limits is
 * reached, the next call for matches returns STOPPED. */
void ss_match_iterator_limit(sstore_match_iterator *iterator, uint64_t max_at_once, uint64_t max_in_all,
                             atomic_llong *budget_ns);

#endif

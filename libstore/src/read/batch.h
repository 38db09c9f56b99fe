/*
 * batch.h - many queries at once. A round of queries is answered segment by segment (read/index_batch.h). The hits come
 * in any order. ss_batch_report() then looks up their records and sorts the matches by query. A round with too many
 * hits is answered again in halves.
 */
#ifndef SS_BATCH_H
#define SS_BATCH_H

#include "base/words.h"
#include "read/index_batch.h"

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

/* Compare matches of several words in this order, for qsort_r(): `context` points to their number, a uint32_t. */
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
} ss_batch_worker;

/* A round of queries, on one segment after the other. */
typedef struct ss_batch {
    const sstore *store;
    const uint64_t *fingerprints;
    uint32_t count, distance, threads;
    uint32_t segment_index;   /* of the current segment */
    ss_batch_worker *workers; /* one a thread */
    ss_cursors cursors;
    uint64_t *block_count;  /* the blocks read are added to it; NULL: not wanted */
    long long max_matches;  /* of the round, and about its hits */
    uint64_t limit;         /* on the matches of each query; 0: none */
    bool counts_only;       /* no matches are wanted, only their numbers */
    uint64_t *match_counts; /* of each query, or NULL */
    ss_first_hits first;    /* tells which hits need not be stored */
    atomic_llong room;      /* how many more hits all workers may store */
    ss_progress *progress;  /* in queries; workers only ask it whether to stop */
} ss_batch;

/*
 * Turn the hits into matches, in the order of the queries, those of one query by (distance, fingerprint, id). The
 * caller frees *matches_out. The first query of the round has the index `first_index`. STOPPED if there are more than
 * batch->max_matches. If the status is not OK, there are no matches, and the counts are wrong.
 */
sstore_status ss_batch_report(const ss_batch *batch, uint64_t first_index, sstore_match **matches_out,
                              size_t *count_out, sstore_error *error);

#endif

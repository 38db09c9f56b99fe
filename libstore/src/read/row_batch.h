/*
 * row_batch.h - many queries at once in a store with word indexes. Each index answers a batch of the queries' words
 * (read/index_batch.h). What a thread finds are candidates, which it confirms a few thousand at a time, so that they
 * never fill memory. If that takes longer than comparing all queries with all fingerprints, since words tell badly
 * apart or there are few fingerprints, all are compared: the work is at most a small multiple of that. Equal
 * fingerprints are looked up.
 */
#ifndef SS_ROW_BATCH_H
#define SS_ROW_BATCH_H

#include "base/tasks.h"
#include "read/row_search.h"

/* A round of queries. */
typedef struct ss_row_batch {
    const sstore *store;
    const ss_row_plan *plans;     /* one a segment */
    const uint64_t *fingerprints; /* of the round */
    uint32_t count, distance, threads;
    long long max_matches;  /* of the round, and of its hits */
    uint64_t first_index;   /* of the round's first query */
    uint64_t limit;         /* on the matches of each query; 0: none */
    bool counts_only;       /* no matches are wanted, only their numbers */
    uint64_t *match_counts; /* of each query, from index 0 on; or NULL */
    uint64_t *block_count;  /* the blocks read are added to it; NULL: not wanted */
    ss_progress *progress;  /* only asked whether to stop */
    /* For joins of a store with itself: */
    bool not_below;           /* the queries ascend, and fingerprints below their query are left out */
    bool in_order;            /* the matches of a query ascend by (fingerprint, id), not by distance first */
    const uint64_t *ranks;    /* of the queries in the store's only segment; NULL: there are several. For not_below */
    const uint64_t *left_out; /* a bit for each rank of the only segment, whose fingerprints are left out; or NULL */
} ss_row_batch;

/* A fingerprint of a segment within the distance of a query. */
typedef struct ss_row_batch_hit {
    uint32_t query, segment;
    uint64_t rank;
} ss_row_batch_hit;

/* What a round found, in any order. Begins zeroed; free `hits` with ss_free(). */
typedef struct ss_row_batch_hits {
    ss_row_batch_hit *hits;
    size_t count;
} ss_row_batch_hits;

/* Find the fingerprints near each query. A segment that removes them does not count yet. STOPPED if there are more than
 * the maximum. */
sstore_status ss_row_batch_find_hits(const ss_row_batch *batch, ss_row_batch_hits *hits_out, sstore_error *error);

/* The matches of a round, in the order of the queries, those of one query by (distance, fingerprint, id). The caller
 * frees both arrays; `words` of a match leads into rows. */
typedef struct ss_row_batch_matches {
    sstore_match *matches;
    uint64_t *rows;
    size_t count;
} ss_row_batch_matches;

/* Answer a round. STOPPED if there are more matches than the maximum. If the status is not OK, there are no matches. */
sstore_status ss_row_batch_find(const ss_row_batch *batch, ss_row_batch_matches *matches_out, sstore_error *error);
void ss_row_batch_matches_free(ss_row_batch_matches *matches);

#endif

/*
 * round_hits.h - a round of queries, and its hits: each is a query and a fingerprint of a segment within the distance.
 * Every thread adds hits to its own list. They come in any order; those of a segment may be forgotten again.
 */
#ifndef SS_ROUND_HITS_H
#define SS_ROUND_HITS_H

#include <stdatomic.h>

#include "base/tasks.h"
#include "read/cursor.h"
#include "read/first_hits.h"

#define SS_ROUND_QUERY_BITS 20u               /* a round has at most 2^20 queries */
#define SS_ROUND_MATCHES ((long long)1 << 21) /* the maximum of a round, unless a single query has more */

/* A round of queries. */
typedef struct ss_round {
    const sstore *store;
    const ss_segment_plan *plans; /* one a segment */
    const uint64_t *fingerprints;
    uint32_t count, distance, threads;
    long long max_matches;  /* of the round, and about its hits */
    uint64_t first_index;   /* of its first query */
    uint64_t limit;         /* on the matches of each query; 0: none */
    bool counts_only;       /* no matches are wanted, only their numbers */
    uint64_t *match_counts; /* of each query of the round, or NULL */
    uint64_t *block_count;  /* the blocks read are added to it; NULL: not wanted */
    ss_progress *progress;  /* only asked whether to stop */
    ss_id_filter filter;    /* other records are neither reported nor counted; its ids are of the round's queries */
    bool by_fingerprint;    /* the matches of a query ascend by (fingerprint, id), not by distance first */
} ss_round;

typedef struct ss_round_hit {
    uint64_t order_key; /* the fingerprint; of several words, its place in the ascending order once that is known */
    uint64_t rank;      /* or SS_NO_RANK */
    uint32_t query, segment;
    bool maybe_in_newer; /* a hit in a newer segment has the same fingerprint */
} ss_round_hit;

/* The hits of one thread. */
typedef struct ss_hit_list {
    ss_round_hit *hits;
    uint64_t *rows; /* their fingerprints, if these have several words */
    size_t count, capacity;
    size_t begin; /* of the current segment */
} ss_hit_list;

typedef struct ss_round_hits {
    const ss_round *round;
    uint32_t words;
    uint32_t segment;    /* the current one */
    ss_hit_list *lists;  /* one a thread */
    ss_cursors cursors;  /* one a thread */
    ss_first_hits first; /* tells which hits need not be stored */
    atomic_llong room;   /* how many more may be stored */
} ss_round_hits;

/* Close them even if this fails. MEMORY. */
sstore_status ss_round_hits_open(ss_round_hits *hits, const ss_round *round, sstore_error *error);
void ss_round_hits_close(ss_round_hits *hits);

/* Begin with a segment. All its hits are stored until ss_round_hits_skip() is called. */
void ss_round_hits_begin(ss_round_hits *hits, uint32_t segment);

/* Choose which hits of the segment need not be stored, if any. With `counts_ranks`, the records of all ranks may be
 * counted first, as before a full scan. Errors as ss_first_hits_begin(). */
sstore_status ss_round_hits_skip(ss_round_hits *hits, bool counts_ranks, sstore_error *error);

/* Store a hit in the current segment, unless it need not be. STOPPED if there are too many; MEMORY. */
sstore_status ss_round_hits_add(ss_round_hits *hits, uint32_t worker, uint32_t query, uint64_t rank,
                                const uint64_t *fingerprint, sstore_error *error);

/* Forget the hits of the current segment. */
void ss_round_hits_forget(ss_round_hits *hits);

/* Take the hits of all threads, one after the other. The caller frees both arrays. MEMORY. */
sstore_status ss_round_hits_take(ss_round_hits *hits, ss_hit_list *all_out, sstore_error *error);

#endif

/*
 * join_call.h - what the iterators of pairs and of clusters have in common: options and the division of memory; the
 * distinct fingerprints of a store as input of table_join.h; and sorted stages between two steps. Fixed memory:
 * anything that does not fit is spilled. Fingerprints of several words are joined in another way (row_pairs.h,
 * row_join.h).
 */
#ifndef SS_JOIN_CALL_H
#define SS_JOIN_CALL_H

#include "join/exclusion.h"
#include "join/table_join.h"
#include "sort/radix.h"
#include "sort/sorter.h"
#include "sstore_join.h"
#include "store/store.h"

/* ===== call ===== */

typedef struct ss_join_call {
    const sstore *left, *right; /* the same if a store is joined with itself */
    uint32_t distance, threads;
    ss_dir tmp_dir;
    ss_progress progress;
    uint64_t join_bytes;   /* for finding pairs of fingerprints */
    uint64_t stage_bytes;  /* for the items that one step leaves for the next */
    size_t piece_capacity; /* items that a thread works on at once */
    uint64_t block_count;  /* that were read to compare fingerprints of several words */
    ss_exclusion excluded; /* fingerprints that are left out */
} ss_join_call;

/* Of a cluster's record, as an item that is sorted: its cluster, its id and its fingerprint. */
static inline uint32_t ss_member_words(uint32_t words)
{
    return 2 + words;
}

/* Check and take the options of a public call. `right` may be `left`, and has fingerprints of as many words. End it
 * also after a failure. ARGUMENT, RECIPE, NOT_FOUND (no tmp_dir). */
sstore_status ss_join_call_begin(ss_join_call *call, const sstore *left, const sstore *right,
                                 const sstore_join_options *options, sstore_error *error);
/* A zeroed one with SS_DIR_NONE is allowed. */
void ss_join_call_end(ss_join_call *call);

/* Find the pairs of fingerprints of the left store, or for SS_JOIN_CROSS of both: see ss_table_join(). */
sstore_status ss_join_call_find(ss_join_call *call, ss_join_kind kind, double end_fraction, ss_join_pairs_fn on_pairs,
                                void *context, sstore_error *error);

/* ===== fingerprints of a store ===== */

/* The distinct fingerprints of a store, in ranges that several threads read at once. */

typedef struct ss_fingerprint_range {
    uint64_t first_block; /* in table 0 of the largest segment */
    uint64_t min;         /* the lowest fingerprint of the range */
    bool is_retained;     /* it was read, and `values` has all of its fingerprints */
    uint64_t *values;
    size_t count, capacity;
} ss_fingerprint_range;

typedef struct ss_store_fingerprints {
    const sstore *store;          /* borrowed, as the next one */
    const ss_exclusion *excluded; /* what is left out */
    ss_fingerprint_ranges source; /* for a join; refers to this struct */
    ss_fingerprint_range *ranges; /* and one more for the end of the last one */
    uint64_t retained_bytes;      /* of all ranges, if they stay in memory after the first read; else 0 */
} ss_store_fingerprints;

/* The ranges stay in memory after the first read if they take at most `max_retained_bytes`. *self must not be moved.
 * MEMORY. */
sstore_status ss_store_fingerprints_open(ss_store_fingerprints *self, const sstore *store, const ss_exclusion *excluded,
                                         uint64_t max_retained_bytes, sstore_error *error);
/* A zeroed one is allowed. */
void ss_store_fingerprints_close(ss_store_fingerprints *self);

/* ===== sorted stage ===== */

/* Items that one step adds, and that the next one gets sorted, in pieces. */
typedef struct ss_sort_stage {
    uint32_t item_words;
    ss_chunk_pool pool;
    ss_sorter *sorter;
} ss_sort_stage;

/* From up to call->threads writers. MEMORY. */
sstore_status ss_sort_stage_open(ss_sort_stage *stage, uint32_t item_words, const ss_join_call *call,
                                 sstore_error *error);
/* A zeroed one, and one that could not be opened, are allowed. */
void ss_sort_stage_close(ss_sort_stage *stage);

/* The pieces that threads loaded at once; they are used one after the other. */
typedef struct ss_loaded_pieces {
    ss_join_call *call;
    ss_sorter *sorter;
    ss_task_fn load; /* loads piece first + task */
    void *context;   /* of `load` */
    size_t first, count;
    size_t index; /* of the current one among them */
} ss_loaded_pieces;

/* Go to the next piece, when all `item_count` items of the current one were used; without one, to the first. Loads more
 * pieces after the last one, and the count is 0 if there are no more. STOPPED, and the errors of `load`. */
sstore_status ss_loaded_pieces_next(ss_loaded_pieces *pieces, size_t item_count, sstore_error *error);

/* Collects triples, and adds them to a sorter together. */
typedef struct ss_triple_batch {
    ss_sorter *sorter;
    uint32_t writer;
    size_t count;
    ss_triple triples[1024];
} ss_triple_batch;

/* IO, MEMORY. */
sstore_status ss_triple_batch_add(ss_triple_batch *batch, ss_triple triple, sstore_error *error);
sstore_status ss_triple_batch_flush(ss_triple_batch *batch, sstore_error *error);

#endif

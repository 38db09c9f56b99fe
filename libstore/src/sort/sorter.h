/*
 * sorter.h - sorts any number of items within a fixed memory, on several threads: keys, records, triples or rows,
 * ascending by their words. Equal items are kept once.
 *
 * Items are partitioned into buckets as they come (buckets.h), and spilled if memory is full. ss_sorter_finish() then
 * makes pieces of the buckets, in order, each small enough to be sorted in a buffer of the caller's. A bucket that is
 * too large is partitioned again by the highest bits in which its items differ, and so on, until each part fits or has
 * only equal items; small buckets form one piece. Pieces can be loaded at any time, in any order and by several
 * threads. A piece that is completely in memory is sorted only once.
 */
#ifndef SS_SORTER_H
#define SS_SORTER_H

#include "base/common.h"
#include "base/file.h"
#include "base/tasks.h"
#include "sort/buckets.h"
#include "sort/radix.h"

typedef struct ss_sorter ss_sorter;

/* Remove some of the sorted items of a piece, which are distinct. May be called for several pieces at once, and again
 * for one that is loaded again. */
typedef sstore_status (*ss_refine_fn)(void *context, void *items, size_t *count, sstore_error *error);

typedef struct ss_sorter_options {
    uint32_t item_words;     /* 1: keys; 2: ss_record; 3: ss_triple of radix.h; up to SS_MAX_ITEM_WORDS: rows */
    uint32_t writers;        /* threads that add at once, at least 1 */
    ss_chunk_pool *pool;     /* for items in memory; borrowed, and used by nothing else */
    size_t piece_capacity;   /* items of the largest piece, at least 1 */
    uint64_t expected_count; /* items to come, if it is known; else UINT64_MAX */
    const ss_dir *tmp_dir;   /* where to spill; borrowed */
    ss_refine_fn refine;     /* NULL: all items stay */
    void *refine_context;
} ss_sorter_options;

/* The parts of the memory of a call that sorts. */
typedef struct ss_sort_memory {
    uint32_t threads;      /* as many as wanted, unless each would have too little memory */
    size_t piece_capacity; /* items that a thread works on at once */
    uint64_t sorter_bytes; /* for items that wait in memory */
} ss_sort_memory;

/* Divide a call's memory limit among up to `threads` threads. Each of them takes `item_bytes` for each item of its
 * piece, and `fixed_bytes` beside. Below 32 MiB the parts exceed the limit. */
ss_sort_memory ss_sort_memory_divide(uint64_t limit_bytes, uint32_t threads, uint64_t fixed_bytes, uint64_t item_bytes);

/* Open a pool of `memory_bytes` for sorters of up to `writers` writers. MEMORY. */
sstore_status ss_sorter_pool_open(ss_chunk_pool *pool, uint64_t memory_bytes, uint32_t writers, sstore_error *error);

/* MEMORY. */
sstore_status ss_sorter_create(const ss_sorter_options *options, ss_sorter **sorter_out, sstore_error *error);
void ss_sorter_free(ss_sorter *sorter);

/* Add items of a fingerprint and an id as writer `writer`. A fingerprint is all words of an item but the last; or all,
 * if `ids` is NULL. Fingerprints are one after the other. A sorter of keys does not read `ids`. IO, MEMORY. */
sstore_status ss_sorter_add(ss_sorter *sorter, uint32_t writer, const uint64_t *fingerprints, const uint64_t *ids,
                            size_t count, sstore_error *error);

/* Add items of any kind, one after the other in an array, as writer `writer`. IO, MEMORY. */
sstore_status ss_sorter_add_items(ss_sorter *sorter, uint32_t writer, const void *items, size_t count,
                                  sstore_error *error);

/* The number of items that were added. */
uint64_t ss_sorter_count(const ss_sorter *sorter);

/* Form the pieces, after all items were added. Progress is reported only if buckets have to be partitioned again. IO,
 * MEMORY, STOPPED. */
sstore_status ss_sorter_finish(ss_sorter *sorter, ss_progress *progress, sstore_error *error);

/* Pieces ascend: all items of one are below all items of the next. Empty ones are possible. Items with the same first
 * word, or the same first words, however many, are in one piece, or in several that hold no others. */
size_t ss_sorter_piece_count(const ss_sorter *sorter);

/* Load a piece, sorted, into `items`. This array and `scratch` have piece_capacity items. *count_out is the number of
 * items, which are distinct. Different pieces may be loaded at the same time. IO, and the errors of `refine`. */
sstore_status ss_sorter_load(ss_sorter *sorter, size_t number, void *items, void *scratch, size_t *count_out,
                             sstore_error *error);

/* A piece, with the memory to sort it. */
typedef struct ss_piece_room {
    void *items, *scratch; /* one allocation */
    size_t count;          /* of the items that were loaded */
} ss_piece_room;

/* MEMORY. Close it by ss_free(room->items), also after a failed open. */
sstore_status ss_piece_room_open(ss_piece_room *room, uint32_t item_words, size_t piece_capacity, sstore_error *error);
/* As ss_sorter_load(). */
sstore_status ss_piece_room_load(ss_piece_room *room, ss_sorter *sorter, size_t number, sstore_error *error);

/* The bytes spilled so far. */
uint64_t ss_sorter_spilled_bytes(const ss_sorter *sorter);

/* ===== sorted pieces ===== */

/* Sorted items in pieces that can be loaded repeatedly, by several threads at once: those of a sorter, or of another
 * source. */
typedef struct ss_sorted_pieces {
    void *context;
    size_t piece_count;
    uint64_t item_count;  /* of all pieces, with repeats if there are any: for progress */
    size_t max_items;     /* in a piece */
    size_t progress_each; /* how many of item_count a piece counts for, if not its own items; else 0 */
    /* Load a piece into `items`: ascending, distinct, all above those of the piece before. `scratch` has the same
     * size. */
    sstore_status (*load)(void *context, size_t piece, void *items, void *scratch, size_t *count_out,
                          sstore_error *error);
    void (*release)(void *context); /* frees the pieces' memory when they are no longer needed; may be NULL */
} ss_sorted_pieces;

/* The capacity of pieces if there are `count` items in all. */
static inline size_t ss_piece_capacity(size_t max, uint64_t count)
{
    return (size_t)ss_min_u64(max, ss_max_u64(count, 1));
}

/* The pieces of a finished sorter, which is freed with them: at most `max_items` items in each. */
ss_sorted_pieces ss_pieces_of_sorter(ss_sorter *sorter, size_t max_items);

static inline void ss_pieces_release(const ss_sorted_pieces *pieces)
{
    if (pieces->release != NULL)
        pieces->release(pieces->context);
}

#endif

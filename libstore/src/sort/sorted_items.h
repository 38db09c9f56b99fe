/*
 * sorted_items.h - items that one thread adds, one by one, and that are then read in order, as often as one likes: a
 * sorter with memory of its own.
 */
#ifndef SS_SORTED_ITEMS_H
#define SS_SORTED_ITEMS_H

#include "sort/sorter.h"

#define SS_WAITING_WORDS 4096u /* of items that are added to the sorter together */

typedef struct ss_sorted_items {
    uint32_t item_words;
    size_t piece_capacity;
    ss_chunk_pool pool;
    ss_sorter *sorter;
    size_t waiting_count;
    uint64_t waiting[SS_WAITING_WORDS];
} ss_sorted_items;

/* About `memory_bytes` are used, with one reader; the rest is spilled to `tmp_dir`, which is borrowed. MEMORY. */
sstore_status ss_sorted_items_create(uint32_t item_words, uint64_t memory_bytes, const ss_dir *tmp_dir,
                                     ss_sorted_items **items_out, sstore_error *error);
/* NULL is allowed. */
void ss_sorted_items_free(ss_sorted_items *self);

/* IO, MEMORY. */
sstore_status ss_sorted_items_add(ss_sorted_items *self, const uint64_t *item, sstore_error *error);

/* All items were added: sort them. IO, MEMORY, STOPPED. */
sstore_status ss_sorted_items_finish(ss_sorted_items *self, ss_progress *progress, sstore_error *error);

typedef struct ss_item_reader {
    ss_sorted_items *from;
    ss_piece_room room;
    size_t piece, at;
} ss_item_reader;

/* Begin at the first item. Several readers may be open. MEMORY. Close it also after a failure. */
sstore_status ss_item_reader_open(ss_item_reader *self, ss_sorted_items *from, sstore_error *error);
/* A zeroed one is allowed. */
void ss_item_reader_close(ss_item_reader *self);

/* The next item, which is valid until the next call; NULL: there are no more. IO, MEMORY. */
sstore_status ss_item_reader_next(ss_item_reader *self, const uint64_t **item_out, sstore_error *error);

#endif

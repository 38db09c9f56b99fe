/*
 * sort_stage.h - items that one step of a join leaves for the next: sorted within a memory of their own.
 */
#ifndef SS_SORT_STAGE_H
#define SS_SORT_STAGE_H

#include "base/call_progress.h"
#include "base/file.h"
#include "sort/radix.h"
#include "sort/sorter.h"

typedef struct ss_sort_stage {
    uint32_t item_words;
    size_t piece_capacity;
    ss_chunk_pool pool;
    ss_sorter *sorter;
} ss_sort_stage;

/* For items of 1 to 3 words from up to `threads` writers, which take `memory_bytes`. MEMORY. */
sstore_status ss_sort_stage_open(ss_sort_stage *stage, uint32_t item_words, uint32_t threads, uint64_t memory_bytes,
                                 size_t piece_capacity, const ss_dir *tmp_dir, sstore_error *error);
/* Also of a zeroed one, or of one that could not be opened. */
void ss_sort_stage_close(ss_sort_stage *stage);

/* All items are there. MEMORY, IO, STOPPED. */
sstore_status ss_sort_stage_seal(ss_sort_stage *stage, ss_progress *progress, sstore_error *error);

/* Room for a piece and for sorting it. */
typedef struct ss_piece_room {
    void *items, *scratch;
    size_t count; /* of the items that were loaded */
} ss_piece_room;

/* MEMORY. */
sstore_status ss_piece_room_open(ss_piece_room *room, const ss_sort_stage *stage, sstore_error *error);
/* Also of a zeroed one. */
void ss_piece_room_close(ss_piece_room *room);
/* Load a piece of a sealed stage. IO. */
sstore_status ss_piece_room_load(ss_piece_room *room, const ss_sort_stage *stage, size_t piece, sstore_error *error);

#endif

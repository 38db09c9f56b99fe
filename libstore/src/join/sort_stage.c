#include "join/sort_stage.h"

#include "base/alloc.h"
#include "base/error.h"

sstore_status ss_sort_stage_open(ss_sort_stage *stage, uint32_t item_words, uint32_t threads, uint64_t memory_bytes,
                                 size_t piece_capacity, const ss_dir *tmp_dir, sstore_error *error)
{
    *stage = (ss_sort_stage){.item_words = item_words, .piece_capacity = piece_capacity};
    const ss_sorter_options options = {.item_words = item_words,
                                       .writers = threads,
                                       .pool = &stage->pool,
                                       .piece_capacity = piece_capacity,
                                       .expected_count = UINT64_MAX,
                                       .tmp_dir = tmp_dir};
    sstore_status status = ss_sorter_pool_open(&stage->pool, memory_bytes, threads, error);
    return status == SSTORE_OK ? ss_sorter_create(&options, &stage->sorter, error) : status;
}

void ss_sort_stage_close(ss_sort_stage *stage)
{
    ss_sorter_free(stage->sorter);
    ss_chunk_pool_close(&stage->pool);
    *stage = (ss_sort_stage){.sorter = NULL};
}

static size_t room_bytes(const ss_sort_stage *stage)
{
    return stage->piece_capacity * stage->item_words * sizeof(uint64_t);
}

sstore_status ss_sort_stage_seal(ss_sort_stage *stage, ss_progress *progress, sstore_error *error)
{
    void *buffer = ss_realloc(NULL, room_bytes(stage), 1);
    if (buffer == NULL)
        return ss_fail_memory(error, room_bytes(stage));
    sstore_status status = ss_sorter_seal(stage->sorter, buffer, progress, error);
    ss_free(buffer);
    return status;
}

sstore_status ss_piece_room_open(ss_piece_room *room, const ss_sort_stage *stage, sstore_error *error)
{
    *room = (ss_piece_room){.items = ss_realloc(NULL, room_bytes(stage), 1),
                            .scratch = ss_realloc(NULL, room_bytes(stage), 1)};
    return room->items != NULL && room->scratch != NULL ? SSTORE_OK : ss_fail_memory(error, 2 * room_bytes(stage));
}

void ss_piece_room_close(ss_piece_room *room)
{
    ss_free(room->items);
    ss_free(room->scratch);
    *room = (ss_piece_room){.items = NULL};
}

sstore_status ss_piece_room_load(ss_piece_room *room, const ss_sort_stage *stage, size_t piece, sstore_error *error)
{
    return ss_sorter_load(stage->sorter, piece, room->items, room->scratch, &room->count, error);
}

#include "sort/sorted_items.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/words.h"

#define ROOM_DIVISOR 4u /* a reader's piece, with scratch, takes 1/4 of memory */
#define MIN_PIECE ((uint64_t)1024)
#define MAX_PIECE ((uint64_t)1 << 17)

static sstore_status open_sorter(ss_sorted_items *self, uint64_t memory_bytes, const ss_dir *tmp_dir,
                                 sstore_error *error)
{
    const uint64_t item_bytes = 2 * sizeof(uint64_t) * self->item_words, room_bytes = memory_bytes / ROOM_DIVISOR;
    self->piece_capacity = (size_t)ss_max_u64(ss_min_u64(room_bytes / item_bytes, MAX_PIECE), MIN_PIECE);
    const ss_sorter_options options = {.item_words = self->item_words,
                                       .writers = 1,
                                       .pool = &self->pool,
                                       .piece_capacity = self->piece_capacity,
                                       .expected_count = UINT64_MAX,
                                       .tmp_dir = tmp_dir};
    const sstore_status status = ss_sorter_pool_open(&self->pool, memory_bytes - room_bytes, 1, error);
    return status == SSTORE_OK ? ss_sorter_create(&options, &self->sorter, error) : status;
}

sstore_status ss_sorted_items_create(uint32_t item_words, uint64_t memory_bytes, const ss_dir *tmp_dir,
                                     ss_sorted_items **items_out, sstore_error *error)
{
    ss_sorted_items *self = *items_out = ss_alloc(1, sizeof *self);
    if (self == NULL)
        return ss_fail_memory(error, sizeof *self);
    self->item_words = item_words;
    const sstore_status status = open_sorter(self, memory_bytes, tmp_dir, error);
    if (status != SSTORE_OK) {
        ss_sorted_items_free(self);
        *items_out = NULL;
    }
    return status;
}

void ss_sorted_items_free(ss_sorted_items *self)
{
    if (self == NULL)
        return;
    ss_sorter_free(self->sorter);
    ss_chunk_pool_close(&self->pool);
    ss_free(self);
}

static sstore_status flush(ss_sorted_items *self, sstore_error *error)
{
    const size_t count = self->waiting_count;
    self->waiting_count = 0;
    return ss_sorter_add_items(self->sorter, 0, self->waiting, count, error);
}

sstore_status ss_sorted_items_add(ss_sorted_items *self, const uint64_t *item, sstore_error *error)
{
    ss_words_copy(self->waiting + self->waiting_count++ * self->item_words, item, self->item_words);
    return (self->waiting_count + 1) * self->item_words > SS_WAITING_WORDS ? flush(self, error) : SSTORE_OK;
}

sstore_status ss_sorted_items_finish(ss_sorted_items *self, ss_progress *progress, sstore_error *error)
{
    const sstore_status status = flush(self, error);
    return status == SSTORE_OK ? ss_sorter_finish(self->sorter, progress, error) : status;
}

sstore_status ss_item_reader_open(ss_item_reader *self, ss_sorted_items *from, sstore_error *error)
{
    *self = (ss_item_reader){.from = from};
    const size_t capacity = ss_piece_capacity(from->piece_capacity, ss_sorter_count(from->sorter));
    return ss_piece_room_open(&self->room, from->item_words, capacity, error);
}

void ss_item_reader_close(ss_item_reader *self)
{
    ss_free(self->room.items);
    self->room.items = NULL;
}

sstore_status ss_item_reader_next(ss_item_reader *self, const uint64_t **item_out, sstore_error *error)
{
    *item_out = NULL;
    while (self->at == self->room.count) {
        if (self->piece == ss_sorter_piece_count(self->from->sorter))
            return SSTORE_OK;
        const sstore_status status = ss_piece_room_load(&self->room, self->from->sorter, self->piece++, error);
        if (status != SSTORE_OK)
            return status;
        self->at = 0;
    }
    *item_out = (const uint64_t *)self->room.items + self->at++ * self->from->item_words;
    return SSTORE_OK;
}

#include "join/row_runs.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/words.h"

#define TASK_ROWS ((size_t)4096) /* rows that a task adds */
#define BATCH_WORDS 4096u        /* of items that are added to the sorter together */
#define MIN_PIECE ((uint64_t)256)
#define MAX_PIECE ((uint64_t)1 << 16)
#define ROOMS_DIVISOR 4u /* of the sorter's memory: rooms of threads take 1/4 at most */
#define PAIR_WORDS 2u    /* of an item without a fingerprint */

/* ----- runs ----- */

uint64_t ss_row_runs_bytes(uint64_t capacity, uint32_t max_bits)
{
    return capacity * 3 * sizeof(uint32_t) + (sizeof(uint32_t) << max_bits);
}

sstore_status ss_row_runs_open(ss_row_runs *runs, size_t capacity, uint32_t max_bits, sstore_error *error)
{
    const size_t words_bytes = (capacity + SS_PAIR_PADDING) * sizeof(uint32_t);
    *runs = (ss_row_runs){.capacity = capacity};
    assert(capacity < UINT32_MAX);
    runs->words.folds = ss_alloc_large(words_bytes);
    runs->words.uppers = ss_alloc_large(words_bytes);
    runs->places = ss_alloc_large(capacity * sizeof *runs->places);
    runs->begins = ss_alloc_large((((size_t)1 << max_bits) + 1) * sizeof *runs->begins);
    if (runs->words.folds != NULL && runs->words.uppers != NULL && runs->places != NULL && runs->begins != NULL)
        return SSTORE_OK;
    return ss_fail_memory(error, ss_row_runs_bytes(capacity, max_bits));
}

void ss_row_runs_close(ss_row_runs *runs)
{
    ss_free(runs->words.folds);
    ss_free(runs->words.uppers);
    ss_free(runs->places);
    ss_free(runs->begins);
    *runs = (ss_row_runs){.count = 0};
}

/* The place of an item's fingerprint, which is put there unless it is in memory already. */
static uint32_t place_item(const ss_row_sorter *self, const uint64_t *item, uint32_t free_place)
{
    const ss_placed_rows *placed = self->placed;
    if (self->item_words == PAIR_WORDS)
        return (uint32_t)item[1];
    placed->numbers[free_place] = item[1];
    ss_words_copy(placed->rows + (size_t)free_place * placed->words, item + PAIR_WORDS, placed->words);
    return free_place;
}

/* Add sorted items, whose words are rotated. */
static void add_items(const ss_row_sorter *self, ss_row_runs *runs, const uint64_t *items, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const uint64_t *item = items + i * self->item_words;
        const uint64_t word = *item, key = ss_row_part_key(self->part, word);
        const uint32_t at = (uint32_t)runs->count++;
        if (at == 0)
            runs->first_key = key;
        while (runs->key_count <= key - runs->first_key)
            runs->begins[runs->key_count++] = at;
        runs->words.uppers[at] = (uint32_t)(word >> 32);
        runs->words.folds[at] = (uint32_t)word ^ (uint32_t)(word >> 32);
        runs->places[at] = place_item(self, item, runs->first_place + at);
    }
}

static void end_runs(ss_row_runs *runs)
{
    runs->begins[runs->key_count] = (uint32_t)runs->count;
    memset(runs->words.folds + runs->count, 0, SS_PAIR_PADDING * sizeof *runs->words.folds);
    memset(runs->words.uppers + runs->count, 0, SS_PAIR_PADDING * sizeof *runs->words.uppers);
}

/* ----- sorting ----- */

sstore_status ss_row_sorter_open(ss_row_sorter *sorter, const ss_row_array *rows, ss_placed_rows *placed,
                                 ss_join_call *call, uint64_t bytes, sstore_error *error)
{
    const uint32_t threads = call->threads;
    const uint32_t item_words = PAIR_WORDS + (rows->rows == NULL ? rows->words : 0);
    const uint64_t item_bytes = item_words * sizeof(uint64_t);
    const uint64_t for_rooms = bytes / ROOMS_DIVISOR / threads / 2 / item_bytes;
    *sorter = (ss_row_sorter){.rows = rows, .call = call, .placed = placed, .item_words = item_words};
    sorter->piece_capacity = (size_t)ss_min_u64(ss_max_u64(for_rooms, MIN_PIECE), MAX_PIECE);
    sorter->rooms = ss_alloc(threads, sizeof *sorter->rooms);
    sorter->buffers = ss_alloc(threads, sizeof *sorter->buffers);
    if (sorter->rooms == NULL || sorter->buffers == NULL)
        return ss_fail_memory(error, threads * sizeof *sorter->rooms);
    sstore_status status = SSTORE_OK;
    for (uint32_t i = 0; status == SSTORE_OK && i < threads; i++) {
        status = ss_piece_room_open(&sorter->rooms[i], item_words, sorter->piece_capacity, error);
        if (status != SSTORE_OK || rows->rows != NULL)
            continue;
        sorter->buffers[i] = ss_realloc(NULL, TASK_ROWS, rows->words * sizeof(uint64_t));
        if (sorter->buffers[i] == NULL)
            status = ss_fail_memory(error, TASK_ROWS * rows->words * sizeof(uint64_t));
    }
    const uint64_t taken = 2 * threads * sorter->piece_capacity * item_bytes;
    return status == SSTORE_OK ? ss_sorter_pool_open(&sorter->pool, bytes - ss_min_u64(taken, bytes), threads, error)
                               : status;
}

void ss_row_sorter_close(ss_row_sorter *sorter)
{
    ss_sorter_free(sorter->sorter);
    for (uint32_t i = 0; sorter->rooms != NULL && i < sorter->call->threads; i++)
        ss_free(sorter->rooms[i].items);
    for (uint32_t i = 0; sorter->buffers != NULL && i < sorter->call->threads; i++)
        ss_free(sorter->buffers[i]);
    ss_free(sorter->rooms);
    ss_free(sorter->buffers);
    ss_chunk_pool_close(&sorter->pool);
    *sorter = (ss_row_sorter){.sorter = NULL};
}

static void make_item(const ss_row_sorter *self, const uint64_t *row, uint64_t number, uint64_t *item)
{
    item[0] = ss_row_part_lead(self->part, row[self->part->word]);
    item[1] = number;
    if (self->item_words > PAIR_WORDS)
        ss_words_copy(item + PAIR_WORDS, row, self->rows->words);
}

/* Add the words of a slice of the rows. */
static sstore_status add_task_rows(void *context, uint64_t task, uint32_t worker, sstore_error *error)
{
    const ss_row_sorter *self = context;
    const uint32_t words = self->rows->words, item_words = self->item_words;
    const uint64_t first = task * TASK_ROWS;
    const size_t count = (size_t)ss_min_u64(self->rows->count - first, TASK_ROWS);
    const uint64_t *rows;
    uint64_t items[BATCH_WORDS];
    sstore_status status = ss_row_array_get(self->rows, first, count, self->buffers[worker], &rows, error);
    for (size_t i = 0; status == SSTORE_OK && i < count;) {
        size_t added = 0;
        for (; added < BATCH_WORDS / item_words && i < count; i++)
            make_item(self, rows + i * words, first + i, items + added++ * item_words);
        status = ss_sorter_add_items(self->sorter, worker, items, added, error);
    }
    return status == SSTORE_OK ? ss_progress_add(&self->call->progress, worker, 0) : status;
}

sstore_status ss_row_sorter_sort(ss_row_sorter *sorter, const ss_row_part *part, sstore_error *error)
{
    const ss_sorter_options options = {.item_words = sorter->item_words,
                                       .writers = sorter->call->threads,
                                       .pool = &sorter->pool,
                                       .piece_capacity = sorter->piece_capacity,
                                       .expected_count = sorter->rows->count,
                                       .tmp_dir = &sorter->call->tmp_dir};
    ss_sorter_free(sorter->sorter);
    sorter->part = part;
    sstore_status status = ss_sorter_create(&options, &sorter->sorter, error);
    if (status == SSTORE_OK)
        status = ss_pool_run(sorter->call->threads, (sorter->rows->count + TASK_ROWS - 1) / TASK_ROWS, add_task_rows,
                             sorter, error);
    return status == SSTORE_OK ? ss_sorter_finish(sorter->sorter, &sorter->call->progress, error) : status;
}

/* ----- loading ----- */

static sstore_status load_words(void *context, uint64_t task, uint32_t worker, sstore_error *error)
{
    const ss_row_sorter *self = context;
    const sstore_status status = ss_piece_room_load(&self->rooms[task], self->sorter, self->first_piece + (size_t)task,
                                                    error);
    return status == SSTORE_OK ? ss_progress_add(&self->call->progress, worker, 0) : status;
}

sstore_status ss_row_sorter_load(ss_row_sorter *sorter, size_t *piece, ss_row_runs *runs, sstore_error *error)
{
    const size_t piece_count = ss_sorter_piece_count(sorter->sorter);
    sstore_status status = SSTORE_OK;
    runs->count = 0;
    runs->key_count = 0;
    while (status == SSTORE_OK && *piece < piece_count) {
        const uint64_t fitting = (runs->capacity - runs->count) / sorter->piece_capacity;
        const size_t loaded = (size_t)ss_min_u64(ss_min_u64(fitting, piece_count - *piece), sorter->call->threads);
        if (loaded == 0)
            break;
        sorter->first_piece = *piece;
        status = ss_pool_run(sorter->call->threads, loaded, load_words, sorter, error);
        for (size_t i = 0; status == SSTORE_OK && i < loaded; i++)
            add_items(sorter, runs, sorter->rooms[i].items, sorter->rooms[i].count);
        *piece += loaded;
    }
    end_runs(runs);
    return status;
}

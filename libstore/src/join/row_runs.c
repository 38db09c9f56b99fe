#include "join/row_runs.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"

#define SLICE ((size_t)4096) /* rows that a task adds */
#define ITEM_BATCH 256u
#define MIN_PIECE ((uint64_t)256)
#define MAX_PIECE ((uint64_t)1 << 16)
#define ROOMS_DIVISOR 4u /* of the sorter's memory: rooms of threads take 1/4 at most */
#define ITEM_BYTES (sizeof(ss_record))

/* ----- runs ----- */

uint64_t ss_row_runs_bytes(uint64_t capacity, uint32_t max_bits)
{
    return capacity * (2 * sizeof(uint32_t) + sizeof(uint64_t)) + (sizeof(uint32_t) << max_bits);
}

sstore_status ss_row_runs_open(ss_row_runs *runs, size_t capacity, uint32_t max_bits, sstore_error *error)
{
    const size_t words_bytes = (capacity + SS_PAIR_PADDING) * sizeof(uint32_t);
    *runs = (ss_row_runs){.capacity = capacity};
    assert(capacity < UINT32_MAX);
    runs->words.folds = ss_alloc_large(words_bytes);
    runs->words.uppers = ss_alloc_large(words_bytes);
    runs->numbers = ss_alloc_large(capacity * sizeof *runs->numbers);
    runs->begins = ss_alloc_large((((size_t)1 << max_bits) + 1) * sizeof *runs->begins);
    if (runs->words.folds != NULL && runs->words.uppers != NULL && runs->numbers != NULL && runs->begins != NULL)
        return SSTORE_OK;
    return ss_fail_memory(error, ss_row_runs_bytes(capacity, max_bits));
}

void ss_row_runs_close(ss_row_runs *runs)
{
    ss_free(runs->words.folds);
    ss_free(runs->words.uppers);
    ss_free(runs->numbers);
    ss_free(runs->begins);
    *runs = (ss_row_runs){.count = 0};
}

/* Add sorted items, whose words are rotated. */
static void add_items(ss_row_runs *runs, const ss_row_part *part, const ss_record *items, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const uint64_t word = items[i].fingerprint, key = ss_row_part_key(part, word);
        const uint32_t at = (uint32_t)runs->count++;
        if (at == 0)
            runs->first_key = key;
        while (runs->key_count <= key - runs->first_key)
            runs->begins[runs->key_count++] = at;
        runs->words.uppers[at] = (uint32_t)(word >> 32);
        runs->words.folds[at] = (uint32_t)word ^ (uint32_t)(word >> 32);
        runs->numbers[at] = items[i].id;
    }
}

static void end_runs(ss_row_runs *runs)
{
    runs->begins[runs->key_count] = (uint32_t)runs->count;
    memset(runs->words.folds + runs->count, 0, SS_PAIR_PADDING * sizeof *runs->words.folds);
    memset(runs->words.uppers + runs->count, 0, SS_PAIR_PADDING * sizeof *runs->words.uppers);
}

/* ----- sorting ----- */

sstore_status ss_row_sorter_open(ss_row_sorter *sorter, const ss_row_array *rows, ss_join_call *call, uint64_t bytes,
                                 sstore_error *error)
{
    const uint32_t threads = call->threads;
    const uint64_t for_rooms = bytes / ROOMS_DIVISOR / threads / 2 / ITEM_BYTES;
    *sorter = (ss_row_sorter){.rows = rows, .call = call};
    sorter->piece_capacity = (size_t)ss_min_u64(ss_max_u64(for_rooms, MIN_PIECE), MAX_PIECE);
    sorter->rooms = ss_alloc(threads, sizeof *sorter->rooms);
    sorter->buffers = ss_alloc(threads, sizeof *sorter->buffers);
    if (sorter->rooms == NULL || sorter->buffers == NULL)
        return ss_fail_memory(error, threads * sizeof *sorter->rooms);
    sstore_status status = SSTORE_OK;
    for (uint32_t i = 0; status == SSTORE_OK && i < threads; i++) {
        status = ss_piece_room_open(&sorter->rooms[i], 2, sorter->piece_capacity, error);
        if (status != SSTORE_OK || rows->rows != NULL)
            continue;
        sorter->buffers[i] = ss_realloc(NULL, SLICE, rows->words * sizeof(uint64_t));
        if (sorter->buffers[i] == NULL)
            status = ss_fail_memory(error, SLICE * rows->words * sizeof(uint64_t));
    }
    const uint64_t taken = 2 * threads * sorter->piece_capacity * ITEM_BYTES;
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

/* Add the words of a slice of the rows. */
static sstore_status add_slice(void *context, uint64_t task, uint32_t worker, sstore_error *error)
{
    const ss_row_sorter *self = context;
    const uint32_t words = self->rows->words;
    const uint64_t first = task * SLICE;
    const size_t count = (size_t)ss_min_u64(self->rows->count - first, SLICE);
    const uint64_t *rows;
    ss_record items[ITEM_BATCH];
    sstore_status status = ss_row_array_get(self->rows, first, count, self->buffers[worker], &rows, error);
    for (size_t i = 0; status == SSTORE_OK && i < count;) {
        size_t added = 0;
        for (; added < ITEM_BATCH && i < count; i++)
            items[added++] = (ss_record){ss_row_part_lead(self->part, rows[i * words + self->part->word]), first + i};
        status = ss_sorter_add_items(self->sorter, worker, items, added, error);
    }
    return status == SSTORE_OK ? ss_progress_add(&self->call->progress, worker, 0) : status;
}

sstore_status ss_row_sorter_sort(ss_row_sorter *sorter, const ss_row_part *part, sstore_error *error)
{
    const ss_sorter_options options = {.item_words = 2,
                                       .writers = sorter->call->threads,
                                       .pool = &sorter->pool,
                                       .piece_capacity = sorter->piece_capacity,
                                       .expected_count = sorter->rows->count,
                                       .tmp_dir = &sorter->call->tmp_dir};
    ss_sorter_free(sorter->sorter);
    sorter->part = part;
    sstore_status status = ss_sorter_create(&options, &sorter->sorter, error);
    if (status == SSTORE_OK)
        status = ss_pool_run(sorter->call->threads, (sorter->rows->count + SLICE - 1) / SLICE, add_slice, sorter,
                             error);
    return status == SSTORE_OK ? ss_sorter_finish(sorter->sorter, &sorter->call->progress, error) : status;
}

/* ----- loading ----- */

static sstore_status load_piece(void *context, uint64_t task, uint32_t worker, sstore_error *error)
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
        status = ss_pool_run(sorter->call->threads, loaded, load_piece, sorter, error);
        for (size_t i = 0; status == SSTORE_OK && i < loaded; i++)
            add_items(runs, sorter->part, sorter->rooms[i].items, sorter->rooms[i].count);
        *piece += loaded;
    }
    end_runs(runs);
    return status;
}

#include "join/row_join.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/words.h"
#include "join/row_compare.h"

#define READ_FRACTION 0.1 /* of the work, by measurement */
#define FILTER_DIVISOR 4u /* of memory: the edge filter takes 1/4 at most, */
#define SORTER_DIVISOR 4u /* and the sorter at least 1/4 of what is left */
#define MIN_CAPACITY ((uint64_t)256)
#define MAX_PLACES ((uint64_t)1 << 31)
#define SAMPLE_DIVISOR 256u /* of the fingerprints, one in this many is in the sample */
#define MIN_SAMPLE ((uint64_t)64)
#define MAX_SAMPLE ((uint64_t)4096)

typedef struct row_join {
    ss_join_call *call;
    bool is_spanning;
    uint64_t max_count; /* of the fingerprints */
    bool is_whole;      /* all fingerprints are in memory, and all words of a part */
    uint64_t sorter_bytes;
    uint64_t capacity; /* words of `runs`, and of `others` */
    uint32_t max_bits; /* of a key */
    ss_row_array rows;
    ss_placed_rows placed;
    ss_edge_filter filter;
    ss_row_parts parts;
    ss_row_sorter sorter;
    ss_row_runs runs, others; /* others: if not all words fit */
    ss_row_comparison comparison;
} row_join;

/* ----- memory ----- */

static bool filter_is_dense(const row_join *self, uint64_t bytes)
{
    return self->max_count < UINT32_MAX && self->max_count * sizeof(uint32_t) <= bytes / FILTER_DIVISOR;
}

/* Divide the memory: all fingerprints, and all words of a part, are much faster than some after the other. */
static void divide_memory(row_join *self, uint64_t bytes)
{
    const uint64_t row_bytes = self->call->left->manifest.words * sizeof(uint64_t);
    const uint64_t for_filter = !self->is_spanning             ? 0
                                : filter_is_dense(self, bytes) ? self->max_count * sizeof(uint32_t)
                                                               : bytes / FILTER_DIVISOR;
    const uint64_t left = bytes - for_filter, max = left - left / SORTER_DIVISOR;
    const uint64_t whole_bytes = ss_row_runs_bytes(self->max_count, ss_bits_for(self->max_count, 0, SS_MAX_PART_BITS)) +
                                 self->max_count * row_bytes;
    const uint64_t loaded_bytes = ss_row_runs_bytes(1, 0) + sizeof(uint64_t) + row_bytes;
    const uint64_t half = ss_min_u64(ss_max_u64(max / 2 / loaded_bytes, MIN_CAPACITY), MAX_PLACES / 2);
    self->is_whole = self->max_count <= MAX_PLACES && whole_bytes <= max;
    self->capacity = self->is_whole ? ss_max_u64(self->max_count, 1) : half;
    self->max_bits = ss_bits_for(self->capacity, 0, SS_MAX_PART_BITS);
    self->sorter_bytes = left - (self->is_whole ? whole_bytes : max);
}

static sstore_status open_filter(row_join *self, uint64_t bytes, sstore_error *error)
{
    if (!self->is_spanning)
        return SSTORE_OK;
    return filter_is_dense(self, bytes)
               ? ss_edge_filter_open_dense(&self->filter, (uint32_t)self->max_count, error)
               : ss_edge_filter_open(&self->filter, (size_t)(bytes / FILTER_DIVISOR / ss_edge_filter_bytes(1)), error);
}

/* Make places for fingerprints that are loaded with their words. */
static sstore_status open_places(row_join *self, size_t count, sstore_error *error)
{
    ss_placed_rows *placed = &self->placed;
    const size_t row_bytes = placed->words * sizeof *placed->rows;
    placed->rows = ss_alloc_large(count * row_bytes);
    placed->numbers = ss_alloc_large(count * sizeof *placed->numbers);
    return placed->rows != NULL && placed->numbers != NULL
               ? SSTORE_OK
               : ss_fail_memory(error, count * (row_bytes + sizeof *placed->numbers));
}

static sstore_status open_runs(row_join *self, sstore_error *error)
{
    const size_t capacity = (size_t)self->capacity + self->sorter.piece_capacity;
    self->placed = (ss_placed_rows){.words = self->rows.words, .rows = self->rows.rows};
    sstore_status status = ss_row_runs_open(&self->runs, capacity, self->max_bits, error);
    if (status != SSTORE_OK || self->is_whole)
        return status;
    status = ss_row_runs_open(&self->others, capacity, self->max_bits, error);
    self->others.first_place = (uint32_t)capacity;
    return status == SSTORE_OK ? open_places(self, 2 * capacity, error) : status;
}

static void close_runs(row_join *self)
{
    ss_row_runs_close(&self->runs);
    ss_row_runs_close(&self->others);
    if (!self->is_whole)
        ss_free(self->placed.rows);
    ss_free(self->placed.numbers);
}

/* ----- parts ----- */

/* Choose the parts by a sample of the fingerprints. */
static sstore_status choose_parts(row_join *self, sstore_error *error)
{
    const ss_row_array *rows = &self->rows;
    const uint64_t wanted = ss_min_u64(ss_max_u64(rows->count / SAMPLE_DIVISOR, MIN_SAMPLE), MAX_SAMPLE);
    const size_t count = (size_t)ss_min_u64(wanted, rows->count);
    ss_word_distances distances[SSTORE_MAX_WORDS];
    uint64_t *sample = ss_alloc(ss_max_u64(count, 1), rows->words * sizeof *sample);
    sstore_status status = sample == NULL ? ss_fail_memory(error, count * rows->words * sizeof *sample) : SSTORE_OK;
    for (size_t i = 0; status == SSTORE_OK && i < count; i++) {
        const uint64_t *row;
        uint64_t *to = sample + i * rows->words;
        status = ss_row_array_get(rows, rows->count / count * i, 1, to, &row, error);
        ss_words_move(to, row, rows->words);
    }
    if (status == SSTORE_OK) {
        ss_word_distances_measure(sample, count, rows->words, self->call->distance, distances);
        status = ss_row_parts_choose(distances, rows->words, self->call->distance, (double)rows->count, self->max_bits,
                                     &self->parts, error);
    }
    ss_free(sample);
    return status;
}

/* Compare some words of a part, and those of later pieces with them. */
static sstore_status compare_pieces(row_join *self, size_t *piece, sstore_error *error)
{
    sstore_status status = ss_row_sorter_load(&self->sorter, piece, &self->runs, error);
    if (status == SSTORE_OK)
        status = ss_row_comparison_run(&self->comparison, &self->runs, &self->runs, error);
    for (size_t other = *piece; status == SSTORE_OK && other < ss_sorter_piece_count(self->sorter.sorter);) {
        status = ss_row_sorter_load(&self->sorter, &other, &self->others, error);
        if (status == SSTORE_OK)
            status = ss_row_comparison_run(&self->comparison, &self->runs, &self->others, error);
    }
    return status;
}

static sstore_status run_part(row_join *self, uint32_t part, sstore_error *error)
{
    size_t piece = 0;
    sstore_status status = ss_row_sorter_sort(&self->sorter, &self->parts.parts[part], error);
    self->comparison.part = part;
    if (self->filter.nodes != NULL)
        ss_edge_filter_expect(&self->filter, (size_t)self->rows.count);
    while (status == SSTORE_OK && piece < ss_sorter_piece_count(self->sorter.sorter))
        status = compare_pieces(self, &piece, error);
    return status;
}

/* ----- begin and end ----- */

static sstore_status open_join(row_join *self, uint64_t bytes, sstore_error *error)
{
    self->max_count = ss_row_array_max_count(self->call->left);
    divide_memory(self, bytes);
    sstore_status status = ss_row_array_open(&self->rows, self->call, self->is_whole ? UINT64_MAX : 0, error);
    if (status == SSTORE_OK)
        status = choose_parts(self, error);
    if (status == SSTORE_OK)
        status = open_filter(self, bytes, error);
    if (status == SSTORE_OK)
        status = ss_row_sorter_open(&self->sorter, &self->rows, &self->placed, self->call, self->sorter_bytes, error);
    if (status == SSTORE_OK)
        status = open_runs(self, error);
    return status == SSTORE_OK ? ss_row_comparison_open(&self->comparison, error) : status;
}

/* Join as `how` says what becomes of pairs. */
static sstore_status join(ss_join_call *call, bool is_spanning, uint64_t bytes, double end_fraction,
                          const ss_row_comparison *how, sstore_error *error)
{
    row_join self = {.call = call, .is_spanning = is_spanning, .rows.file = SS_FILE_NONE, .comparison = *how};
    self.comparison.call = call;
    self.comparison.placed = &self.placed;
    self.comparison.parts = &self.parts;
    self.comparison.filter = is_spanning ? &self.filter : NULL;
    if (call->distance == 0) /* equal records have the same number */
        return SSTORE_OK;
    ss_progress_begin(&call->progress, "reading", 0, ss_row_array_max_count(call->left), end_fraction * READ_FRACTION);
    sstore_status status = open_join(&self, bytes, error);
    ss_progress_begin(&call->progress, "comparing", 0, self.rows.count * self.parts.count, end_fraction);
    for (uint32_t i = 0; status == SSTORE_OK && i < self.parts.count; i++)
        status = run_part(&self, i, error);
    if (status == SSTORE_OK)
        status = ss_row_comparison_flush(&self.comparison, error);
    ss_row_comparison_close(&self.comparison);
    close_runs(&self);
    ss_row_sorter_close(&self.sorter);
    ss_edge_filter_close(&self.filter);
    ss_row_array_close(&self.rows);
    return status;
}

sstore_status ss_row_join(ss_join_call *call, ss_join_kind kind, uint64_t bytes, double end_fraction,
                          ss_join_pairs_fn on_pairs, void *context, sstore_error *error)
{
    const ss_row_comparison how = {.on_pairs = on_pairs, .context = context};
    assert(kind != SS_JOIN_CROSS);
    return join(call, kind == SS_JOIN_SPANNING, bytes, end_fraction, &how, error);
}

sstore_status ss_row_connect(ss_join_call *call, uint64_t bytes, double end_fraction, ss_join_judge_fn judge,
                             void *context, sstore_error *error)
{
    const ss_row_comparison how = {.judge = judge, .context = context};
    return join(call, true, bytes, end_fraction, &how, error);
}

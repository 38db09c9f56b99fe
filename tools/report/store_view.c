#include "report/store_view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "output/messages.h"

#define MAX_BLOCKS 4000u    /* that are looked at, of all tables together */
#define SAMPLE_SIZE 10000u  /* as sstore_plan() advises */
#define SAMPLE_PIECE 500u   /* between reports of progress */
#define MAX_LOOKED_UP 1000u /* fingerprints, with sstore_explain() */
#define MAX_SECONDS 10      /* for them: a crowded prefix takes long */
#define MAX_PLAN_SAMPLE 1000000u

/* ----- percentiles ----- */

static int compare_doubles(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return a < b ? -1 : a > b;
}

spread spread_of(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare_doubles);
    return (spread){.median = values[count / 2],
                    .p90 = values[count * 9 / 10],
                    .p99 = values[count * 99 / 100],
                    .max = values[count - 1]};
}

/* ----- metadata ----- */

static double count_fingerprints(const sstore_table_statistics *table)
{
    double count = 1;
    for (uint32_t i = 0; i < 64; i++)
        count += (double)table->difference_counts[i];
    return count;
}

static void group_tables(store_view *view)
{
    view->group_count = view->words > 1 && view->table_count > 0 ? view->words : view->table_count;
    view->groups = allocate_or_exit(view->group_count, sizeof *view->groups);
    for (uint32_t i = 0; i < view->table_count; i++) {
        const uint32_t number = view->words > 1 ? view->tables[i].statistics.word : i;
        table_group *group = &view->groups[number];
        if (group->table_count++ == 0)
            group->first = i;
    }
}

int view_read_metadata(store_view *view, const sstore *store)
{
    sstore_error error;
    if (store_report_read(store, &view->stat, &error) != SSTORE_OK)
        return message_error(&error);
    view->words = sstore_fingerprint_bits(store) / 64;
    const segment_report *segment = &view->stat.segments[view->stat.metadata.largest_segment];
    view->table_count = view->stat.metadata.segment_count > 0 ? segment->metadata.table_count : 0;
    view->tables = allocate_or_exit(view->table_count, sizeof *view->tables);
    for (uint32_t i = 0; i < view->table_count; i++) {
        table_view *table = &view->tables[i];
        *table = (table_view){.statistics = segment->tables[i]};
        table->count = segment->metadata.distinct_count > 0 ? count_fingerprints(&table->statistics) : 0;
    }
    group_tables(view);
    return EXIT_DONE;
}

void view_free(store_view *view)
{
    if (view->queries != NULL) {
        free(view->queries->misses.times);
        free(view->queries->hits.times);
    }
    free(view->queries);
    free(view->clusters);
    store_report_free(&view->stat);
    free(view->tables);
    free(view->groups);
    free(view->block_counts);
    free(view->sample);
    free(view->plans.items);
    *view = (store_view)STORE_VIEW_INIT;
}

/* ----- blocks ----- */

static void add_block(fill_report *fill, const sstore_block_statistics *block, uint32_t block_bytes)
{
    const double used = (double)block->used_bytes / (double)block_bytes;
    const bool first = fill->block_count++ == 0;
    fill->min_count = first || block->fingerprint_count < fill->min_count ? block->fingerprint_count : fill->min_count;
    fill->max_count = first || block->fingerprint_count > fill->max_count ? block->fingerprint_count : fill->max_count;
    fill->min_used = first ? used : fmin(fill->min_used, used);
    fill->mean_used += (used - fill->mean_used) / (double)fill->block_count;
    fill->mean_count += (block->fingerprint_count - fill->mean_count) / (double)fill->block_count;
}

/* Look at up to `most` blocks of a table, each after equally many. */
static int read_table_blocks(store_view *view, const sstore *store, uint32_t number, uint64_t most,
                             view_progress_fn on_progress)
{
    const uint32_t block_bytes = view->stat.segments[view->stat.metadata.largest_segment].metadata.block_bytes;
    table_view *table = &view->tables[number];
    const uint64_t all = table->statistics.block_count, full = all > 1 ? all - 1 : all;
    const uint64_t count = full < most ? full : most;
    for (uint64_t i = 0; i < count; i++) {
        sstore_block_statistics block = SSTORE_BLOCK_STATISTICS_INIT;
        sstore_error error;
        const uint64_t at = (uint64_t)((double)i * (double)full / (double)count);
        if (sstore_stat_block(store, view->stat.metadata.largest_segment, number, at, &block, &error) != SSTORE_OK)
            return message_error(&error);
        add_block(&table->fill, &block, block_bytes);
        view->block_counts[view->block_count_count++] = block.fingerprint_count;
        if (on_progress("reading", number * most + i, view->table_count * most) != 0)
            return EXIT_FAILED;
    }
    return EXIT_DONE;
}

int view_read_blocks(store_view *view, const sstore *store, view_progress_fn on_progress)
{
    const uint64_t most = view->table_count > 0 ? MAX_BLOCKS / view->table_count : 0; /* there are at most 64 a word */
    int code = EXIT_DONE;
    view->block_counts = allocate_or_exit(MAX_BLOCKS, sizeof *view->block_counts);
    for (uint32_t i = 0; i < view->table_count && code == EXIT_DONE; i++)
        code = read_table_blocks(view, store, i, most, on_progress);
    return code;
}

/* ----- crowded prefixes ----- */

/* The counts of candidates: for each group of tables, one of each fingerprint. */
typedef struct candidate_counts {
    const store_view *view;
    double *counts; /* of group g and fingerprint i at g * MAX_LOOKED_UP + i */
    size_t index;
} candidate_counts;

static int take_table(void *context, const sstore_table_explanation *table)
{
    candidate_counts *to = context;
    const uint32_t group = to->view->words > 1 ? table->word : table->table;
    if (table->segment == to->view->stat.metadata.largest_segment && group < to->view->group_count &&
        !table->is_full_scan)
        to->counts[group * MAX_LOOKED_UP + to->index] += (double)table->candidate_count;
    return 0;
}

/* The number of prefixes within `radius` bits of one. */
static double neighbour_count(uint32_t prefix_bits, uint32_t radius)
{
    double ways = 1, sum = 1;
    for (uint32_t i = 1; i <= radius && i <= prefix_bits; i++) {
        ways = ways * (prefix_bits - i + 1) / i;
        sum += ways;
    }
    return sum;
}

static void summarise_group(const store_view *view, table_group *group, double *counts, size_t count)
{
    group->crowd = (crowd_report){.found = spread_of(counts, count)};
    for (uint32_t i = group->first; i < group->first + group->table_count; i++) {
        const table_view *table = &view->tables[i];
        const uint32_t prefix_bits = table->statistics.prefix_bits;
        group->crowd.expected += ldexp(table->count * neighbour_count(prefix_bits, table->statistics.radius),
                                       -(int)prefix_bits);
    }
}

static int look_up(store_view *view, sstore_cursor *cursor, double *counts, view_progress_fn on_progress)
{
    const size_t count = view->sample_count < MAX_LOOKED_UP ? view->sample_count : MAX_LOOKED_UP;
    const time_t begin = time(NULL);
    candidate_counts to = {.view = view, .counts = counts};
    for (; to.index < count && time(NULL) - begin <= MAX_SECONDS; to.index++) {
        sstore_error error;
        const uint64_t *fingerprint = view->sample + to.index * view->sample_count / count * view->words;
        if (sstore_explain(cursor, fingerprint, view->stat.metadata.distance, take_table, &to, &error) != SSTORE_OK)
            return message_error(&error);
        if (on_progress("exploring", to.index, count) != 0)
            return EXIT_FAILED;
    }
    view->looked_up_count = to.index;
    for (uint32_t i = 0; i < view->group_count && to.index > 0; i++)
        summarise_group(view, &view->groups[i], counts + (size_t)i * MAX_LOOKED_UP, to.index);
    return EXIT_DONE;
}

/* Whether another handle has the main segment at the same place: the store may have changed meanwhile. */
static bool has_main_segment(const store_view *view, const sstore *store)
{
    sstore_segment_statistics segment = SSTORE_SEGMENT_STATISTICS_INIT;
    return sstore_stat_segment(store, view->stat.metadata.largest_segment, &segment, NULL) == SSTORE_OK &&
           strcmp(segment.folder, view->stat.segments[view->stat.metadata.largest_segment].metadata.folder) == 0;
}

/* Queries of a small store read all of it, so a handle of its own makes them probe. */
int view_measure_crowds(store_view *view, view_progress_fn on_progress)
{
    sstore_open_options options = SSTORE_OPEN_OPTIONS_INIT;
    sstore *store = NULL;
    sstore_cursor *cursor = NULL;
    sstore_error error;
    int code = EXIT_DONE;
    if (view->sample_count == 0)
        return EXIT_DONE;
    double *counts = allocate_or_exit((size_t)view->group_count * MAX_LOOKED_UP, sizeof *counts);
    options.strategy = SSTORE_STRATEGY_PROBE;
    if (sstore_open(view->path, &options, &store, &error) != SSTORE_OK ||
        sstore_cursor_create(store, &cursor, &error) != SSTORE_OK)
        code = message_error(&error);
    else if (has_main_segment(view, store))
        code = look_up(view, cursor, counts, on_progress);
    sstore_cursor_free(cursor);
    sstore_close(store);
    free(counts);
    return code;
}

/* ----- the sample, and the plans for data like it ----- */

int view_sample(store_view *view, const sstore *store, view_progress_fn on_progress)
{
    const bool all = view->stat.metadata.distinct_count <= SAMPLE_SIZE;
    const size_t piece = all ? SAMPLE_SIZE : SAMPLE_PIECE;
    if (view->stat.metadata.record_count == 0) /* there may be removed ones */
        return EXIT_DONE;
    view->sample = allocate_or_exit((size_t)SAMPLE_SIZE * view->words, sizeof *view->sample);
    for (size_t at = 0; at < SAMPLE_SIZE; at += piece) {
        sstore_error error;
        size_t count;
        uint64_t *to = view->sample + view->sample_count * view->words;
        if (sstore_sample(store, at, to, piece, &count, &error) != SSTORE_OK)
            return message_error(&error);
        view->sample_count += count;
        if (on_progress("sampling", at, SAMPLE_SIZE) != 0)
            return EXIT_FAILED;
    }
    return EXIT_DONE;
}

/* The planner takes a sample of records, so that fingerprints repeat as they do in the store. The sample has each of
 * its fingerprints once: here they repeat equally often. */
int view_make_plans(store_view *view)
{
    if (view->sample_count == 0)
        return EXIT_DONE;
    const sstore_statistics *store = &view->stat.metadata;
    const double repeats = (double)store->record_count / (double)store->distinct_count;
    const size_t distinct = (size_t)fmin((double)view->sample_count, MAX_PLAN_SAMPLE / repeats);
    const size_t count = (size_t)((double)distinct * repeats), words = view->words;
    uint64_t *sample = allocate_or_exit(count * words, sizeof *sample);
    sstore_plan_options options = SSTORE_PLAN_OPTIONS_INIT;
    for (size_t i = 0; i < count; i++) {
        const size_t from = (size_t)((double)i / repeats) * view->sample_count / distinct;
        memcpy(sample + i * words, view->sample + from * words, words * sizeof *sample);
    }
    options.fingerprint_bits = store->fingerprint_bits;
    options.distance = store->distance;
    options.no_ids = !store->has_ids;
    options.block_bytes = store->block_bytes;
    options.record_count = store->record_count;
    options.sample = sample;
    options.sample_count = count;
    const int code = plan_list_make(&view->plans, &options, true);
    free(sample);
    return code;
}

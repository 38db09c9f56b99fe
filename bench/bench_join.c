/*
 * bench_join.c - how long does a join of fingerprints in memory take, of all pairs within a distance or of spanning
 * pairs? Without reading a store, and without ids. It measures internals, so it links the objects.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/tasks.h"
#include "join/table_join.h"
#include "plan/plan.h"
#include "sort/radix.h"
#include "support/clock.h"
#include "support/dataset.h"
#include "support/memory_use.h"
#include "support/must.h"
#include "support/parameters.h"
#include "support/samples.h"

#define RANGES 64u

typedef struct fingerprints {
    uint64_t *values;
    size_t count;
} fingerprints;

static fingerprints make(const char *data, size_t count, uint64_t seed)
{
    bench_dataset set;
    fingerprints made = {.values = bench_alloc(count, sizeof *made.values)};
    uint64_t *scratch = bench_alloc(count, sizeof *scratch);
    bench_dataset_open(&set, data, 1, seed);
    bench_dataset_read(&set, made.values, count);
    bench_dataset_close(&set);
    ss_sort_keys(made.values, scratch, count);
    free(scratch);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || made.values[i] != made.values[made.count - 1])
            made.values[made.count++] = made.values[i];
    return made;
}

static sstore_status read_range(void *context, uint32_t range, uint32_t worker, ss_values_fn on_values, void *sink,
                                sstore_error *error)
{
    const fingerprints *from = context;
    const size_t begin = from->count * range / RANGES, end = from->count * (range + 1) / RANGES;
    (void)worker;
    return on_values(sink, from->values + begin, end - begin, error);
}

static ss_fingerprint_ranges source_of(fingerprints *from)
{
    return (ss_fingerprint_ranges){.context = from, .range_count = RANGES, .count = from->count, .read = read_range};
}

/* Pairs found by each thread, a cache line apart. */
typedef struct pair_counts {
    uint64_t (*counts)[8];
} pair_counts;

static sstore_status count_pairs(void *context, uint32_t worker, const ss_fingerprint_pair *pairs, size_t count,
                                 sstore_error *error)
{
    const pair_counts *self = context;
    (void)pairs, (void)error;
    self->counts[worker][0] += count;
    return SSTORE_OK;
}

/* Run a join; returns how many pairs it gave. */
static uint64_t run(const char *kind, fingerprints *left, fingerprints *right, const ss_join_options *options)
{
    const uint32_t threads = ss_pool_threads(options->threads);
    const ss_fingerprint_ranges from = source_of(left), other = source_of(right);
    sstore_error error = {.status = SSTORE_OK};
    ss_progress progress = {.report = NULL};
    pair_counts found = {bench_alloc(threads, sizeof *found.counts)};
    ss_join_options with = *options;
    uint64_t count = 0;
    with.progress = &progress;
    with.on_pairs = count_pairs;
    with.context = &found;
    if (strcmp(kind, "cross") == 0)
        bench_must(ss_table_join(SS_JOIN_CROSS, &from, &other, &with, &error), &error);
    else if (strcmp(kind, "spanning") == 0)
        bench_must(ss_table_join(SS_JOIN_SPANNING, &from, NULL, &with, &error), &error);
    else
        bench_must(ss_table_join(SS_JOIN_SELF, &from, NULL, &with, &error), &error);
    for (uint32_t i = 0; i < threads; i++)
        count += found.counts[i][0];
    free(found.counts);
    return count;
}

static void time_joins(const char *kind, fingerprints *left, fingerprints *right, uint64_t data_bytes, uint64_t rounds,
                       const ss_join_options *options)
{
    double *seconds = bench_alloc(rounds + 1, sizeof *seconds);
    uint64_t pairs = 0;
    bench_memory_peak_restart();
    for (size_t i = 0; i < rounds; i++) {
        const double begin = bench_now_ns();
        pairs = run(kind, left, right, options);
        seconds[i] = (bench_now_ns() - begin) / 1e9;
    }
    const double beside = (double)bench_memory_peak() - (double)data_bytes;
    printf("kind      records    k   threads  MiB     seconds  pairs       peak MiB beside the data\n");
    printf("%-8s  %-9zu  %-2" PRIu32 "  %-7" PRIu32 "  %-6" PRIu64 "  %7.3f  %-10" PRIu64 "  %.1f\n", kind, left->count,
           options->distance, options->threads, options->memory_bytes >> 20, bench_median(seconds, rounds), pairs,
           beside / 0x1p20);
    free(seconds);
}

/* ----- the largest groups ----- */

/* Fingerprints that are equal in a block's bits. */
typedef struct group {
    uint32_t block;
    uint64_t *values;
    size_t count;
} group;

static int compare_groups(const void *left, const void *right)
{
    const group *a = left, *b = right;
    return (a->count < b->count) - (a->count > b->count);
}

static sstore_status count_group_pairs(void *context, const ss_fingerprint_pair *pairs, size_t count,
                                       sstore_error *error)
{
    (void)pairs, (void)error;
    *(uint64_t *)context += count;
    return SSTORE_OK;
}

/* Put groups of more than one into a list that has the `max` largest; `values` are sorted by the block. */
static void find_groups(uint64_t *values, size_t count, uint32_t block, uint64_t mask, group *list, size_t max)
{
    for (size_t begin = 0, end; begin < count; begin = end) {
        for (end = begin + 1; end < count && ((values[end] ^ values[begin]) & mask) == 0;)
            end++;
        if (end - begin <= list[max - 1].count)
            continue;
        list[max - 1] = (group){.block = block, .values = values + begin, .count = end - begin};
        qsort(list, max, sizeof *list, compare_groups);
    }
}

/* Time the self-joins of the largest groups of all k + 1 blocks, one by one, on one thread. */
static void time_groups(const fingerprints *all, uint32_t distance, size_t max)
{
    const uint32_t blocks = distance + 1;
    group *list = bench_alloc(max, sizeof *list);
    uint64_t **sorted = bench_alloc(blocks, sizeof *sorted);
    uint64_t *scratch = bench_alloc(all->count, sizeof *scratch);
    ss_group_join *join = bench_alloc(1, sizeof *join);
    for (uint32_t i = 0; i < blocks; i++) {
        const uint32_t begin = 64 * i / blocks, end = 64 * (i + 1) / blocks;
        ss_permutation permutation;
        ss_permutation_init(&permutation, ss_high_mask(end) & ~ss_high_mask(begin));
        sorted[i] = bench_alloc(all->count, sizeof *sorted[i]);
        for (size_t j = 0; j < all->count; j++)
            sorted[i][j] = ss_permute(&permutation, all->values[j]);
        ss_sort_keys(sorted[i], scratch, all->count);
        find_groups(sorted[i], all->count, i, ss_high_mask(end - begin), list, max);
    }
    printf("group  block  fingerprints  pairs       tests of all  milliseconds\n");
    for (size_t i = 0; i < max && list[i].count > 0; i++) {
        const double all_tests = (double)list[i].count * (double)(list[i].count - 1) / 2;
        uint64_t pairs = 0;
        sstore_error error;
        ss_group_join_init(join, distance, scratch, count_group_pairs, &pairs);
        const double begin = bench_now_ns();
        bench_must(ss_group_join_run(join, SS_JOIN_SELF, list[i].values, list[i].count, NULL, 0, &error), &error);
        bench_must(ss_group_flush(join, &error), &error);
        printf("%-5zu  %-5" PRIu32 "  %-12zu  %-10" PRIu64 "  %12.4f  %12.3f\n", i, list[i].block, list[i].count, pairs,
               (double)join->tests / all_tests, (bench_now_ns() - begin) / 1e6);
    }
    for (uint32_t i = 0; i < blocks; i++)
        free(sorted[i]);
    free(sorted);
    free(scratch);
    free(join);
    free(list);
}

int main(int argc, char **argv)
{
    uint64_t count = 1000000, distance = 3, threads = 0, memory = (uint64_t)256 << 20, rounds = 3, seed = 1;
    uint64_t groups = 0;
    const char *data = "clustered", *kind = "self", *tmp = "/tmp";
    const bench_parameter parameters[] = {
        {"records", BENCH_COUNT, &count, "how many fingerprints (1M)"},
        {"data", BENCH_TEXT, &data, "uniform, clustered or a file of little-endian numbers (clustered)"},
        {"kind", BENCH_TEXT, &kind,
         "self, cross (with as many others, a third of which are the same) or spanning (self)"},
        {"distance", BENCH_COUNT, &distance, "0 to 16 (3)"},
        {"memory", BENCH_SIZE, &memory, "for the join (256M)"},
        {"threads", BENCH_COUNT, &threads, "to work on; 0: all (0)"},
        {"tmp", BENCH_TEXT, &tmp, "the folder to spill to (/tmp)"},
        {"rounds", BENCH_COUNT, &rounds, "of which the median counts (3)"},
        {"seed", BENCH_COUNT, &seed, "of the fingerprints (1)"},
        {"groups", BENCH_COUNT, &groups, "instead time so many of the largest groups one by one, on one thread (0)"},
    };
    const bench_usage usage = {"", "Time a join of fingerprints in memory.", parameters,
                               sizeof parameters / sizeof *parameters};
    (void)bench_parse(argc, argv, &usage);
    sstore_error error;
    ss_dir dir;
    bench_must(ss_dir_open(tmp, &dir, &error), &error);
    const bool cross = strcmp(kind, "cross") == 0;
    const uint64_t made_count = cross ? count * 3 / 2 : count;
    fingerprints all = make(data, made_count, seed), left = all, right = {.values = NULL};
    if (cross) { /* a third each, and one in common */
        left = (fingerprints){all.values, all.count * 2 / 3};
        right = (fingerprints){all.values + all.count / 3, all.count - all.count / 3};
    }
    const ss_join_options options = {.distance = (uint32_t)distance,
                                     .threads = (uint32_t)threads,
                                     .memory_bytes = memory,
                                     .tmp_dir = &dir,
                                     .end_fraction = 1};
    printf("# %zu distinct of %" PRIu64 " fingerprints, seed %" PRIu64 ", median of %" PRIu64 " rounds\n", left.count,
           count, seed, rounds);
    if (groups > 0)
        time_groups(&left, (uint32_t)distance, groups);
    else
        time_joins(kind, &left, &right, made_count * sizeof *all.values, rounds, &options);
    free(all.values);
    ss_dir_close(&dir);
    return 0;
}

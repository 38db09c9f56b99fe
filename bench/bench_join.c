/*
 * bench_join.c - how long does it take to find all pairs within a distance, or what they connect? Of fingerprints in
 * memory: without reading a store, and without ids. It measures internals, so it links the objects.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/pool.h"
#include "join/join_tables.h"
#include "sort/radix.h"
#include "support/clock.h"
#include "support/dataset.h"
#include "support/memory_use.h"
#include "support/must.h"
#include "support/parameters.h"
#include "support/samples.h"

#define PARTS 64u

typedef struct fingerprints {
    uint64_t *values;
    size_t count;
} fingerprints;

static fingerprints make(const char *data, size_t count, uint64_t seed)
{
    bench_dataset set;
    fingerprints made = {.values = bench_alloc(count, sizeof *made.values)};
    uint64_t *scratch = bench_alloc(count, sizeof *scratch);
    bench_dataset_open(&set, data, seed);
    bench_dataset_read(&set, made.values, count);
    bench_dataset_close(&set);
    ss_sort_keys(made.values, scratch, count);
    free(scratch);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || made.values[i] != made.values[made.count - 1])
            made.values[made.count++] = made.values[i];
    return made;
}

static sstore_status read_part(void *context, uint32_t part, uint32_t worker, ss_values_fn on_values, void *sink,
                               sstore_error *error)
{
    const fingerprints *from = context;
    const size_t begin = from->count * part / PARTS, end = from->count * (part + 1) / PARTS;
    (void)worker;
    return on_values(sink, from->values + begin, end - begin, error);
}

static ss_fingerprint_source source_of(fingerprints *from)
{
    return (ss_fingerprint_source){.context = from, .part_count = PARTS, .count = from->count, .read = read_part};
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
    const ss_fingerprint_source from = source_of(left), other = source_of(right);
    sstore_error error = {.status = SSTORE_OK};
    ss_progress progress = {.report = NULL};
    pair_counts found = {bench_alloc(threads, sizeof *found.counts)};
    ss_join_options with = *options;
    uint64_t count = 0;
    with.progress = &progress;
    with.on_pairs = count_pairs;
    with.context = &found;
    if (strcmp(kind, "cross") == 0)
        bench_must(ss_join_cross(&from, &other, &with, &error), &error);
    else if (strcmp(kind, "spanning") == 0)
        bench_must(ss_join_spanning(&from, &with, &error), &error);
    else
        bench_must(ss_join_self(&from, &with, &error), &error);
    for (uint32_t i = 0; i < threads; i++)
        count += found.counts[i][0];
    free(found.counts);
    return count;
}

int main(int argc, char **argv)
{
    uint64_t count = 1000000, distance = 3, threads = 0, memory = (uint64_t)256 << 20, rounds = 3, seed = 1, pairs = 0;
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
                                     .end_share = 1};
    bench_memory_peak_restart();
    const double data_bytes = (double)made_count * sizeof *all.values;
    double *seconds = bench_alloc(rounds + 1, sizeof *seconds);
    for (size_t i = 0; i < rounds; i++) {
        const double begin = bench_now_ns();
        pairs = run(kind, &left, &right, &options);
        seconds[i] = (bench_now_ns() - begin) / 1e9;
    }
    const double after = (double)bench_memory_peak();
    printf("# %zu distinct of %" PRIu64 " fingerprints, seed %" PRIu64 ", median of %" PRIu64 " rounds\n", left.count,
           count, seed, rounds);
    printf("kind      records    k   threads  MiB     seconds  pairs       peak MiB beside the data\n");
    printf("%-8s  %-9" PRIu64 "  %-2" PRIu64 "  %-7" PRIu64 "  %-6" PRIu64 "  %7.3f  %-10" PRIu64 "  %.1f\n", kind,
           count, distance, threads, memory >> 20, bench_median(seconds, rounds), pairs, (after - data_bytes) / 0x1p20);
    free(seconds);
    free(all.values);
    ss_dir_close(&dir);
    return 0;
}

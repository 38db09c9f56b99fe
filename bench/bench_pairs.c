/*
 * bench_pairs.c - how long does it take to find all pairs of near records of a store, or its clusters, or all pairs
 * with the records of another store? From opening to the last callback, including ids; and the peak memory of the
 * process.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sstore_join.h"
#include "support/clock.h"
#include "support/memory_use.h"
#include "support/must.h"
#include "support/parameters.h"
#include "support/samples.h"

typedef struct counts {
    uint64_t reported, largest; /* largest: of the clusters */
} counts;

static int count_pair(void *context, const sstore_pair *pair)
{
    counts *found = context;
    (void)pair;
    found->reported++;
    return 0;
}

static int count_record(void *context, const sstore_cluster_record *record)
{
    counts *found = context;
    found->reported++;
    found->largest = record->cluster_size > found->largest ? record->cluster_size : found->largest;
    return 0;
}

static counts run(const char *kind, char **paths, const sstore_join_options *options)
{
    counts found = {0};
    sstore_error error;
    sstore *store, *other = NULL;
    bench_must(sstore_open(paths[0], NULL, &store, &error), &error);
    if (strcmp(kind, "join") == 0) {
        bench_must(sstore_open(paths[1], NULL, &other, &error), &error);
        bench_must(sstore_join(store, other, options, count_pair, &found, &error), &error);
    } else if (strcmp(kind, "clusters") == 0) {
        const sstore_cluster_options clusters = {.struct_size = sizeof clusters,
                                                 .distance = options->distance,
                                                 .threads = options->threads,
                                                 .memory_bytes = options->memory_bytes,
                                                 .tmp_dir = options->tmp_dir};
        bench_must(sstore_clusters(store, &clusters, count_record, &found, &error), &error);
    } else {
        bench_must(sstore_pairs(store, options, count_pair, &found, &error), &error);
    }
    sstore_close(store);
    sstore_close(other);
    return found;
}

int main(int argc, char **argv)
{
    uint64_t distance = SSTORE_OWN_DISTANCE, threads = 0, memory = (uint64_t)1 << 30, rounds = 5;
    const char *kind = "pairs", *tmp = NULL;
    const bench_parameter parameters[] = {
        {"kind", BENCH_TEXT, &kind, "pairs, clusters or join, which takes a second STORE (pairs)"},
        {"distance", BENCH_COUNT, &distance, "0 to 16 (the store's)"},
        {"memory", BENCH_SIZE, &memory, "what a join may take (1G)"},
        {"threads", BENCH_COUNT, &threads, "to work on; 0: all (0)"},
        {"tmp", BENCH_TEXT, &tmp, "the folder to spill to (TMPDIR or /tmp)"},
        {"rounds", BENCH_COUNT, &rounds, "of which the median counts (5)"},
    };
    const bench_usage usage = {"STORE...", "Time the joins of a store with itself or with another one.", parameters,
                               sizeof parameters / sizeof *parameters};
    const int first = bench_parse(argc, argv, &usage);
    if (strcmp(kind, "join") == 0 && argc - first < 2)
        bench_fail("--kind=join takes two stores");
    sstore_join_options options = SSTORE_JOIN_OPTIONS_INIT;
    options.distance = (uint32_t)distance;
    options.threads = (uint32_t)threads;
    options.memory_bytes = memory;
    options.tmp_dir = tmp;
    double *seconds = bench_alloc(rounds + 1, sizeof *seconds);
    counts found = {0};
    for (size_t i = 0; i < rounds; i++) {
        const double begin = bench_now_ns();
        found = run(kind, argv + first, &options);
        seconds[i] = (bench_now_ns() - begin) / 1e9;
    }
    printf("kind      threads  MiB     seconds  reported     largest cluster  peak MiB\n");
    printf("%-8s  %-7" PRIu64 "  %-6" PRIu64 "  %7.3f  %-11" PRIu64 "  %-15" PRIu64 "  %.1f\n", kind, threads,
           memory >> 20, bench_median(seconds, rounds), found.reported, found.largest,
           (double)bench_memory_peak() / 0x1p20);
    free(seconds);
    return 0;
}

/*
 * bench_pairs.c - how long does it take to find all pairs of near records of a store, or its clusters, or all pairs
 * with the records of another store? From opening to the last row, including ids; and the peak memory of the
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

#define ROWS 1024u /* taken together */

static counts count_pairs(const sstore *left, const sstore *right, const sstore_join_options *options)
{
    static uint64_t fingerprints[ROWS * SSTORE_MAX_WORDS], ids[ROWS], others[ROWS * SSTORE_MAX_WORDS], other_ids[ROWS];
    static uint32_t distances[ROWS];
    const sstore_columns columns = {.struct_size = sizeof columns,
                                    .fingerprint = fingerprints,
                                    .id = ids,
                                    .distance = distances,
                                    .other_fingerprint = others,
                                    .other_id = other_ids};
    counts found = {0};
    sstore_iterator *iterator;
    sstore_error error;
    size_t got = ROWS;
    bench_must(sstore_iterate_pairs(left, right, options, &iterator, &error), &error);
    for (; got == ROWS; found.reported += got)
        bench_must(sstore_iterator_next(iterator, &columns, ROWS, &got, &error), &error);
    sstore_iterator_free(iterator);
    return found;
}

static counts count_clusters(const sstore *store, const sstore_join_options *options)
{
    static uint64_t fingerprints[ROWS * SSTORE_MAX_WORDS], ids[ROWS], sizes[ROWS];
    static uint32_t distances[ROWS];
    const sstore_columns columns = {.struct_size = sizeof columns,
                                    .fingerprint = fingerprints,
                                    .id = ids,
                                    .distance = distances,
                                    .cluster_size = sizes};
    const sstore_cluster_options how = {.struct_size = sizeof how,
                                        .distance = options->distance,
                                        .threads = options->threads,
                                        .memory_bytes = options->memory_bytes,
                                        .tmp_dir = options->tmp_dir};
    counts found = {0};
    sstore_iterator *iterator;
    sstore_error error;
    size_t got = ROWS;
    bench_must(sstore_iterate_clusters(store, &how, &iterator, &error), &error);
    for (; got == ROWS; found.reported += got) {
        bench_must(sstore_iterator_next(iterator, &columns, ROWS, &got, &error), &error);
        for (size_t i = 0; i < got; i++)
            found.largest = sizes[i] > found.largest ? sizes[i] : found.largest;
    }
    sstore_iterator_free(iterator);
    return found;
}

static counts run(const char *kind, char **paths, const sstore_join_options *options)
{
    sstore_error error;
    sstore *store, *other = NULL;
    bench_must(sstore_open(paths[0], NULL, &store, &error), &error);
    if (strcmp(kind, "join") == 0)
        bench_must(sstore_open(paths[1], NULL, &other, &error), &error);
    const counts found = strcmp(kind, "clusters") == 0 ? count_clusters(store, options)
                                                       : count_pairs(store, other, options);
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

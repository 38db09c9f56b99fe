/*
 * bench_batch.c - how long does a batch of queries take, on all processors? Half of the queries are stored
 * fingerprints with up to k bits flipped, half are random.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/clock.h"
#include "support/io_mode.h"
#include "support/memory_use.h"
#include "support/must.h"
#include "support/parameters.h"
#include "support/query_set.h"
#include "support/reader.h"
#include "support/samples.h"

#define ROWS 1024u /* taken together */

/* Hits and misses in turn. */
static uint64_t *mix(const bench_query_set *set)
{
    size_t words = set->words;
    uint64_t *queries = bench_alloc(2 * set->count * words, sizeof *queries);
    for (size_t i = 0; i < set->count; i++) {
        memcpy(queries + 2 * i * words, set->hits + i * words, words * sizeof *queries);
        memcpy(queries + (2 * i + 1) * words, set->misses + i * words, words * sizeof *queries);
    }
    return queries;
}

/* Answer queries. Returns the number of their matches. */
static uint64_t answer(const bench_reader *reader, const uint64_t *queries, size_t count, uint64_t distance,
                       const sstore_batch_options *options)
{
    static uint64_t rows[ROWS * SSTORE_MAX_WORDS], ids[ROWS], query_index[ROWS];
    static uint32_t distances[ROWS];
    const sstore_columns columns = {.struct_size = sizeof columns,
                                    .fingerprint = rows,
                                    .id = ids,
                                    .distance = distances,
                                    .query_index = query_index};
    sstore_iterator *iterator;
    sstore_error error;
    uint64_t matches = 0;
    size_t got = 1;
    bench_must(sstore_iterate_matches(reader->store, queries, count, (uint32_t)distance, options, &iterator, &error),
               &error);
    for (; got > 0; matches += got)
        bench_must(sstore_iterator_next(iterator, &columns, ROWS, &got, &error), &error);
    sstore_iterator_free(iterator);
    return matches;
}

static uint64_t min(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

int main(int argc, char **argv)
{
    uint64_t distance = BENCH_STORE_DISTANCE, count = 1000000, threads = 0, rounds = 3, seed = 1, matches = 0,
             at_once = 0;
    const char *io = "mmap";
    const bench_parameter parameters[] = {
        {"queries", BENCH_COUNT, &count, "in the batch (1M)"},
        {"at-once", BENCH_COUNT, &at_once, "answered by one call; 0: all (0)"},
        {"threads", BENCH_COUNT, &threads, "to work on; 0: all (0)"},
        {"io", BENCH_TEXT, &io, "mmap, pread or memory (mmap)"},
        {"distance", BENCH_COUNT, &distance, "of the queries (the one that the store was built for)"},
        {"rounds", BENCH_COUNT, &rounds, "of which the median counts (3)"},
        {"seed", BENCH_COUNT, &seed, "of the queries (1)"},
    };
    const bench_usage usage = {"STORE", "Time a batch of queries, half of them hits, warm.", parameters,
                               sizeof parameters / sizeof *parameters};
    const char *path = argv[bench_parse(argc, argv, &usage)];
    bench_query_set set = bench_query_set_create(path, distance, (count + 1) / 2, seed);
    bench_reader reader = bench_reader_open(path, bench_io_mode(io));
    uint64_t *queries = mix(&set);
    sstore_batch_options options = SSTORE_BATCH_OPTIONS_INIT;
    options.threads = (uint32_t)threads;
    rounds += rounds == 0;
    at_once = at_once == 0 ? count : at_once;
    double *seconds = bench_alloc(rounds, sizeof *seconds);
    bench_query_set_print(&set);
    printf("# half of the batch of each kind, median of %" PRIu64 " rounds\n", rounds);
    for (size_t i = 0; i <= rounds; i++) { /* the first warms */
        matches = 0;
        double begin = bench_now_ns();
        for (uint64_t first = 0; first < count; first += at_once)
            matches += answer(&reader, queries + first * set.words, min(at_once, count - first), set.distance,
                              &options);
        if (i > 0)
            seconds[i - 1] = (bench_now_ns() - begin) / 1e9;
    }
    double median = bench_median(seconds, rounds);
    printf("queries    io      threads  seconds  us/query  matches     peak MiB\n");
    printf("%-9" PRIu64 "  %-6s  %7" PRIu64 "  %7.3f  %8.3f  %-10" PRIu64 "  %8.1f\n", count, io, threads, median,
           median * 1e6 / (double)count, matches, (double)bench_memory_peak() / 0x1p20);
    free(seconds);
    free(queries);
    bench_reader_close(&reader);
    bench_query_set_free(&set);
    return 0;
}

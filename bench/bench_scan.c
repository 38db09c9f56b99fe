/*
 * bench_scan.c - how fast do fingerprints stream past a batch of queries that is held in memory? Both are random; one
 * record in --near is within the distance of a query.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "sstore.h"
#include "sstore_stream.h"
#include "support/clock.h"
#include "support/memory_use.h"
#include "support/must.h"
#include "support/parameters.h"
#include "support/samples.h"
#include "support/splitmix.h"

#define CHUNK ((size_t)1 << 20) /* as the command feeds them */

static int count_match(void *context, const sstore_stream_match *match)
{
    (void)match;
    ++*(uint64_t *)context;
    return 0;
}

static uint64_t *make_queries(size_t count, uint64_t seed)
{
    uint64_t *queries = bench_alloc(count, sizeof *queries);
    bench_random random = {seed};
    for (size_t i = 0; i < count; i++)
        queries[i] = bench_random_next(&random);
    return queries;
}

static uint64_t *make_records(const uint64_t *queries, size_t query_count, uint64_t near, uint64_t distance,
                              uint64_t seed)
{
    uint64_t *records = bench_alloc(CHUNK, sizeof *records);
    bench_random random = {seed};
    for (size_t i = 0; i < CHUNK; i++)
        records[i] = near == 0 || bench_random_below(&random, near) > 0
                         ? bench_random_next(&random)
                         : queries[bench_random_below(&random, query_count)] ^
                               bench_random_flips(&random, bench_random_below(&random, distance + 1));
    return records;
}

int main(int argc, char **argv)
{
    uint64_t count = 1000000, records = 8000000, distance = 3, near = 100, threads = 1, rounds = 5, seed = 1;
    const bench_parameter parameters[] = {
        {"queries", BENCH_COUNT, &count, "in the batch (1M)"},
        {"records", BENCH_COUNT, &records, "that stream past, about: whole chunks of 2^20 (8M)"},
        {"distance", BENCH_COUNT, &distance, "0 to 16 (3)"},
        {"near", BENCH_COUNT, &near, "one record in so many is near a query; 0: none is made so (100)"},
        {"threads", BENCH_COUNT, &threads, "to work on; 0: all (1)"},
        {"rounds", BENCH_COUNT, &rounds, "of which the median counts (5)"},
        {"seed", BENCH_COUNT, &seed, "of queries and records (1)"},
    };
    const bench_usage usage = {"", "Time a scan of random fingerprints.", parameters,
                               sizeof parameters / sizeof *parameters};
    bench_parse(argc, argv, &usage);
    sstore_error error;
    sstore_stream_options options = SSTORE_STREAM_OPTIONS_INIT;
    sstore_stream_matcher *matcher;
    options.distance = (uint32_t)distance;
    options.threads = (uint32_t)threads;
    uint64_t matches = 0, chunks = (records + CHUNK - 1) / CHUNK;
    rounds += rounds == 0;
    double *seconds = bench_alloc(rounds, sizeof *seconds);
    uint64_t *queries = make_queries(count, seed);
    uint64_t *chunk = make_records(queries, count, near, distance, seed + 1);
    double begin = bench_now_ns();
    bench_must(sstore_stream_matcher_create(queries, count, &options, &matcher, &error), &error);
    double create_ns = bench_now_ns() - begin;
    printf("# one record in %" PRIu64 " near a query, median of %" PRIu64 " rounds\n", near, rounds);
    for (uint64_t i = 0; i <= rounds; i++) { /* the first warms */
        matches = 0;
        begin = bench_now_ns();
        for (uint64_t j = 0; j < chunks; j++)
            bench_must(sstore_stream_matcher_feed(matcher, chunk, NULL, CHUNK, count_match, &matches, &error), &error);
        if (i > 0)
            seconds[i - 1] = (bench_now_ns() - begin) / 1e9;
    }
    double median = bench_median(seconds, rounds), fed = (double)(chunks * CHUNK);
    printf("queries    distance  threads  create ms  ns/record  M records/s  matches     peak MiB\n");
    printf("%-9" PRIu64 "  %8" PRIu64 "  %7" PRIu64 "  %9.1f  %9.1f  %11.2f  %-10" PRIu64 "  %8.1f\n", count, distance,
           threads, create_ns / 1e6, median * 1e9 / fed, fed / median / 1e6, matches,
           (double)bench_memory_peak() / 0x1p20);
    sstore_stream_matcher_free(matcher);
    free(chunk);
    free(queries);
    free(seconds);
    return 0;
}

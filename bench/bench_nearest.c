/*
 * bench_nearest.c - how long does it take to find the n nearest records, warm, on one thread? Beside it, in the same
 * run: all records at the smallest distance, as 'sstore query --nearest' finds them. For stored fingerprints with up to
 * k bits flipped (hits) and for random ones (misses).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/clock.h"
#include "support/io_mode.h"
#include "support/must.h"
#include "support/parameters.h"
#include "support/query_set.h"
#include "support/reader.h"
#include "support/samples.h"

/* What is asked. */
typedef struct question {
    bench_reader reader;
    const bench_query_set *set;
    sstore_columns columns;
    uint64_t wanted; /* 0: all at the smallest distance */
} question;

static void ask(const question *self, const uint64_t *fingerprint)
{
    const uint32_t bits = (uint32_t)(64 * self->set->words);
    uint64_t count = 0, all = 0;
    sstore_error error;
    bench_must(sstore_query_nearest(self->reader.cursor, fingerprint, bits, &self->columns,
                                    self->wanted > 0 ? self->wanted : 1, &count, &error),
               &error);
    if (self->wanted == 0 && count > 0)
        bench_reader_query(&self->reader, fingerprint, self->columns.distance[0], bench_count_match, &all);
}

/* The median time of a query in microseconds. */
static double time_queries(const question *self, const uint64_t *queries, size_t rounds)
{
    double *us = bench_alloc(rounds, sizeof *us);
    for (size_t round = 0; round < rounds; round++) {
        const double begin = bench_now_ns();
        for (size_t i = 0; i < self->set->count; i++)
            ask(self, queries + self->set->words * i);
        us[round] = (bench_now_ns() - begin) / 1e3 / (double)self->set->count;
    }
    const double median = bench_median(us, rounds);
    free(us);
    return median;
}

int main(int argc, char **argv)
{
    uint64_t count = 200, rounds = 5, seed = 1;
    const char *io = "mmap";
    const bench_parameter parameters[] = {
        {"io", BENCH_TEXT, &io, "pread, mmap or memory (mmap)"},
        {"queries", BENCH_COUNT, &count, "hits, and as many misses (200)"},
        {"rounds", BENCH_COUNT, &rounds, "of which the median counts (5)"},
        {"seed", BENCH_COUNT, &seed, "of the queries (1)"},
    };
    const bench_usage usage = {"STORE", "Time searches for the n nearest records, warm, on one thread.", parameters,
                               sizeof parameters / sizeof *parameters};
    static const uint64_t wanted[] = {0, 1, 10, 100};
    const char *store = argv[bench_parse(argc, argv, &usage)];
    bench_query_set set = bench_query_set_create(store, BENCH_STORE_DISTANCE, count, seed);
    uint32_t distances[100];
    question asked = {.reader = bench_reader_open(store, bench_io_mode(io)),
                      .set = &set,
                      .columns = SSTORE_COLUMNS_INIT};
    asked.columns.distance = distances;
    bench_query_set_print(&set);
    printf("wanted        hits us   misses us  over 'nearest'\n");
    double first = 0;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        asked.wanted = wanted[i];
        const double hits = time_queries(&asked, set.hits, rounds > 0 ? rounds : 1);
        const double misses = time_queries(&asked, set.misses, rounds > 0 ? rounds : 1);
        first = i == 0 ? misses : first;
        if (wanted[i] == 0)
            printf("nearest  ");
        else
            printf("%-9" PRIu64, wanted[i]);
        printf("  %10.2f  %10.2f  %14.2f\n", hits, misses, misses / first);
    }
    bench_reader_close(&asked.reader);
    bench_query_set_free(&set);
    return 0;
}

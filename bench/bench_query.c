/*
 * bench_query.c - how long does one query take, warm, on one thread, and how much memory does the reader take? On
 * stored fingerprints with up to k bits flipped (hits) and on random ones (misses). Each read mode gets a separate
 * process, so that time and memory are of the same run.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/clock.h"
#include "support/io_mode.h"
#include "support/memory_use.h"
#include "support/must.h"
#include "support/parameters.h"
#include "support/query_set.h"
#include "support/reader.h"
#include "support/samples.h"

#define MIB 0x1p20

/* Run all `queries` once; the time of one of them in microseconds. */
static double time_round(const bench_reader *reader, const bench_query_set *set, const uint64_t *queries,
                         uint64_t *match_count_out)
{
    *match_count_out = 0;
    double begin = bench_now_ns();
    for (size_t i = 0; i < set->count; i++)
        bench_reader_query(reader, queries + set->words * i, set->distance, bench_count_match, match_count_out);
    return (bench_now_ns() - begin) / 1e3 / (double)set->count;
}

static void print_row(const bench_query_set *set, sstore_io io, double hits_us, uint64_t hit_matches, double misses_us,
                      uint64_t miss_matches)
{
    bench_memory memory = bench_memory_now();
    double records = (double)set->facts->record_count;
    printf("%-6s  %7.2f  %11" PRIu64 "  %9.2f  %14" PRIu64 "  %10.2f  %7.2f  %7.2f  %9.2f  %12.3f  %11.2f\n",
           bench_io_name(io), hits_us, hit_matches, misses_us, miss_matches, (double)memory.total_bytes / MIB,
           (double)memory.anonymous_bytes / MIB, (double)memory.file_bytes / MIB, (double)memory.memfd_bytes / MIB,
           (double)memory.total_bytes / records, (double)set->facts->total_bytes / records);
}

/* Hits and misses take turns: what disturbs the machine for a while disturbs both. */
static void measure(const bench_query_set *set, sstore_io io, size_t rounds)
{
    double *hits_us = bench_alloc(rounds, sizeof *hits_us), *misses_us = bench_alloc(rounds, sizeof *misses_us);
    uint64_t hit_matches, miss_matches;
    bench_reader reader = bench_reader_open(set->store, io);
    (void)time_round(&reader, set, set->hits, &hit_matches); /* warms the page cache and the processor's */
    (void)time_round(&reader, set, set->misses, &miss_matches);
    for (size_t i = 0; i < rounds; i++) {
        hits_us[i] = time_round(&reader, set, set->hits, &hit_matches);
        misses_us[i] = time_round(&reader, set, set->misses, &miss_matches);
    }
    print_row(set, io, bench_median(hits_us, rounds), hit_matches, bench_median(misses_us, rounds), miss_matches);
    bench_reader_close(&reader);
    free(hits_us);
    free(misses_us);
}

static void measure_in_child(const bench_query_set *set, sstore_io io, size_t rounds)
{
    int status;
    fflush(stdout);
    pid_t child = fork();
    bench_must_do(child >= 0, "fork", NULL);
    if (child == 0) {
        measure(set, io, rounds);
        fflush(stdout);
        _exit(0);
    }
    bench_must_do(waitpid(child, &status, 0) == child, "waiting for a child", NULL);
    if (status != 0)
        bench_fail("measuring in the mode %s failed", bench_io_name(io));
}

int main(int argc, char **argv)
{
    uint64_t distance = BENCH_STORE_DISTANCE, count = 100000, rounds = 5, seed = 1;
    const char *io = "all";
    const bench_parameter parameters[] = {
        {"io", BENCH_TEXT, &io, "pread, mmap, memory or all, each in a process of its own (all)"},
        {"distance", BENCH_COUNT, &distance, "of the queries (the one that the store was built for)"},
        {"queries", BENCH_COUNT, &count, "hits, and as many misses (100K)"},
        {"rounds", BENCH_COUNT, &rounds, "of which the median counts (5)"},
        {"seed", BENCH_COUNT, &seed, "of the queries (1)"},
    };
    const bench_usage usage = {"STORE", "Time single queries, warm, on one thread, and count the reader's memory.",
                               parameters, sizeof parameters / sizeof *parameters};
    const char *store = argv[bench_parse(argc, argv, &usage)];
    bool all = strcmp(io, "all") == 0;
    sstore_io only = all ? SSTORE_IO_PREAD : bench_io_mode(io);
    bench_query_set set = bench_query_set_create(store, distance, count, seed);
    bench_query_set_print(&set);
    printf("# median of %" PRIu64 " rounds; memory = RssAnon + RssFile + the directory's memfd, after the queries\n",
           rounds);
    printf("io      hits us  hit matches  misses us  miss matches    memory MiB  anon MiB  file MiB  memfd MiB  "
           "memory B/rec  store B/rec\n");
    for (int mode = SSTORE_IO_PREAD; mode < BENCH_IO_MODES; mode++)
        if (all || mode == (int)only)
            measure_in_child(&set, (sstore_io)mode, rounds > 0 ? rounds : 1);
    bench_query_set_free(&set);
    return 0;
}

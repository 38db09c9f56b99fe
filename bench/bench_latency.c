/*
 * bench_latency.c - how long do single queries take, each by itself: the median, the slowest of a hundred and of a
 * thousand; from the cache as it is, or after all blocks were dropped from it, once, before the first query. On stored
 * fingerprints with up to k bits flipped (hits) and on random ones (misses).
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
#include "support/store_files.h"

#define EXPLAINED 1000u /* queries whose blocks are counted */

typedef struct bench {
    bench_query_set set;
    sstore_io io;
    bool drop;
} bench;

static int count_blocks(void *context, const sstore_table_explanation *table)
{
    *(uint64_t *)context += table->block_count;
    return 0;
}

/* Blocks of tables that a query reads, on average. */
static double blocks_of(const bench *self, const bench_reader *reader, const uint64_t *queries)
{
    sstore_error error;
    uint64_t blocks = 0;
    size_t count = self->set.count < EXPLAINED ? self->set.count : EXPLAINED;
    for (size_t i = 0; i < count; i++)
        bench_must(sstore_explain(reader->cursor, queries + reader->words * i, self->set.distance, count_blocks,
                                  &blocks, &error),
                   &error);
    return (double)blocks / (double)count;
}

static void measure(const bench *self, const char *kind, const uint64_t *queries)
{
    const bench_query_set *set = &self->set;
    double *us = bench_alloc(set->count, sizeof *us);
    uint64_t matches = 0;
    bench_reader reader = bench_reader_open(set->store, self->io);
    if (self->drop) {
        bench_store_files files = bench_store_files_open(set->store, reader.store);
        bench_store_files_drop(&files);
        bench_store_files_close(&files);
    }
    uint64_t disk_before = bench_disk_bytes();
    for (size_t i = 0; i < set->count; i++) {
        double begin = bench_now_ns();
        bench_reader_query(&reader, queries + set->words * i, set->distance, bench_count_match, &matches);
        us[i] = (bench_now_ns() - begin) / 1e3;
    }
    double disk = (double)(bench_disk_bytes() - disk_before) / (double)set->count / 1024;
    bench_memory memory = bench_memory_now();
    double mean = bench_mean(us, set->count), median = bench_median(us, set->count); /* which sorts them */
    printf("%-6s  %-5s  %-6s  %8.1f  %8.1f  %8.1f  %8.1f  %9" PRIu64 "  %6.1f  %8.1f  %10.2f\n", kind,
           self->drop ? "drop" : "as is", bench_io_name(self->io), median, us[set->count * 99 / 100],
           us[set->count * 999 / 1000], mean, matches, blocks_of(self, &reader, queries), disk,
           (double)memory.total_bytes / 0x1p20);
    bench_reader_close(&reader);
    free(us);
}

int main(int argc, char **argv)
{
    uint64_t distance = BENCH_STORE_DISTANCE, count = 10000, seed = 1;
    const char *io = "mmap", *cache = "as-is";
    const bench_parameter parameters[] = {
        {"io", BENCH_TEXT, &io, "mmap, pread or memory (mmap)"},
        {"cache", BENCH_TEXT, &cache, "as-is, or drop: all blocks are dropped before the first query (as-is)"},
        {"distance", BENCH_COUNT, &distance, "of the queries (the one that the store was built for)"},
        {"queries", BENCH_COUNT, &count, "hits, and as many misses (10K)"},
        {"seed", BENCH_COUNT, &seed, "of the queries (1)"},
    };
    const bench_usage usage = {"STORE", "Time queries one by one on one thread: median and slowest.", parameters,
                               sizeof parameters / sizeof *parameters};
    const char *store = argv[bench_parse(argc, argv, &usage)];
    bench self = {.io = bench_io_mode(io), .drop = strcmp(cache, "drop") == 0};
    self.set = bench_query_set_create(store, distance, count, seed);
    bench_query_set_print(&self.set);
    printf("# memory = RssAnon + RssFile + the directory's memfd, after the queries; blocks: of tables, a query\n");
    printf("kind    cache  io        p50 us    p99 us  p99.9 us   mean us    matches  blocks  disk KiB  memory MiB\n");
    measure(&self, "misses", self.set.misses);
    measure(&self, "hits", self.set.hits);
    bench_query_set_free(&self.set);
    return 0;
}

/*
 * bench_cold.c - how long does a query take when none of its blocks is in the page cache, and how long do the same
 * numbers of reads in the same waves take alone? Before each query, and before each bare loop, all blocks are dropped
 * from the cache. A query's reads are those that sstore_explain() counts, one wave; then, for a match that was found
 * through another table than the first, a block of the first; then one of the id column. The bare loop reads random
 * blocks of the same files, so that it finds no block that the disk or the host has cached for the query.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/bare_reads.h"
#include "support/clock.h"
#include "support/io_mode.h"
#include "support/memory_use.h"
#include "support/must.h"
#include "support/parameters.h"
#include "support/query_set.h"
#include "support/reader.h"
#include "support/samples.h"
#include "support/splitmix.h"
#include "support/store_files.h"

#define WAVES 3
#define MAX_READS 65536u /* of a query, in a wave */

/* What a query read: how many blocks of each file in each wave. */
typedef struct read_plan {
    uint64_t *counts[WAVES]; /* each has an entry for each block file */
    uint64_t total;
} read_plan;

typedef struct measured {
    double *us;
    double reads, disk_bytes; /* totals */
} measured;

typedef struct bench {
    bench_query_set set;
    bench_reader reader;
    bench_store_files files;
    bench_bare *bare;
    read_plan plan;
    bench_read *reads;
    bench_random random;
    measured query, bares[BENCH_WAYS];
} bench;

/* ----- the reads of a query ----- */

static int note_table(void *context, const sstore_table_explanation *table)
{
    bench *self = context;
    self->plan.counts[0][table->table] = table->block_count;
    if (table->table > 0)
        self->plan.counts[1][0] += table->hit_count;
    return 0;
}

/* The ids of a fingerprint come consecutively. */
typedef struct findings {
    uint64_t matches, distinct, last;
} findings;

static int note_match(void *context, const sstore_match *match)
{
    findings *self = context;
    self->distinct += self->matches++ == 0 || *match->fingerprint != self->last;
    self->last = *match->fingerprint;
    return 0;
}

/* Limit a count to `max`, and return the rest of `max`. */
static uint64_t limit(uint64_t *count, uint64_t max)
{
    *count = *count < max ? *count : max;
    return max - *count;
}

/*
 * The reads of a query, of which `disk_blocks` came from the disk. Matches in the same block read it once, so the
 * kernel's count bounds the reads of the later waves.
 */
static void explain(bench *self, uint64_t query, const findings *found, uint64_t disk_blocks)
{
    sstore_error error;
    read_plan *plan = &self->plan;
    for (int wave = 0; wave < WAVES; wave++)
        for (size_t i = 0; i < self->files.count; i++)
            plan->counts[wave][i] = 0;
    bench_must(sstore_explain(self->reader.cursor, &query, self->set.distance, note_table, self, &error), &error);
    plan->total = 0;
    for (size_t i = 0; i < self->set.facts->table_count; i++)
        plan->total += plan->counts[0][i];
    if (self->set.facts->has_ids)
        plan->counts[2][self->files.count - 1] = found->distinct;
    else
        plan->counts[1][0] = 0; /* ranks are needed for ids only */
    if (disk_blocks > 0) {
        uint64_t left = disk_blocks > plan->total ? disk_blocks - plan->total : 0;
        left = limit(&plan->counts[2][self->files.count - 1], left);
        (void)limit(&plan->counts[1][0], left);
    }
    plan->total += plan->counts[1][0] + plan->counts[2][self->files.count - 1];
}

/* ----- the two sides ----- */

static void time_query(bench *self, size_t index, uint64_t query)
{
    sstore_error error;
    findings found = {0, 0, 0};
    bench_store_files_drop(&self->files);
    uint64_t disk_before = bench_disk_bytes();
    double begin = bench_now_ns();
    bench_must(sstore_query(self->reader.cursor, &query, self->set.distance, note_match, &found, &error), &error);
    self->query.us[index] = (bench_now_ns() - begin) / 1e3;
    uint64_t disk_bytes = bench_disk_bytes() - disk_before;
    explain(self, query, &found, disk_bytes / self->files.block_bytes);
    self->query.disk_bytes += (double)disk_bytes;
    self->query.reads += (double)self->plan.total;
}

/* Random blocks of the files that the query read in this wave. */
static size_t choose_blocks(bench *self, int wave)
{
    size_t count = 0;
    for (size_t i = 0; i < self->files.count; i++) {
        const bench_block_file *file = &self->files.files[i];
        for (uint64_t j = 0; j < self->plan.counts[wave][i]; j++) {
            if (count == MAX_READS)
                bench_fail("a query reads more than %u blocks: it scans, and there is no wave to compare with",
                           MAX_READS);
            uint64_t number = bench_random_below(&self->random, file->block_count);
            self->reads[count++] = (bench_read){file->fd, file->first_offset + number * self->files.block_bytes};
        }
    }
    return count;
}

static void time_bare(bench *self, size_t index, bench_way way)
{
    measured *bare = &self->bares[way];
    double ns = 0;
    bench_store_files_drop(&self->files);
    uint64_t disk_before = bench_disk_bytes();
    for (int wave = 0; wave < WAVES; wave++) {
        size_t count = choose_blocks(self, wave);
        double begin = bench_now_ns();
        bench_bare_wave(self->bare, way, self->reads, count);
        ns += bench_now_ns() - begin;
    }
    bare->us[index] = ns / 1e3;
    bare->disk_bytes += (double)(bench_disk_bytes() - disk_before);
    bare->reads += (double)self->plan.total;
}

static void measure(bench *self, const uint64_t *queries)
{
    self->query.reads = self->query.disk_bytes = 0;
    for (int way = 0; way < BENCH_WAYS; way++)
        self->bares[way].reads = self->bares[way].disk_bytes = 0;
    for (size_t i = 0; i < self->set.count; i++) {
        time_query(self, i, queries[i]);
        for (int way = 0; way < BENCH_WAYS; way++)
            if (bench_bare_can(self->bare, (bench_way)way))
                time_bare(self, i, (bench_way)way);
    }
}

/* ----- the report ----- */

static void print_side(const bench *self, const char *kind, const char *name, const measured *side, double query_median,
                       double query_mean)
{
    size_t count = self->set.count;
    double mean = bench_mean(side->us, count), median = bench_median(side->us, count), queries = (double)count;
    printf("%-6s  %-13s  %9.1f  %7.1f  %12.2f  %17.2f  %17.2f  %15.2f\n", kind, name, median, mean,
           side->reads / queries, side->disk_bytes / (double)self->files.block_bytes / queries, query_median / median,
           query_mean / mean);
}

static void report(const bench *self, const char *kind)
{
    double mean = bench_mean(self->query.us, self->set.count), median = bench_median(self->query.us, self->set.count);
    print_side(self, kind, "sstore_query", &self->query, median, mean);
    for (int way = 0; way < BENCH_WAYS; way++) {
        char name[32];
        snprintf(name, sizeof name, "bare %s", bench_way_name((bench_way)way));
        if (bench_bare_can(self->bare, (bench_way)way))
            print_side(self, kind, name, &self->bares[way], median, mean);
    }
    if (self->query.disk_bytes <= 0)
        printf("# nothing was read from a disk: this kernel does not count it, or the blocks cannot be dropped here\n");
}

/* ----- setting up ----- */

static bench *bench_create(const char *path, sstore_io io, uint64_t distance, uint64_t count, uint64_t width,
                           uint64_t seed)
{
    bench *self = bench_alloc(1, sizeof *self);
    self->set = bench_query_set_create(path, distance, count, seed);
    self->reader = bench_reader_open(path, io);
    if (self->reader.words > 1)
        bench_fail("%s has fingerprints of %zu bits: this benchmark knows the reads of those of 64 alone", path,
                   64 * self->reader.words);
    self->files = bench_store_files_open(path, self->reader.store);
    self->bare = bench_bare_create(self->files.block_bytes, width);
    self->random = (bench_random){seed};
    self->reads = bench_alloc(MAX_READS, sizeof *self->reads);
    for (int wave = 0; wave < WAVES; wave++)
        self->plan.counts[wave] = bench_alloc(self->files.count, sizeof *self->plan.counts[wave]);
    self->query.us = bench_alloc(count, sizeof *self->query.us);
    for (int way = 0; way < BENCH_WAYS; way++)
        self->bares[way].us = bench_alloc(count, sizeof *self->bares[way].us);
    return self;
}

static void bench_free(bench *self)
{
    for (int way = 0; way < BENCH_WAYS; way++)
        free(self->bares[way].us);
    free(self->query.us);
    for (int wave = 0; wave < WAVES; wave++)
        free(self->plan.counts[wave]);
    free(self->reads);
    bench_bare_free(self->bare);
    bench_store_files_close(&self->files);
    bench_reader_close(&self->reader);
    bench_query_set_free(&self->set);
    free(self);
}

int main(int argc, char **argv)
{
    uint64_t distance = BENCH_STORE_DISTANCE, count = 500, width = 64, seed = 1;
    const char *io = "pread";
    const bench_parameter parameters[] = {
        {"queries", BENCH_COUNT, &count, "hits, and as many misses (500)"},
        {"io", BENCH_TEXT, &io, "pread or mmap (pread)"},
        {"width", BENCH_COUNT, &width, "the most reads that the bare loop issues side by side; 1: none (64)"},
        {"distance", BENCH_COUNT, &distance, "of the queries (the one that the store was built for)"},
        {"seed", BENCH_COUNT, &seed, "of queries and blocks (1)"},
    };
    const bench_usage usage = {"STORE", "Time queries with no block in the page cache, beside the same reads alone.",
                               parameters, sizeof parameters / sizeof *parameters};
    const char *path = argv[bench_parse(argc, argv, &usage)];
    sstore_io mode = bench_io_mode(io);
    if (mode == SSTORE_IO_MEMORY)
        bench_fail("in the mode memory nothing is read from a disk");
    bench *self = bench_create(path, mode, distance, count, width > 0 ? width : 1, seed);
    bench_query_set_print(&self->set);
    printf("# %s; page cache dropped before each query and each bare loop; at most %" PRIu64 " reads side by side\n",
           io, width);
    printf("kind    side           median us  mean us  blocks/query  from disk, blocks  sstore/it, median  sstore/it, "
           "mean\n");
    measure(self, self->set.hits);
    report(self, "hits");
    measure(self, self->set.misses);
    report(self, "misses");
    bench_free(self);
    return 0;
}

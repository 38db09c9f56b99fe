/*
 * bench_query.c - how long does one query take, warm, on one thread? On stored fingerprints with up to k bits flipped (hits)
 * and on random ones (misses), in each way of reading.
 *
 *   bench_query STORE [DISTANCE [QUERIES [SEED]]]     defaults: the store's k, 100000 queries, seed 1
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "sstore.h"

#define REPEATS 5 /* the median counts */

static uint64_t random_state;

/* splitmix64 */
static uint64_t random_next(void)
{
    uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static double now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void must(sstore_status status, const sstore_error *error)
{
    if (status == SSTORE_OK || status == SSTORE_STOPPED)
        return;
    fprintf(stderr, "bench_query: %s\n", error->message);
    exit(1);
}

/* Every stride-th fingerprint of the store. */
typedef struct sample {
    uint64_t *fingerprints;
    size_t count, capacity;
    uint64_t seen, stride;
} sample;

static int take_sample(void *context, const sstore_record *record)
{
    sample *self = context;
    if (self->seen++ % self->stride == 0)
        self->fingerprints[self->count++] = record->fingerprint;
    return self->count == self->capacity;
}

static void make_queries(sstore *store, uint32_t distance, uint64_t *hits, uint64_t *misses, size_t count)
{
    sstore_error error;
    sstore_cursor *cursor;
    sstore_statistics facts = {.struct_size = sizeof facts};
    must(sstore_stat(store, &facts, &error), &error);
    must(sstore_cursor_create(store, &cursor, &error), &error);
    sample taken = {.fingerprints = hits, .capacity = count, .stride = facts.record_count / count};
    taken.stride += taken.stride == 0;
    must(sstore_each_record(cursor, take_sample, &taken, &error), &error);
    sstore_cursor_free(cursor);
    for (size_t i = 0; i < count; i++) {
        misses[i] = random_next();
        if (i >= taken.count)
            hits[i] = hits[random_next() % taken.count];
        for (uint64_t flips = random_next() % (distance + 1); flips > 0; flips--)
            hits[i] ^= UINT64_C(1) << random_next() % 64;
    }
    for (size_t i = count; i > 1; i--) { /* stored order would be too easy on the caches */
        size_t other = random_next() % i;
        uint64_t swapped = hits[i - 1];
        hits[i - 1] = hits[other];
        hits[other] = swapped;
    }
}

static int count_match(void *context, const sstore_match *match)
{
    (void)match;
    ++*(uint64_t *)context;
    return 0;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double time_queries(sstore_cursor *cursor, uint32_t distance, const uint64_t *queries, size_t count,
                           uint64_t *matches_out)
{
    double times[REPEATS];
    sstore_error error;
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        *matches_out = 0;
        double begin = now_us();
        for (size_t i = 0; i < count; i++)
            must(sstore_query(cursor, queries[i], distance, count_match, matches_out, &error), &error);
        times[repeat] = (now_us() - begin) / (double)count;
    }
    qsort(times, REPEATS, sizeof *times, compare_doubles);
    return times[REPEATS / 2];
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"pread", "mmap", "memory"};
    if (argc < 2) {
        fprintf(stderr, "usage: bench_query STORE [DISTANCE [QUERIES [SEED]]]\n");
        return 2;
    }
    sstore_error error;
    size_t count = argc > 3 ? strtoull(argv[3], NULL, 10) : 100000;
    random_state = argc > 4 ? strtoull(argv[4], NULL, 10) : 1;
    uint64_t *hits = malloc(count * sizeof *hits), *misses = malloc(count * sizeof *misses);
    for (int io = SSTORE_IO_PREAD; io <= SSTORE_IO_MEMORY; io++) {
        sstore_open_options options = SSTORE_OPEN_OPTIONS_INIT;
        sstore_statistics facts = {.struct_size = sizeof facts};
        sstore *store;
        sstore_cursor *cursor;
        options.io = (sstore_io)io;
        must(sstore_open(argv[1], &options, &store, &error), &error);
        must(sstore_stat(store, &facts, &error), &error);
        uint32_t distance = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : facts.distance;
        if (io == SSTORE_IO_PREAD) {
            make_queries(store, distance, hits, misses, count);
            printf("%s: %" PRIu64 " records, plan %s, %.1f bytes a record; %zu queries at %" PRIu32 ", seed %s\n",
                   argv[1], facts.record_count, facts.plan, (double)facts.total_bytes / (double)facts.record_count,
                   count, distance, argc > 4 ? argv[4] : "1");
        }
        must(sstore_cursor_create(store, &cursor, &error), &error);
        uint64_t hit_matches, miss_matches;
        double hit_us = time_queries(cursor, distance, hits, count, &hit_matches);
        double miss_us = time_queries(cursor, distance, misses, count, &miss_matches);
        printf("%-6s  hits %7.2f us (%" PRIu64 " matches)  misses %7.2f us (%" PRIu64 " matches)\n", names[io], hit_us,
               hit_matches, miss_us, miss_matches);
        sstore_cursor_free(cursor);
        sstore_close(store);
    }
    free(hits);
    free(misses);
    return 0;
}

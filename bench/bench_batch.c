/*
 * bench_batch.c - how long does a batch of queries take, on all processors? Half of the queries are random, half are stored
 * fingerprints with up to k bits flipped.
 *
 *   bench_batch STORE [QUERIES [THREADS [IO [SEED]]]]     defaults: 1000000 queries, all threads, pread, seed 1
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sstore.h"

#define REPEATS 3

static uint64_t random_state;

/* splitmix64 */
static uint64_t random_next(void)
{
    uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void must(sstore_status status, const sstore_error *error)
{
    if (status == SSTORE_OK || status == SSTORE_STOPPED)
        return;
    fprintf(stderr, "bench_batch: %s\n", error->message);
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

static void make_queries(const sstore *store, const sstore_statistics *facts, uint64_t *queries, size_t count)
{
    sstore_error error;
    sstore_cursor *cursor;
    sample taken = {.fingerprints = queries, .capacity = count / 2 + 1};
    taken.stride = facts->record_count / taken.capacity + 1;
    must(sstore_cursor_create(store, &cursor, &error), &error);
    must(sstore_each_record(cursor, take_sample, &taken, &error), &error);
    sstore_cursor_free(cursor);
    for (size_t i = 0; i < count; i++) {
        if (i >= taken.count)
            queries[i] = random_next();
        else
            for (uint64_t flips = random_next() % (facts->distance + 1); flips > 0; flips--)
                queries[i] ^= UINT64_C(1) << random_next() % 64;
    }
    for (size_t i = count; i > 1; i--) {
        size_t other = random_next() % i;
        uint64_t swapped = queries[i - 1];
        queries[i - 1] = queries[other];
        queries[other] = swapped;
    }
}

static int count_match(void *context, const sstore_match *match)
{
    (void)match;
    ++*(uint64_t *)context;
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: bench_batch STORE [QUERIES [THREADS [pread|mmap|memory [SEED]]]]\n");
        return 2;
    }
    sstore_error error;
    sstore_open_options options = SSTORE_OPEN_OPTIONS_INIT;
    sstore_statistics facts = {.struct_size = sizeof facts};
    sstore *store;
    size_t count = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000000;
    uint32_t threads = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 0;
    const char *io = argc > 4 ? argv[4] : "pread";
    options.io = strcmp(io, "mmap") == 0 ? SSTORE_IO_MMAP : strcmp(io, "memory") == 0 ? SSTORE_IO_MEMORY : SSTORE_IO_PREAD;
    random_state = argc > 5 ? strtoull(argv[5], NULL, 10) : 1;
    must(sstore_open(argv[1], &options, &store, &error), &error);
    must(sstore_stat(store, &facts, &error), &error);
    uint64_t *queries = malloc(count * sizeof *queries);
    make_queries(store, &facts, queries, count);
    printf("%s: %" PRIu64 " records, plan %s; %zu queries at %" PRIu32 ", %s\n", argv[1], facts.record_count, facts.plan,
           count, facts.distance, io);
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        uint64_t matches = 0;
        double begin = now_s();
        must(sstore_query_batch(store, queries, count, facts.distance, threads, count_match, &matches, &error), &error);
        double seconds = now_s() - begin;
        printf("%.3f s, %.3f us a query, %" PRIu64 " matches\n", seconds, seconds * 1e6 / (double)count, matches);
    }
    free(queries);
    sstore_close(store);
    return 0;
}

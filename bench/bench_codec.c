/*
 * bench_codec.c - how fast and how small are blocks? Encodes sorted fingerprints at the density of a large table, few enough
 * to stay in the L2 cache, and times full decoding and searching. It measures internals, so it links the objects.
 *
 *   bench_codec [density [blocks [seed]]]     defaults: 10000000 fingerprints in 2^64, 64 blocks, seed 1
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "codec/block.h"

#define REPEATS 9 /* the median counts */
#define SEEKS 200000u

static uint64_t random_state;

/* splitmix64 */
static uint64_t random_next(void)
{
    uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double times[REPEATS])
{
    qsort(times, REPEATS, sizeof *times, compare_doubles);
    return times[REPEATS / 2];
}

/* Ascending, with the gaps that uniform data of that density have. */
static void make_values(uint64_t *values, size_t count, double density)
{
    double mean_gap = ldexp(1.0, 64) / density;
    uint64_t value = random_next() >> 8;
    for (size_t i = 0; i < count; i++) {
        double uniform = (double)(random_next() >> 11) * 0x1p-53;
        value += 1 + (uint64_t)(-mean_gap * log1p(-uniform));
        values[i] = value;
    }
}

typedef struct table {
    ss_geometry geometry;
    ss_code *code;
    uint8_t *bytes;
    size_t block_count, count;
    uint64_t *firsts;
} table;

/* Encode values until the blocks are full. */
static table encode(const uint64_t *values, size_t value_count, size_t block_count, ss_geometry geometry)
{
    table made = {.geometry = geometry, .code = malloc(sizeof(ss_code))};
    uint64_t counts[SS_SYMBOL_COUNT] = {0};
    uint8_t lengths[SS_SYMBOL_COUNT];
    for (size_t i = 1; i < value_count; i++)
        counts[ss_first_difference(values[i - 1], values[i])]++;
    ss_huffman_lengths(counts, lengths);
    ss_code_init(made.code, lengths);
    made.bytes = calloc(block_count + 1, geometry.block_bytes);
    ss_block_encoder *encoder = ss_block_encoder_create(geometry, made.code);
    size_t next = 0;
    for (; made.block_count < block_count && next < value_count; made.block_count++) {
        while (next < value_count && ss_block_encoder_add(encoder, values[next]))
            next++;
        made.count = next;
        ss_block_encoder_finish(encoder, made.bytes + made.block_count * geometry.block_bytes);
    }
    ss_block_encoder_free(encoder);
    return made;
}

static double time_decode(const table *from, uint64_t *out)
{
    double times[REPEATS];
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        double begin = now_ns();
        size_t done = 0;
        for (int round = 0; round < 20; round++, done += from->count)
            for (size_t i = 0; i < from->block_count; i++) {
                ss_block block;
                const char *reason;
                const uint8_t *bytes = from->bytes + i * from->geometry.block_bytes;
                if (!ss_block_open(&block, bytes, from->geometry, from->code, &reason) || !ss_block_decode(&block, out))
                    abort();
            }
        times[repeat] = (now_ns() - begin) / (double)done;
    }
    return median(times);
}

/* Seek values that are there, in random blocks: the search without look-up and cache misses. */
static double time_seek(const table *in, const uint64_t *values)
{
    double times[REPEATS];
    uint64_t found = 0;
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        double begin = now_ns();
        for (uint32_t i = 0; i < SEEKS; i++) {
            ss_block block;
            ss_position position;
            const char *reason;
            uint64_t target = values[random_next() % in->count];
            size_t low = 0, high = in->block_count;
            while (high - low > 1) {
                size_t middle = (low + high) / 2;
                if (in->firsts[middle] <= target)
                    low = middle;
                else
                    high = middle;
            }
            if (!ss_block_open(&block, in->bytes + low * in->geometry.block_bytes, in->geometry, in->code, &reason) ||
                ss_block_seek(&block, target, &position) != SS_SEEK_AT || position.value != target)
                abort();
            found += position.index;
        }
        times[repeat] = (now_ns() - begin) / SEEKS;
    }
    return found == 0 ? 0 : median(times);
}

static double bound_bits(const uint64_t *values, size_t count)
{
    double counts[SS_SYMBOL_COUNT] = {0}, bits = 0;
    for (size_t i = 1; i < count; i++)
        counts[ss_first_difference(values[i - 1], values[i])]++;
    for (int h = 0; h < (int)SS_SYMBOL_COUNT; h++)
        if (counts[h] > 0)
            bits += counts[h] * (log2((double)(count - 1) / counts[h]) + 63 - h);
    return bits / (double)(count - 1);
}

int main(int argc, char **argv)
{
    double density = argc > 1 ? atof(argv[1]) : 1e7;
    size_t bytes = (argc > 2 ? strtoull(argv[2], NULL, 10) : 64) * 4096;
    uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
    static const ss_geometry shapes[] = {{512, 64}, {1024, 64}, {1024, 65535}, {4096, 32}, {4096, 64}, {4096, 128},
                                         {8192, 64}, {16384, 64}, {16384, 128}, {65536, 128}};
    random_state = seed;
    size_t capacity = bytes / 2;
    uint64_t *values = malloc(capacity * sizeof *values), *out = malloc(SS_BLOCK_MAX_COUNT * sizeof *out);
    make_values(values, capacity, density);
    printf("density %.0f, %zu bytes of blocks, seed %" PRIu64 "\n", density, bytes, seed);
    printf("block  restart  bits/fp  over bound  decode ns/fp  M fp/s  seek ns\n");
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        table made = encode(values, capacity, bytes / shapes[i].block_bytes, shapes[i]);
        made.firsts = malloc(made.block_count * sizeof *made.firsts);
        for (size_t j = 0, at = 0; j < made.block_count; j++) {
            ss_block block;
            const char *reason;
            (void)ss_block_open(&block, made.bytes + j * made.geometry.block_bytes, made.geometry, made.code, &reason);
            made.firsts[j] = values[at];
            at += block.count;
        }
        double directory_bits = 64.0 * (double)made.block_count;
        double bits = (8.0 * (double)(made.block_count * shapes[i].block_bytes) + directory_bits) / (double)made.count;
        double decode = time_decode(&made, out);
        printf("%5" PRIu32 "  %7" PRIu32 "  %7.2f  %8.2f %%  %12.2f  %6.0f  %7.1f\n", shapes[i].block_bytes,
               shapes[i].restart_interval, bits, 100 * (bits / bound_bits(values, made.count) - 1), decode, 1e3 / decode,
               time_seek(&made, values));
        free(made.firsts);
        free(made.bytes);
        free(made.code);
    }
    free(values);
    free(out);
    return 0;
}

/*
 * bench_codec.c - how fast and how small are blocks? Encodes sorted fingerprints at the density of a large table, few
 * enough to stay in the L2 cache, and times full decoding and searching. It measures internals, so it links the
 * objects.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "codec/block.h"
#include "support/clock.h"
#include "support/parameters.h"
#include "support/samples.h"
#include "support/splitmix.h"

#define REPEATS 9 /* the median counts */
#define FINDS 200000u

static bench_random randomness;

/* Ascending, with the gaps that uniform data of that density have. */
static void make_values(uint64_t *values, size_t count, double density)
{
    double mean_gap = ldexp(1.0, 64) / density;
    uint64_t value = bench_random_next(&randomness) >> 8;
    for (size_t i = 0; i < count; i++) {
        double uniform = (double)(bench_random_next(&randomness) >> 11) * 0x1p-53;
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
    uint8_t *step_bits = malloc(value_count);
    ss_step_bits(made.code, values, value_count, step_bits);
    for (; made.block_count < block_count && made.count < value_count; made.block_count++) {
        const uint64_t *first = values + made.count;
        uint32_t fitting = ss_block_fit(geometry, first, step_bits + made.count, value_count - made.count);
        ss_block_encode(geometry, made.code, first, step_bits + made.count, fitting,
                        made.bytes + made.block_count * geometry.block_bytes);
        made.count += fitting;
    }
    free(step_bits);
    return made;
}

static double time_decode(const table *from, uint64_t *out)
{
    double times[REPEATS];
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        double begin = bench_now_ns();
        size_t done = 0;
        for (int round = 0; round < 20; round++, done += from->count)
            for (size_t i = 0; i < from->block_count; i++) {
                ss_block block;
                const char *reason;
                const uint8_t *bytes = from->bytes + i * from->geometry.block_bytes;
                if (!ss_block_open(&block, bytes, from->geometry, from->code, &reason) || !ss_block_decode(&block, out))
                    abort();
            }
        times[repeat] = (bench_now_ns() - begin) / (double)done;
    }
    return bench_median(times, REPEATS);
}

/* The block that a value is in. */
static ss_block find_block(const table *in, uint64_t value)
{
    ss_block block;
    const char *reason;
    size_t low = 0, high = in->block_count;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (in->firsts[middle] <= value)
            low = middle;
        else
            high = middle;
    }
    if (!ss_block_open(&block, in->bytes + low * in->geometry.block_bytes, in->geometry, in->code, &reason))
        abort();
    return block;
}

/* Find the groups of values that are there, and decode SS_LANES of them together, as queries do: the search without cache
 * misses, a value. */
static double time_find(const table *in, const uint64_t *values, uint64_t *out)
{
    double times[REPEATS];
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        double begin = bench_now_ns();
        for (uint32_t i = 0; i < FINDS; i += SS_LANES) {
            ss_block blocks[SS_LANES];
            ss_group groups[SS_LANES];
            for (uint32_t lane = 0; lane < SS_LANES; lane++) {
                uint64_t target = values[bench_random_next(&randomness) % in->count];
                uint32_t last;
                blocks[lane] = find_block(in, target);
                groups[lane].block = &blocks[lane];
                ss_block_find_groups(&blocks[lane], target, target, &groups[lane].number, &last);
            }
            if (ss_block_decode_lanes(groups, SS_LANES, out) != SS_LANES)
                abort();
        }
        times[repeat] = (bench_now_ns() - begin) / FINDS;
    }
    return bench_median(times, REPEATS);
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
    uint64_t density = 10000000, blocks = 64, seed = 1;
    const bench_parameter parameters[] = {
        {"density", BENCH_COUNT, &density, "how many fingerprints there would be in all of 2^64 (10M)"},
        {"blocks", BENCH_COUNT, &blocks,
         "of 4096 bytes to encode and decode, 16 or more; other sizes get as many bytes (64)"},
        {"seed", BENCH_COUNT, &seed, "of the fingerprints (1)"},
    };
    const bench_usage usage = {"", "Time decoding and searching of blocks of several shapes, on uniform data.",
                               parameters, sizeof parameters / sizeof *parameters};
    (void)bench_parse(argc, argv, &usage);
    blocks = blocks < 16 ? 16 : blocks; /* as much as one of the largest takes */
    size_t bytes = blocks * 4096;
    static const ss_geometry shapes[] = {{1024, 32},  {1024, 64}, {1024, 65535}, {4096, 16},   {4096, 32},  {4096, 64},
                                         {4096, 128}, {8192, 32}, {16384, 64},   {16384, 128}, {65536, 128}};
    randomness.state = seed;
    size_t capacity = bytes / 2;
    uint64_t *values = malloc(capacity * sizeof *values), *out = malloc(SS_LANES * SS_BLOCK_MAX_COUNT * sizeof *out);
    make_values(values, capacity, (double)density);
    printf("# density %" PRIu64 ", %zu bytes of blocks, seed %" PRIu64 "; median of %d rounds\n", density, bytes, seed,
           REPEATS);
    printf("block  restart  bits/fp  over bound %%  decode ns/fp  M fp/s  find ns\n");
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        table made = encode(values, capacity, bytes / shapes[i].block_bytes, shapes[i]);
        /* NOLINTNEXTLINE(clang-analyzer-optin.portability.UnixAPI): nothing is kept of no blocks */
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
        printf("%5" PRIu32 "  %7" PRIu32 "  %7.2f  %12.2f  %12.2f  %6.0f  %7.1f\n", shapes[i].block_bytes,
               shapes[i].restart_interval, bits, 100 * (bits / bound_bits(values, made.count) - 1), decode,
               1e3 / decode, time_find(&made, values, out));
        free(made.firsts);
        free(made.bytes);
        free(made.code);
    }
    free(values);
    free(out);
    return 0;
}

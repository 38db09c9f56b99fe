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
    uint32_t block_bytes;
    ss_code *code;
    uint8_t *bytes; /* of the blocks, one after the other */
    size_t block_count, count;
    double entropy; /* bits a fingerprint: of the symbols, suffixes and the column */
} table;

/* How many neighbours have each symbol. */
static void count_symbols(const uint64_t *values, size_t count, uint64_t counts[SS_SYMBOL_COUNT])
{
    for (size_t i = 1; i < count; i++)
        counts[ss_symbol_of(ss_first_difference(values[i - 1], values[i]))]++;
}

static double entropy_bits(const uint64_t counts[SS_SYMBOL_COUNT], size_t count)
{
    double bits = 0;
    for (uint32_t h = 0; h < SS_SYMBOL_COUNT; h++)
        if (counts[h] > 0)
            bits += (double)counts[h] * (log2((double)(count - 1) / (double)counts[h]) + ss_suffix_bits(h));
    return SS_COLUMN_BITS + bits / (double)(count - 1);
}

/* Encode values until the blocks are full. */
static table encode(const uint64_t *values, size_t value_count, size_t block_count, uint32_t block_bytes)
{
    table made = {.block_bytes = block_bytes, .code = malloc(sizeof(ss_code))};
    uint64_t counts[SS_SYMBOL_COUNT] = {0};
    uint8_t lengths[SS_SYMBOL_COUNT];
    count_symbols(values, value_count, counts);
    ss_huffman_lengths(counts, lengths);
    ss_code_init(made.code, lengths);
    made.entropy = entropy_bits(counts, value_count);
    made.bytes = aligned_alloc(4096, ((block_count + 1) * block_bytes + 4095) & ~(size_t)4095);
    uint8_t *step_bits = malloc(value_count);
    ss_step_bits(made.code, values, value_count, step_bits);
    for (; made.block_count < block_count && made.count < value_count; made.block_count++) {
        const uint64_t *first = values + made.count;
        uint32_t fitting = ss_block_fit(block_bytes, first, step_bits + made.count, value_count - made.count);
        ss_block_encode(block_bytes, made.code, first, step_bits + made.count, fitting,
                        made.bytes + made.block_count * block_bytes);
        made.count += fitting;
    }
    free(step_bits);
    return made;
}

static ss_block open_block(const table *in, size_t number)
{
    ss_block block;
    const char *reason;
    if (!ss_block_open(&block, in->bytes + number * in->block_bytes, in->block_bytes, in->code, &reason))
        abort();
    return block;
}

/* Nanoseconds a fingerprint. */
static double time_decode(const table *from, uint64_t *out)
{
    double times[REPEATS];
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        double begin = bench_now_ns();
        size_t done = 0;
        for (int round = 0; round < 20; round++, done += from->count)
            for (size_t i = 0; i < from->block_count; i++) {
                const ss_block block = open_block(from, i);
                if (!ss_block_decode(&block, out))
                    abort();
            }
        times[repeat] = (bench_now_ns() - begin) / (double)done;
    }
    return bench_median(times, REPEATS);
}

/* Compare all lower halves with one that has few near ones. Nanoseconds a fingerprint. */
static double time_test(const table *in, uint32_t distance)
{
    double times[REPEATS];
    uint64_t found = 0;
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        double begin = bench_now_ns();
        size_t done = 0;
        for (int round = 0; round < 20; round++, done += in->count) {
            const uint32_t lower = (uint32_t)bench_random_next(&randomness);
            for (size_t i = 0; i < in->block_count; i++) {
                const ss_block block = open_block(in, i);
                uint64_t which;
                for (uint32_t group = 0; group < block.group_count; group++) {
                    group = ss_block_find_lower(&block, group, block.group_count, lower, distance, &which);
                    found += group < block.group_count;
                }
            }
        }
        times[repeat] = (bench_now_ns() - begin) / (double)done;
    }
    if (found > 20 * REPEATS * in->count)
        abort();
    return bench_median(times, REPEATS);
}

/* Open a block, find the groups of a stored fingerprint, and the fingerprint in them: the search without cache
 * misses. */
static double time_find(const table *in, const uint64_t *values)
{
    double times[REPEATS];
    /* NOLINTNEXTLINE(clang-analyzer-optin.portability.UnixAPI): nothing is kept of no blocks */
    size_t *firsts = malloc(in->block_count * sizeof *firsts);
    for (size_t i = 0, at = 0; i < in->block_count; i++) {
        firsts[i] = at;
        at += open_block(in, i).count;
    }
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        double begin = bench_now_ns();
        for (uint32_t i = 0; i < FINDS; i++) {
            const size_t number = bench_random_next(&randomness) % in->block_count;
            const ss_block block = open_block(in, number);
            ss_near near = {.query = values[firsts[number] + bench_random_next(&randomness) % block.count]};
            ss_block_find_groups(&block, ss_upper(near.query), ss_upper(near.query), &near.group, &near.end);
            near.end++;
            if (!ss_block_find_near(&block, &near) || near.group == near.end)
                abort();
        }
        times[repeat] = (bench_now_ns() - begin) / FINDS;
    }
    free(firsts);
    return bench_median(times, REPEATS);
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
    const bench_usage usage = {"", "Time decoding and searching of blocks of several sizes, on uniform data.",
                               parameters, sizeof parameters / sizeof *parameters};
    (void)bench_parse(argc, argv, &usage);
    blocks = blocks < 16 ? 16 : blocks; /* as much as one of the largest takes */
    const size_t bytes = blocks * 4096, capacity = bytes / 4;
    static const uint32_t sizes[] = {256, 1024, 4096, 8192, 16384, 65536};
    randomness.state = seed;
    uint64_t *values = malloc(capacity * sizeof *values), *out = malloc(SS_BLOCK_MAX_BYTES * sizeof *out);
    make_values(values, capacity, (double)density);
    printf("# density %" PRIu64 ", %zu bytes of blocks, seed %" PRIu64 "; median of %d rounds\n", density, bytes, seed,
           REPEATS);
    printf("# over entropy: of blocks and directory, over the entropy of the symbols, suffixes and the column\n");
    printf("block  bits/fp  over entropy %%  decode ns/fp  M fp/s  test k=3 ns/fp  test k=8 ns/fp  find ns\n");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        table made = encode(values, capacity, bytes / sizes[i], sizes[i]);
        double bits = (8.0 * sizes[i] + 64) * (double)made.block_count / (double)made.count;
        double decode = time_decode(&made, out);
        printf("%5" PRIu32 "  %7.2f  %14.2f  %12.2f  %6.0f  %14.3f  %14.3f  %7.1f\n", sizes[i], bits,
               100 * (bits / made.entropy - 1), decode, 1e3 / decode, time_test(&made, 3), time_test(&made, 8),
               time_find(&made, values));
        free(made.bytes);
        free(made.code);
    }
    free(values);
    free(out);
    return 0;
}

/*
 * test_block.c - the block codec: what is encoded is decoded and found again, by every form and by a slow reader of the format,
 * and no bytes whatever lead outside the block.
 */
#include "codec/block.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "support/data.h"
#include "support/guard.h"
#include "support/random.h"
#include "support/slow_block.h"
#include "support/testing.h"

#define SMALLEST_SHIFT 8
#define SIZE_COUNT 9 /* 256 to 65536 */
#define MOST_VALUES 12000
#define CANARY UINT64_C(0xc0ffee00c0ffee00)

static uint64_t run_seed;
static const uint32_t intervals[] = {1, 2, 3, 32, 128, 129, 65535}; /* 128: the most that is decoded side by side */
#define INTERVAL_COUNT (sizeof intervals / sizeof *intervals)

/* ----- what the tests share ----- */

/* Distinct ascending fingerprints and the code made from them, as for a table. */
typedef struct table {
    uint64_t *values;
    size_t count;
    ss_code code;
} table;

static int compare_values(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* Take over `values`, in any order and with repeats. */
static void table_init(table *made, uint64_t *values, size_t count)
{
    uint64_t counts[SS_SYMBOL_COUNT] = {0};
    uint8_t lengths[SS_SYMBOL_COUNT];
    qsort(values, count, sizeof *values, compare_values);
    made->values = values;
    made->count = count > 0;
    for (size_t i = 1; i < count; i++) {
        if (values[i] == values[i - 1])
            continue;
        counts[ss_first_difference(values[i - 1], values[i])]++;
        values[made->count++] = values[i];
    }
    ss_huffman_lengths(counts, lengths);
    ss_code_init(&made->code, lengths);
}

static void table_make(table *made, rng *random, data_kind kind, size_t count)
{
    data_set set;
    data_make(random, kind, DATA_NO_IDS, count, false, &set);
    uint64_t *values = malloc(count * sizeof *values);
    memcpy(values, set.fingerprints, count * sizeof *values);
    data_free(&set);
    table_init(made, values, count);
}

static void table_free(table *made)
{
    free(made->values);
}

/* Encode as many as one block takes, from values[first] on, with noise for a trailer. Returns how many. */
static uint32_t encode(const table *from, size_t first, ss_geometry geometry, uint8_t *to)
{
    ss_block_encoder *encoder = ss_block_encoder_create(geometry, &from->code);
    uint32_t count = 0;
    assert_non_null(encoder);
    while (first + count < from->count && ss_block_encoder_add(encoder, from->values[first + count]))
        count++;
    assert_int_equal(ss_block_encoder_count(encoder), count);
    assert_int_equal(ss_block_encoder_last(encoder), from->values[first + count - 1]);
    ss_block_encoder_finish(encoder, to);
    assert_int_equal(ss_block_encoder_count(encoder), 0);
    memset(to + geometry.block_bytes - SS_BLOCK_TRAILER_BYTES, 0xee, SS_BLOCK_TRAILER_BYTES);
    ss_block_encoder_free(encoder);
    return count;
}

/* The smallest key shift of a block of `count` values: that of its last group's first one. */
static uint32_t needed_key_shift(const uint64_t *values, size_t count, uint32_t interval)
{
    return slow_key_shift(values[(count - 1) / interval * interval] - values[0]);
}

/* The bits of a block of `count` values without its trailer, by the format. */
static uint64_t needed_bits(const table *from, size_t first, size_t count, ss_geometry geometry)
{
    const uint64_t *values = from->values + first, others = (count - 1) / geometry.restart_interval;
    uint64_t bits = 8 * 12 + others * (32u + (geometry.block_bytes <= 8192 ? 16 : 32));
    bits += others * needed_key_shift(values, count, geometry.restart_interval);
    for (size_t i = 0; i < count; i++) {
        if (i % geometry.restart_interval == 0)
            continue;
        uint32_t h = (uint32_t)__builtin_clzll(values[i] ^ values[i - 1]);
        bits += from->code.lengths[h] + 63 - h;
    }
    return bits;
}

/* ----- ways to decode ----- */

/* Leaves all lanes out, so that every group is decoded alone. */
static uint32_t decode_no_lanes(const ss_lookup *lookup, const ss_lane *lanes, uint32_t count)
{
    (void)lookup;
    (void)lanes;
    return (1u << count) - 1;
}

/* The block as its code would be with other functions. */
typedef struct variant {
    ss_code code;
    ss_block block;
} variant;

static const ss_block *use_lanes(variant *made, const ss_block *block, ss_lanes_fn decode_lanes)
{
    made->code = *block->code;
    made->code.decode_lanes = decode_lanes;
    made->block = *block;
    made->block.code = &made->code;
    return &made->block;
}

/* The forms that a block is decoded by: the best one here, without vectors, and no group beside another. */
#define WAYS 3u

static const ss_block *way_of(const ss_block *block, uint32_t way)
{
    static variant portable, alone;
    if (way == 0)
        return block;
    return way == 1 ? use_lanes(&portable, block, ss_lanes_portable) : use_lanes(&alone, block, decode_no_lanes);
}

/* The number of fingerprints in `groups` groups. */
static uint32_t count_of(const ss_block *block, uint32_t first_group, uint32_t groups)
{
    const uint32_t first = first_group * block->restart_interval;
    return first_group + groups == block->group_count ? block->count - first : groups * block->restart_interval;
}

/* ----- round trips ----- */

/* Some groups alone, to exactly as much room. */
static void check_decode_groups(const ss_block *block, const uint64_t *values, uint32_t first_group, uint32_t groups)
{
    const uint32_t first = first_group * block->restart_interval, wanted = count_of(block, first_group, groups);
    uint64_t *out = malloc(wanted * sizeof *out);
    uint32_t count = 0;
    assert_true(ss_block_decode_groups(block, first_group, groups, out, &count));
    assert_int_equal(count, wanted);
    assert_memory_equal(out, values + first, count * sizeof *out);
    free(out);
}

static void check_slowly(const ss_block *block, ss_geometry geometry, const uint64_t *values, uint64_t *out)
{
    slow_code slow;
    slow_code_init(&slow, block->code->lengths);
    assert_true(slow_block_opens(block->bytes, geometry.block_bytes, geometry.restart_interval));
    assert_true(slow_block_decode(block->bytes, geometry.block_bytes, geometry.restart_interval, &slow, out));
    assert_memory_equal(out, values, block->count * sizeof *out);
}

static void check_decode(const ss_block *block, ss_geometry geometry, const uint64_t *values, rng *random)
{
    const size_t bytes = block->count * sizeof(uint64_t);
    uint64_t *out = malloc(bytes); /* exactly as long: a sanitizer sees any more written */
    check_slowly(block, geometry, values, out);
    for (uint32_t way = 0; way < WAYS; way++) {
        memset(out, 0, bytes);
        assert_true(ss_block_decode(way_of(block, way), out));
        assert_memory_equal(out, values, bytes);
    }
    memset(out, 0, bytes);
    assert_true(ss_block_decode_strictly(block, out));
    assert_memory_equal(out, values, bytes);
    free(out);
    for (uint32_t group = 0; group < block->group_count; group++)
        check_decode_groups(block, values, group, 1);
    for (uint32_t i = 0; i < 8; i++) {
        const uint32_t group = (uint32_t)rng_below(random, block->group_count), left = block->group_count - group;
        const uint32_t groups = (uint32_t)rng_between(random, 1, left < 12 ? left : 12);
        check_decode_groups(way_of(block, i % 2), values, group, groups);
    }
}

/* The index of the first value that is not below the target. */
static uint32_t lower_bound(const uint64_t *values, uint32_t count, uint64_t target)
{
    uint32_t low = 0;
    while (count > 0) {
        const uint32_t half = count / 2;
        const bool below = values[low + half] < target;
        low = below ? low + half + 1 : low;
        count = below ? count - half - 1 : half;
    }
    return low;
}

/* What a fingerprint's key would be, as far as keys go. */
static uint64_t key_of(const ss_block *block, const uint64_t *values, uint64_t fingerprint)
{
    const uint32_t shift = needed_key_shift(values, block->count, block->restart_interval);
    const uint64_t key = fingerprint <= values[0] ? 0 : (fingerprint - values[0]) >> shift;
    return key <= UINT32_MAX ? key : UINT32_MAX;
}

/* The last group whose first value is not above the fingerprint, or group 0: where it is if it is in the block. */
static uint32_t group_of(const ss_block *block, const uint64_t *values, uint64_t fingerprint)
{
    const uint32_t up_to = lower_bound(values, block->count, fingerprint);
    const bool is_there = up_to < block->count && values[up_to] == fingerprint;
    return up_to == 0 ? 0 : (up_to - (is_there ? 0 : 1)) / block->restart_interval;
}

/* All of low..high must lie in the groups found. Others may be among them only if no key tells them from those. */
static void check_find(const ss_block *block, const uint64_t *values, uint64_t low, uint64_t high)
{
    uint32_t first = UINT32_MAX, last = UINT32_MAX;
    const uint32_t interval = block->restart_interval;
    const uint32_t low_group = group_of(block, values, low), high_group = group_of(block, values, high);
    ss_block_find_groups(block, low, high, &first, &last);
    assert_true(first <= last && last < block->group_count);
    const uint32_t begin = lower_bound(values, block->count, low);
    uint32_t end = lower_bound(values, block->count, high);
    end += end < block->count && values[end] == high;
    if (begin < end) {
        assert_true(first <= begin / interval);
        assert_true(last >= (end - 1) / interval);
    }
    assert_true(first <= low_group && last >= high_group);
    for (uint32_t group = first + 1; group <= low_group; group++)
        assert_int_equal(key_of(block, values, values[group * interval]), key_of(block, values, low));
    for (uint32_t group = high_group + 1; group <= last; group++)
        assert_int_equal(key_of(block, values, values[group * interval]), key_of(block, values, high));
}

/* A fingerprint as a search could have for a bound: one of the block's, mostly where groups meet, and what is near it. */
static uint64_t make_bound(const ss_block *block, const uint64_t *values, rng *random)
{
    uint32_t index = (uint32_t)rng_below(random, block->count);
    if (rng_one_in(random, 2))
        index -= index % block->restart_interval;
    const uint64_t near = values[index];
    switch (rng_below(random, 8)) {
    case 0: return near + 1;
    case 1: return near - 1;
    case 2: return rng_flip(random, near, 1);
    case 3: return rng_next(random);
    case 4: return near + (UINT64_C(1) << block->key_shift); /* the next key */
    case 5: return near - (UINT64_C(1) << block->key_shift);
    default: return near;
    }
}

static void check_finds(const ss_block *block, const uint64_t *values, rng *random)
{
    const uint64_t first = values[0], last = values[block->count - 1];
    check_find(block, values, 0, UINT64_MAX);
    check_find(block, values, 0, 0);
    check_find(block, values, UINT64_MAX, UINT64_MAX);
    check_find(block, values, first, last);
    check_find(block, values, first, first);
    check_find(block, values, last, last);
    check_find(block, values, 0, first == 0 ? 0 : first - 1);
    check_find(block, values, last == UINT64_MAX ? last : last + 1, UINT64_MAX);
    for (uint32_t i = 0; i < 40; i++) {
        const uint64_t a = make_bound(block, values, random), b = make_bound(block, values, random);
        check_find(block, values, a < b ? a : b, a < b ? b : a);
        check_find(block, values, a, a);
        /* As a probe does: a prefix, then zeros, to the prefix, then ones. */
        const uint64_t others = ss_low_mask((uint32_t)rng_below(random, 64));
        check_find(block, values, a & ~others, a | others);
    }
}

/* Encode all values of a table and read every block, between forbidden pages. Returns the number of blocks. */
static size_t check_table(const table *all, ss_geometry geometry, rng *random)
{
    guarded memory = guard_make(geometry.block_bytes);
    uint8_t *bytes = malloc(geometry.block_bytes);
    size_t blocks = 0;
    for (size_t first = 0; first < all->count; blocks++) {
        ss_block block;
        const char *reason = NULL;
        const uint32_t count = encode(all, first, geometry, bytes);
        assert_true(needed_bits(all, first, count, geometry) <= ss_block_end_bit(geometry));
        if (first + count < all->count && count < SS_BLOCK_MAX_COUNT) /* it stopped because it had to */
            assert_true(needed_bits(all, first, count + 1, geometry) > ss_block_end_bit(geometry));
        const uint8_t *placed = blocks % 2 == 0 ? guard_before_end(&memory, bytes) : guard_after_begin(&memory, bytes);
        const uint64_t *values = all->values + first;
        assert_true(ss_block_open(&block, placed, geometry, &all->code, &reason));
        assert_int_equal(block.count, count);
        assert_int_equal(block.first, values[0]);
        assert_int_equal(block.key_shift, needed_key_shift(values, count, geometry.restart_interval));
        check_decode(&block, geometry, values, random);
        check_finds(&block, values, random);
        first += count;
    }
    free(bytes);
    guard_free(&memory);
    return blocks;
}

/* About two or three blocks each, but no more values than make the test slow. */
static size_t fitting_count(rng *random, uint32_t block_bytes)
{
    size_t most = (size_t)block_bytes / 2;
    return rng_between(random, 1, most < MOST_VALUES ? most : MOST_VALUES);
}

static void test_round_trip(void **state)
{
    (void)state;
    rng random;
    rng_init(&random, run_seed);
    for (uint32_t i = 0; i < DATA_KIND_COUNT * SIZE_COUNT * INTERVAL_COUNT; i++) {
        const data_kind kind = (data_kind)(i % DATA_KIND_COUNT);
        const ss_geometry geometry = {.block_bytes = 1u << (SMALLEST_SHIFT + i / DATA_KIND_COUNT % SIZE_COUNT),
                                      .restart_interval = intervals[i / DATA_KIND_COUNT / SIZE_COUNT]};
        table all;
        table_make(&all, &random, kind, fitting_count(&random, geometry.block_bytes));
        testing_doing("%zu %s fingerprints, blocks of %u bytes, a restart every %u", all.count, data_kind_name(kind),
                      geometry.block_bytes, geometry.restart_interval);
        check_table(&all, geometry, &random);
        table_free(&all);
    }
    testing_done();
}

/* Consecutive numbers: the block is full by its count before it is by its bits. */
static void test_fullest_block(void **state)
{
    (void)state;
    rng random;
    rng_init(&random, run_seed + 1);
    const size_t count = SS_BLOCK_MAX_COUNT + 100;
    for (uint32_t interval = 32; interval <= SS_BLOCK_MAX_COUNT; interval += SS_BLOCK_MAX_COUNT - 32) {
        const ss_geometry geometry = {.block_bytes = 65536, .restart_interval = interval};
        uint64_t *values = malloc(count * sizeof *values);
        uint8_t *bytes = malloc(geometry.block_bytes);
        table all;
        for (size_t i = 0; i < count; i++)
            values[i] = UINT64_MAX - count + 1 + i; /* up to 2^64-1 */
        testing_doing("consecutive numbers, a restart every %u", interval);
        table_init(&all, values, count);
        assert_int_equal(encode(&all, 0, geometry, bytes), SS_BLOCK_MAX_COUNT);
        assert_int_equal(check_table(&all, geometry, &random), 2);
        free(bytes);
        table_free(&all);
    }
    testing_done();
}

/* Sets of so few that they are written out. */
static void test_smallest_blocks(void **state)
{
    (void)state;
    static const struct {
        size_t count;
        uint64_t values[4];
    } sets[] = {
        {1, {0}},
        {1, {UINT64_MAX}},
        {1, {0x123456789abcdef0}},
        {2, {0, UINT64_MAX}},
        {2, {0, 1}},
        {2, {UINT64_MAX - 1, UINT64_MAX}},
        {2, {0x7fffffffffffffff, 0x8000000000000000}},
        {3, {0, 1, UINT64_MAX}},
        {4, {0, 1, 2, 3}},
        {4, {0, 0x8000000000000000, 0xc000000000000000, 0xe000000000000000}},
    };
    rng random;
    rng_init(&random, run_seed + 2);
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        for (size_t j = 0; j < INTERVAL_COUNT * SIZE_COUNT; j++) {
            const ss_geometry geometry = {.block_bytes = 1u << (SMALLEST_SHIFT + j % SIZE_COUNT),
                                          .restart_interval = intervals[j / SIZE_COUNT]};
            uint64_t *values = malloc(sizeof sets[i].values);
            table all;
            memcpy(values, sets[i].values, sizeof sets[i].values);
            testing_doing("set %zu, blocks of %u bytes, a restart every %u", i, geometry.block_bytes,
                          geometry.restart_interval);
            table_init(&all, values, sets[i].count);
            assert_int_equal(check_table(&all, geometry, &random), 1);
            table_free(&all);
        }
    }
    testing_done();
}

/* Runs of dense values, far from the block's first: then many groups have one key, and the bits behind it are all. */
static void test_equal_keys(void **state)
{
    (void)state;
    rng random;
    rng_init(&random, run_seed + 8);
    for (uint32_t i = 0; i < 60; i++) {
        const ss_geometry geometry = {.block_bytes = 256u << i % 8,
                                      .restart_interval = (uint32_t)rng_between(&random, 1, 9)};
        const size_t count = rng_between(&random, 2, geometry.block_bytes / 2);
        const uint64_t runs = rng_between(&random, 1, 4), far = UINT64_C(1) << rng_between(&random, 31, 63);
        uint64_t *values = malloc(count * sizeof *values);
        table all;
        values[0] = rng_below(&random, 1 << 20);
        for (size_t j = 1; j < count; j++)
            values[j] = j % (count / runs + 1) == 1 ? values[0] + far + rng_below(&random, far / 2)
                                                    : values[j - 1] + (UINT64_C(1) << rng_below(&random, 3));
        testing_doing("%zu values in %" PRIu64 " runs at least %" PRIx64
                      " from the first, blocks of %u bytes, a restart every %u",
                      count, runs, far, geometry.block_bytes, geometry.restart_interval);
        table_init(&all, values, count);
        check_table(&all, geometry, &random);
        table_free(&all);
    }
    testing_done();
}

/* Three groups of one, whose distances need 32, 33 and 64 bits. */
static void test_key_shifts(void **state)
{
    (void)state;
    static const struct {
        uint64_t last;
        uint32_t key_shift;
    } cases[] = {
        {2, 0},          {UINT32_MAX, 0}, {UINT64_C(1) << 32, 1}, {(UINT64_C(1) << 33) - 1, 1}, {UINT64_C(1) << 33, 2},
        {INT64_MAX, 31}, {UINT64_MAX, 32}};
    rng random;
    rng_init(&random, run_seed + 9);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const ss_geometry geometry = {.block_bytes = 256, .restart_interval = 1};
        uint64_t *values = malloc(3 * sizeof *values);
        uint8_t bytes[256];
        table all;
        values[0] = 0;
        values[1] = 1;
        values[2] = cases[i].last;
        testing_doing("a distance of %" PRIx64, cases[i].last);
        table_init(&all, values, 3);
        assert_int_equal(encode(&all, 0, geometry, bytes), 3);
        assert_int_equal(bytes[2], cases[i].key_shift);
        assert_int_equal(check_table(&all, geometry, &random), 1);
        table_free(&all);
    }
    testing_done();
}

/* The encoder makes the same bytes of the same values, whatever it made and the buffer held before. */
static void test_encoder_starts_afresh(void **state)
{
    (void)state;
    rng random;
    table all;
    const ss_geometry geometry = {.block_bytes = 512, .restart_interval = 3};
    uint8_t first[512], second[512];
    rng_init(&random, run_seed + 3);
    table_make(&all, &random, DATA_UNIFORM, 40);
    for (size_t count = 1; count <= 7; count++) {
        ss_block_encoder *encoder = ss_block_encoder_create(geometry, &all.code);
        for (size_t i = 0; i < count; i++)
            assert_true(ss_block_encoder_add(encoder, all.values[30 + i]));
        memset(first, 0xff, sizeof first);
        ss_block_encoder_finish(encoder, first);
        for (size_t i = 0; i < 20; i++) /* more groups, and farther from the first: another key shift */
            assert_true(ss_block_encoder_add(encoder, all.values[i]));
        ss_block_encoder_finish(encoder, second);
        for (size_t i = 0; i < count; i++)
            assert_true(ss_block_encoder_add(encoder, all.values[30 + i]));
        ss_block_encoder_finish(encoder, second);
        assert_memory_equal(first, second, sizeof first);
        ss_block_encoder_free(encoder);
    }
    ss_block_encoder_free(NULL);
    table_free(&all);
}

/*
 * The example that articles about the paper give, in ascending order: 11011001, then 11011011. They first differ at
 * h = 6, and the rest is 1. Here they are the top 8 bits, so that 56 zeros follow: the rest is 57 bits, first a 1.
 */
static void test_example_of_the_articles(void **state)
{
    (void)state;
    uint64_t *values = malloc(2 * sizeof *values);
    const ss_geometry geometry = {.block_bytes = 256, .restart_interval = 64};
    uint8_t bytes[256], expected[256] = {0};
    table pair;
    values[0] = UINT64_C(0xd9) << 56;
    values[1] = UINT64_C(0xdb) << 56;
    table_init(&pair, values, 2);
    assert_int_equal(encode(&pair, 0, geometry, bytes), 2);
    for (uint32_t h = 0; h < SS_SYMBOL_COUNT; h++)
        assert_int_equal(pair.code.lengths[h], h == 6);
    expected[0] = 2;      /* the number of fingerprints, 2 bytes; then the key shift 0 and a zero */
    expected[11] = 0xd9;  /* the first one, 8 bytes, the most significant last */
    expected[247] = 0x80; /* the rest ends at bit 248 * 8 with its highest bit; the code of h = 6 is a 0 at bit 96 */
    memset(expected + 248, 0xee, 8);
    assert_memory_equal(bytes, expected, sizeof bytes);
    table_free(&pair);
}

/* The example of format-spec/block-codec.md, section 6: six fingerprints in two groups. */
static void test_example_of_the_format(void **state)
{
    (void)state;
    static const uint64_t six[] = {0xd9, 0xdb, 0xdd, 0xde, UINT64_C(0x5000000ea), UINT64_C(0x5000000ee)};
    const ss_geometry geometry = {.block_bytes = 256, .restart_interval = 4};
    uint64_t *values = malloc(sizeof six);
    uint8_t bytes[256], expected[256] = {0};
    table all;
    memcpy(values, six, sizeof six);
    table_init(&all, values, 6);
    assert_int_equal(encode(&all, 0, geometry, bytes), 6);
    for (uint32_t h = 0; h < SS_SYMBOL_COUNT; h++)
        assert_int_equal(all.code.lengths[h], h == 62 ? 1 : h == 29 || h == 61 ? 2 : 0);
    expected[0] = 6;
    expected[2] = 3;     /* key shift: 500000011 has 35 bits */
    expected[4] = 0xd9;  /* the first fingerprint */
    expected[12] = 0x02; /* the key of group 1 is a0000002, */
    expected[15] = 0xa0;
    expected[16] = 0x98;  /* its slot 152 */
    expected[18] = 0xa6;  /* group 0, from bit 144 on: codes 0, 11, 0; rests 0, 01, 1 */
    expected[19] = 0x03;  /* group 1: code 11 */
    expected[247] = 0x30; /* its rest 10, and 001, the lowest bits of its first one's distance */
    memset(expected + 248, 0xee, 8);
    assert_memory_equal(bytes, expected, sizeof bytes);
    table_free(&all);
}

static void test_geometry_ranges(void **state)
{
    (void)state;
    for (uint32_t shift = SMALLEST_SHIFT; shift < SMALLEST_SHIFT + SIZE_COUNT; shift++) {
        assert_true(ss_geometry_valid((ss_geometry){1u << shift, 1}));
        assert_true(ss_geometry_valid((ss_geometry){1u << shift, 65535}));
        assert_false(ss_geometry_valid((ss_geometry){1u << shift, 0}));
        assert_false(ss_geometry_valid((ss_geometry){1u << shift, 65536}));
        assert_false(ss_geometry_valid((ss_geometry){(1u << shift) + 1, 64}));
        assert_false(ss_geometry_valid((ss_geometry){3u << (shift - 1), 64}));
    }
    assert_false(ss_geometry_valid((ss_geometry){0, 64}));
    assert_false(ss_geometry_valid((ss_geometry){128, 64}));
    assert_false(ss_geometry_valid((ss_geometry){131072, 64}));
    assert_false(ss_geometry_valid((ss_geometry){UINT32_C(1) << 31, 64}));
}

/* ----- groups of several blocks, side by side ----- */

#define SHELF_BLOCKS 6u

/* The first blocks of a table, each between forbidden pages. */
typedef struct shelf {
    ss_geometry geometry;
    guarded memories[SHELF_BLOCKS];
    ss_block blocks[SHELF_BLOCKS];
    const uint64_t *values[SHELF_BLOCKS];
    uint32_t count;
} shelf;

static void shelf_make(shelf *made, const table *all, ss_geometry geometry)
{
    uint8_t *bytes = malloc(geometry.block_bytes);
    size_t first = 0;
    made->geometry = geometry;
    for (made->count = 0; made->count < SHELF_BLOCKS && first < all->count; made->count++) {
        const uint32_t i = made->count;
        const char *reason;
        made->memories[i] = guard_make(geometry.block_bytes);
        made->values[i] = all->values + first;
        first += encode(all, first, geometry, bytes);
        const uint8_t *placed = i % 2 == 0 ? guard_before_end(&made->memories[i], bytes)
                                           : guard_after_begin(&made->memories[i], bytes);
        assert_true(ss_block_open(&made->blocks[i], placed, geometry, &all->code, &reason));
    }
    free(bytes);
}

static void shelf_free(shelf *made)
{
    for (uint32_t i = 0; i < made->count; i++)
        guard_free(&made->memories[i]);
}

/* A form that counts what it is given, and what it leaves out. */
static struct {
    ss_lanes_fn form;
    uint64_t lanes, left_out;
} spied;

static uint32_t spy(const ss_lookup *lookup, const ss_lane *lanes, uint32_t count)
{
    const uint32_t left_out = spied.form(lookup, lanes, count);
    spied.lanes += count;
    spied.left_out += ss_popcount(left_out);
    return left_out;
}

/* Decode any groups of the shelf, the same one twice perhaps, to exactly as much room. */
static void check_together(const shelf *from, uint32_t count, rng *random)
{
    const uint32_t interval = from->geometry.restart_interval;
    ss_group groups[SS_LANES];
    const uint64_t *wanted[SS_LANES];
    uint32_t sizes[SS_LANES] = {0};
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t number = (uint32_t)rng_below(random, from->count);
        const ss_block *block = &from->blocks[number];
        const uint32_t group = rng_one_in(random, 3) ? block->group_count - 1
                                                     : (uint32_t)rng_below(random, block->group_count);
        groups[i] = (ss_group){.block = block, .number = group};
        wanted[i] = from->values[number] + (size_t)group * interval;
        sizes[i] = count_of(block, group, 1);
        assert_int_equal(ss_block_group_size(block, group), sizes[i]);
    }
    const size_t room = (size_t)(count - 1) * interval + sizes[count - 1];
    uint64_t *out = malloc(room * sizeof *out);
    for (size_t i = 0; i < room; i++)
        out[i] = CANARY;
    assert_int_equal(ss_block_decode_lanes(groups, count, out), count);
    for (uint32_t i = 0; i < count; i++) {
        assert_memory_equal(out + (size_t)i * interval, wanted[i], sizes[i] * sizeof *out);
        for (uint32_t j = sizes[i]; i + 1 < count && j < interval; j++)
            assert_int_equal(out[i * interval + j], CANARY);
    }
    free(out);
}

static void test_groups_of_several_blocks(void **state)
{
    (void)state;
    rng random;
    uint64_t group_count = 0;
    rng_init(&random, run_seed + 10);
    spied.lanes = spied.left_out = 0;
    for (uint32_t i = 0; i < DATA_KIND_COUNT * 6 * (INTERVAL_COUNT - 1); i++) {
        const ss_geometry geometry = {.block_bytes = 256u << i / DATA_KIND_COUNT % 6,
                                      .restart_interval = intervals[i / DATA_KIND_COUNT / 6]};
        static shelf several;
        table all;
        table_make(&all, &random, (data_kind)(i % DATA_KIND_COUNT), fitting_count(&random, geometry.block_bytes));
        testing_doing("%zu %s fingerprints, blocks of %u bytes, a restart every %u", all.count,
                      data_kind_name((data_kind)(i % DATA_KIND_COUNT)), geometry.block_bytes,
                      geometry.restart_interval);
        spied.form = i / 2 % 2 == 0 ? ss_lanes_best() : ss_lanes_portable;
        all.code.decode_lanes = spy;
        shelf_make(&several, &all, geometry);
        for (uint32_t trial = 0; trial < 60; trial++) {
            const uint32_t count = (uint32_t)rng_between(&random, 1, SS_LANES);
            check_together(&several, count, &random);
            group_count += count;
        }
        shelf_free(&several);
        table_free(&all);
    }
    /* All three were among them: decoded in a lane, left out by the lanes, and kept out of them, near the block's end. */
    assert_true(spied.left_out > 100);
    assert_true(spied.lanes > spied.left_out + 100);
    assert_true(group_count > spied.lanes + 100);
    testing_done();
}

/* Of groups together, the first malformed one is named, whether its bounds or its bits are wrong. */
static void test_first_malformed_group(void **state)
{
    (void)state;
    enum { SOUND, BAD_BOUNDS, BAD_BITS, KINDS };
    const ss_geometry geometry = {.block_bytes = 1024, .restart_interval = 32};
    rng random;
    table all;
    static uint64_t out[SS_LANES * 32];
    rng_init(&random, run_seed + 11);
    table_make(&all, &random, DATA_UNIFORM, 4000);
    for (uint32_t choice = 0; choice < KINDS * KINDS * KINDS * KINDS; choice++) {
        static shelf blocks;
        ss_group groups[SS_LANES];
        uint32_t wanted = SS_LANES, left = choice;
        shelf_make(&blocks, &all, geometry);
        for (uint32_t i = 0; i < SS_LANES; i++, left /= KINDS) {
            const ss_block *block = &blocks.blocks[i];
            uint8_t *slot_1 = blocks.memories[i].low + (block->slots - block->bytes);
            if (i % 2 == 0)
                slot_1 = blocks.memories[i].high + (block->slots - block->bytes);
            assert_true(block->group_count >= 3);
            groups[i] = (ss_group){.block = block, .number = left % KINDS == BAD_BOUNDS};
            if (left % KINDS == BAD_BOUNDS)
                ss_store_le16(slot_1, 0);
            else if (left % KINDS == BAD_BITS) /* nothing is left for group 0: its rests begin before the block */
                ss_store_le16(slot_1, (uint16_t)block->first_group_bit);
            if (left % KINDS != SOUND && wanted == SS_LANES)
                wanted = i;
        }
        testing_doing("choice %u: the first malformed one is %u", choice, wanted);
        for (uint32_t way = 0; way < WAYS; way++) {
            ss_block others[SS_LANES];
            ss_group changed[SS_LANES];
            for (uint32_t i = 0; i < SS_LANES; i++) {
                others[i] = *way_of(groups[i].block, way);
                changed[i] = (ss_group){.block = &others[i], .number = groups[i].number};
            }
            for (uint32_t count = 1; count <= SS_LANES; count++)
                assert_int_equal(ss_block_decode_lanes(changed, count, out), wanted < count ? wanted : count);
        }
        shelf_free(&blocks);
    }
    table_free(&all);
    testing_done();
}

/* ----- any block, sound or not ----- */

/* What is said of a block. */
typedef struct verdict {
    bool opens;     /* its head can be one */
    bool is_sound;  /* all of it, strictly */
    bool is_passed; /* by decoding fast, which need not notice everything */
} verdict;

static void exercise_groups(const ss_block *block, const uint64_t *values, const bool *sound, uint32_t way, rng *random)
{
    const uint32_t first = (uint32_t)rng_below(random, block->group_count), left = block->group_count - first;
    const uint32_t groups = (uint32_t)rng_between(random, 1, left < 9 ? left : 9);
    const uint32_t wanted = count_of(block, first, groups);
    uint64_t *out = malloc(wanted * sizeof *out);
    uint32_t count = 0;
    bool are_sound = true;
    for (uint32_t i = 0; i < groups; i++)
        are_sound = are_sound && sound[first + i];
    const bool are_passed = ss_block_decode_groups(way_of(block, way), first, groups, out, &count);
    assert_int_equal(count, wanted);
    assert_true(are_passed || !are_sound);
    assert_true(are_sound || !are_passed || way != 2);
    if (are_sound)
        assert_memory_equal(out, values + (size_t)first * block->restart_interval, count * sizeof *out);
    free(out);
}

static void exercise_lanes(const ss_block *block, const bool *sound, uint32_t way, rng *random)
{
    ss_group groups[SS_LANES];
    const uint32_t count = (uint32_t)rng_between(random, 1, SS_LANES);
    uint32_t first_unsound = count;
    for (uint32_t i = count; i-- > 0;) {
        groups[i] = (ss_group){.block = way_of(block, way), .number = (uint32_t)rng_below(random, block->group_count)};
        first_unsound = sound[groups[i].number] ? first_unsound : i;
    }
    uint64_t *out = malloc(sizeof *out * count * block->restart_interval);
    const uint32_t found = ss_block_decode_lanes(groups, count, out);
    assert_true(found <= count);
    assert_true(found == count || !sound[groups[found].number]);
    assert_true(way != 2 || found == first_unsound);
    free(out);
}

/* Decode all, fast: what is sound is passed, with the right values; and every form says the same of what is not. */
static bool exercise_decoding(const ss_block *block, const uint64_t *values, bool is_sound)
{
    const size_t bytes = block->count * sizeof(uint64_t);
    uint64_t *out = malloc(bytes), *other = malloc(bytes);
    const bool is_passed = ss_block_decode(block, out);
    assert_true(is_passed || !is_sound);
    if (is_sound)
        assert_memory_equal(out, values, bytes);
    assert_int_equal(ss_block_decode(way_of(block, 1), other), is_passed);
    if (is_passed)
        assert_memory_equal(other, out, bytes);
    assert_int_equal(ss_block_decode(way_of(block, 2), other), is_sound);
    assert_int_equal(ss_block_decode_strictly(block, other), is_sound);
    if (is_sound)
        assert_memory_equal(other, values, bytes);
    free(out);
    free(other);
    return is_passed;
}

static void exercise_finding(const ss_block *block, rng *random)
{
    for (uint32_t i = 0; i < 8; i++) {
        uint64_t low = rng_one_in(random, 2) ? rng_next(random) : rng_flip(random, block->first, 1), high = low;
        high |= ss_low_mask((uint32_t)rng_below(random, 65));
        uint32_t first, last;
        ss_block_find_groups(block, low, high, &first, &last);
        assert_true(first <= last && last < block->group_count);
    }
}

/* Use every function on a block that may be malformed, and hold it against a slow reader. */
static verdict exercise(const uint8_t *bytes, ss_geometry geometry, const ss_code *code, rng *random)
{
    const uint32_t block_bytes = geometry.block_bytes, interval = geometry.restart_interval;
    verdict result = {.opens = slow_block_opens(bytes, block_bytes, interval)};
    ss_block block;
    slow_code slow;
    const char *reason = NULL;
    assert_int_equal(ss_block_open(&block, bytes, geometry, code, &reason), result.opens);
    assert_true(result.opens || (reason != NULL && *reason != '\0'));
    if (!result.opens)
        return result;
    uint64_t *values = malloc(block.count * sizeof *values);
    bool *sound = malloc(block.group_count * sizeof *sound);
    slow_code_init(&slow, code->lengths);
    result.is_sound = true;
    for (uint32_t group = 0; group < block.group_count; group++) {
        sound[group] = slow_block_decode_group(bytes, block_bytes, interval, &slow, group,
                                               values + (size_t)group * interval);
        result.is_sound = result.is_sound && sound[group];
    }
    result.is_passed = exercise_decoding(&block, values, result.is_sound);
    for (uint32_t way = 0; way < WAYS; way++) {
        exercise_groups(&block, values, sound, way, random);
        exercise_lanes(&block, sound, way, random);
    }
    exercise_finding(&block, random);
    free(values);
    free(sound);
    return result;
}

/* A number of `width` bytes in a copy of a block instead of what was there. */
static verdict exercise_patched(const uint8_t *bytes, ss_geometry geometry, const ss_code *code, size_t at,
                                uint64_t value, uint32_t width, rng *random)
{
    uint8_t *patched = malloc(geometry.block_bytes);
    memcpy(patched, bytes, geometry.block_bytes);
    for (uint32_t i = 0; i < width; i++)
        patched[at + i] = (uint8_t)(value >> (8 * i));
    verdict result = exercise(patched, geometry, code, random);
    free(patched);
    return result;
}

/* ----- malformed blocks ----- */

static void test_bad_heads_are_refused(void **state)
{
    (void)state;
    rng random;
    table all;
    rng_init(&random, run_seed + 4);
    table_make(&all, &random, DATA_UNIFORM, 4000);
    for (uint32_t size = 256; size <= 65536; size *= 2) {
        const ss_geometry geometry = {.block_bytes = size, .restart_interval = 4};
        const uint32_t most_groups = 1 + (size - 8 - 12) / (size <= 8192 ? 4 + 2 : 4 + 4);
        uint8_t *bytes = malloc(size);
        const uint32_t count = encode(&all, 0, geometry, bytes);
        testing_doing("blocks of %u bytes", size);
        assert_true(exercise_patched(bytes, geometry, &all.code, 0, count, 2, &random).is_sound);
        assert_false(exercise_patched(bytes, geometry, &all.code, 0, 0, 2, &random).opens);
        if (4 * most_groups + 1 <= 65535) {
            assert_true(exercise_patched(bytes, geometry, &all.code, 0, 4 * most_groups, 2, &random).opens);
            assert_false(exercise_patched(bytes, geometry, &all.code, 0, 4 * most_groups + 1, 2, &random).opens);
            assert_false(exercise_patched(bytes, geometry, &all.code, 0, 65535, 2, &random).opens);
        }
        for (uint32_t key_shift = 0; key_shift < 256; key_shift++)
            assert_int_equal(exercise_patched(bytes, geometry, &all.code, 2, key_shift, 1, &random).opens,
                             key_shift <= 32);
        for (uint32_t zero = 1; zero < 256; zero++)
            assert_false(exercise_patched(bytes, geometry, &all.code, 3, zero, 1, &random).opens);
        free(bytes);
    }
    table_free(&all);
    testing_done();
}

/* In groups of one there is nothing but bounds that could be wrong: then decoding fast is as strict as it can be. */
static void check_slots(const table *all, ss_geometry geometry, rng *random)
{
    const uint32_t size = geometry.block_bytes, width = size <= 8192 ? 2 : 4, end = 8 * (size - 8);
    uint8_t *bytes = malloc(size);
    encode(all, 0, geometry, bytes);
    const uint32_t groups = slow_block_groups(bytes, 1), begin = 8 * (12 + (groups - 1) * (4 + width)),
                   low_bits = bytes[2];
    const uint32_t second = slow_slot(bytes, size, 1, 2), third = slow_slot(bytes, size, 1, 3);
    assert_true(groups > 4);
    assert_int_equal(slow_slot(bytes, size, 1, 1), begin);
    const struct {
        uint32_t group, slot;
        bool is_sound;
    } cases[] = {
        {1, begin, true},
        {1, 0, false},
        {1, begin - 1, false},                           /* within the slots */
        {1, begin + 1, low_bits == 0 && second > begin}, /* too few bits for group 1's own */
        {2, second, true},
        {2, second - 1, false}, /* too few for group 1's */
        {2, begin, low_bits == 0},
        {2, third - low_bits, true},
        {2, third - low_bits + 1, false}, /* for group 2's */
        {2, third + 1, false},
        {groups - 1, end, low_bits == 0},
        {groups - 1, end - low_bits, true}, /* bits before the last group may be left */
        {groups - 1, end - low_bits + 1, false},
        {groups - 1, end + 1, false},
        {groups - 1, width == 2 ? UINT16_MAX : UINT32_MAX, false},
        {1, width == 2 ? UINT16_MAX : UINT32_MAX, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        testing_doing("blocks of %u bytes, %u lowest bits: slot %u of %u is %u", size, low_bits, cases[i].group, groups,
                      cases[i].slot);
        const size_t at = slow_slot_offset(bytes, size, 1, cases[i].group);
        const verdict got = exercise_patched(bytes, geometry, &all->code, at, cases[i].slot, width, random);
        assert_true(got.opens);
        assert_int_equal(got.is_sound, cases[i].is_sound);
        assert_int_equal(got.is_passed, cases[i].is_sound);
    }
    free(bytes);
}

static void test_bad_slots_are_refused(void **state)
{
    (void)state;
    rng random;
    rng_init(&random, run_seed + 12);
    for (uint32_t size = 256; size <= 65536; size *= 2) {
        for (uint32_t i = 0; i < 2; i++) { /* key shifts above 0, and 0 */
            const ss_geometry geometry = {.block_bytes = size, .restart_interval = 1};
            table all;
            table_make(&all, &random, i == 0 ? DATA_UNIFORM : DATA_DENSE, 9000);
            check_slots(&all, geometry, &random);
            table_free(&all);
        }
    }
    testing_done();
}

/* A group whose end lies so low that codes run into rests, or have no room at all. */
static void test_codes_that_run_into_rests(void **state)
{
    (void)state;
    rng random;
    table all;
    rng_init(&random, run_seed + 5);
    table_make(&all, &random, DATA_UNIFORM, 4000);
    for (uint32_t interval = 4; interval <= 1024; interval *= 2) {
        const ss_geometry geometry = {.block_bytes = 16384, .restart_interval = interval};
        uint8_t bytes[16384];
        encode(&all, 0, geometry, bytes);
        const uint32_t groups = slow_block_groups(bytes, interval), begin = 8 * (12 + (groups - 1) * 8);
        const uint32_t second = slow_slot(bytes, geometry.block_bytes, interval, 1);
        const size_t at = slow_slot_offset(bytes, geometry.block_bytes, interval, 1);
        assert_true(groups >= 2);
        assert_true(exercise_patched(bytes, geometry, &all.code, at, second, 4, &random).is_sound);
        /* A bit short, a handful, half the bits, none. */
        const uint32_t ends[] = {second - 1, second - 40, begin + (second - begin) / 2, begin + 1, begin};
        for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
            testing_doing("a restart every %u: the first group ends at %u instead of %u", interval, ends[i], second);
            const verdict got = exercise_patched(bytes, geometry, &all.code, at, ends[i], 4, &random);
            assert_true(got.opens && !got.is_sound);
            /* What is decoded alone is decoded strictly. */
            assert_true(interval <= SS_LANE_STEPS + 1 || !got.is_passed);
        }
    }
    table_free(&all);
    testing_done();
}

/* A last group that would need more than there is before the trailer. */
static void test_more_fingerprints_than_bits(void **state)
{
    (void)state;
    const ss_geometry geometry = {.block_bytes = 256, .restart_interval = 65535};
    const uint8_t lengths[SS_SYMBOL_COUNT] = {[0] = 1, [63] = 1}; /* 0: h = 0, 63 bits of rest; 1: h = 63, none */
    static ss_code code;
    rng random;
    uint8_t bytes[256] = {0};
    rng_init(&random, run_seed + 13);
    ss_code_init(&code, lengths);
    ss_store_le16(bytes, 65535);
    assert_false(exercise(bytes, geometry, &code, &random).is_passed);
    memset(bytes + 12, 0xff, sizeof bytes - 12);
    assert_false(exercise(bytes, geometry, &code, &random).is_passed);
    ss_store_le16(bytes, 1 + (256 - 8 - 12) * 8); /* as many h = 63 as there are bits: just right */
    assert_true(exercise(bytes, geometry, &code, &random).is_sound);
    ss_store_le16(bytes, 2 + (256 - 8 - 12) * 8); /* and one more */
    assert_false(exercise(bytes, geometry, &code, &random).is_passed);
}

/* With one symbol its code is 0; a 1 is none. Without symbols nothing is. All of this is noticed by decoding fast as well. */
static void test_invalid_codes_are_refused(void **state)
{
    (void)state;
    const ss_geometry geometry = {.block_bytes = 256, .restart_interval = 8};
    uint8_t bytes[256] = {0}, lengths[SS_SYMBOL_COUNT] = {[40] = 1};
    static ss_code one, none;
    rng random;
    rng_init(&random, run_seed + 14);
    ss_code_init(&one, lengths);
    lengths[40] = 0;
    ss_code_init(&none, lengths);
    ss_store_le16(bytes, 5);
    assert_true(exercise(bytes, geometry, &one, &random).is_sound); /* the codes from bit 96 on are zeros */
    assert_false(exercise(bytes, geometry, &none, &random).is_passed);
    for (uint32_t bit = 96; bit < 100; bit++) {
        testing_doing("bit %u", bit);
        bytes[bit / 8] = (uint8_t)(1u << bit % 8);
        assert_false(exercise(bytes, geometry, &one, &random).is_passed);
    }
    bytes[12] = 1 << 4; /* behind the fourth and last code: unused */
    assert_true(exercise(bytes, geometry, &one, &random).is_sound);
    testing_done();
}

/* ----- any bytes at all ----- */

/* A head and slots that are accepted, or nearly, so that more than their check is reached. */
static void make_frame(rng *random, ss_geometry geometry, uint8_t *bytes)
{
    const uint32_t slot_bytes = geometry.block_bytes <= 8192 ? 2 : 4, end = (geometry.block_bytes - 8) * 8;
    const uint64_t most = (1 + (uint64_t)(end / 8 - 12) / (4 + slot_bytes)) * geometry.restart_interval;
    const uint32_t count = (uint32_t)rng_between(random, 1, most < SS_BLOCK_MAX_COUNT ? most : SS_BLOCK_MAX_COUNT);
    const uint32_t groups = (count + geometry.restart_interval - 1) / geometry.restart_interval;
    uint32_t begin = 8 * (12 + (groups - 1) * (4 + slot_bytes));
    const uint32_t room = groups == 1 ? 32 : (end - begin) / groups;
    const uint32_t low_bits = (uint32_t)rng_below(random, room < 32 ? room + 1 : 33);
    ss_store_le16(bytes, (uint16_t)count);
    bytes[2] = (uint8_t)low_bits;
    bytes[3] = 0;
    for (uint32_t group = 1; group < groups; group++) {
        const uint32_t least = group == 1 ? 0 : low_bits, left = end - begin, mean = 2 * left / (groups - group + 1);
        begin += (uint32_t)rng_between(random, least < left ? least : left,
                                       mean < left ? (mean > least ? mean : least) : left);
        uint8_t *slot = bytes + slow_slot_offset(bytes, geometry.block_bytes, geometry.restart_interval, group);
        for (uint32_t j = 0; j < slot_bytes; j++)
            slot[j] = (uint8_t)(begin >> (8 * j));
    }
}

static void make_noise(rng *random, uint8_t *bytes, size_t size)
{
    if (rng_one_in(random, 4))
        memset(bytes, rng_one_in(random, 2) ? 0xff : 0, size);
    else
        rng_fill(random, bytes, size);
}

static void test_any_bytes_stay_inside(void **state)
{
    (void)state;
    rng random;
    rng_init(&random, run_seed + 6);
    static ss_code code;
    uint32_t sound = 0, passed = 0, opened = 0;
    for (uint32_t i = 0; i < 6000; i++) {
        const ss_geometry geometry = {.block_bytes = 256u << rng_below(&random, i % 16 == 0 ? SIZE_COUNT : 4),
                                      .restart_interval = intervals[rng_below(&random, INTERVAL_COUNT)]};
        if (i % 50 == 0) {
            uint64_t counts[SS_SYMBOL_COUNT];
            uint8_t lengths[SS_SYMBOL_COUNT];
            for (uint32_t h = 0; h < SS_SYMBOL_COUNT; h++)
                counts[h] = rng_one_in(&random, 1 + i / 50 % 8) ? rng_between(&random, 1, 1000) : 0;
            ss_huffman_lengths(counts, lengths);
            ss_code_init(&code, lengths);
        }
        testing_doing("noise %u, seed %" PRIu64, i, run_seed + 6);
        guarded memory = guard_make(geometry.block_bytes);
        uint8_t *bytes = malloc(geometry.block_bytes);
        make_noise(&random, bytes, geometry.block_bytes);
        if (i % 8 != 0)
            make_frame(&random, geometry, bytes);
        const verdict got = exercise(guard_before_end(&memory, bytes), geometry, &code, &random);
        exercise(guard_after_begin(&memory, bytes), geometry, &code, &random);
        opened += got.opens;
        passed += got.is_passed;
        sound += got.is_sound;
        free(bytes);
        guard_free(&memory);
    }
    assert_true(opened > 5000); /* many of each kind, or the noise was not worth it */
    assert_true(passed > sound + 30);
    assert_true(sound > 300);
    testing_done();
}

/* Blocks that were right but for a few bits come farther. */
static void test_flipped_bits_stay_inside(void **state)
{
    (void)state;
    rng random;
    rng_init(&random, run_seed + 7);
    for (uint32_t i = 0; i < DATA_KIND_COUNT * INTERVAL_COUNT * 2; i++) {
        const ss_geometry geometry = {.block_bytes = 256u << i % 6,
                                      .restart_interval = intervals[i / DATA_KIND_COUNT % INTERVAL_COUNT]};
        table all;
        uint8_t *bytes = malloc(geometry.block_bytes);
        guarded memory = guard_make(geometry.block_bytes);
        table_make(&all, &random, (data_kind)(i % DATA_KIND_COUNT), geometry.block_bytes);
        encode(&all, 0, geometry, bytes);
        for (uint32_t trial = 0; trial < 60; trial++) {
            const bool at_end = rng_one_in(&random, 2);
            uint8_t *placed = at_end ? memory.high : memory.low;
            testing_doing("kind %u, trial %u", i, trial);
            (void)(at_end ? guard_before_end(&memory, bytes) : guard_after_begin(&memory, bytes));
            for (uint64_t flips = rng_between(&random, 1, 4); flips > 0; flips--) {
                size_t bits = rng_one_in(&random, 2) ? 256 : 8 * (size_t)geometry.block_bytes;
                size_t bit = rng_below(&random, bits);
                placed[bit / 8] ^= (uint8_t)(1u << bit % 8);
            }
            exercise(placed, geometry, &all.code, &random);
        }
        guard_free(&memory);
        free(bytes);
        table_free(&all);
    }
    testing_done();
}

int main(void)
{
    run_seed = rng_run_seed();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_round_trip, testing_teardown),
        cmocka_unit_test_teardown(test_fullest_block, testing_teardown),
        cmocka_unit_test_teardown(test_smallest_blocks, testing_teardown),
        cmocka_unit_test_teardown(test_equal_keys, testing_teardown),
        cmocka_unit_test_teardown(test_key_shifts, testing_teardown),
        cmocka_unit_test(test_encoder_starts_afresh),
        cmocka_unit_test(test_example_of_the_articles),
        cmocka_unit_test(test_example_of_the_format),
        cmocka_unit_test(test_geometry_ranges),
        cmocka_unit_test_teardown(test_groups_of_several_blocks, testing_teardown),
        cmocka_unit_test_teardown(test_first_malformed_group, testing_teardown),
        cmocka_unit_test_teardown(test_bad_heads_are_refused, testing_teardown),
        cmocka_unit_test_teardown(test_bad_slots_are_refused, testing_teardown),
        cmocka_unit_test_teardown(test_codes_that_run_into_rests, testing_teardown),
        cmocka_unit_test(test_more_fingerprints_than_bits),
        cmocka_unit_test_teardown(test_invalid_codes_are_refused, testing_teardown),
        cmocka_unit_test_teardown(test_any_bytes_stay_inside, testing_teardown),
        cmocka_unit_test_teardown(test_flipped_bits_stay_inside, testing_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The block codec: what is encoded is decoded and found again, and looks as the format says. */
#include "codec/block.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "support/block_table.h"
#include "support/guard.h"
#include "support/slow_block.h"
#include "support/testing.h"

#define MOST_VALUES 12000
#define CANARY UINT64_C(0xc0ffee00c0ffee00)

static uint64_t run_seed;

/* The smallest key shift of a block of `count` values: that of its last group's first one. */
static uint32_t needed_key_shift(const uint64_t *values, size_t count, uint32_t interval)
{
    return slow_key_shift(values[(count - 1) / interval * interval] - values[0]);
}

/* The bits of a block of `count` values without its trailer, by the format. */
static uint64_t needed_bits(const block_table *from, size_t first, size_t count, ss_geometry geometry)
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

/* ----- round trips ----- */

/* Some groups alone, to exactly as much room. */
static void check_decode_groups(const ss_block *block, const uint64_t *values, uint32_t first_group, uint32_t groups)
{
    const uint32_t first = first_group * block->restart_interval,
                   wanted = block_group_sizes(block, first_group, groups);
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
    for (uint32_t way = 0; way < BLOCK_WAYS; way++) {
        memset(out, 0, bytes);
        assert_true(ss_block_decode(block_in_way(block, way), out));
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
        check_decode_groups(block_in_way(block, i % 2), values, group, groups);
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
static size_t check_table(const block_table *all, ss_geometry geometry, rng *random)
{
    guarded memory = guard_make(geometry.block_bytes);
    uint8_t *bytes = malloc(geometry.block_bytes);
    size_t blocks = 0;
    for (size_t first = 0; first < all->count; blocks++) {
        ss_block block;
        const char *reason = NULL;
        const uint32_t count = block_table_encode(all, first, geometry, bytes);
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
    for (uint32_t i = 0; i < DATA_KIND_COUNT * BLOCK_SIZE_COUNT * BLOCK_INTERVAL_COUNT; i++) {
        const data_kind kind = (data_kind)(i % DATA_KIND_COUNT);
        const ss_geometry geometry = {.block_bytes = 1u
                                                     << (BLOCK_SMALLEST_SHIFT + i / DATA_KIND_COUNT % BLOCK_SIZE_COUNT),
                                      .restart_interval = block_intervals[i / DATA_KIND_COUNT / BLOCK_SIZE_COUNT]};
        block_table all;
        block_table_make(&all, &random, kind, fitting_count(&random, geometry.block_bytes));
        testing_doing("%zu %s fingerprints, blocks of %u bytes, a restart every %u", all.count, data_kind_name(kind),
                      geometry.block_bytes, geometry.restart_interval);
        check_table(&all, geometry, &random);
        block_table_free(&all);
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
        block_table all;
        for (size_t i = 0; i < count; i++)
            values[i] = UINT64_MAX - count + 1 + i; /* up to 2^64-1 */
        testing_doing("consecutive numbers, a restart every %u", interval);
        block_table_init(&all, values, count);
        assert_int_equal(block_table_encode(&all, 0, geometry, bytes), SS_BLOCK_MAX_COUNT);
        assert_int_equal(check_table(&all, geometry, &random), 2);
        free(bytes);
        block_table_free(&all);
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
        for (size_t j = 0; j < BLOCK_INTERVAL_COUNT * BLOCK_SIZE_COUNT; j++) {
            const ss_geometry geometry = {.block_bytes = 1u << (BLOCK_SMALLEST_SHIFT + j % BLOCK_SIZE_COUNT),
                                          .restart_interval = block_intervals[j / BLOCK_SIZE_COUNT]};
            uint64_t *values = malloc(sizeof sets[i].values);
            block_table all;
            memcpy(values, sets[i].values, sizeof sets[i].values);
            testing_doing("set %zu, blocks of %u bytes, a restart every %u", i, geometry.block_bytes,
                          geometry.restart_interval);
            block_table_init(&all, values, sets[i].count);
            assert_int_equal(check_table(&all, geometry, &random), 1);
            block_table_free(&all);
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
        block_table all;
        values[0] = rng_below(&random, 1 << 20);
        for (size_t j = 1; j < count; j++)
            values[j] = j % (count / runs + 1) == 1 ? values[0] + far + rng_below(&random, far / 2)
                                                    : values[j - 1] + (UINT64_C(1) << rng_below(&random, 3));
        testing_doing("%zu values in %" PRIu64 " runs at least %" PRIx64
                      " from the first, blocks of %u bytes, a restart every %u",
                      count, runs, far, geometry.block_bytes, geometry.restart_interval);
        block_table_init(&all, values, count);
        check_table(&all, geometry, &random);
        block_table_free(&all);
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
        block_table all;
        values[0] = 0;
        values[1] = 1;
        values[2] = cases[i].last;
        testing_doing("a distance of %" PRIx64, cases[i].last);
        block_table_init(&all, values, 3);
        assert_int_equal(block_table_encode(&all, 0, geometry, bytes), 3);
        assert_int_equal(bytes[2], cases[i].key_shift);
        assert_int_equal(check_table(&all, geometry, &random), 1);
        block_table_free(&all);
    }
    testing_done();
}

/* The encoder makes the same bytes of the same values, whatever the buffer held before. */
static void test_encoder_writes_all(void **state)
{
    (void)state;
    rng random;
    block_table all;
    const ss_geometry geometry = {.block_bytes = 512, .restart_interval = 3};
    const size_t contents = geometry.block_bytes - SS_BLOCK_TRAILER_BYTES;
    uint8_t first[512], second[512], step_bits[40];
    rng_init(&random, run_seed + 3);
    block_table_make(&all, &random, DATA_UNIFORM, 40);
    ss_step_bits(&all.code, all.values, 40, step_bits);
    const uint32_t most = ss_block_fit(geometry, all.values, step_bits, 40);
    for (uint32_t count = 1; count <= most; count++) {
        memset(first, 0xff, sizeof first);
        memset(second, 0, sizeof second);
        ss_block_encode(geometry, &all.code, all.values, step_bits, count, first);
        ss_block_encode(geometry, &all.code, all.values, step_bits, count, second);
        assert_memory_equal(first, second, contents);
    }
    block_table_free(&all);
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
    block_table pair;
    values[0] = UINT64_C(0xd9) << 56;
    values[1] = UINT64_C(0xdb) << 56;
    block_table_init(&pair, values, 2);
    assert_int_equal(block_table_encode(&pair, 0, geometry, bytes), 2);
    for (uint32_t h = 0; h < SS_SYMBOL_COUNT; h++)
        assert_int_equal(pair.code.lengths[h], h == 6);
    expected[0] = 2;      /* the number of fingerprints, 2 bytes; then the key shift 0 and a zero */
    expected[11] = 0xd9;  /* the first one, 8 bytes, the most significant last */
    expected[247] = 0x80; /* the rest ends at bit 248 * 8 with its highest bit; the code of h = 6 is a 0 at bit 96 */
    memset(expected + 248, 0xee, 8);
    assert_memory_equal(bytes, expected, sizeof bytes);
    block_table_free(&pair);
}

/* The example of format-spec/block-codec.md, section 6: six fingerprints in two groups. */
static void test_example_of_the_format(void **state)
{
    (void)state;
    static const uint64_t six[] = {0xd9, 0xdb, 0xdd, 0xde, UINT64_C(0x5000000ea), UINT64_C(0x5000000ee)};
    const ss_geometry geometry = {.block_bytes = 256, .restart_interval = 4};
    uint64_t *values = malloc(sizeof six);
    uint8_t bytes[256], expected[256] = {0};
    block_table all;
    memcpy(values, six, sizeof six);
    block_table_init(&all, values, 6);
    assert_int_equal(block_table_encode(&all, 0, geometry, bytes), 6);
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
    block_table_free(&all);
}

static void test_geometry_ranges(void **state)
{
    (void)state;
    for (uint32_t shift = BLOCK_SMALLEST_SHIFT; shift < BLOCK_SMALLEST_SHIFT + BLOCK_SIZE_COUNT; shift++) {
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

static void shelf_make(shelf *made, const block_table *all, ss_geometry geometry)
{
    uint8_t *bytes = malloc(geometry.block_bytes);
    size_t first = 0;
    made->geometry = geometry;
    for (made->count = 0; made->count < SHELF_BLOCKS && first < all->count; made->count++) {
        const uint32_t i = made->count;
        const char *reason;
        made->memories[i] = guard_make(geometry.block_bytes);
        made->values[i] = all->values + first;
        first += block_table_encode(all, first, geometry, bytes);
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
        sizes[i] = block_group_sizes(block, group, 1);
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
    for (uint32_t i = 0; i < DATA_KIND_COUNT * 6 * (BLOCK_INTERVAL_COUNT - 1); i++) {
        const ss_geometry geometry = {.block_bytes = 256u << i / DATA_KIND_COUNT % 6,
                                      .restart_interval = block_intervals[i / DATA_KIND_COUNT / 6]};
        static shelf several;
        block_table all;
        block_table_make(&all, &random, (data_kind)(i % DATA_KIND_COUNT), fitting_count(&random, geometry.block_bytes));
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
        block_table_free(&all);
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
    block_table all;
    static uint64_t out[SS_LANES * 32];
    rng_init(&random, run_seed + 11);
    block_table_make(&all, &random, DATA_UNIFORM, 4000);
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
        for (uint32_t way = 0; way < BLOCK_WAYS; way++) {
            ss_block others[SS_LANES];
            ss_group changed[SS_LANES];
            for (uint32_t i = 0; i < SS_LANES; i++) {
                others[i] = *block_in_way(groups[i].block, way);
                changed[i] = (ss_group){.block = &others[i], .number = groups[i].number};
            }
            for (uint32_t count = 1; count <= SS_LANES; count++)
                assert_int_equal(ss_block_decode_lanes(changed, count, out), wanted < count ? wanted : count);
        }
        shelf_free(&blocks);
    }
    block_table_free(&all);
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
        cmocka_unit_test(test_encoder_writes_all),
        cmocka_unit_test(test_example_of_the_articles),
        cmocka_unit_test(test_example_of_the_format),
        cmocka_unit_test(test_geometry_ranges),
        cmocka_unit_test_teardown(test_groups_of_several_blocks, testing_teardown),
        cmocka_unit_test_teardown(test_first_malformed_group, testing_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The block codec on valid blocks: every block decodes to its fingerprints, searches find exactly the near ones, and
 * the bytes are those of format-spec/block-codec.md. */
#include "codec/block.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "support/block_table.h"
#include "support/guard.h"
#include "support/reference_block.h"
#include "support/testing.h"

#define MAX_VALUES 12000

/* The smallest key shift of a block of `count` values: that of its last group's first one. */
static uint32_t needed_key_shift(const uint64_t *values, size_t count)
{
    return reference_key_shift(ss_upper(values[(count - 1) / REFERENCE_GROUP * REFERENCE_GROUP]) - ss_upper(values[0]));
}

/* ----- round trips ----- */

/* Decode the first fingerprints of a group, to a buffer of exactly that size. */
static void check_decode_group(const ss_block *block, const uint64_t *values, uint32_t group, uint32_t count)
{
    uint64_t *out = malloc(count * sizeof *out), first = 0;
    assert_true(ss_block_decode_group(block, group, count, out));
    assert_memory_equal(out, values + (size_t)group * REFERENCE_GROUP, count * sizeof *out);
    assert_true(ss_block_group_first(block, group, &first));
    assert_int_equal(first, out[0]);
    free(out);
}

static void check_slowly(const ss_block *block, uint32_t block_bytes, const uint64_t *values, uint64_t *out)
{
    reference_code slow;
    reference_code_init(&slow, block->code->lengths);
    assert_true(reference_block_opens(block->bytes, block_bytes));
    assert_true(reference_block_decode(block->bytes, block_bytes, &slow, out));
    assert_memory_equal(out, values, block->count * sizeof *out);
}

static void check_decode(const ss_block *block, uint32_t block_bytes, const uint64_t *values, rng *random)
{
    const size_t bytes = block->count * sizeof(uint64_t);
    uint64_t *out = malloc(bytes); /* exactly as long, so that a sanitizer detects writes beyond it */
    check_slowly(block, block_bytes, values, out);
    for (uint32_t way = 0; way < BLOCK_WAYS; way++) {
        const ss_block *other = block_in_way(block, way);
        memset(out, 0, bytes);
        assert_true(ss_block_decode(other, out));
        assert_memory_equal(out, values, bytes);
        for (uint32_t group = 0; group < block->group_count; group++) {
            const uint32_t size = ss_block_group_size(block, group);
            assert_int_equal(size,
                             group + 1 < block->group_count ? REFERENCE_GROUP : block->count - group * REFERENCE_GROUP);
            check_decode_group(other, values, group, size);
            check_decode_group(other, values, group, (uint32_t)rng_between(random, 1, size));
        }
    }
    assert_int_equal(ss_block_first(block), values[0]);
    for (uint32_t i = 0; i < block->count; i++)
        assert_int_equal(ss_block_lower(block, i), (uint32_t)values[i]);
    free(out);
}

/* ----- finding groups ----- */

/* The number of values whose upper halves are below `upper`. */
static uint32_t count_below(const uint64_t *values, uint32_t count, uint64_t upper)
{
    uint32_t low = 0;
    while (count > 0) {
        const uint32_t half = count / 2;
        const bool below = values[low + half] >> 32 < upper;
        low = below ? low + half + 1 : low;
        count = below ? count - half - 1 : half;
    }
    return low;
}

/* The key that an upper half would have, up to the highest key. */
static uint32_t key_of(const ss_block *block, const uint64_t *values, uint32_t upper)
{
    const uint32_t first = ss_upper(values[0]);
    const uint32_t key = upper <= first ? 0 : (upper - first) >> needed_key_shift(values, block->count);
    return key <= UINT16_MAX ? key : UINT16_MAX;
}

/* All of low .. high must be in the found groups. Other groups may be among them only if their keys do not exclude
 * them. */
static void check_find(const ss_block *block, const uint64_t *values, uint32_t low, uint32_t high)
{
    uint32_t first = UINT32_MAX, last = UINT32_MAX;
    ss_block_find_groups(block, low, high, &first, &last);
    assert_true(first <= last && last < block->group_count);
    const uint32_t begin = count_below(values, block->count, low);
    const uint32_t end = count_below(values, block->count, (uint64_t)high + 1);
    if (begin < end) {
        assert_true(first <= begin / REFERENCE_GROUP);
        assert_true(last >= (end - 1) / REFERENCE_GROUP);
    }
    /* A group from 1 on that is completely below or above them is found only because of its key, or the next one's. */
    for (uint32_t group = first + 1; group <= last; group++)
        if (ss_upper(values[group * REFERENCE_GROUP]) > high)
            assert_int_equal(key_of(block, values, ss_upper(values[group * REFERENCE_GROUP])),
                             key_of(block, values, high));
    for (uint32_t group = first; group < last; group++)
        if (ss_upper(values[(group + 1) * REFERENCE_GROUP]) < low)
            assert_int_equal(key_of(block, values, ss_upper(values[(group + 1) * REFERENCE_GROUP])),
                             key_of(block, values, low));
}

/* An upper half as a bound of a search: of the block, mostly where groups meet, or near one of the block. */
static uint32_t make_bound(const ss_block *block, const uint64_t *values, rng *random)
{
    uint32_t index = (uint32_t)rng_below(random, block->count);
    if (rng_one_in(random, 2))
        index -= index % REFERENCE_GROUP;
    const uint32_t near = ss_upper(values[index]);
    switch (rng_below(random, 8)) {
    case 0: return near + 1;
    case 1: return near - 1;
    case 2: return near ^ 1u << rng_below(random, 32);
    case 3: return (uint32_t)rng_next(random);
    case 4: return near + (1u << block->key_shift); /* the next key */
    case 5: return near - (1u << block->key_shift);
    default: return near;
    }
}

static void check_finds(const ss_block *block, const uint64_t *values, rng *random)
{
    const uint32_t first = ss_upper(values[0]), last = ss_upper(values[block->count - 1]);
    check_find(block, values, 0, UINT32_MAX);
    check_find(block, values, 0, 0);
    check_find(block, values, UINT32_MAX, UINT32_MAX);
    check_find(block, values, first, last);
    check_find(block, values, first, first);
    check_find(block, values, last, last);
    check_find(block, values, 0, first == 0 ? 0 : first - 1);
    check_find(block, values, last == UINT32_MAX ? last : last + 1, UINT32_MAX);
    for (uint32_t i = 0; i < 40; i++) {
        const uint32_t a = make_bound(block, values, random), b = make_bound(block, values, random);
        check_find(block, values, a < b ? a : b, a < b ? b : a);
        check_find(block, values, a, a);
        /* As a probe does: a prefix, then zeros, to the prefix, then ones. */
        const uint32_t others = (uint32_t)ss_low_mask((uint32_t)rng_below(random, 32));
        check_find(block, values, a & ~others, a | others);
    }
}

/* ----- finding fingerprints ----- */

static bool is_near(uint64_t value, const ss_near *near)
{
    const uint64_t differing = value ^ near->query;
    return (uint32_t)__builtin_popcountll(differing) <= near->distance &&
           (uint32_t)__builtin_popcountll(differing & UINT32_MAX) <= near->lower_distance;
}

/* Search some groups: each near fingerprint must be found, in its group, and no other one. */
static uint64_t check_near(const ss_block *block, const uint64_t *values, const ss_near *wanted, uint32_t first,
                           uint32_t end)
{
    ss_near near = *wanted;
    uint64_t found = 0;
    near.end = end;
    near.group = first;
    for (uint32_t group = first;; group++) {
        assert_true(ss_block_find_near(block, &near));
        assert_true(near.group >= group && near.group <= end);
        const uint32_t up_to = near.group < end ? near.group * REFERENCE_GROUP + ss_block_group_size(block, near.group)
                               : end < block->group_count ? end * REFERENCE_GROUP
                                                          : block->count;
        for (uint32_t i = group * REFERENCE_GROUP; i < up_to; i++) {
            const bool in_group = near.group < end && i / REFERENCE_GROUP == near.group;
            const bool said = in_group && (near.mask >> i % REFERENCE_GROUP & 1) != 0;
            assert_int_equal(said, is_near(values[i], &near));
            if (said)
                assert_int_equal(near.values[i % REFERENCE_GROUP], values[i]);
            found += said;
        }
        if (near.group == end)
            return found;
        assert_true(up_to % REFERENCE_GROUP == 0 ||
                    near.mask >> up_to % REFERENCE_GROUP == 0); /* none after the last one */
        group = near.group++;
    }
}

static uint64_t check_nears(const ss_block *block, const uint64_t *values, rng *random)
{
    uint64_t found = 0;
    for (uint32_t i = 0; i < 24; i++) {
        /* Near the last one and the first one as well, and zeros, which stand behind the last lower half in some
         * blocks. */
        const uint32_t any = (uint32_t)rng_below(random, block->count);
        const uint32_t index = i % 4 == 0 ? block->count - 1 : i % 4 == 1 ? 0 : any;
        const uint32_t flips = i == 0 ? 0 : (uint32_t)rng_below(random, 8); /* so that there are matches */
        ss_near near = {.query = i % 6 == 5 ? 0 : rng_flip(random, values[index], flips)};
        near.distance = i % 8 == 7 ? (uint32_t)rng_below(random, 65) : (uint32_t)rng_below(random, 8);
        near.lower_distance = i % 2 == 0 ? near.distance : (uint32_t)rng_below(random, near.distance + 1);
        const uint32_t first = i < 8 ? 0 : (uint32_t)rng_below(random, block->group_count);
        const uint32_t end = i < 8 ? block->group_count : (uint32_t)rng_between(random, first, block->group_count);
        const uint64_t in_portable = check_near(block_in_way(block, 0), values, &near, first, end);
        assert_int_equal(check_near(block_in_way(block, 1), values, &near, first, end), in_portable);
        found += in_portable;
    }
    return found;
}

/* ----- whole tables ----- */

/* Encode all values of a table and read every block, between forbidden pages. Returns the number of blocks. */
static size_t check_table(const block_table *all, uint32_t block_bytes, rng *random)
{
    guarded memory = guard_make(block_bytes);
    uint8_t *bytes = malloc(block_bytes);
    size_t blocks = 0;
    for (size_t first = 0; first < all->count; blocks++) {
        ss_block block;
        const char *reason = NULL;
        const uint64_t *values = all->values + first;
        const uint32_t count = block_table_encode(all, first, block_bytes, bytes);
        assert_true(reference_block_needs(all->code.lengths, values, count) <= block_bytes);
        assert_true(count <= ss_block_capacity(block_bytes));
        if (first + count < all->count) /* the next one did not fit */
            assert_true(reference_block_needs(all->code.lengths, values, count + 1) > block_bytes);
        const uint8_t *placed = blocks % 2 == 0 ? guard_before_end(&memory, bytes) : guard_after_begin(&memory, bytes);
        assert_true(ss_block_open(&block, placed, block_bytes, &all->code, &reason));
        assert_int_equal(block.count, count);
        assert_int_equal(block.first, ss_upper(values[0]));
        assert_int_equal(block.key_shift, needed_key_shift(values, count));
        check_decode(&block, block_bytes, values, random);
        check_finds(&block, values, random);
        assert_true(check_nears(&block, values, random) > 0);
        first += count;
    }
    free(bytes);
    guard_free(&memory);
    return blocks;
}

/* About two or three blocks each, but not so many values that the test is slow. */
static size_t fitting_count(rng *random, uint32_t block_bytes)
{
    const size_t max = (size_t)block_bytes / 2;
    return rng_between(random, 1, max < MAX_VALUES ? max : MAX_VALUES);
}

static void test_round_trip(void **state)
{
    rng random = rng_seeded(run_seed);
    for (uint32_t i = 0; i < 8 * DATA_KIND_COUNT * BLOCK_SIZE_COUNT; i++) {
        const data_kind kind = (data_kind)(i % DATA_KIND_COUNT);
        const uint32_t block_bytes = 1u << (BLOCK_SMALLEST_SHIFT + i / DATA_KIND_COUNT % BLOCK_SIZE_COUNT);
        block_table all;
        block_table_make(&all, &random, kind, fitting_count(&random, block_bytes));
        testing_doing("%zu %s fingerprints, blocks of %u bytes", all.count, data_kind_name(kind), block_bytes);
        check_table(&all, block_bytes, &random);
        block_table_free(&all);
    }
    testing_done();
}

/* The bytes are those of the reference writer. */
static void test_same_as_reference(void **state)
{
    rng random = rng_seeded(run_seed + 4);
    for (uint32_t i = 0; i < 2 * DATA_KIND_COUNT * 6; i++) {
        const uint32_t block_bytes = 256u << i / DATA_KIND_COUNT % 6;
        uint8_t bytes[8192], slowly[8192];
        block_table all;
        block_table_make(&all, &random, (data_kind)(i % DATA_KIND_COUNT), fitting_count(&random, block_bytes));
        testing_doing("%zu fingerprints of kind %u, blocks of %u bytes", all.count, i % DATA_KIND_COUNT, block_bytes);
        for (size_t first = 0; first < all.count;) {
            const uint32_t count = block_table_encode(&all, first, block_bytes, bytes);
            reference_block_encode(slowly, block_bytes, all.code.lengths, all.values + first, count);
            assert_memory_equal(bytes, slowly, block_bytes - SS_BLOCK_TRAILER_BYTES);
            first += count;
        }
        block_table_free(&all);
    }
    testing_done();
}

/* Consecutive numbers up to the highest one: no block has more of any others. */
static void test_fullest_block(void **state)
{
    rng random = rng_seeded(run_seed + 1);
    for (uint32_t block_bytes = 256; block_bytes <= 65536; block_bytes *= 2) {
        const size_t count = ss_block_capacity(block_bytes) + 100;
        uint64_t *values = malloc(count * sizeof *values);
        block_table all;
        for (size_t i = 0; i < count; i++)
            values[i] = UINT64_MAX - count + 1 + i;
        testing_doing("consecutive numbers, blocks of %u bytes", block_bytes);
        block_table_init(&all, values, count);
        assert_int_equal(all.code.lengths[32], 1);
        check_table(&all, block_bytes, &random);
        block_table_free(&all);
    }
    testing_done();
}

/* Random values, in numbers at the limits of groups. */
static void test_counts_about_groups(void **state)
{
    static const uint32_t counts[] = {1, 2, 63, 64, 65, 127, 128, 129, 191, 192, 193};
    rng random = rng_seeded(run_seed + 5);
    for (size_t i = 0; i < DATA_KIND_COUNT * sizeof counts / sizeof *counts; i++) {
        block_table all;
        block_table_make(&all, &random, (data_kind)(i % DATA_KIND_COUNT), 4000);
        all.count = all.count < counts[i / DATA_KIND_COUNT] ? all.count : counts[i / DATA_KIND_COUNT];
        testing_doing("%zu fingerprints of kind %zu", all.count, i % DATA_KIND_COUNT);
        assert_int_equal(check_table(&all, 4096, &random), 1);
        block_table_free(&all);
    }
    testing_done();
}

/* Small sets, written out. */
static void test_smallest_blocks(void **state)
{
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
        {4, {0xffffffff, 0x100000000, 0x1ffffffff, 0x200000000}},
        {4, {0xffffffff00000000, 0xffffffff00000001, 0xfffffffffffffffe, UINT64_MAX}},
        {4, {0, 0x8000000000000000, 0xc000000000000000, 0xe000000000000000}},
    };
    rng random = rng_seeded(run_seed + 2);
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        for (size_t j = 0; j < BLOCK_SIZE_COUNT; j++) {
            const uint32_t block_bytes = 1u << (BLOCK_SMALLEST_SHIFT + j);
            uint64_t *values = malloc(sizeof sets[i].values);
            block_table all;
            memcpy(values, sets[i].values, sizeof sets[i].values);
            testing_doing("set %zu, blocks of %u bytes", i, block_bytes);
            block_table_init(&all, values, sets[i].count);
            assert_int_equal(check_table(&all, block_bytes, &random), 1);
            block_table_free(&all);
        }
    }
    testing_done();
}

/* Runs of values whose upper halves are dense, far from the block's first: then many groups have the same key, and
 * differ only in the bits below it. */
static void test_equal_keys(void **state)
{
    rng random = rng_seeded(run_seed + 8);
    for (uint32_t i = 0; i < 60; i++) {
        const uint32_t block_bytes = 512u << i % 8;
        const size_t count = rng_between(&random, 2, block_bytes / 2);
        const uint64_t runs = rng_between(&random, 1, 4), far = UINT64_C(1) << rng_between(&random, 16, 30);
        uint64_t *values = malloc(count * sizeof *values), upper = rng_below(&random, 1 << 8);
        const uint64_t first = upper;
        block_table all;
        for (size_t j = 0; j < count; j++) {
            values[j] = upper << 32 | (rng_next(&random) & UINT32_MAX);
            const bool is_far = j % (count / runs + 1) == 0;
            upper = is_far ? first + far + rng_below(&random, far / 2) : upper + rng_below(&random, 3);
        }
        testing_doing("%zu values in %" PRIu64 " runs at least %" PRIx64 " from the first, blocks of %u bytes", count,
                      runs, far, block_bytes);
        block_table_init(&all, values, count);
        check_table(&all, block_bytes, &random);
        block_table_free(&all);
    }
    testing_done();
}

/* A second group of one, at distances that need 16, 17 and up to 32 bits. */
static void test_key_shifts(void **state)
{
    static const struct {
        uint32_t distance, key_shift;
    } cases[] = {{0, 0},      {1, 0},        {65535, 0},      {65536, 1},     {131071, 1},          {131072, 2},
                 {262144, 3}, {1u << 24, 9}, {INT32_MAX, 15}, {1u << 31, 16}, {UINT32_MAX - 1, 16}, {UINT32_MAX, 16}};
    rng random = rng_seeded(run_seed + 9);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t *values = malloc(65 * sizeof *values);
        uint8_t bytes[512];
        block_table all;
        for (uint32_t j = 0; j < 64; j++)
            values[j] = j;
        values[64] = (uint64_t)cases[i].distance << 32 | UINT32_MAX;
        testing_doing("a distance of %" PRIx32, cases[i].distance);
        block_table_init(&all, values, 65);
        assert_int_equal(block_table_encode(&all, 0, sizeof bytes, bytes), 65);
        assert_int_equal(bytes[512 - 16 + 2], cases[i].key_shift);
        assert_int_equal(check_table(&all, sizeof bytes, &random), 1);
        block_table_free(&all);
    }
    testing_done();
}

/* The encoder writes the same bytes for the same values, whatever the buffer had before. */
static void test_encoder_writes_all(void **state)
{
    rng random = rng_seeded(run_seed + 3);
    block_table all;
    uint8_t first[1024], second[1024], step_bits[300];
    block_table_make(&all, &random, DATA_UNIFORM, 300);
    ss_step_bits(&all.code, all.values, all.count, step_bits);
    const uint32_t max = ss_block_fit(sizeof first, all.values, step_bits, all.count);
    assert_true(max > 2 * REFERENCE_GROUP);
    for (uint32_t count = 1; count <= max; count++) {
        memset(first, 0xff, sizeof first);
        memset(second, 0, sizeof second);
        ss_block_encode(sizeof first, &all.code, all.values, step_bits, count, first);
        ss_block_encode(sizeof second, &all.code, all.values, step_bits, count, second);
        assert_memory_equal(first, second, sizeof first - SS_BLOCK_TRAILER_BYTES);
    }
    block_table_free(&all);
}

/* Every step has its symbol's bits, and the first value's byte is not changed. */
static void test_step_bits(void **state)
{
    rng random = rng_seeded(run_seed + 6);
    block_table all;
    uint8_t step_bits[500];
    for (uint32_t kind = 0; kind < DATA_KIND_COUNT; kind++) {
        block_table_make(&all, &random, (data_kind)kind, 500);
        step_bits[0] = 0x5a;
        ss_step_bits(&all.code, all.values, all.count, step_bits);
        assert_int_equal(step_bits[0], 0x5a);
        for (size_t i = 1; i < all.count; i++) {
            const uint32_t h = reference_step(all.values[i - 1], all.values[i]);
            assert_int_equal(step_bits[i], all.code.lengths[h] + (h < 32 ? 31 - h : 0));
            assert_in_range(step_bits[i], 1, 42);
        }
        block_table_free(&all);
    }
}

/*
 * The example that articles about the paper give, in ascending order: 11011001, then 11011011. They first differ at h =
 * 6, and the suffix is 1. Here they are the top 8 bits, so that 24 zeros follow in the upper half: the suffix is 25
 * bits, first a 1.
 */
static void test_example_of_the_articles(void **state)
{
    uint64_t *values = malloc(2 * sizeof *values);
    uint8_t bytes[256], expected[256] = {0};
    block_table pair;
    values[0] = UINT64_C(0xd9) << 56;
    values[1] = UINT64_C(0xdb) << 56;
    block_table_init(&pair, values, 2);
    assert_int_equal(block_table_encode(&pair, 0, sizeof bytes, bytes), 2);
    for (uint32_t h = 0; h < SS_SYMBOL_COUNT; h++)
        assert_int_equal(pair.code.lengths[h], h == 6);
    /* The column has two zeros, and the code of h = 6 is a 0 at bit 64. */
    expected[239] = 0x80; /* the suffix ends where the head begins, with its highest bit */
    expected[240] = 2;    /* the number of fingerprints, 2 bytes; then the key shift 0 and a zero */
    expected[247] = 0xd9; /* the first upper half, 4 bytes, the most significant last */
    memset(expected + 248, 0xee, 8);
    assert_memory_equal(bytes, expected, sizeof bytes);
    block_table_free(&pair);
}

/* Two groups: 64 fingerprints with the upper half d9, and two with 5000ea and 5000ee. */
static void test_example_of_two_groups(void **state)
{
    uint64_t *values = malloc(66 * sizeof *values);
    uint8_t bytes[512], expected[512] = {0};
    block_table all;
    for (uint32_t i = 0; i < 64; i++)
        values[i] = UINT64_C(0xd9) << 32 | (i + 1);
    values[64] = UINT64_C(0x5000ea) << 32 | 0x07060504;
    values[65] = UINT64_C(0x5000ee) << 32 | 0x01;
    block_table_init(&all, values, 66);
    assert_int_equal(block_table_encode(&all, 0, sizeof bytes, bytes), 66);
    for (uint32_t h = 0; h < SS_SYMBOL_COUNT; h++)
        assert_int_equal(all.code.lengths[h], h == 32 ? 1 : h == 9 || h == 29 ? 2 : 0);
    for (uint32_t i = 0; i < 64; i++)
        expected[4 * i] = (uint8_t)(i + 1);
    for (uint32_t i = 0; i < 4; i++)
        expected[256 + i] = (uint8_t)(4 + i);
    expected[260] = 1;
    /* Group 0, from byte 264 on: 63 times the code 0 of equal upper halves, in 8 bytes. */
    expected[272] = 0x03; /* group 1: the code 11 of h = 29 */
    /* Its suffix 10, of which the 0 is in byte 490; and 0010001, the lowest bits of its distance 500011. */
    expected[491] = 0x23;
    expected[492] = 0x10; /* it begins at 272 */
    expected[493] = 0x01;
    expected[495] = 0xa0; /* its key is a000 */
    expected[496] = 66;
    expected[498] = 7; /* key shift: 500011 has 23 bits */
    expected[500] = 0xd9;
    memset(expected + 504, 0xee, 8);
    assert_memory_equal(bytes, expected, sizeof bytes);
    block_table_free(&all);
}

static void test_block_sizes(void **state)
{
    for (uint32_t shift = BLOCK_SMALLEST_SHIFT; shift < BLOCK_SMALLEST_SHIFT + BLOCK_SIZE_COUNT; shift++) {
        assert_true(ss_block_bytes_valid(1u << shift));
        assert_false(ss_block_bytes_valid((1u << shift) + 1));
        assert_false(ss_block_bytes_valid(3u << (shift - 1)));
    }
    assert_false(ss_block_bytes_valid(0));
    assert_false(ss_block_bytes_valid(128));
    assert_false(ss_block_bytes_valid(131072));
    assert_false(ss_block_bytes_valid(UINT32_C(1) << 31));
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_round_trip, testing_teardown),
        cmocka_unit_test_teardown(test_same_as_reference, testing_teardown),
        cmocka_unit_test_teardown(test_fullest_block, testing_teardown),
        cmocka_unit_test_teardown(test_counts_about_groups, testing_teardown),
        cmocka_unit_test_teardown(test_smallest_blocks, testing_teardown),
        cmocka_unit_test_teardown(test_equal_keys, testing_teardown),
        cmocka_unit_test_teardown(test_key_shifts, testing_teardown),
        cmocka_unit_test(test_encoder_writes_all),
        cmocka_unit_test(test_step_bits),
        cmocka_unit_test(test_example_of_the_articles),
        cmocka_unit_test(test_example_of_two_groups),
        cmocka_unit_test(test_block_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The block codec: what is encoded is decoded and found again, and no bytes whatever lead outside the block. */
#include "codec/block.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "support/data.h"
#include "support/guard.h"
#include "support/random.h"
#include "support/testing.h"

#define SMALLEST_SHIFT 8
#define SIZE_COUNT 9 /* 256 to 65536 */
#define MOST_VALUES 12000

static uint64_t run_seed;
static const uint32_t intervals[] = {1, 2, 3, 64, 128, 129, 65535}; /* 128: the most that is decoded side by side */
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

/* The bits of a block of `count` values without its trailer, by the format. */
static uint64_t needed_bits(const table *from, size_t first, size_t count, ss_geometry geometry)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < count; i++) {
        if (i % geometry.restart_interval == 0) {
            bits += geometry.block_bytes <= 8192 ? 64 + 16 : 64 + 32;
            continue;
        }
        uint32_t h = (uint32_t)__builtin_clzll(from->values[first + i] ^ from->values[first + i - 1]);
        bits += from->code.lengths[h] + 63 - h;
    }
    return bits;
}

/* ----- round trips ----- */

/* Decode without the instructions that only some processors have. */
static bool decode_portably(const ss_block *block, uint64_t *out)
{
    static ss_code code;
    ss_block portable = *block;
    code = *block->code;
    code.decode_rests = ss_rests_portable;
    portable.code = &code;
    return ss_block_decode(&portable, out);
}

/* Some groups alone, to exactly as much room. */
static void check_decode_groups(const ss_block *block, const uint64_t *values, uint32_t first_group, uint32_t groups)
{
    const uint32_t first = first_group * block->restart_interval, left = block->count - first;
    const uint32_t wanted = first_group + groups == block->group_count ? left : groups * block->restart_interval;
    uint64_t *out = malloc(wanted * sizeof *out);
    uint32_t count = 0;
    assert_true(ss_block_decode_groups(block, first_group, groups, out, &count));
    assert_int_equal(count, wanted);
    assert_memory_equal(out, values + first, count * sizeof *out);
    free(out);
}

static void check_decode(const ss_block *block, const uint64_t *values, rng *random)
{
    uint64_t *out = malloc(block->count * sizeof *out); /* exactly as long: a sanitizer sees any more written */
    assert_true(ss_block_decode(block, out));
    assert_memory_equal(out, values, block->count * sizeof *out);
    memset(out, 0, block->count * sizeof *out);
    assert_true(decode_portably(block, out));
    assert_memory_equal(out, values, block->count * sizeof *out);
    free(out);
    for (uint32_t group = 0; group < block->group_count; group++)
        check_decode_groups(block, values, group, 1);
    for (uint32_t i = 0; i < 8; i++) {
        const uint32_t group = (uint32_t)rng_below(random, block->group_count), left = block->group_count - group;
        check_decode_groups(block, values, group, (uint32_t)rng_between(random, 1, left < 12 ? left : 12));
    }
}

static uint32_t lower_bound(const uint64_t *values, uint32_t count, uint64_t target)
{
    uint32_t i = 0;
    while (i < count && values[i] < target)
        i++;
    return i;
}

/* Seek, then walk on over at most `steps` fingerprints. */
static void check_seek(const ss_block *block, const uint64_t *values, uint64_t target, uint32_t steps)
{
    ss_position position;
    uint32_t wanted = lower_bound(values, block->count, target);
    ss_seek found = ss_block_seek(block, target, &position);
    for (; wanted < block->count && steps > 0; wanted++, steps--) {
        assert_int_equal(found, SS_SEEK_AT);
        assert_int_equal(position.value, values[wanted]);
        assert_int_equal(position.index, wanted);
        assert_int_equal(position.group, wanted / block->restart_interval);
        found = ss_block_next(block, &position);
    }
    if (wanted == block->count)
        assert_int_equal(found, SS_SEEK_END);
}

static void check_find_group(const ss_block *block, uint64_t target)
{
    uint32_t wanted = 0;
    while (wanted + 1 < block->group_count && ss_block_key(block, wanted + 1) <= target)
        wanted++;
    assert_int_equal(ss_block_find_group(block, target), wanted);
}

static void check_seeks(const ss_block *block, const uint64_t *values, rng *random)
{
    const uint32_t last = block->count - 1;
    check_seek(block, values, 0, UINT32_MAX); /* all of it */
    check_seek(block, values, UINT64_MAX, 3);
    check_seek(block, values, values[last], 3);
    check_seek(block, values, values[last] + 1, 3); /* of 2^64-1 that is 0 */
    for (uint32_t i = 0; i < 24; i++) {
        const uint32_t near = (uint32_t)rng_below(random, block->count);
        const uint32_t steps = rng_one_in(random, 8) ? UINT32_MAX : (uint32_t)rng_below(random, 80);
        check_find_group(block, rng_next(random));
        check_find_group(block, values[near]);
        check_seek(block, values, rng_next(random), steps);
        check_seek(block, values, values[near], steps);
        check_seek(block, values, values[near] + 1, 2);
        check_seek(block, values, values[near] - 1, 2);
        check_seek(block, values, rng_flip(random, values[near], 1), 2);
        /* As a probe does: a prefix, then zeros. */
        check_seek(block, values, values[near] & ss_high_mask((uint32_t)rng_below(random, 64)), 2);
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
        assert_true(ss_block_open(&block, placed, geometry, &all->code, &reason));
        assert_int_equal(block.count, count);
        check_decode(&block, all->values + first, random);
        check_seeks(&block, all->values + first, random);
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
    for (uint32_t interval = 64; interval <= SS_BLOCK_MAX_COUNT; interval += SS_BLOCK_MAX_COUNT - 64) {
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
    ss_block_encoder *encoder = ss_block_encoder_create(geometry, &all.code);
    memset(first, 0xff, sizeof first);
    memset(second, 0, sizeof second);
    for (size_t i = 0; i < 20; i++)
        assert_true(ss_block_encoder_add(encoder, all.values[i]));
    ss_block_encoder_finish(encoder, first);
    for (size_t i = 0; i < 20; i++)
        assert_true(ss_block_encoder_add(encoder, all.values[i]));
    ss_block_encoder_finish(encoder, second);
    assert_memory_equal(first, second, sizeof first);
    ss_block_encoder_free(encoder);
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
    expected[0] = 2;      /* slot 0: the number of fingerprints, 2 bytes */
    expected[9] = 0xd9;   /* key 0, 8 bytes, the most significant last */
    expected[247] = 0x80; /* the rest ends at bit 248 * 8 with its highest bit; the code of h = 6 is a 0 at bit 80 */
    memset(expected + 248, 0xee, 8);
    assert_memory_equal(bytes, expected, sizeof bytes);
    table_free(&pair);
}

/* The example of format-spec/block-codec.md, section 6: six fingerprints in two groups. */
static void test_example_of_the_format(void **state)
{
    (void)state;
    static const uint64_t six[] = {0xd9, 0xdb, 0xdd, 0xde, 0xe0, 0xe6};
    const ss_geometry geometry = {.block_bytes = 256, .restart_interval = 4};
    uint64_t *values = malloc(sizeof six);
    uint8_t bytes[256], expected[256] = {0};
    table all;
    memcpy(values, six, sizeof six);
    table_init(&all, values, 6);
    assert_int_equal(encode(&all, 0, geometry, bytes), 6);
    for (uint32_t h = 0; h < SS_SYMBOL_COUNT; h++)
        assert_int_equal(all.code.lengths[h], h == 62 ? 1 : h == 58 || h == 61 ? 2 : 0);
    expected[0] = 6;    /* slot 0 */
    expected[2] = 0xa8; /* slot 1: group 1 begins at bit 168 */
    expected[4] = 0xd9; /* the keys */
    expected[12] = 0xe0;
    expected[20] = 0xa6;  /* group 0: codes 0, 11, 0; rests 0, 01, 1 */
    expected[21] = 0x03;  /* group 1: code 11 */
    expected[247] = 0x80; /* and its rest, 10 */
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

/* ----- malformed blocks ----- */

/* Patch a copy of a block's slot and look whether its frame is refused. */
static bool frame_refused(const uint8_t *bytes, ss_geometry geometry, const ss_code *code, uint32_t slot,
                          uint32_t value)
{
    uint8_t *patched = malloc(geometry.block_bytes);
    const uint32_t slot_bytes = geometry.block_bytes <= 8192 ? 2 : 4;
    const char *reason = NULL;
    ss_block block;
    memcpy(patched, bytes, geometry.block_bytes);
    for (uint32_t i = 0; i < slot_bytes; i++)
        patched[slot * slot_bytes + i] = (uint8_t)(value >> (8 * i));
    bool opened = ss_block_open(&block, patched, geometry, code, &reason);
    assert_true(opened || (reason != NULL && *reason != '\0'));
    free(patched);
    return !opened;
}

static void test_bad_frames_are_refused(void **state)
{
    (void)state;
    rng random;
    table all;
    rng_init(&random, run_seed + 4);
    table_make(&all, &random, DATA_UNIFORM, 4000);
    for (uint32_t size = 256; size <= 65536; size *= 4) {
        const ss_geometry geometry = {.block_bytes = size, .restart_interval = 4};
        uint8_t *bytes = malloc(size);
        encode(&all, 0, geometry, bytes);
        const uint32_t slot_bytes = size <= 8192 ? 2 : 4, end = (size - 8) * 8;
        const uint32_t groups = (ss_load_slot(bytes, slot_bytes, 0) + 3) / 4;
        const uint32_t most_groups = end / (8 * (slot_bytes + 8)), begin = groups * (slot_bytes + 8) * 8;
        const uint32_t second = ss_load_slot(bytes, slot_bytes, 1), third = ss_load_slot(bytes, slot_bytes, 2);
        testing_doing("blocks of %u bytes", size);
        assert_false(frame_refused(bytes, geometry, &all.code, 1, second));
        assert_true(frame_refused(bytes, geometry, &all.code, 0, 0));
        assert_true(frame_refused(bytes, geometry, &all.code, 0, 4 * most_groups + 1)); /* more keys than room */
        assert_true(frame_refused(bytes, geometry, &all.code, 0, 65535));
        if (slot_bytes == 4) {
            assert_true(frame_refused(bytes, geometry, &all.code, 0, 65536));
            assert_true(frame_refused(bytes, geometry, &all.code, 0, UINT32_MAX));
            assert_true(frame_refused(bytes, geometry, &all.code, 1, UINT32_MAX));
        }
        assert_true(frame_refused(bytes, geometry, &all.code, 1, 0));
        assert_true(frame_refused(bytes, geometry, &all.code, 1, begin - 1));  /* within the keys */
        assert_false(frame_refused(bytes, geometry, &all.code, 1, begin));     /* an empty group can be */
        assert_true(frame_refused(bytes, geometry, &all.code, 1, third + 1));  /* above the next one */
        assert_true(frame_refused(bytes, geometry, &all.code, 2, second - 1)); /* below the one before */
        assert_true(frame_refused(bytes, geometry, &all.code, groups - 1, end + 1));
        assert_false(frame_refused(bytes, geometry, &all.code, groups - 1, end));
        free(bytes);
    }
    table_free(&all);
    testing_done();
}

/* Walk on to the end of the first group, where the damage is. */
static void walk_into_damage(const ss_block *block, ss_seek found, ss_position *position)
{
    while (found == SS_SEEK_AT && position->group == 0)
        found = ss_block_next(block, position);
    assert_int_equal(found, SS_SEEK_DAMAGED);
}

/* Decoding all, walking and seeking for what is behind the end must all see that the bits are wrong. */
static void check_damage_is_seen(const uint8_t *bytes, ss_geometry geometry, const ss_code *code)
{
    static uint64_t out[SS_BLOCK_MAX_COUNT];
    ss_block block;
    ss_position position;
    const char *reason = NULL;
    uint32_t count;
    assert_true(ss_block_open(&block, bytes, geometry, code, &reason));
    assert_false(ss_block_decode(&block, out));
    assert_false(ss_block_decode_groups(&block, 0, 1, out, &count));
    walk_into_damage(&block, ss_block_seek(&block, ss_block_key(&block, 0), &position), &position);
    const uint64_t behind = block.group_count > 1 ? ss_block_key(&block, 1) - 1 : UINT64_MAX;
    walk_into_damage(&block, ss_block_seek(&block, behind, &position), &position);
}

/* A group whose end lies so low that codes run into rests, or have no room at all. */
static void test_codes_that_run_into_rests(void **state)
{
    (void)state;
    rng random;
    table all;
    rng_init(&random, run_seed + 5);
    table_make(&all, &random, DATA_UNIFORM, 4000);
    for (uint32_t interval = 4; interval <= 1024; interval *= 4) {
        const ss_geometry geometry = {.block_bytes = 16384, .restart_interval = interval};
        uint8_t bytes[16384];
        encode(&all, 0, geometry, bytes);
        const uint32_t groups = (ss_load_le32(bytes) + interval - 1) / interval;
        const uint32_t begin = groups * 12 * 8, second = ss_load_le32(bytes + 4);
        assert_true(groups >= 2);
        /* A handful of bits short, half the bits, none. */
        const uint32_t ends[] = {second - 1, second - 40, begin + (second - begin) / 2, begin + 1, begin};
        for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
            testing_doing("a restart every %u: the first group ends at %u instead of %u", interval, ends[i], second);
            ss_store_le32(bytes + 4, ends[i]);
            /* What follows is read from other bits, and ends too early as well. */
            check_damage_is_seen(bytes, geometry, &all.code);
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
    uint8_t bytes[256] = {0};
    ss_code_init(&code, lengths);
    ss_store_le16(bytes, 65535);
    check_damage_is_seen(bytes, geometry, &code);
    memset(bytes + 10, 0xff, sizeof bytes - 10);
    check_damage_is_seen(bytes, geometry, &code);
    ss_store_le16(bytes, 1 + (256 - 8 - 10) * 8); /* as many h = 63 as there are bits: just right */
    static uint64_t out[2048];
    ss_block block;
    const char *reason;
    assert_true(ss_block_open(&block, bytes, geometry, &code, &reason));
    assert_true(ss_block_decode(&block, out));
    ss_store_le16(bytes, 2 + (256 - 8 - 10) * 8); /* and one more */
    check_damage_is_seen(bytes, geometry, &code);
}

/* With one symbol its code is 0; a 1 is none. Without symbols nothing is. */
static void test_invalid_codes_are_refused(void **state)
{
    (void)state;
    const ss_geometry geometry = {.block_bytes = 256, .restart_interval = 8};
    uint8_t bytes[256] = {0}, lengths[SS_SYMBOL_COUNT] = {[40] = 1};
    static ss_code one, none;
    ss_block block;
    const char *reason;
    uint64_t out[5];
    ss_code_init(&one, lengths);
    lengths[40] = 0;
    ss_code_init(&none, lengths);
    ss_store_le16(bytes, 5);
    assert_true(ss_block_open(&block, bytes, geometry, &one, &reason));
    assert_true(ss_block_decode(&block, out)); /* the codes from bit 80 on are zeros */
    check_damage_is_seen(bytes, geometry, &none);
    for (uint32_t bit = 80; bit < 84; bit++) {
        testing_doing("bit %u", bit);
        bytes[bit / 8] = (uint8_t)(1u << bit % 8);
        check_damage_is_seen(bytes, geometry, &one);
    }
    bytes[10] = 1 << 4; /* behind the fourth and last code: unused */
    assert_true(ss_block_open(&block, bytes, geometry, &one, &reason));
    assert_true(ss_block_decode(&block, out));
    testing_done();
}

/* ----- any bytes at all ----- */

static bool is_complete(const ss_code *code)
{
    uint32_t symbols = 0;
    for (uint32_t h = 0; h < SS_SYMBOL_COUNT; h++)
        symbols += code->lengths[h] != 0;
    return symbols > 1;
}

/* Use every function on a block that may be malformed. Decoding and walking must tell the same; only of a table of two
 * fingerprints, where some bits are no code, decoding looks at bits that walking does not. */
static void exercise(const uint8_t *bytes, ss_geometry geometry, const ss_code *code, rng *random)
{
    ss_block block;
    ss_position position;
    const char *reason = NULL;
    if (!ss_block_open(&block, bytes, geometry, code, &reason))
        return;
    uint64_t *out = malloc(block.count * sizeof *out), *portable = malloc(block.count * sizeof *out);
    bool sound = ss_block_decode(&block, out);
    assert_int_equal(decode_portably(&block, portable), sound);
    if (sound)
        assert_memory_equal(portable, out, block.count * sizeof *out);
    ss_position_enter_group(&block, 0, &position);
    ss_seek found = SS_SEEK_AT;
    uint32_t walked = 0;
    for (; found == SS_SEEK_AT; walked++) {
        assert_int_equal(position.index, walked);
        if (sound)
            assert_int_equal(position.value, out[walked]);
        found = ss_block_next(&block, &position);
    }
    if (sound || is_complete(code))
        assert_int_equal(found, sound ? SS_SEEK_END : SS_SEEK_DAMAGED);
    assert_true(!sound || walked == block.count);
    for (uint32_t i = 0; i < 8; i++) {
        uint64_t target = rng_one_in(random, 2) ? rng_next(random) : rng_flip(random, ss_block_key(&block, 0), 1);
        for (found = ss_block_seek(&block, target, &position); found == SS_SEEK_AT;)
            found = ss_block_next(&block, &position);
        assert_true(found == SS_SEEK_END || !sound);
    }
    free(out);
    free(portable);
}

/* A block's begin with a frame that is accepted, so that more than the frame's check is reached. */
static void make_frame(rng *random, ss_geometry geometry, uint8_t *bytes)
{
    const uint32_t slot_bytes = geometry.block_bytes <= 8192 ? 2 : 4, end = (geometry.block_bytes - 8) * 8;
    const uint64_t most = (uint64_t)end / (8 * (slot_bytes + 8)) * geometry.restart_interval;
    const uint32_t count = (uint32_t)rng_between(random, 1, most < SS_BLOCK_MAX_COUNT ? most : SS_BLOCK_MAX_COUNT);
    const uint32_t groups = (count + geometry.restart_interval - 1) / geometry.restart_interval;
    uint32_t position = groups * (slot_bytes + 8) * 8;
    for (uint32_t i = 0; i < groups; i++) {
        const uint32_t value = i == 0 ? count : position;
        for (uint32_t j = 0; j < slot_bytes; j++)
            bytes[i * slot_bytes + j] = (uint8_t)(value >> (8 * j));
        const uint32_t left = end - position, mean = 2 * left / (groups - i);
        position += (uint32_t)rng_below(random, (mean < left ? mean : left) + 1);
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
        exercise(guard_before_end(&memory, bytes), geometry, &code, &random);
        exercise(guard_after_begin(&memory, bytes), geometry, &code, &random);
        free(bytes);
        guard_free(&memory);
    }
    testing_done();
}

/* Blocks that were right but for a few bits come farther. */
static void test_flipped_bits_stay_inside(void **state)
{
    (void)state;
    rng random;
    rng_init(&random, run_seed + 7);
    for (uint32_t i = 0; i < DATA_KIND_COUNT * 4; i++) {
        const ss_geometry geometry = {.block_bytes = 256u << i % 6,
                                      .restart_interval = intervals[1 + i % (INTERVAL_COUNT - 1)]};
        table all;
        uint8_t *bytes = malloc(geometry.block_bytes);
        guarded memory = guard_make(geometry.block_bytes);
        table_make(&all, &random, (data_kind)(i % DATA_KIND_COUNT), geometry.block_bytes);
        encode(&all, 0, geometry, bytes);
        for (uint32_t trial = 0; trial < 150; trial++) {
            testing_doing("kind %u, trial %u", i, trial);
            (void)guard_before_end(&memory, bytes);
            for (uint64_t flips = rng_between(&random, 1, 4); flips > 0; flips--) {
                size_t bits = rng_one_in(&random, 2) ? 256 : 8 * (size_t)geometry.block_bytes;
                size_t bit = rng_below(&random, bits);
                memory.high[bit / 8] ^= (uint8_t)(1u << bit % 8);
            }
            exercise(memory.high, geometry, &all.code, &random);
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
        cmocka_unit_test(test_encoder_starts_afresh),
        cmocka_unit_test(test_example_of_the_articles),
        cmocka_unit_test(test_example_of_the_format),
        cmocka_unit_test(test_geometry_ranges),
        cmocka_unit_test_teardown(test_bad_frames_are_refused, testing_teardown),
        cmocka_unit_test_teardown(test_codes_that_run_into_rests, testing_teardown),
        cmocka_unit_test(test_more_fingerprints_than_bits),
        cmocka_unit_test_teardown(test_invalid_codes_are_refused, testing_teardown),
        cmocka_unit_test_teardown(test_any_bytes_stay_inside, testing_teardown),
        cmocka_unit_test_teardown(test_flipped_bits_stay_inside, testing_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The block codec on malformed blocks: no bytes lead to an access outside the block, all kernels give the same
 * result, and a malformed block is accepted only if its fingerprints ascend and encoding them again gives other
 * bytes. */
#include "read/block_check.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "support/block_table.h"
#include "support/guard.h"
#include "support/reference_block.h"
#include "support/testing.h"

/* ----- any block, valid or not ----- */

/* The results for a block. */
typedef struct verdict {
    bool opens;       /* its head is accepted */
    bool is_valid;    /* all of it, strictly */
    bool is_accepted; /* by decoding, which need not detect everything */
} verdict;

static bool ascends(const uint64_t *values, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        if (values[i] <= values[i - 1])
            return false;
    return true;
}

/* An invalid block that is accepted ascends, and is not a writer's encoding. */
static void check_passed(const ss_block *block, uint32_t block_bytes, const uint64_t *values, bool is_valid)
{
    ss_block_check canonical;
    sstore_error error;
    const char *reason = NULL;
    assert_true(ascends(values, block->count));
    assert_ok(ss_block_check_init(&canonical, block_bytes, block->code, &error), &error);
    const bool is_canonical = ss_block_check_table(&canonical, block->bytes, values, block->count, &reason);
    assert_true(is_canonical || (reason != NULL && *reason != '\0'));
    assert_true(is_valid || !is_canonical);
    ss_block_check_free(&canonical);
}

/* Decode all: a valid block is accepted, with the right values; and all forms agree on an invalid one. */
static bool exercise_decoding(const ss_block *block, uint32_t block_bytes, const uint64_t *values, bool is_valid)
{
    const size_t bytes = block->count * sizeof(uint64_t);
    uint64_t *out = malloc(bytes), *other = malloc(bytes);
    const bool is_accepted = ss_block_decode(block_in_way(block, 0), out);
    assert_true(is_accepted || !is_valid);
    if (is_valid)
        assert_memory_equal(out, values, bytes);
    if (is_accepted)
        check_passed(block, block_bytes, out, is_valid);
    assert_int_equal(ss_block_decode(block_in_way(block, 1), other), is_accepted);
    if (is_accepted)
        assert_memory_equal(other, out, bytes);
    free(out);
    free(other);
    return is_accepted;
}

/* Decode a group, or the beginning of it. */
static void exercise_group(const ss_block *block, uint32_t group, uint32_t count, const uint64_t *values, bool is_valid)
{
    uint64_t *out = malloc(count * sizeof *out), *other = malloc(count * sizeof *other), first = 0;
    const bool is_accepted = ss_block_decode_group(block_in_way(block, 0), group, count, out);
    assert_true(is_accepted || !is_valid);
    if (is_valid)
        assert_memory_equal(out, values + (size_t)group * REFERENCE_GROUP, count * sizeof *out);
    assert_int_equal(ss_block_decode_group(block_in_way(block, 1), group, count, other), is_accepted);
    if (is_accepted) {
        assert_true(ascends(out, count));
        assert_memory_equal(other, out, count * sizeof *out);
        assert_true(ss_block_group_first(block, group, &first));
        assert_int_equal(first, out[0]);
    }
    free(out);
    free(other);
}

/* A group's first fingerprint is found where the reference reader finds it, except for an upper half of 33 bits. */
static void exercise_first(const ss_block *block, uint32_t block_bytes, uint32_t group)
{
    uint64_t first = 1, wanted = 2;
    const bool is_told = ss_block_group_first(block, group, &first) && ss_upper(first) >= block->first;
    assert_int_equal(is_told, reference_block_group_first(block->bytes, block_bytes, group, &wanted));
    if (is_told)
        assert_int_equal(first, wanted);
}

/* Find groups and near fingerprints in them: each result is near, and they ascend within a group. */
static void exercise_finding(const ss_block *block, bool is_valid, rng *random)
{
    for (uint32_t i = 0; i < 8; i++) {
        const uint32_t any = (uint32_t)rng_next(random), near_first = block->first ^ 1u << rng_below(random, 32);
        const uint32_t low = rng_one_in(random, 2) ? any : near_first;
        const uint32_t high = low | (uint32_t)ss_low_mask((uint32_t)rng_below(random, 33));
        const uint32_t lower = ss_block_lower(block, (uint32_t)rng_below(random, block->count));
        uint32_t first, last;
        ss_block_find_groups(block, low, high, &first, &last);
        assert_true(first <= last && last < block->group_count);
        ss_near near = {.query = rng_flip(random, (uint64_t)low << 32 | lower, 2),
                        .distance = (uint32_t)rng_below(random, 65)};
        near.lower_distance = i % 2 == 0 ? near.distance : (uint32_t)rng_below(random, near.distance + 1);
        near.group = i % 2 == 0 ? first : 0;
        near.end = i % 2 == 0 ? last + 1 : block->group_count;
        for (ss_near other = near;; near.group++, other.group++) {
            const bool is_accepted = ss_block_find_near(block_in_way(block, 0), &near);
            assert_true(is_accepted || !is_valid);
            assert_int_equal(ss_block_find_near(block_in_way(block, 1), &other), is_accepted);
            assert_int_equal(other.group, near.group);
            if (!is_accepted || near.group == near.end)
                break;
            assert_true(near.mask != 0 && near.mask == other.mask);
            assert_true((near.mask & ~ss_low_mask(ss_block_group_size(block, near.group))) == 0);
            for (uint32_t j = 0, before = 64; j < 64; j++) {
                if ((near.mask >> j & 1) == 0)
                    continue;
                assert_int_equal(near.values[j], other.values[j]);
                assert_true(ss_popcount(near.values[j] ^ near.query) <= near.distance);
                assert_true(ss_popcount((uint32_t)(near.values[j] ^ near.query)) <= near.lower_distance);
                assert_true(before == 64 || near.values[j] > near.values[before]);
                before = j;
            }
        }
    }
}

/* Use every function on a block that may be malformed, and compare the results with the reference reader. */
static verdict exercise(const uint8_t *bytes, uint32_t block_bytes, const ss_code *code, rng *random)
{
    verdict result = {.opens = reference_block_opens(bytes, block_bytes)};
    ss_block block;
    reference_code slow;
    const char *reason = NULL;
    assert_int_equal(ss_block_open(&block, bytes, block_bytes, code, &reason), result.opens);
    assert_true(result.opens || (reason != NULL && *reason != '\0'));
    if (!result.opens)
        return result;
    uint64_t *values = malloc(block.count * sizeof *values);
    reference_code_init(&slow, code->lengths);
    for (uint32_t group = 0; group < block.group_count; group++) {
        const uint32_t size = ss_block_group_size(&block, group);
        const bool is_valid = reference_block_decode_group(bytes, block_bytes, &slow, group,
                                                           values + (size_t)group * REFERENCE_GROUP);
        exercise_group(&block, group, size, values, is_valid);
        exercise_group(&block, group, (uint32_t)rng_between(random, 1, size), values, is_valid);
        exercise_first(&block, block_bytes, group);
    }
    result.is_valid = reference_block_decode(bytes, block_bytes, &slow, values);
    result.is_accepted = exercise_decoding(&block, block_bytes, values, result.is_valid);
    exercise_finding(&block, result.is_valid, random);
    free(values);
    return result;
}

/* A number of `width` bytes in a copy of a block, between forbidden pages, instead of what was there. */
static verdict exercise_patched(const uint8_t *bytes, uint32_t block_bytes, const ss_code *code, size_t at,
                                uint64_t value, uint32_t width, rng *random)
{
    guarded memory = guard_make(block_bytes);
    uint8_t *patched = memory.high;
    (void)guard_before_end(&memory, bytes);
    for (uint32_t i = 0; i < width; i++)
        patched[at + i] = (uint8_t)(value >> (8 * i));
    const verdict result = exercise(patched, block_bytes, code, random);
    guard_free(&memory);
    return result;
}

/* ----- malformed blocks ----- */

static void test_bad_heads_are_refused(void **state)
{
    rng random = rng_seeded(run_seed + 4);
    block_table all;
    block_table_make(&all, &random, DATA_UNIFORM, 20000);
    for (uint32_t size = 256; size <= 65536; size *= 2) {
        uint8_t *bytes = malloc(size);
        const size_t head = size - 16;
        const uint32_t count = block_table_encode(&all, 0, size, bytes);
        uint32_t max = (size - 16) / 4; /* the maximum beside a column and the frames of its groups */
        while (4 * max + 4 * ((max + 63) / 64 - 1) > head)
            max--;
        testing_doing("blocks of %u bytes", size);
        assert_true(exercise_patched(bytes, size, &all.code, head, count, 2, &random).is_valid);
        assert_false(exercise_patched(bytes, size, &all.code, head, 0, 2, &random).opens);
        assert_true(exercise_patched(bytes, size, &all.code, head, max, 2, &random).opens);
        for (uint32_t more = max + 1; more <= max + 70; more++)
            assert_false(exercise_patched(bytes, size, &all.code, head, more, 2, &random).opens);
        assert_false(exercise_patched(bytes, size, &all.code, head, 65535, 2, &random).opens);
        for (uint32_t key_shift = 0; key_shift < 256; key_shift++)
            assert_int_equal(exercise_patched(bytes, size, &all.code, head + 2, key_shift, 1, &random).opens,
                             key_shift <= 16);
        for (uint32_t zero = 1; zero < 256; zero++)
            assert_false(exercise_patched(bytes, size, &all.code, head + 3, zero, 1, &random).opens);
        free(bytes);
    }
    block_table_free(&all);
    testing_done();
}

/* What a group of a block may begin at. */
typedef struct begin_case {
    uint32_t group, begin;
    bool may_be; /* its bounds, and those of the group before */
} begin_case;

/* Invalid bounds are never accepted; with valid ones the group's first fingerprint is found. */
static void check_begins(const block_table *all, uint32_t size, rng *random)
{
    uint8_t *bytes = malloc(size);
    block_table_encode(all, 0, size, bytes);
    const uint32_t groups = reference_block_groups(bytes, size), column = reference_begin(bytes, size, 0);
    const uint32_t end = reference_begin(bytes, size, groups), own = (reference_block_key_shift(bytes, size) + 7) / 8;
    const uint32_t last = groups - 1, second = reference_begin(bytes, size, 1);
    assert_true(groups > 2);
    const begin_case cases[] = {
        {1, second, true},         {1, 0, false},
        {1, column - 1, false}, /* within the column */
        {1, column, true},         {2, second, own == 0},
        {2, second + own, true},   {2, second + own - 1, false}, /* too few bytes for group 1's own */
        {last, end - own, true},   {last, end - own + 1, false},
        {last, end, own == 0},     {last, end + 1, false},
        {last, UINT16_MAX, false}, {1, UINT16_MAX, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const begin_case *tried = &cases[i];
        const size_t at = reference_begin_offset(bytes, size, tried->group);
        ss_block block;
        const char *reason;
        uint64_t first;
        testing_doing("blocks of %u bytes, %u bytes of lowest bits: group %u of %u begins at %u", size, own,
                      tried->group, groups, tried->begin);
        const verdict got = exercise_patched(bytes, size, &all->code, at, tried->begin, 2, random);
        assert_true(got.opens);
        assert_true(tried->may_be || !got.is_accepted);
        uint8_t *patched = malloc(size);
        memcpy(patched, bytes, size);
        ss_store_le16(patched + at, (uint16_t)tried->begin);
        assert_true(ss_block_open(&block, patched, size, &all->code, &reason));
        assert_int_equal(ss_block_group_first(&block, tried->group, &first) &&
                             ss_block_group_first(&block, tried->group - 1, &first),
                         tried->may_be);
        free(patched);
    }
    free(bytes);
}

static void test_bad_begins_are_refused(void **state)
{
    rng random = rng_seeded(run_seed + 12);
    for (uint32_t size = 1024; size <= 65536; size *= 2) {
        for (uint32_t i = 0; i < 2; i++) { /* key shifts above 0, and 0 */
            block_table all;
            block_table_make(&all, &random, i == 0 ? DATA_UNIFORM : DATA_DENSE, 20000);
            check_begins(&all, size, &random);
            block_table_free(&all);
        }
    }
    testing_done();
}

/* A group whose end is so low that codes run into suffixes, or do not fit at all. An accepted block is not a writer's
 * encoding: exercise() checks this. */
static void test_codes_that_run_into_suffixes(void **state)
{
    rng random = rng_seeded(run_seed + 5);
    uint32_t passed = 0, refused = 0;
    for (uint32_t trial = 0; trial < 2 * DATA_KIND_COUNT; trial++) {
        uint8_t bytes[4096];
        block_table all;
        block_table_make(&all, &random, (data_kind)(trial % DATA_KIND_COUNT), 4000);
        block_table_encode(&all, 0, sizeof bytes, bytes);
        const uint32_t groups = reference_block_groups(bytes, sizeof bytes);
        for (uint32_t group = 1; group < groups; group++) {
            const uint32_t begin = reference_begin(bytes, sizeof bytes, group - 1),
                           end = reference_begin(bytes, sizeof bytes, group);
            const size_t at = reference_begin_offset(bytes, sizeof bytes, group);
            assert_true(exercise_patched(bytes, sizeof bytes, &all.code, at, end, 2, &random).is_valid);
            const uint32_t ends[] = {end - 1, end - 2, begin + (end - begin) / 2, begin + 1, begin};
            for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
                testing_doing("kind %u: group %u ends at %u instead of %u", trial % DATA_KIND_COUNT, group - 1, ends[i],
                              end);
                const verdict got = exercise_patched(bytes, sizeof bytes, &all.code, at, ends[i], 2, &random);
                assert_true(got.opens && !got.is_valid);
                passed += got.is_accepted;
                refused += !got.is_accepted;
            }
        }
        block_table_free(&all);
    }
    testing_figure("groups that end too early: %u refused, %u passed", refused, passed);
    assert_true(refused > 100);
    testing_done();
}

/* A last group that would need more bytes than there are before the frame. */
static void test_more_fingerprints_than_bits(void **state)
{
    uint8_t bytes[256] = {0},
            lengths[SS_SYMBOL_COUNT] = {[0] = 1, [32] = 1}; /* 0: h = 0, 31 bits of suffix; 1: equal */
    static ss_code code;
    rng random = rng_seeded(run_seed + 13);
    ss_code_init(&code, lengths);
    ss_store_le16(bytes + 240, 60); /* nothing is left for steps */
    assert_false(exercise(bytes, sizeof bytes, &code, &random).is_accepted);
    memset(bytes, 0xff, 240);
    assert_false(exercise(bytes, sizeof bytes, &code, &random).is_accepted);

    /* As many equal upper halves as fit, and one more. */
    uint64_t values[60];
    uint8_t step_bits[60];
    for (uint32_t i = 0; i < 60; i++)
        values[i] = i;
    ss_step_bits(&code, values, 60, step_bits);
    const uint32_t fitting = ss_block_fit(sizeof bytes, values, step_bits, 60);
    assert_int_equal(fitting, 58); /* 232 bytes and 57 bits, of 240 bytes */
    ss_block_encode(sizeof bytes, &code, values, step_bits, fitting, bytes);
    assert_true(exercise(bytes, sizeof bytes, &code, &random).is_valid);
    ss_store_le16(bytes + 240, (uint16_t)(fitting + 1));
    assert_false(exercise(bytes, sizeof bytes, &code, &random).is_accepted);
}

/* A code for a bit that is 1 in the upper half before: the next value would not be above it. */
static void test_codes_of_other_bits(void **state)
{
    const uint8_t lengths[SS_SYMBOL_COUNT] = {[20] = 1};
    static ss_code code;
    rng random = rng_seeded(run_seed + 15);
    uint8_t bytes[256] = {0};
    ss_code_init(&code, lengths);
    ss_store_le16(bytes + 240, 2); /* its code is a zero bit, as is its suffix, and both lower halves */
    for (uint32_t h = 0; h < 32; h++) {
        ss_store_le32(bytes + 244, UINT32_C(1) << (31 - h));
        const verdict got = exercise(bytes, sizeof bytes, &code, &random);
        assert_true(got.opens);
        assert_int_equal(got.is_accepted, h != 20);
        assert_int_equal(got.is_valid, h != 20);
    }
    /* Also if the next value would be above it: by its lower half, and by its suffix. */
    ss_store_le32(bytes + 244, UINT32_C(1) << (31 - 20));
    bytes[4] = 1;
    assert_false(exercise(bytes, sizeof bytes, &code, &random).is_accepted);
    bytes[4] = 0;
    memset(bytes + 9, 0xff, 231);
    assert_false(exercise(bytes, sizeof bytes, &code, &random).is_accepted);
}

/* Equal upper halves: the lower ones must ascend. */
static void test_equal_uppers_need_ascending_lowers(void **state)
{
    const uint8_t lengths[SS_SYMBOL_COUNT] = {[32] = 1};
    static ss_code code;
    rng random = rng_seeded(run_seed + 16);
    ss_code_init(&code, lengths);
    for (uint32_t count = 2; count <= 200; count += count < 70 ? 1 : 13) {
        uint8_t bytes[1024] = {0};
        uint64_t values[200];
        uint8_t step_bits[200];
        for (uint32_t i = 0; i < count; i++)
            values[i] = UINT64_C(0xabcdef) << 32 | 5 * i;
        ss_step_bits(&code, values, count, step_bits);
        ss_block_encode(sizeof bytes, &code, values, step_bits, count, bytes);
        assert_true(exercise(bytes, sizeof bytes, &code, &random).is_valid);
        for (uint32_t i = 1; i < count; i++) {
            testing_doing("lower half %u of %u", i, count);
            assert_false(exercise_patched(bytes, sizeof bytes, &code, 4 * i, 5 * (i - 1), 4, &random).is_accepted);
            if (i >= 2)
                assert_false(exercise_patched(bytes, sizeof bytes, &code, 4 * i, 5 * (i - 2), 4, &random).is_accepted);
            assert_true(exercise_patched(bytes, sizeof bytes, &code, 4 * i, 5 * (i - 1) + 1, 4, &random).is_valid);
            /* Two of them exchanged */
            assert_false(exercise_patched(bytes, sizeof bytes, &code, 4 * (i - 1),
                                          (uint64_t)(uint32_t)values[i - 1] << 32 | (uint32_t)values[i], 8, &random)
                             .is_accepted);
        }
    }
    testing_done();
}

/* With one symbol its code is 0, and a 1 is not a code. Without symbols there are no codes. Decoding detects all of
 * this. */
static void test_invalid_codes_are_refused(void **state)
{
    uint8_t bytes[256] = {0}, lengths[SS_SYMBOL_COUNT] = {[20] = 1};
    static ss_code one, none;
    rng random = rng_seeded(run_seed + 14);
    ss_code_init(&one, lengths);
    lengths[20] = 0;
    ss_code_init(&none, lengths);
    ss_store_le16(bytes + 240, 2);
    assert_true(exercise(bytes, sizeof bytes, &one, &random).is_valid); /* the code, at bit 64, is a zero */
    assert_false(exercise(bytes, sizeof bytes, &none, &random).is_accepted);
    bytes[8] = 1;
    assert_false(exercise(bytes, sizeof bytes, &one, &random).is_accepted);
    bytes[8] = 1 << 1; /* behind the only code: unused */
    assert_true(exercise(bytes, sizeof bytes, &one, &random).is_valid);
    /* One by one, up to a whole group */
    lengths[20] = 0;
    lengths[32] = 1;
    ss_code_init(&one, lengths);
    for (uint32_t count = 2; count <= 58; count++) {
        memset(bytes, 0, sizeof bytes);
        ss_store_le16(bytes + 240, (uint16_t)count);
        for (uint32_t i = 0; i < count; i++)
            bytes[4 * i] = (uint8_t)i;
        assert_true(exercise(bytes, sizeof bytes, &one, &random).is_valid);
        for (uint32_t bit = 0; bit < count - 1; bit++) {
            uint8_t *byte = bytes + (size_t)4 * count + bit / 8;
            *byte ^= (uint8_t)(1u << bit % 8);
            assert_false(exercise(bytes, sizeof bytes, &one, &random).is_accepted);
            *byte ^= (uint8_t)(1u << bit % 8);
        }
    }
}

/* ----- any bytes at all ----- */

/* A head and begins that are accepted, or nearly, so that more code than their check runs. */
static void make_frame(rng *random, uint32_t block_bytes, uint8_t *bytes)
{
    const size_t head = block_bytes - 16;
    const uint32_t max = (block_bytes - 16) / (rng_one_in(random, 4) ? 4 : 5);
    const uint32_t limit = rng_one_in(random, 4) ? 4 : max; /* decoded noise seldom ascends for long */
    const uint32_t count = (uint32_t)rng_between(random, 1, max < limit ? max : limit);
    ss_store_le16(bytes + head, (uint16_t)count);
    bytes[head + 2] = (uint8_t)rng_below(random, 17);
    bytes[head + 3] = 0;
    const uint32_t groups = reference_block_groups(bytes, block_bytes), own = (bytes[head + 2] + 7u) / 8;
    if (!reference_block_opens(bytes, block_bytes))
        return;
    if (rng_one_in(random, 2)) /* lower halves that ascend */
        for (uint32_t i = 0; i < count; i++)
            ss_store_le32(bytes + 4 * (size_t)i, i * 1000u + (uint32_t)rng_below(random, 1000));
    uint32_t begin = reference_begin(bytes, block_bytes, 0);
    const uint32_t end = reference_begin(bytes, block_bytes, groups);
    for (uint32_t group = 1; group < groups; group++) {
        const uint32_t min = group == 1 ? 0 : own, left = end - begin, mean = 2 * left / (groups - group + 1);
        begin += (uint32_t)rng_between(random, min < left ? min : left, mean < left ? (mean > min ? mean : min) : left);
        begin = begin < end ? begin : end;
        ss_store_le16(bytes + reference_begin_offset(bytes, block_bytes, group), (uint16_t)begin);
        if (rng_one_in(random, 2))
            ss_store_le16(bytes + reference_key_offset(bytes, block_bytes, group), (uint16_t)(group * 100));
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
    rng random = rng_seeded(run_seed + 6);
    static ss_code code;
    const uint32_t count = testing_slow() ? 2000 : 6000;
    uint32_t sound = 0, passed = 0, opened = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t block_bytes = 256u << rng_below(&random, i % 16 == 0 ? BLOCK_SIZE_COUNT : 4);
        if (i % 50 == 0) {
            uint64_t counts[SS_SYMBOL_COUNT];
            uint8_t lengths[SS_SYMBOL_COUNT];
            for (uint32_t h = 0; h < SS_SYMBOL_COUNT; h++)
                counts[h] = rng_one_in(&random, 1 + i / 50 % 8) ? rng_between(&random, 1, 1000) : 0;
            if (i % 100 == 0) /* mostly equal upper halves */
                counts[32] = 100000;
            ss_huffman_lengths(counts, lengths);
            ss_code_init(&code, lengths);
        }
        testing_doing("noise %u, seed %" PRIu64, i, run_seed + 6);
        guarded memory = guard_make(block_bytes);
        uint8_t *bytes = malloc(block_bytes);
        make_noise(&random, bytes, block_bytes);
        if (i % 8 != 0)
            make_frame(&random, block_bytes, bytes);
        const verdict got = exercise(guard_before_end(&memory, bytes), block_bytes, &code, &random);
        exercise(guard_after_begin(&memory, bytes), block_bytes, &code, &random);
        opened += got.opens;
        passed += got.is_accepted;
        sound += got.is_valid;
        free(bytes);
        guard_free(&memory);
    }
    testing_figure("blocks of noise: %u open, %u are passed, %u are sound", opened, passed, sound);
    assert_true(opened > count / 3 * 2); /* many of each kind, so that the noise was useful */
    assert_true(passed >= sound);
    assert_true(sound > count / 20);
    testing_done();
}

/* Valid blocks with a few changed bits reach more code. */
static void test_flipped_bits_stay_inside(void **state)
{
    rng random = rng_seeded(run_seed + 7);
    uint32_t sound = 0, passed = 0, refused = 0;
    for (uint32_t i = 0; i < DATA_KIND_COUNT * BLOCK_SIZE_COUNT; i++) {
        const uint32_t block_bytes = 256u << i % BLOCK_SIZE_COUNT;
        block_table all;
        uint8_t *bytes = malloc(block_bytes);
        guarded memory = guard_make(block_bytes);
        block_table_make(&all, &random, (data_kind)(i % DATA_KIND_COUNT), block_bytes / 2);
        const uint32_t count = block_table_encode(&all, 0, block_bytes, bytes);
        const uint32_t column = 32 * count, groups = reference_block_groups(bytes, block_bytes);
        const uint32_t frame = 8 * reference_begin(bytes, block_bytes, groups);
        for (uint32_t trial = 0; trial < (block_bytes <= 8192 ? 80 : 12); trial++) {
            const bool at_end = rng_one_in(&random, 2);
            uint8_t *placed = at_end ? memory.high : memory.low;
            testing_doing("kind %u, blocks of %u bytes, trial %u", i % DATA_KIND_COUNT, block_bytes, trial);
            (void)(at_end ? guard_before_end(&memory, bytes) : guard_after_begin(&memory, bytes));
            for (uint64_t flips = rng_between(&random, 1, 4); flips > 0; flips--) {
                /* In the column, the groups, the frame, or anywhere */
                const uint32_t part = (uint32_t)rng_below(&random, 4), all_bits = 8 * block_bytes;
                const uint32_t low = part == 1 ? column : part == 2 ? frame : 0;
                const uint32_t high = part == 0 ? column : part == 1 && frame > column ? frame : all_bits;
                const uint32_t bit = (uint32_t)rng_between(&random, low, high - 1);
                placed[bit / 8] ^= (uint8_t)(1u << bit % 8);
            }
            const verdict got = exercise(placed, block_bytes, &all.code, &random);
            sound += got.is_valid;
            passed += got.is_accepted && !got.is_valid;
            refused += !got.is_accepted;
        }
        guard_free(&memory);
        free(bytes);
        block_table_free(&all);
    }
    testing_figure("blocks with flipped bits: %u sound, %u passed all the same, %u refused", sound, passed, refused);
    assert_true(sound > 100 && refused > 100);
    testing_done();
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_bad_heads_are_refused, testing_teardown),
        cmocka_unit_test_teardown(test_bad_begins_are_refused, testing_teardown),
        cmocka_unit_test_teardown(test_codes_that_run_into_suffixes, testing_teardown),
        cmocka_unit_test(test_more_fingerprints_than_bits),
        cmocka_unit_test(test_codes_of_other_bits),
        cmocka_unit_test_teardown(test_equal_uppers_need_ascending_lowers, testing_teardown),
        cmocka_unit_test_teardown(test_invalid_codes_are_refused, testing_teardown),
        cmocka_unit_test_teardown(test_any_bytes_stay_inside, testing_teardown),
        cmocka_unit_test_teardown(test_flipped_bits_stay_inside, testing_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

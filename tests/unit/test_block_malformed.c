/* The block codec on blocks that no writer made: no bytes whatever lead outside the block, and strict decoding refuses what the
 * format does. */
#include "codec/block.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "support/block_table.h"
#include "support/guard.h"
#include "support/slow_block.h"
#include "support/testing.h"

static uint64_t run_seed;

/* ----- any block, sound or not ----- */

/* What is said of a block. */
typedef struct verdict {
    bool opens;     /* its head can be one */
    bool is_sound;  /* all of it, strictly */
    bool is_passed; /* by decoding fast, which need not notice everything */
} verdict;

/* Whether groups that are sound each ascend from one to the next, and to the one behind them. */
static bool groups_ascend(const ss_block *block, const uint64_t *values, uint32_t first, uint32_t groups)
{
    const uint32_t interval = block->restart_interval, block_bytes = block->end_bit / 8 + SS_BLOCK_TRAILER_BYTES;
    for (uint32_t group = first + 1; group <= first + groups && group < block->group_count; group++) {
        uint64_t begin;
        if (!slow_block_group_first(block->bytes, block_bytes, interval, group, &begin) ||
            begin <= values[(size_t)group * interval - 1])
            return false;
    }
    return true;
}

static void exercise_groups(const ss_block *block, const uint64_t *values, const bool *sound, uint32_t way, rng *random)
{
    const uint32_t first = (uint32_t)rng_below(random, block->group_count), left = block->group_count - first;
    const uint32_t groups = (uint32_t)rng_between(random, 1, left < 9 ? left : 9);
    const uint32_t wanted = block_group_sizes(block, first, groups);
    uint64_t *out = malloc(wanted * sizeof *out);
    uint32_t count = 0;
    bool are_sound = true;
    for (uint32_t i = 0; i < groups; i++)
        are_sound = are_sound && sound[first + i];
    are_sound = are_sound && groups_ascend(block, values, first, groups);
    const bool are_passed = ss_block_decode_groups(block_in_way(block, way), first, groups, out, &count);
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
        groups[i] = (ss_group){.block = block_in_way(block, way),
                               .number = (uint32_t)rng_below(random, block->group_count)};
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
    assert_int_equal(ss_block_decode(block_in_way(block, 1), other), is_passed);
    if (is_passed)
        assert_memory_equal(other, out, bytes);
    assert_int_equal(ss_block_decode(block_in_way(block, 2), other), is_sound);
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
    result.is_sound = result.is_sound && groups_ascend(&block, values, 0, block.group_count);
    result.is_passed = exercise_decoding(&block, values, result.is_sound);
    for (uint32_t way = 0; way < BLOCK_WAYS; way++) {
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
    block_table all;
    rng_init(&random, run_seed + 4);
    block_table_make(&all, &random, DATA_UNIFORM, 4000);
    for (uint32_t size = 256; size <= 65536; size *= 2) {
        const ss_geometry geometry = {.block_bytes = size, .restart_interval = 4};
        const uint32_t most_groups = 1 + (size - 8 - 12) / (size <= 8192 ? 4 + 2 : 4 + 4);
        uint8_t *bytes = malloc(size);
        const uint32_t count = block_table_encode(&all, 0, geometry, bytes);
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
    block_table_free(&all);
    testing_done();
}

/* In groups of one there is nothing but bounds that could be wrong: then decoding fast is as strict as it can be. */
static void check_slots(const block_table *all, ss_geometry geometry, rng *random)
{
    const uint32_t size = geometry.block_bytes, width = size <= 8192 ? 2 : 4, end = 8 * (size - 8);
    uint8_t *bytes = malloc(size);
    block_table_encode(all, 0, geometry, bytes);
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
            block_table all;
            block_table_make(&all, &random, i == 0 ? DATA_UNIFORM : DATA_DENSE, 9000);
            check_slots(&all, geometry, &random);
            block_table_free(&all);
        }
    }
    testing_done();
}

/* A group whose end lies so low that codes run into rests, or have no room at all. */
static void test_codes_that_run_into_rests(void **state)
{
    (void)state;
    rng random;
    block_table all;
    rng_init(&random, run_seed + 5);
    block_table_make(&all, &random, DATA_UNIFORM, 4000);
    for (uint32_t interval = 4; interval <= 1024; interval *= 2) {
        const ss_geometry geometry = {.block_bytes = 16384, .restart_interval = interval};
        uint8_t bytes[16384];
        block_table_encode(&all, 0, geometry, bytes);
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
    block_table_free(&all);
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

    /* Numbers in a row, as many as there are bits for, and one more. */
    uint8_t same[SS_SYMBOL_COUNT], step_bits[300];
    uint64_t values[300];
    memset(same, 6, sizeof same);
    ss_code_init(&code, same);
    for (uint32_t i = 0; i < 300; i++)
        values[i] = i;
    ss_step_bits(&code, values, 300, step_bits);
    const uint32_t fitting = ss_block_fit(geometry, values, step_bits, 300);
    assert_int_equal(fitting, 271); /* the steps to 1 .. n take 7 n - popcount(n) bits, and there are 8 * 236 */
    ss_block_encode(geometry, &code, values, step_bits, fitting, bytes);
    assert_true(exercise(bytes, geometry, &code, &random).is_sound);
    ss_store_le16(bytes, (uint16_t)(fitting + 1));
    assert_false(exercise(bytes, geometry, &code, &random).is_passed);
}

/* A code for a bit that is 1 in the fingerprint before: what follows would not be above it. */
static void test_codes_of_other_bits(void **state)
{
    (void)state;
    const ss_geometry geometry = {.block_bytes = 256, .restart_interval = 8};
    const uint8_t lengths[SS_SYMBOL_COUNT] = {[40] = 1};
    static ss_code code;
    rng random;
    uint8_t bytes[256] = {0};
    rng_init(&random, run_seed + 15);
    ss_code_init(&code, lengths);
    ss_store_le16(bytes, 2); /* its code is a zero bit, as is its rest */
    for (uint32_t h = 0; h < 64; h++) {
        ss_store_le64(bytes + 4, UINT64_C(1) << (63 - h));
        const verdict got = exercise(bytes, geometry, &code, &random);
        assert_true(got.opens);
        assert_int_equal(got.is_passed, h != 40);
        assert_int_equal(got.is_sound, h != 40);
    }
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
    ss_store_le16(bytes, 2);
    assert_true(exercise(bytes, geometry, &one, &random).is_sound); /* the code, at bit 96, is a zero */
    assert_false(exercise(bytes, geometry, &none, &random).is_passed);
    bytes[12] = 1;
    assert_false(exercise(bytes, geometry, &one, &random).is_passed);
    bytes[12] = 1 << 1; /* behind the only code: unused */
    assert_true(exercise(bytes, geometry, &one, &random).is_sound);
}

/* ----- any bytes at all ----- */

/* A head and slots that are accepted, or nearly, so that more than their check is reached. */
static void make_frame(rng *random, ss_geometry geometry, uint8_t *bytes)
{
    const uint32_t slot_bytes = geometry.block_bytes <= 8192 ? 2 : 4, end = (geometry.block_bytes - 8) * 8;
    const uint64_t room_for = (1 + (uint64_t)(end / 8 - 12) / (4 + slot_bytes)) * geometry.restart_interval;
    const uint32_t most = ss_block_most(geometry);
    const uint32_t limit = rng_one_in(random, 4) ? 4 : most; /* what noise decodes to seldom ascends for long */
    const uint32_t count = (uint32_t)rng_between(random, 1, room_for < limit ? room_for : limit);
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
        const ss_geometry geometry = {.block_bytes = 256u << rng_below(&random, i % 16 == 0 ? BLOCK_SIZE_COUNT : 4),
                                      .restart_interval = block_intervals[rng_below(&random, BLOCK_INTERVAL_COUNT)]};
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
    assert_true(passed >= sound);
    assert_true(sound > 300);
    testing_done();
}

/* Blocks that were right but for a few bits come farther. */
static void test_flipped_bits_stay_inside(void **state)
{
    (void)state;
    rng random;
    rng_init(&random, run_seed + 7);
    for (uint32_t i = 0; i < DATA_KIND_COUNT * BLOCK_INTERVAL_COUNT * 2; i++) {
        const ss_geometry geometry = {.block_bytes = 256u << i % 6,
                                      .restart_interval = block_intervals[i / DATA_KIND_COUNT % BLOCK_INTERVAL_COUNT]};
        block_table all;
        uint8_t *bytes = malloc(geometry.block_bytes);
        guarded memory = guard_make(geometry.block_bytes);
        block_table_make(&all, &random, (data_kind)(i % DATA_KIND_COUNT), geometry.block_bytes);
        block_table_encode(&all, 0, geometry, bytes);
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
        block_table_free(&all);
    }
    testing_done();
}

int main(void)
{
    run_seed = rng_run_seed();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_bad_heads_are_refused, testing_teardown),
        cmocka_unit_test_teardown(test_bad_slots_are_refused, testing_teardown),
        cmocka_unit_test_teardown(test_codes_that_run_into_rests, testing_teardown),
        cmocka_unit_test(test_more_fingerprints_than_bits),
        cmocka_unit_test(test_codes_of_other_bits),
        cmocka_unit_test_teardown(test_invalid_codes_are_refused, testing_teardown),
        cmocka_unit_test_teardown(test_any_bytes_stay_inside, testing_teardown),
        cmocka_unit_test_teardown(test_flipped_bits_stay_inside, testing_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * test_lanes.c - groups decoded side by side: every form gives what decoding bit by bit gives, all forms leave the same ones
 * out, and none touches anything outside the blocks.
 */
#include "codec/lanes.h"

#include <string.h>

#include "codec/block.h"
#include "support/guard.h"
#include "support/random.h"
#include "support/slow_block.h"
#include "support/testing.h"

#define ROUNDS 20000u
#define CODES 200u
#define ROOM 8192u /* the largest block here; whole pages */
#define CANARY UINT64_C(0xc0ffee00c0ffee00)

static uint64_t run_seed;

/* A form's values of one lane, and one place more that it must leave alone. */
typedef struct output {
    uint64_t values[SS_LANE_STEPS + 2];
} output;

static uint32_t run_form(ss_lanes_fn form, const ss_code *code, const ss_lane *lanes, uint32_t count, output *outputs)
{
    ss_lane own[SS_LANES];
    for (uint32_t i = 0; i < count; i++) {
        own[i] = lanes[i];
        own[i].out = outputs[i].values;
        for (uint32_t j = 0; j < SS_LANE_STEPS + 2; j++)
            outputs[i].values[j] = CANARY;
    }
    return form(code->lookup, own, count);
}

/* ----- what is right ----- */

/* What a lane's bits say. What is decoded in vain is between the lane's own steps and the window's end. */
typedef struct verdict {
    bool is_sound;       /* its own steps can be decoded, so that they may be */
    bool is_plain;       /* nothing in the window is a reason to leave it out */
    bool has_only_codes; /* all that the window holds are codes */
    uint32_t own_rest_bits;
    uint64_t values[SS_LANE_STEPS + 1];
} verdict;

static void judge(const slow_code *code, const ss_lane *lane, uint32_t window_bits, verdict *out)
{
    uint32_t at = lane->begin, rest_bits = 0;
    *out = (verdict){.is_sound = true, .is_plain = true, .has_only_codes = true, .values = {lane->first}};
    for (uint32_t step = 1; at < lane->begin + window_bits; step++) {
        const uint32_t h = slow_symbol(code, lane->block, &at), width = 63 - h;
        const bool is_own = step <= lane->steps;
        if (h == SLOW_NO_SYMBOL) {
            out->is_sound = out->is_sound && !is_own;
            out->has_only_codes = false;
            return;
        }
        rest_bits += width;
        if (is_own)
            out->own_rest_bits = rest_bits;
        if (width > SS_NARROW_REST_BITS || rest_bits > lane->end) {
            out->is_plain = false;
            out->is_sound = out->is_sound && !is_own;
        }
        if (is_own && out->is_sound && (out->values[step - 1] >> width & 1) != 0) /* it does not ascend */
            out->is_plain = out->is_sound = false;
        if (is_own && out->is_sound)
            out->values[step] = slow_successor(out->values[step - 1], h,
                                               slow_bits(lane->block, lane->end - rest_bits, width));
    }
}

static void check_output(const ss_lane *lane, const verdict *right, const output *got)
{
    assert_memory_equal(got->values, right->values, (lane->steps + 1) * sizeof(uint64_t));
    assert_int_equal(got->values[lane->steps + 1], CANARY);
}

/* How often lanes were decoded and left out: a test that sees one only is none. */
typedef struct tally {
    uint32_t decoded, left_out;
} tally;

static void check_lanes(const ss_code *code, const ss_lane *lanes, uint32_t count, tally *seen)
{
    const ss_lanes_fn faster[] = {ss_lanes_bmi2(), ss_lanes_avx512()};
    static output portable[SS_LANES], other[2][SS_LANES];
    static verdict right[SS_LANES];
    slow_code slow;
    uint32_t most_steps = 0;
    bool all_codes = true;
    slow_code_init(&slow, code->lengths);
    for (uint32_t i = 0; i < count; i++)
        most_steps = ss_max_u32(most_steps, lanes[i].steps);
    for (uint32_t i = 0; i < count; i++) {
        judge(&slow, &lanes[i], ss_lane_reach(most_steps), &right[i]);
        all_codes = all_codes && right[i].has_only_codes;
    }
    const uint32_t missed = run_form(ss_lanes_portable, code, lanes, count, portable);
    assert_int_equal(missed >> count, 0);
    for (size_t form = 0; form < 2; form++)
        if (faster[form] != NULL)
            assert_int_equal(run_form(faster[form], code, lanes, count, other[form]), missed);
    for (uint32_t i = 0; i < count; i++) {
        const bool left_out = (missed >> i & 1) != 0;
        seen->left_out += left_out;
        seen->decoded += !left_out;
        if (left_out) {
            assert_false(all_codes && right[i].is_plain);
            continue;
        }
        assert_true(right[i].is_sound);
        check_output(&lanes[i], &right[i], &portable[i]);
        for (size_t form = 0; form < 2; form++)
            if (faster[form] != NULL)
                check_output(&lanes[i], &right[i], &other[form][i]);
    }
}

/* ----- any lanes ----- */

/* Of a few symbols or many, whose rests are narrow, or some of them wide; sometimes of one symbol, or none. */
static void make_code(rng *random, ss_code *code)
{
    const uint32_t narrowest = 63 - SS_NARROW_REST_BITS;
    const uint32_t lowest = (uint32_t)(rng_one_in(random, 4) ? rng_below(random, 64)
                                                             : rng_between(random, narrowest, 63));
    const uint64_t share = rng_between(random, 1, 6), spread = rng_between(random, 1, 24);
    uint64_t counts[SS_SYMBOL_COUNT] = {0};
    uint8_t lengths[SS_SYMBOL_COUNT];
    for (uint32_t h = lowest; h < SS_SYMBOL_COUNT; h++)
        if (rng_one_in(random, share))
            counts[h] = UINT64_C(1) << rng_below(random, spread);
    ss_huffman_lengths(counts, lengths);
    ss_code_init(code, lengths);
}

/* Noise for a block at the room's begin or end, and a lane that begins and ends anywhere in it. */
static void make_lane(rng *random, const slow_code *code, guarded *memory, uint32_t most_steps, ss_lane *lane)
{
    static verdict first_look;
    const uint32_t block_bytes = 256u << rng_below(random, 6), end_bit = 8 * (block_bytes - SS_BLOCK_TRAILER_BYTES);
    const uint32_t last_begin = end_bit - ss_lane_reach(most_steps);
    uint8_t *block = rng_one_in(random, 2) ? memory->low : memory->low + ROOM - block_bytes;
    if (rng_one_in(random, 8))
        memset(block, rng_one_in(random, 2) ? 0xff : 0, block_bytes);
    else
        rng_fill(random, block, block_bytes);
    *lane = (ss_lane){.block = block,
                      .begin = rng_one_in(random, 2) ? last_begin : (uint32_t)rng_below(random, last_begin + 1),
                      .end = end_bit,
                      .steps = (uint32_t)rng_below(random, most_steps + 1),
                      .first = rng_next(random)};
    if (rng_one_in(random, 4))
        return;
    /* So that its rests begin with the block, or nearly, or before it. */
    judge(code, lane, ss_lane_reach(most_steps), &first_look);
    const uint64_t end = first_look.own_rest_bits + rng_below(random, rng_one_in(random, 2) ? 40 : 2000);
    lane->end = (uint32_t)ss_min_u64(end < 20 ? 0 : end - 20, end_bit);
}

static void test_any_lanes(void **state)
{
    (void)state;
    rng random;
    static ss_code code;
    slow_code slow;
    guarded memories[SS_LANES];
    tally seen = {0};
    rng_init(&random, run_seed);
    for (uint32_t i = 0; i < SS_LANES; i++)
        memories[i] = guard_make(ROOM);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        if (round % (ROUNDS / CODES) == 0) {
            make_code(&random, &code);
            slow_code_init(&slow, code.lengths);
        }
        ss_lane lanes[SS_LANES];
        const uint32_t count = (uint32_t)rng_between(&random, 1, SS_LANES);
        /* What noise decodes to seldom ascends for long. */
        const uint32_t most_steps = (uint32_t)rng_below(&random, rng_one_in(&random, 3) ? SS_LANE_STEPS + 1 : 6);
        testing_doing("round %u: %u lanes of up to %u steps", round, count, most_steps);
        for (uint32_t i = 0; i < count; i++)
            make_lane(&random, &slow, &memories[i], most_steps, &lanes[i]);
        check_lanes(&code, lanes, count, &seen);
    }
    for (uint32_t i = 0; i < SS_LANES; i++)
        guard_free(&memories[i]);
    assert_true(seen.decoded > ROUNDS / 4);
    assert_true(seen.left_out > ROUNDS / 4);
    testing_done();
}

/* ----- by hand ----- */

/* The two groups of the example in format-spec/block-codec.md, section 6, as two lanes of uneven steps. */
static void test_example_of_the_format(void **state)
{
    (void)state;
    static ss_code code;
    const uint8_t lengths[SS_SYMBOL_COUNT] = {[29] = 2, [61] = 2, [62] = 1};
    const ss_lanes_fn forms[] = {ss_lanes_portable, ss_lanes_bmi2(), ss_lanes_avx512()};
    const uint64_t four[] = {0xd9, 0xdb, 0xdd, 0xde}, two[] = {UINT64_C(0x5000000ea), UINT64_C(0x5000000ee)};
    uint8_t first[256] = {0}, second[256] = {0};
    ss_code_init(&code, lengths);
    first[100] = 0xa6;  /* codes 0, 11, 0; rests 0, 01, 1 */
    second[120] = 0x03; /* code 11 */
    second[124] = 0x80; /* rest 10 */
    for (size_t i = 0; i < sizeof forms / sizeof *forms && forms[i] != NULL; i++) {
        output outputs[2];
        const ss_lane lanes[] = {{.block = first, .begin = 800, .end = 808, .steps = 3, .first = four[0]},
                                 {.block = second, .begin = 960, .end = 1000, .steps = 1, .first = two[0]}};
        assert_int_equal(run_form(forms[i], &code, lanes, 2, outputs), 0);
        assert_memory_equal(outputs[0].values, four, sizeof four);
        assert_int_equal(outputs[0].values[4], CANARY);
        assert_memory_equal(outputs[1].values, two, sizeof two);
        assert_int_equal(outputs[1].values[2], CANARY);
    }
}

/* Rests of 57 bits, h = 6, are decoded; those of 58 are not. */
static void test_wide_rests(void **state)
{
    (void)state;
    static ss_code code;
    const uint8_t lengths[SS_SYMBOL_COUNT] = {[5] = 1, [6] = 1};
    const ss_lanes_fn forms[] = {ss_lanes_portable, ss_lanes_bmi2(), ss_lanes_avx512()};
    const uint64_t first = UINT64_C(0xd9) << 56, next = UINT64_C(0xdb) << 56;
    uint8_t wide[256] = {0}, narrow[256];
    memset(narrow, 0xff, sizeof narrow);
    ss_code_init(&code, lengths);
    for (size_t i = 0; i < sizeof forms / sizeof *forms && forms[i] != NULL; i++) {
        output outputs[2];
        const ss_lane lanes[] = {{.block = wide, .begin = 800, .end = 1984, .steps = 1, .first = first},
                                 {.block = narrow, .begin = 800, .end = 1984, .steps = 1, .first = first}};
        assert_int_equal(run_form(forms[i], &code, lanes, 2, outputs), 1);
        assert_int_equal(outputs[1].values[0], first);
        assert_int_equal(outputs[1].values[1], next | ss_low_mask(57));
        assert_int_equal(outputs[1].values[2], CANARY);
    }
}

/* With one symbol its code is 0: where a lane's codes are none, no lane is decoded, and nothing runs on for ever. */
static void test_no_codes(void **state)
{
    (void)state;
    static ss_code code;
    const uint8_t lengths[SS_SYMBOL_COUNT] = {[40] = 1};
    const ss_lanes_fn forms[] = {ss_lanes_portable, ss_lanes_bmi2(), ss_lanes_avx512()};
    uint8_t zeros[256] = {0}, ones[256];
    memset(ones, 0xff, sizeof ones);
    ss_code_init(&code, lengths);
    for (size_t i = 0; i < sizeof forms / sizeof *forms && forms[i] != NULL; i++) {
        output outputs[2];
        ss_lane lanes[] = {{.block = zeros, .begin = 0, .end = 1984, .steps = 1, .first = 1},
                           {.block = ones, .begin = 0, .end = 1984, .steps = 1, .first = 1}};
        assert_int_equal(run_form(forms[i], &code, lanes, 2, outputs), 3);
        assert_int_equal(run_form(forms[i], &code, lanes, 1, outputs), 0);
        lanes[0].steps = lanes[1].steps = 0; /* no code is asked for */
        assert_int_equal(run_form(forms[i], &code, lanes, 2, outputs), 0);
        assert_int_equal(outputs[1].values[0], 1);
        assert_int_equal(outputs[1].values[1], CANARY);
    }
}

int main(void)
{
    run_seed = rng_run_seed();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_any_lanes, testing_teardown),
        cmocka_unit_test(test_example_of_the_format),
        cmocka_unit_test(test_wide_rests),
        cmocka_unit_test(test_no_codes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

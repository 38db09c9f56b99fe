/* The bit counter must equal counting bit by bit. */
#include "base/bitcount.h"

#include <string.h>

#include "base/simd.h"
#include "support/random.h"
#include "support/testing.h"

/* A word whose bit at position i is 1 more often the larger i is. */
static uint64_t uneven_word(rng *random)
{
    uint64_t word = 0;
    for (uint32_t i = 0; i < 64; i++)
        word = word << 1 | (rng_below(random, 64) < i);
    return word;
}

static void count_naively(uint64_t counts[64], uint64_t word)
{
    for (uint32_t i = 0; i < 64; i++)
        counts[i] += word >> (63 - i) & 1;
}

static void check(ss_bit_counter *counter, const uint64_t expected[64], uint64_t words)
{
    uint64_t counts[64];
    ss_bit_counter_counts(counter, counts);
    assert_memory_equal(counts, expected, sizeof counts);
    const uint64_t thresholds[] = {0, 1, words / 3, words / 2, words - 1, words, words + 1, UINT64_MAX};
    for (size_t t = 0; t < sizeof thresholds / sizeof *thresholds; t++) {
        uint64_t above = 0;
        for (uint32_t i = 0; i < 64; i++)
            above = above << 1 | (expected[i] > thresholds[t]);
        assert_int_equal(ss_bit_counter_above(counter, thresholds[t]), above);
    }
}

static void test_nothing_counts_zero(void **state)
{
    static const uint64_t zero[64];
    ss_bit_counter counter;
    ss_bit_counter_init(&counter);
    check(&counter, zero, 0);
}

static void test_position_zero_is_most_significant(void **state)
{
    ss_bit_counter counter;
    uint64_t counts[64];
    ss_bit_counter_init(&counter);
    ss_bit_counter_add(&counter, UINT64_C(1) << 63);
    ss_bit_counter_counts(&counter, counts);
    assert_int_equal(counts[0], 1);
    assert_int_equal(counts[63], 0);
}

/* Every number of words about the sizes at which a plane is added, read at each step or only at the end. */
static void test_counts_equal_naive_ones(void **state)
{
    rng random = rng_seeded(run_seed);
    for (uint64_t words = 1; words < 700; words += words < 70 ? 1 : 37) {
        ss_bit_counter counter;
        uint64_t expected[64] = {0};
        bool read_often = rng_one_in(&random, 2);
        testing_doing("%d words", (int)words);
        ss_bit_counter_init(&counter);
        for (uint64_t i = 1; i <= words; i++) {
            uint64_t word = uneven_word(&random);
            ss_bit_counter_add(&counter, word);
            count_naively(expected, word);
            if (read_often || i == words)
                check(&counter, expected, i);
        }
    }
    testing_done();
}

static void test_many_words(void **state)
{
    enum { WORDS = 300000 };
    ss_bit_counter counter;
    uint64_t expected[64] = {0};
    rng random = rng_seeded(run_seed + 1);
    ss_bit_counter_init(&counter);
    for (uint64_t i = 0; i < WORDS; i++) {
        uint64_t word = rng_next(&random) | UINT64_C(1) << 63;
        ss_bit_counter_add(&counter, word);
        count_naively(expected, word);
    }
    assert_int_equal(expected[0], WORDS);
    check(&counter, expected, WORDS);
}

/* Several at once, in any numbers, mixed with single ones, and with each level of instructions. */
static void test_several_words_at_once(void **state)
{
    static uint64_t words[5000];
    rng random = rng_seeded(run_seed + 2);
    for (uint32_t trial = 0; trial < 600; trial++) {
        ss_bit_counter counter;
        uint64_t expected[64] = {0}, count = 0;
        ss_simd_limit((ss_simd_level)(trial % 3));
        ss_bit_counter_init(&counter);
        for (uint64_t call = rng_between(&random, 1, 5); call > 0; call--) {
            const size_t some = (size_t)rng_below(&random, rng_one_in(&random, 10) ? 5000 : 200);
            for (size_t i = 0; i < some; i++) {
                words[i] = uneven_word(&random);
                count_naively(expected, words[i]);
            }
            if (rng_one_in(&random, 4))
                for (size_t i = 0; i < some; i++)
                    ss_bit_counter_add(&counter, words[i]);
            else
                ss_bit_counter_add_many(&counter, words, some);
            count += some;
        }
        testing_doing("trial %u, %d words", trial, (int)count);
        check(&counter, expected, count);
    }
    testing_done();
    ss_simd_limit(SS_SIMD_AVX512);
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_counts_zero),
        cmocka_unit_test(test_position_zero_is_most_significant),
        cmocka_unit_test_teardown(test_counts_equal_naive_ones, testing_teardown),
        cmocka_unit_test(test_many_words),
        cmocka_unit_test_teardown(test_several_words_at_once, testing_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

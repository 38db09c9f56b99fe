/* The choice of the radii of words: they suffice, and words that many fingerprints share get small ones. */
#include "plan/radii.h"

#include <inttypes.h>
#include <string.h>

#include "plan/cost.h"
#include "support/random.h"
#include "support/testing.h"

#define ROWS SS_ROW_SAMPLE_CAPACITY

static uint64_t sample[ROWS * SSTORE_MAX_WORDS];

/* Random words; `zeros` of a hundred are 0 in the words of the mask. */
static void make_sample(rng *random, uint32_t words, uint32_t zero_words, uint32_t zeros)
{
    for (size_t i = 0; i < ROWS * words; i++) {
        const bool may_be_zero = (zero_words >> i % words & 1) != 0;
        sample[i] = may_be_zero && rng_below(random, 100) < zeros ? 0 : rng_next(random);
    }
}

static int32_t radii_sum(const int32_t *radii, uint32_t words)
{
    int32_t sum = 0;
    for (uint32_t i = 0; i < words; i++) {
        assert_in_range(radii[i] + 1, 0, SSTORE_MAX_BUILD_DISTANCE + 1);
        sum += radii[i] + 1;
    }
    return sum;
}

static void choose(size_t rows, uint32_t words, uint32_t distance, double stored, int32_t *radii_out)
{
    sstore_error error = {.status = SSTORE_OK};
    assert_ok(ss_radii_choose(sample, rows, words, distance, SSTORE_MAX_BUILD_DISTANCE, stored, radii_out, &error),
              &error);
    assert_int_equal(radii_sum(radii_out, words), distance + 1);
}

static void test_they_suffice(void **state)
{
    rng random = rng_seeded(run_seed);
    for (int i = 0; i < 6; i++) {
        const uint32_t words = (uint32_t)rng_between(&random, 2, 6);
        const uint32_t distance = (uint32_t)rng_below(&random, 16 * words + 1);
        int32_t radii[SSTORE_MAX_WORDS];
        testing_doing("%u words, distance %u, seed %" PRIu64, words, distance, run_seed);
        make_sample(&random, words, (uint32_t)rng_next(&random), (uint32_t)rng_below(&random, 101));
        const size_t rows = i < 3 ? (size_t)i : ROWS;
        choose(rows, words, distance, i == 0 ? 0 : (double)rng_between(&random, rows, 100000000), radii);
        for (int32_t other = 0; other <= (int32_t)(64 * words); other += 1 + (int32_t)rng_below(&random, 20)) {
            int32_t fitted[SSTORE_MAX_WORDS];
            memcpy(fitted, radii, sizeof fitted);
            ss_radii_fit(fitted, words, (uint32_t)other);
            int32_t sum = 0;
            for (uint32_t word = 0; word < words; word++)
                sum += fitted[word] + 1;
            assert_true(sum == other + 1 || (other == 0 && sum == 1));
        }
    }
    testing_done();
}

/* Equal words get equal radii, if many fingerprints make reading all of an index slow. */
static void test_equal_words(void **state)
{
    rng random = rng_seeded(run_seed);
    int32_t radii[4];
    make_sample(&random, 4, 0, 0);
    choose(ROWS, 4, 31, 1e7, radii);
    for (int i = 0; i < 4; i++)
        assert_int_equal(radii[i], 7);
}

/* A constant word is not searched. */
static void test_a_constant_word(void **state)
{
    rng random = rng_seeded(run_seed);
    int32_t radii[4];
    make_sample(&random, 4, 2, 100);
    choose(ROWS, 4, 31, 1e7, radii);
    assert_int_equal(radii[1], SS_NO_PROBE);
}

/* Each word is 0 in 15 of 100 fingerprints: two words at 16 bits, of which all fingerprints would be tested, are not
 * better than all words at fewer bits. */
static void test_words_that_are_often_zero(void **state)
{
    rng random = rng_seeded(run_seed);
    int32_t radii[4];
    make_sample(&random, 4, 15, 15);
    choose(ROWS, 4, 31, 5e5, radii);
    for (int i = 0; i < 4; i++)
        assert_in_range(radii[i] + 1, 0, 13);
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_they_suffice, testing_teardown),
        cmocka_unit_test(test_equal_words),
        cmocka_unit_test(test_a_constant_word),
        cmocka_unit_test(test_words_that_are_often_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

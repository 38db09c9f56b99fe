/* Simhashes of weighted features: sums, signs, and refused weights. */
#include "sstore.h"

#include <math.h>
#include <string.h>

#include "base/sums.h"
#include "support/random.h"
#include "support/testing.h"

#define MAX_FEATURES 5000u
#define MANY_FEATURES 12000u

static uint64_t simhash(const uint64_t *hashes, const double *weights, size_t count)
{
    sstore_error error;
    uint64_t fingerprint = 1;
    assert_ok(sstore_simhash_hashes(hashes, weights, count, &fingerprint, &error), &error);
    return fingerprint;
}

/* Bit by bit, in whole units of 2^-20. */
static uint64_t simhash_naively(const uint64_t *hashes, const double *weights, size_t count)
{
    uint64_t fingerprint = 0;
    for (uint32_t i = 0; i < 64; i++) {
        /* In halves of 32 bits, so that no sum of whole weights overflows. */
        int64_t high = 0, low = 0;
        for (size_t j = 0; j < count; j++) {
            int64_t units = weights == NULL ? 1 << 20 : (int64_t)nearbyint(ldexp(weights[j], 20));
            if ((hashes[j] >> (63 - i) & 1) == 0)
                units = -units;
            high += units >> 32;
            low += units & 0xffffffff;
        }
        high += low >> 32;
        low &= 0xffffffff;
        fingerprint = fingerprint << 1 | (high > 0 || (high == 0 && low > 0));
    }
    return fingerprint;
}

/* The articles' example: its sums, their signs, and the fingerprint. */
static void test_worked_example(void **state)
{
    const uint64_t hashes[] = {UINT64_C(0x25) << 58, UINT64_C(0x2b) << 58}; /* 100101, 101011 */
    const double weights[] = {4, 5}, wanted[] = {9, -9, 1, -1, 1, 9};
    ss_sums sums;
    double found[64];
    ss_sums_init(&sums);
    for (size_t i = 0; i < 2; i++)
        ss_sums_add(&sums, hashes[i], weights[i]);
    ss_sums_values(&sums, found);
    assert_memory_equal(found, wanted, sizeof wanted);
    for (size_t i = 6; i < 64; i++)
        assert_true(found[i] == -9); /* no hash has these bits */
    assert_int_equal(ss_sums_fingerprint(&sums), UINT64_C(0x2b) << 58);
    assert_int_equal(simhash(hashes, weights, 2) >> 58, 0x2b);
    const double other_way[] = {5, 4};
    assert_int_equal(simhash(hashes, other_way, 2) >> 58, 0x25);
}

static void test_no_features_give_zero(void **state)
{
    sstore_error error;
    uint64_t fingerprint = 1;
    assert_int_equal(simhash(NULL, NULL, 0), 0);
    assert_ok(sstore_simhash(NULL, 0, &fingerprint, &error), &error);
    assert_int_equal(fingerprint, 0);
}

static void test_one_feature_gives_its_hash(void **state)
{
    const uint64_t hash = UINT64_C(0x123456789abcdef0);
    const double weights[] = {7.25}, negative[] = {-1};
    assert_int_equal(simhash(&hash, NULL, 1), hash);
    assert_int_equal(simhash(&hash, weights, 1), hash);
    assert_int_equal(simhash(&hash, negative, 1), ~hash);
}

/* XXH3-64 of "" and of "abc", seed 0. */
static void test_features_are_hashed_with_xxh3(void **state)
{
    sstore_error error;
    uint64_t fingerprint;
    sstore_feature feature = {.data = NULL, .size = 0, .weight = 1};
    assert_ok(sstore_simhash(&feature, 1, &fingerprint, &error), &error);
    assert_int_equal(fingerprint, UINT64_C(0x2d06800538d394c2));
    feature = (sstore_feature){.data = "abc", .size = 3, .weight = 0.5};
    assert_ok(sstore_simhash(&feature, 1, &fingerprint, &error), &error);
    assert_int_equal(fingerprint, UINT64_C(0x78af5f94892f3950));
}

static void test_a_tie_is_zero(void **state)
{
    const uint64_t hashes[] = {0xff00, 0x0ff0};
    assert_int_equal(simhash(hashes, NULL, 2), 0x0f00);
    const double weights[] = {2.5, 2.5}, cancelled[] = {3, -3};
    assert_int_equal(simhash(hashes, weights, 2), 0x0f00);
    /* 3 for what only the first has, -3 where only the second has it; 0 elsewhere. */
    assert_int_equal(simhash(hashes, cancelled, 2), 0xf000);
}

static void test_weights_are_kept_to_two_to_the_minus_twenty(void **state)
{
    const uint64_t hash = UINT64_MAX;
    const double unit = ldexp(1, -20);
    const double kept[] = {unit, 0.51 * unit, 1.5 * unit}, dropped[] = {0, 0.49 * unit, 0.5 * unit, -0.5 * unit};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        assert_int_equal(simhash(&hash, &kept[i], 1), hash);
    for (size_t i = 0; i < sizeof dropped / sizeof *dropped; i++)
        assert_int_equal(simhash(&hash, &dropped[i], 1), 0);
}

/* Sums that a double cannot represent: thousands of the largest weights, one unit more on one side. */
static void test_sums_are_exact(void **state)
{
    static uint64_t hashes[2 * MANY_FEATURES + 1];
    static double weights[2 * MANY_FEATURES + 1];
    for (size_t i = 0; i < 2 * MANY_FEATURES; i++) {
        hashes[i] = i < MANY_FEATURES ? UINT64_MAX : 0;
        weights[i] = 2147483648.0;
    }
    hashes[2 * MANY_FEATURES] = 0xf0f0;
    weights[2 * MANY_FEATURES] = ldexp(1, -20);
    assert_int_equal(simhash(hashes, weights, 5000), UINT64_MAX); /* 2^51 units each: more than an int64_t holds */
    assert_int_equal(simhash(hashes, weights, 2 * MANY_FEATURES), 0);
    assert_int_equal(simhash(hashes, weights, 2 * MANY_FEATURES + 1), 0xf0f0);
}

static void shuffle(rng *random, uint64_t *hashes, double *weights, size_t count)
{
    for (size_t i = count; i > 1; i--) {
        size_t j = (size_t)rng_below(random, i);
        uint64_t hash = hashes[i - 1];
        hashes[i - 1] = hashes[j];
        hashes[j] = hash;
        double weight = weights[i - 1];
        weights[i - 1] = weights[j];
        weights[j] = weight;
    }
}

/* Weights of every size, among them many 1, which are counted apart. */
static double random_weight(rng *random)
{
    double fraction = (double)rng_below(random, 1 << 21) / (1 << 20) - 1;
    switch (rng_below(random, 4)) {
    case 0: return 1;
    case 1: return 1 + (double)rng_below(random, 5);
    case 2: return fraction * 100;
    default: return fraction * 2147483648.0;
    }
}

static void test_any_order_gives_the_naive_answer(void **state)
{
    static uint64_t hashes[MAX_FEATURES];
    static double weights[MAX_FEATURES];
    rng random = rng_seeded(run_seed);
    for (uint32_t trial = 0; trial < 200; trial++) {
        size_t count = (size_t)rng_below(&random, trial < 190 ? 40 : MAX_FEATURES);
        testing_doing("trial %u of %zu features", trial, count);
        for (size_t i = 0; i < count; i++) {
            hashes[i] = rng_next(&random);
            weights[i] = random_weight(&random);
        }
        uint64_t expected = simhash_naively(hashes, weights, count);
        assert_int_equal(simhash(hashes, weights, count), expected);
        shuffle(&random, hashes, weights, count);
        assert_int_equal(simhash(hashes, weights, count), expected);
        assert_int_equal(simhash(hashes, NULL, count), simhash_naively(hashes, NULL, count));
    }
    testing_done();
}

static void test_features_equal_their_hashes(void **state)
{
    sstore_error error;
    static const char *const texts[] = {"a", "bb", "a longer feature than sixteen bytes", "", "a"};
    sstore_feature features[5];
    uint64_t hashes[5], fingerprint;
    double weights[5] = {1, 2, 0.75, -1, 1};
    for (size_t i = 0; i < 5; i++) {
        features[i] = (sstore_feature){.data = texts[i], .size = strlen(texts[i]), .weight = 1};
        assert_ok(sstore_simhash(&features[i], 1, &hashes[i], &error), &error);
        features[i].weight = weights[i];
    }
    assert_ok(sstore_simhash(features, 5, &fingerprint, &error), &error);
    assert_int_equal(fingerprint, simhash(hashes, weights, 5));
}

static void test_weights_out_of_range_are_refused(void **state)
{
    const double bad[] = {NAN, INFINITY, -INFINITY, 2147483648.5, -1e300};
    const double good[] = {2147483648.0, -2147483648.0, 0, -0.0, 1e-300};
    const uint64_t hashes[] = {1, 2};
    uint64_t fingerprint = 77;
    sstore_error error;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const double weights[] = {1, bad[i]};
        assert_status(sstore_simhash_hashes(hashes, weights, 2, &fingerprint, &error), SSTORE_ERROR_ARGUMENT, &error);
        assert_non_null(strstr(error.message, "feature 1"));
        sstore_feature feature = {.data = "x", .size = 1, .weight = bad[i]};
        assert_status(sstore_simhash(&feature, 1, &fingerprint, NULL), SSTORE_ERROR_ARGUMENT, NULL);
        assert_int_equal(fingerprint, 77);
    }
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_ok(sstore_simhash_hashes(hashes, &good[i], 1, &fingerprint, &error), &error);
}

static void test_missing_arguments_are_refused(void **state)
{
    const sstore_feature feature = {.data = NULL, .size = 1, .weight = 1};
    uint64_t fingerprint;
    sstore_error error;
    assert_status(sstore_simhash(NULL, 1, &fingerprint, &error), SSTORE_ERROR_ARGUMENT, &error);
    assert_status(sstore_simhash(NULL, 0, NULL, &error), SSTORE_ERROR_ARGUMENT, &error);
    assert_status(sstore_simhash(&feature, 1, &fingerprint, &error), SSTORE_ERROR_ARGUMENT, &error);
    assert_status(sstore_simhash_hashes(NULL, NULL, 1, &fingerprint, &error), SSTORE_ERROR_ARGUMENT, &error);
    assert_status(sstore_simhash_hashes(NULL, NULL, 0, NULL, &error), SSTORE_ERROR_ARGUMENT, &error);
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_worked_example),
        cmocka_unit_test(test_no_features_give_zero),
        cmocka_unit_test(test_one_feature_gives_its_hash),
        cmocka_unit_test(test_features_are_hashed_with_xxh3),
        cmocka_unit_test(test_a_tie_is_zero),
        cmocka_unit_test(test_weights_are_kept_to_two_to_the_minus_twenty),
        cmocka_unit_test(test_sums_are_exact),
        cmocka_unit_test_teardown(test_any_order_gives_the_naive_answer, testing_teardown),
        cmocka_unit_test(test_features_equal_their_hashes),
        cmocka_unit_test(test_weights_out_of_range_are_refused),
        cmocka_unit_test(test_missing_arguments_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

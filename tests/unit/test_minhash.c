/* MinHashes of sets: bins, rounds, occurrences, what distances tell, and refused arguments. */
#include "sstore.h"

#include <math.h>
#include <string.h>

#include "support/random.h"
#include "support/testing.h"

#include <xxhash.h>

#define MAX_BITS 1024u
#define MAX_FEATURES 3000u

__extension__ typedef unsigned __int128 wide;

static const uint32_t widths[] = {64, 128, 192, 256, 448, 1024};
#define WIDTH_COUNT (sizeof widths / sizeof *widths)

static void minhash(const uint64_t *hashes, const double *weights, size_t count, uint32_t bits, uint64_t *words_out)
{
    sstore_error error;
    assert_ok(sstore_minhash_hashes(hashes, weights, count, bits, words_out, &error), &error);
}

/* The number of an element in a round, by format-spec/fingerprint.md. */
static uint64_t number_of(uint64_t element, uint64_t round)
{
    uint64_t z = round * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    const wide product = (wide)element * ((z ^ z >> 31) | 1);
    return round == 0 ? element : (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* The lowest bit of the value of one bin, which asks each round anew. */
static uint64_t bit_naively(const uint64_t *elements, size_t count, uint32_t bits, uint32_t bin)
{
    for (uint64_t round = 0; round <= bits; round++) {
        const bool is_last = round == bits; /* the round of this bin alone */
        uint64_t least = UINT64_MAX;
        for (size_t i = 0; i < count; i++) {
            const uint64_t number = number_of(elements[i], is_last ? bits + bin : round);
            const uint64_t value = number & UINT32_MAX;
            if ((is_last || (uint64_t)((wide)(number >> 32) * bits >> 32) == bin) && value < least)
                least = value;
        }
        if (least != UINT64_MAX)
            return least & 1;
    }
    return 0;
}

static void minhash_naively(const uint64_t *elements, size_t count, uint32_t bits, uint64_t *words_out)
{
    memset(words_out, 0, bits / 8);
    for (uint32_t i = 0; i < bits; i++)
        words_out[i / 64] |= bit_naively(elements, count, bits, i) << (63 - i % 64);
}

/* Random elements; or such as all fall into one bin in round 0, or into one half of the bins. */
static void fill_elements(rng *random, uint64_t *elements, size_t count)
{
    const uint64_t kind = rng_below(random, 4);
    for (size_t i = 0; i < count; i++)
        elements[i] = kind == 0   ? rng_next(random) >> 32
                      : kind == 1 ? rng_next(random) >> 1
                      : kind == 2 ? rng_next(random) & ~UINT64_C(0xffffffff) /* all values are 0 */
                                  : rng_next(random);
}

static void test_sets_give_the_naive_answer(void **state)
{
    static uint64_t elements[2 * MAX_FEATURES];
    uint64_t found[MAX_BITS / 64], wanted[MAX_BITS / 64];
    rng random = rng_seeded(run_seed);
    for (uint32_t trial = 0; trial < (testing_slow() ? 40 : 300); trial++) {
        const uint32_t bits = widths[rng_below(&random, WIDTH_COUNT)];
        const size_t count = (size_t)rng_below(&random, trial % 10 == 0 ? MAX_FEATURES : trial % 3 == 0 ? 4 : 200);
        testing_doing("trial %u: %zu features, %u bits", trial, count, bits);
        fill_elements(&random, elements, count);
        minhash_naively(elements, count, bits, wanted);
        minhash(elements, NULL, count, bits, found);
        assert_memory_equal(found, wanted, bits / 8);
        /* The same set: in another order, and with elements that are there twice. */
        for (size_t i = 0; i < count; i++)
            elements[count + i] = elements[count - 1 - i];
        minhash(elements + count / 2, NULL, count + count - count / 2, bits, found);
        assert_memory_equal(found, wanted, bits / 8);
    }
    testing_done();
}

/* Occurrence n > 1 of a feature is an element of its own. */
static void test_weights_are_occurrences(void **state)
{
    uint64_t hashes[3], elements[16], found[4], wanted[4];
    double weights[3];
    rng random = rng_seeded(run_seed);
    for (uint32_t trial = 0; trial < 200; trial++) {
        size_t count = 0;
        for (size_t i = 0; i < 3; i++) {
            hashes[i] = rng_next(&random);
            weights[i] = (double)rng_below(&random, 6);
            for (uint64_t n = 1; n <= (uint64_t)weights[i]; n++) {
                const uint64_t pair[2] = {hashes[i], n};
                uint8_t bytes[16];
                for (size_t j = 0; j < sizeof bytes; j++)
                    bytes[j] = (uint8_t)(pair[j / 8] >> 8 * (j % 8));
                elements[count++] = n == 1 ? hashes[i] : XXH3_64bits(bytes, sizeof bytes);
            }
        }
        testing_doing("trial %u", trial);
        minhash(hashes, weights, 3, 256, found);
        minhash_naively(elements, count, 256, wanted);
        assert_memory_equal(found, wanted, sizeof found);
    }
    testing_done();
}

static void test_features_equal_their_hashes(void **state)
{
    sstore_error error;
    const sstore_feature features[] = {{"cat", 3, 2}, {"", 0, 1}, {NULL, 0, 1}, {"not", 3, 0}};
    const uint64_t hashes[] = {XXH3_64bits("cat", 3), XXH3_64bits("", 0), XXH3_64bits("", 0)};
    const double weights[] = {2, 1, 1};
    uint64_t found[2], wanted[2];
    assert_ok(sstore_minhash(features, 4, 128, found, &error), &error);
    minhash(hashes, weights, 3, 128, wanted);
    assert_memory_equal(found, wanted, sizeof found);
}

static void test_an_empty_set_gives_zero(void **state)
{
    uint64_t found[4] = {1, 1, 1, 1};
    const uint64_t nothing[4] = {0}, hash = 5;
    const double never = 0;
    minhash(NULL, NULL, 0, 256, found);
    assert_memory_equal(found, nothing, sizeof found);
    minhash(&hash, &never, 1, 256, found);
    assert_memory_equal(found, nothing, sizeof found);
}

/* ----- what distances tell ----- */

/* The mean distance of pairs of sets is that of their similarity, and the variance is at most that of independent
 * bits: both within six standard errors. */
static void check_similarity(rng *random, uint32_t bits, size_t count, size_t common)
{
    static uint64_t left[MAX_FEATURES], right[MAX_FEATURES];
    const double similarity = (double)common / (double)(2 * count - common), differs = (1 - similarity) / 2;
    const double mean = bits * differs, variance = bits * differs * (1 - differs);
    const uint32_t trials = testing_slow() ? 200 : 2000;
    double sum = 0, squares = 0;
    testing_doing("%u bits, sets of %zu with %zu in common", bits, count, common);
    for (uint32_t trial = 0; trial < trials; trial++) {
        uint64_t a[MAX_BITS / 64], b[MAX_BITS / 64];
        for (size_t i = 0; i < count; i++) {
            left[i] = rng_next(random);
            right[i] = i < common ? left[i] : rng_next(random);
        }
        minhash(left, NULL, count, bits, a);
        minhash(right, NULL, count, bits, b);
        const double deviation = sstore_hamming_distance(a, b, bits) - mean;
        sum += deviation;
        squares += deviation * deviation;
    }
    assert_true(fabs(sum / trials) < 6 * sqrt(variance / trials));
    assert_true(squares / trials < variance * (1 + 6 * sqrt(2.0 / trials)));
}

static void test_distances_tell_the_similarity(void **state)
{
    rng random = rng_seeded(run_seed);
    for (size_t i = 0; i < WIDTH_COUNT; i++) {
        check_similarity(&random, widths[i], 10, 9);
        check_similarity(&random, widths[i], 60, 40);
        check_similarity(&random, widths[i], 400, 350);
    }
    testing_done();
}

/* The probability of at most `distance` of `bits` that differ, each with this probability, from logarithms. */
static double at_most(uint32_t bits, uint32_t distance, double differs)
{
    double sum = 0;
    for (uint32_t i = 0; i <= distance; i++)
        sum += exp(lgamma(bits + 1.0) - lgamma(i + 1.0) - lgamma(bits - i + 1.0) + i * log(differs) +
                   (bits - i) * log1p(-differs));
    return sum;
}

static void test_a_similarity_tells_the_distance(void **state)
{
    const double recalls[] = {0.5, 0.9, 0.99, 0.999};
    for (size_t i = 0; i < WIDTH_COUNT; i++)
        for (size_t j = 0; j < sizeof recalls / sizeof *recalls; j++)
            for (double similarity = 0; similarity < 0.999; similarity += 0.05) {
                const double differs = (1 - similarity) / 2;
                const uint32_t distance = sstore_minhash_distance(widths[i], similarity, recalls[j]);
                testing_doing("%u bits, similarity %g, recall %g: %u", widths[i], similarity, recalls[j], distance);
                assert_true(at_most(widths[i], distance, differs) > recalls[j] - 1e-9);
                assert_true(distance == 0 || at_most(widths[i], distance - 1, differs) < recalls[j] + 1e-9);
            }
    assert_int_equal(sstore_minhash_distance(256, 1, 0.99), 0);
    testing_done();
}

static void test_a_distance_tells_the_similarity(void **state)
{
    double deviation;
    assert_true(sstore_minhash_similarity(256, 0, NULL) == 1);
    assert_true(fabs(sstore_minhash_similarity(256, 32, &deviation) - 0.75) < 1e-12);
    assert_true(fabs(deviation - 2 * sqrt(0.125 * 0.875 / 256)) < 1e-12);
    assert_true(sstore_minhash_similarity(256, 128, NULL) == 0);
    assert_true(sstore_minhash_similarity(256, 250, NULL) == 0);
}

/* ----- refusals ----- */

static void test_other_widths_are_refused(void **state)
{
    const uint32_t refused[] = {0, 1, 63, 65, 100, 1088, UINT32_MAX};
    const uint64_t hash = 1;
    uint64_t found[17];
    sstore_error error;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        assert_int_equal(sstore_minhash_hashes(&hash, NULL, 1, refused[i], found, &error), SSTORE_ERROR_ARGUMENT);
        assert_int_equal(sstore_minhash(NULL, 0, refused[i], found, &error), SSTORE_ERROR_ARGUMENT);
        assert_int_equal(sstore_minhash_distance(refused[i], 0.5, 0.9), UINT32_MAX);
    }
}

static void test_other_weights_are_refused(void **state)
{
    const double refused[] = {-1, 0.5, 16777217, 1e300, INFINITY, NAN};
    const uint64_t hash = 1;
    uint64_t found[1];
    sstore_error error;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        assert_int_equal(sstore_minhash_hashes(&hash, &refused[i], 1, 64, found, &error), SSTORE_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "feature 0"));
}

static void test_other_arguments_are_refused(void **state)
{
    const sstore_feature no_data = {NULL, 3, 1};
    const uint64_t hash = 1;
    uint64_t found[1];
    sstore_error error;
    assert_int_equal(sstore_minhash(NULL, 1, 64, found, &error), SSTORE_ERROR_ARGUMENT);
    assert_int_equal(sstore_minhash(&no_data, 1, 64, found, &error), SSTORE_ERROR_ARGUMENT);
    assert_int_equal(sstore_minhash(&no_data, 1, 64, NULL, &error), SSTORE_ERROR_ARGUMENT);
    assert_int_equal(sstore_minhash_hashes(NULL, NULL, 1, 64, found, &error), SSTORE_ERROR_ARGUMENT);
    assert_int_equal(sstore_minhash_hashes(&hash, NULL, 1, 64, NULL, &error), SSTORE_ERROR_ARGUMENT);
    assert_int_equal(sstore_simhash(&no_data, 0, SSTORE_FEATURE_HASH_MINHASH, 256, found, &error),
                     SSTORE_ERROR_ARGUMENT);
    assert_int_equal(sstore_minhash_distance(64, -0.1, 0.9), UINT32_MAX);
    assert_int_equal(sstore_minhash_distance(64, NAN, 0.9), UINT32_MAX);
    assert_int_equal(sstore_minhash_distance(64, 0.5, 0), UINT32_MAX);
    assert_int_equal(sstore_minhash_distance(64, 0.5, 1), UINT32_MAX);
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_sets_give_the_naive_answer, testing_teardown),
        cmocka_unit_test_teardown(test_weights_are_occurrences, testing_teardown),
        cmocka_unit_test(test_features_equal_their_hashes),
        cmocka_unit_test(test_an_empty_set_gives_zero),
        cmocka_unit_test_teardown(test_distances_tell_the_similarity, testing_teardown),
        cmocka_unit_test_teardown(test_a_similarity_tells_the_distance, testing_teardown),
        cmocka_unit_test(test_a_distance_tells_the_similarity),
        cmocka_unit_test(test_other_widths_are_refused),
        cmocka_unit_test(test_other_weights_are_refused),
        cmocka_unit_test(test_other_arguments_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

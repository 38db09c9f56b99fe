/* Simhashes of weighted features: sums, signs, and refused weights. */
#include "sstore.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/sums.h"
#include "support/random.h"
#include "support/record_set.h"
#include "support/testing.h"

#define MAX_FEATURES 5000u
#define MANY_FEATURES 12000u

static uint64_t simhash(const uint64_t *hashes, const double *weights, size_t count)
{
    sstore_error error;
    uint64_t fingerprint = 1;
    assert_ok(sstore_simhash_hashes(hashes, weights, count, 64, &fingerprint, &error), &error);
    return fingerprint;
}

/* Bit by bit, in whole units of 2^-20, of every `stride`-th hash. */
static uint64_t simhash_naively(const uint64_t *hashes, size_t stride, const double *weights, size_t count,
                                bool ties_set)
{
    uint64_t fingerprint = 0;
    for (uint32_t i = 0; i < 64; i++) {
        /* In halves of 32 bits, so that no sum of whole weights overflows. */
        int64_t high = 0, low = 0;
        for (size_t j = 0; j < count; j++) {
            int64_t units = weights == NULL ? 1 << 20 : (int64_t)nearbyint(ldexp(weights[j], 20));
            if ((hashes[stride * j] >> (63 - i) & 1) == 0)
                units = -units;
            high += units >> 32;
            low += units & 0xffffffff;
        }
        high += low >> 32;
        low &= 0xffffffff;
        fingerprint = fingerprint << 1 | (high > 0 || (high == 0 && low > 0) || (ties_set && high == 0 && low == 0));
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
    assert_int_equal(ss_sums_fingerprint(&sums, false), UINT64_C(0x2b) << 58);
    assert_int_equal(simhash(hashes, weights, 2) >> 58, 0x2b);
    const double other_way[] = {5, 4};
    assert_int_equal(simhash(hashes, other_way, 2) >> 58, 0x25);
}

static void test_no_features_give_zero(void **state)
{
    sstore_error error;
    uint64_t fingerprint = 1;
    assert_int_equal(simhash(NULL, NULL, 0), 0);
    assert_ok(sstore_simhash(NULL, 0, SSTORE_FEATURE_HASH_XXH3, 64, &fingerprint, &error), &error);
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
    assert_ok(sstore_simhash(&feature, 1, SSTORE_FEATURE_HASH_XXH3, 64, &fingerprint, &error), &error);
    assert_int_equal(fingerprint, UINT64_C(0x2d06800538d394c2));
    feature = (sstore_feature){.data = "abc", .size = 3, .weight = 0.5};
    assert_ok(sstore_simhash(&feature, 1, SSTORE_FEATURE_HASH_XXH3, 64, &fingerprint, &error), &error);
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
        uint64_t expected = simhash_naively(hashes, 1, weights, count, false);
        assert_int_equal(simhash(hashes, weights, count), expected);
        shuffle(&random, hashes, weights, count);
        assert_int_equal(simhash(hashes, weights, count), expected);
        assert_int_equal(simhash(hashes, NULL, count), simhash_naively(hashes, 1, NULL, count, false));
    }
    testing_done();
}

/* Few features and few different weights, so that many sums are 0; then more of them than the partial sums hold. */
static void test_ties_are_set_on_request(void **state)
{
    static uint64_t hashes[MAX_FEATURES];
    static double weights[MAX_FEATURES];
    uint32_t tie_count = 0;
    rng random = rng_seeded(run_seed);
    for (uint32_t trial = 0; trial < 200; trial++) {
        const size_t count = trial < 190 ? (size_t)rng_below(&random, 12) : MAX_FEATURES;
        const bool weighted = trial % 2 != 0;
        ss_sums sums;
        testing_doing("trial %u of %zu features", trial, count);
        ss_sums_init(&sums);
        for (size_t i = 0; i < count; i++) {
            hashes[i] = i % 2 != 0 && trial % 3 != 0 ? ~hashes[i - 1] : rng_next(&random);
            weights[i] = weighted ? ldexp((double)rng_below(&random, 3), -20) : 1;
            ss_sums_add(&sums, hashes[i], weights[i]);
        }
        const uint64_t without = simhash_naively(hashes, 1, weights, count, false);
        const uint64_t with = simhash_naively(hashes, 1, weights, count, true);
        assert_int_equal(ss_sums_fingerprint(&sums, false), without);
        assert_int_equal(ss_sums_fingerprint(&sums, true), with);
        tie_count += with != without;
    }
    testing_done();
    assert_true(tie_count > 20);
}

/* ----- fingerprints of several words ----- */

static void test_each_word_of_hashes_is_apart(void **state)
{
    static uint64_t hashes[40 * 16];
    static double weights[40];
    rng random = rng_seeded(run_seed);
    sstore_error error;
    for (uint32_t words = 1; words <= 16; words++)
        for (uint32_t trial = 0; trial < 20; trial++) {
            const size_t count = (size_t)rng_below(&random, 40);
            uint64_t found[17];
            testing_doing("%u words, trial %u", words, trial);
            memset(found, 0x5a, sizeof found);
            for (size_t i = 0; i < count * words; i++)
                hashes[i] = rng_next(&random);
            for (size_t i = 0; i < count; i++)
                weights[i] = random_weight(&random);
            const double *given = trial % 2 != 0 ? weights : NULL;
            assert_ok(sstore_simhash_hashes(hashes, given, count, 64 * words, found, &error), &error);
            for (uint32_t i = 0; i < words; i++)
                assert_int_equal(found[i], simhash_naively(hashes + i, words, given, count, false));
            assert_int_equal(found[words], UINT64_C(0x5a5a5a5a5a5a5a5a));
        }
    testing_done();
}

/* The fingerprint of features of weight 1, which a NULL ends. */
static void simhash_words(sstore_feature_hash hash, uint32_t bits, const char *const *texts, uint64_t *fingerprint)
{
    sstore_feature features[8] = {{0}};
    sstore_error error;
    size_t count = 0;
    for (; texts[count] != NULL; count++)
        features[count] = (sstore_feature){.data = texts[count], .size = strlen(texts[count]), .weight = 1};
    assert_ok(sstore_simhash(features, count, hash, bits, fingerprint, &error), &error);
}

#define assert_fingerprint(hash, bits, first, second, ...)                                                             \
    do {                                                                                                               \
        uint64_t found[2];                                                                                             \
        simhash_words(hash, bits, (const char *const[]){__VA_ARGS__, NULL}, found);                                    \
        assert_int_equal(found[0], UINT64_C(first));                                                                   \
        assert_int_equal(found[1], UINT64_C(second));                                                                  \
    } while (0)

/* What xxh128sum prints for "" and for "abc", and what it gives for two features. */
static void test_wide_features_are_hashed_with_xxh3(void **state)
{
    assert_fingerprint(SSTORE_FEATURE_HASH_XXH3, 128, 0x99aa06d3014798d8, 0x6001c324468d497f, "");
    assert_fingerprint(SSTORE_FEATURE_HASH_XXH3, 128, 0x06b05ab6733a6185, 0x78af5f94892f3950, "abc");
    assert_fingerprint(SSTORE_FEATURE_HASH_XXH3, 128, 0x06b05ab6733a6185 & 0x99aa06d3014798d8,
                       0x78af5f94892f3950 & 0x6001c324468d497f, "", "abc");
    assert_fingerprint(SSTORE_FEATURE_HASH_XXH3, 128, 0, 0, NULL);
}

/* Each is what the steps of the Java program give, computed by Java (format-spec/fingerprint/JavaSimhash.java). */
static void test_java_hash_is_that_of_the_program(void **state)
{
    const sstore_feature_hash java = SSTORE_FEATURE_HASH_JAVA128;
    assert_fingerprint(java, 0, 0xffffffffffffffff, 0xffffffffffffffff, NULL);
    assert_fingerprint(java, 128, 0, 0x00000002e40db1e0, "a");
    assert_fingerprint(java, 128, 0x000290579564bfdf, 0x0baa983db47697fd, "hello");
    assert_fingerprint(java, 0, 0x0000000020302202, 0x800d8e90e45cc488, "This", "is", "a", "test", "string", "for",
                       "testing");
    assert_fingerprint(java, 0, 0, 0x24900072bed61fbd, "\u6211\u4eec", "\u90fd", "\u7231", "\u51b0\u6dc7\u6dcb");
    assert_fingerprint(java, 0, 0x000000000005dc77, 0xcdcc8229ff01ab5e, "\U0001f600x"); /* two units */
    assert_fingerprint(java, 0, 0x00000000000002ae, 0xf4e945451831296f, "cat", "cat", "cat", "sat");
    assert_fingerprint(java, 0, 0, 0x00000002efaff3e3, "a", "b"); /* ties */
    assert_fingerprint(java, 0, 0, 0, "");                        /* the hash of nothing is 0 */
}

/* The program's text replaces -1 by -2, but no number of the program is negative. */
static void test_java_hash_of_ones_stays(void **state)
{
    assert_fingerprint(SSTORE_FEATURE_HASH_JAVA128, 0, 0xffffffffffffffff, 0xffffffffffffffff,
                       "\u6e06\u07dd\u03ed\u0527\u7cdf\u024b\u00d6\u1d20\u031a\u0266\u00dd\u0602\u03d3\u03fd\u05ac"
                       "\ufe2f\u0279\u0630\u7e7f\u01fa\u029d");
}

static void test_java_hash_reads_any_bytes(void **state)
{
    static const char *const pairs[][2] = {{"a\xff", "a\ufffd"},
                                           {"\xed\xa0\x80", "\ufffd\ufffd\ufffd"},
                                           {"\xe2\x82z", "\ufffdz"}};
    uint64_t bytes[2], text[2];
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        simhash_words(SSTORE_FEATURE_HASH_JAVA128, 0, (const char *const[]){pairs[i][0], NULL}, bytes);
        simhash_words(SSTORE_FEATURE_HASH_JAVA128, 0, (const char *const[]){pairs[i][1], NULL}, text);
        assert_memory_equal(bytes, text, sizeof text);
    }
}

static void test_sixty_four_bits_are_as_before(void **state)
{
    sstore_error error;
    const sstore_feature features[] = {{"one", 3, 2.5}, {"two", 3, -1}, {"three", 5, 1}};
    uint64_t plain, words[2] = {0, 77};
    assert_ok(sstore_simhash(features, 3, SSTORE_FEATURE_HASH_XXH3, 64, &plain, &error), &error);
    for (uint32_t bits = 0; bits <= 64; bits += 64) {
        assert_ok(sstore_simhash(features, 3, SSTORE_FEATURE_HASH_XXH3, bits, words, &error), &error);
        assert_int_equal(words[0], plain);
        assert_int_equal(words[1], 77);
    }
}

static void test_other_widths_are_refused(void **state)
{
    static const struct {
        sstore_feature_hash hash;
        uint32_t bits;
        const char *reason;
    } bad[] = {{SSTORE_FEATURE_HASH_XXH3, 32, "not 32"},        {SSTORE_FEATURE_HASH_XXH3, 192, "not 192"},
               {SSTORE_FEATURE_HASH_JAVA128, 64, "java128"},    {SSTORE_FEATURE_HASH_JAVA128, 256, "not 256"},
               {SSTORE_FEATURE_HASH_MINHASH, 64, "no simhash"}, {(sstore_feature_hash)3, 64, "does not exist"}};
    const uint64_t hash = 1;
    uint64_t words[16];
    sstore_error error;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_status(sstore_simhash(NULL, 0, bad[i].hash, bad[i].bits, words, &error), SSTORE_ERROR_ARGUMENT, &error);
        assert_non_null(strstr(error.message, bad[i].reason));
    }
    for (uint32_t bits = 0; bits < 1300; bits++) {
        const bool right = bits > 0 && bits <= 1024 && bits % 64 == 0;
        const sstore_status status = sstore_simhash_hashes(&hash, NULL, 0, bits, words, &error);
        assert_int_equal(status, right ? SSTORE_OK : SSTORE_ERROR_ARGUMENT);
    }
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
        assert_ok(sstore_simhash(&features[i], 1, SSTORE_FEATURE_HASH_XXH3, 64, &hashes[i], &error), &error);
        features[i].weight = weights[i];
    }
    assert_ok(sstore_simhash(features, 5, SSTORE_FEATURE_HASH_XXH3, 64, &fingerprint, &error), &error);
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
        assert_status(sstore_simhash_hashes(hashes, weights, 2, 64, &fingerprint, &error), SSTORE_ERROR_ARGUMENT,
                      &error);
        assert_non_null(strstr(error.message, "feature 1"));
        sstore_feature feature = {.data = "x", .size = 1, .weight = bad[i]};
        assert_status(sstore_simhash(&feature, 1, SSTORE_FEATURE_HASH_XXH3, 64, &fingerprint, NULL),
                      SSTORE_ERROR_ARGUMENT, NULL);
        assert_int_equal(fingerprint, 77);
    }
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_ok(sstore_simhash_hashes(hashes, &good[i], 1, 64, &fingerprint, &error), &error);
}

static void test_missing_arguments_are_refused(void **state)
{
    const sstore_feature feature = {.data = NULL, .size = 1, .weight = 1};
    uint64_t fingerprint;
    sstore_error error;
    assert_status(sstore_simhash(NULL, 1, SSTORE_FEATURE_HASH_XXH3, 64, &fingerprint, &error), SSTORE_ERROR_ARGUMENT,
                  &error);
    assert_status(sstore_simhash(NULL, 0, SSTORE_FEATURE_HASH_XXH3, 64, NULL, &error), SSTORE_ERROR_ARGUMENT, &error);
    assert_status(sstore_simhash(&feature, 1, SSTORE_FEATURE_HASH_XXH3, 64, &fingerprint, &error),
                  SSTORE_ERROR_ARGUMENT, &error);
    assert_status(sstore_simhash_hashes(NULL, NULL, 1, 64, &fingerprint, &error), SSTORE_ERROR_ARGUMENT, &error);
    assert_status(sstore_simhash_hashes(NULL, NULL, 0, 64, NULL, &error), SSTORE_ERROR_ARGUMENT, &error);
}

static void test_distance_of_any_width(void **state)
{
    rng random = rng_seeded(run_seed + 9);
    for (uint32_t words = 1; words <= SSTORE_MAX_WORDS; words++) {
        uint64_t a[SSTORE_MAX_WORDS], b[SSTORE_MAX_WORDS];
        for (uint32_t i = 0; i < SSTORE_MAX_WORDS; i++) {
            a[i] = rng_next(&random);
            b[i] = rng_one_in(&random, 4) ? ~a[i] : rng_flip(&random, a[i], (uint32_t)rng_below(&random, 64));
        }
        testing_doing("%u words, seed %" PRIu64, words, run_seed + 9);
        assert_int_equal(sstore_hamming_distance(a, b, 64 * words), fingerprint_distance(a, b, words));
        assert_int_equal(sstore_hamming_distance(a, a, 64 * words), 0);
    }
    testing_done();
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
        cmocka_unit_test_teardown(test_ties_are_set_on_request, testing_teardown),
        cmocka_unit_test_teardown(test_each_word_of_hashes_is_apart, testing_teardown),
        cmocka_unit_test(test_wide_features_are_hashed_with_xxh3),
        cmocka_unit_test(test_java_hash_is_that_of_the_program),
        cmocka_unit_test(test_java_hash_of_ones_stays),
        cmocka_unit_test(test_java_hash_reads_any_bytes),
        cmocka_unit_test(test_sixty_four_bits_are_as_before),
        cmocka_unit_test(test_other_widths_are_refused),
        cmocka_unit_test(test_features_equal_their_hashes),
        cmocka_unit_test(test_weights_out_of_range_are_refused),
        cmocka_unit_test(test_missing_arguments_are_refused),
        cmocka_unit_test_teardown(test_distance_of_any_width, testing_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

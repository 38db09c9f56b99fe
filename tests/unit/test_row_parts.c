/* The parts of words in which near fingerprints are nearly equal: they suffice, they fit into their words, and words
 * that many fingerprints share get none. */
#include "plan/row_parts.h"

#include <inttypes.h>
#include <string.h>

#include "base/words.h"
#include "support/random.h"
#include "support/testing.h"

#define ROWS 500u
#define PAIRS 200

static uint64_t sample[ROWS * SSTORE_MAX_WORDS];

/* Random words; `zeros` of a hundred are 0 in the words of the mask. */
static void make_sample(rng *random, uint32_t words, uint64_t zero_words, uint64_t zeros)
{
    for (size_t i = 0; i < ROWS * words; i++) {
        const bool may_be_zero = (zero_words >> i % words & 1) != 0;
        sample[i] = may_be_zero && rng_below(random, 100) < zeros ? 0 : rng_next(random);
    }
}

static void choose(uint32_t words, uint32_t distance, double row_count, uint32_t max_bits, ss_row_parts *parts_out)
{
    ss_word_distances distances[SSTORE_MAX_WORDS];
    sstore_error error = {.status = SSTORE_OK};
    ss_word_distances_measure(sample, ROWS, words, distance, distances);
    assert_ok(ss_row_parts_choose(distances, words, distance, row_count, max_bits, parts_out, &error), &error);
}

/* Parts lie in their word one after the other. The sums of the radii suffice. */
static void check_sums(const ss_row_parts *parts, uint32_t words, uint32_t distance, uint32_t max_bits)
{
    int32_t sum = 0;
    for (uint32_t word = 0, i = 0; word < words; word++) {
        const int32_t radius = parts->radii[word];
        int32_t own = 0;
        uint32_t end = 0;
        assert_in_range(radius + 1, 0, SSTORE_MAX_BUILD_DISTANCE + 1);
        sum += radius + 1;
        for (; i < parts->count && parts->parts[i].word == word; i++) {
            const ss_row_part *part = &parts->parts[i];
            assert_true(part->bits <= max_bits && part->rho <= SS_MAX_PART_RADIUS);
            assert_true(part->bits == 0 || part->first_bit >= end);
            end = part->bits == 0 ? end : part->first_bit + part->bits;
            own += part->bits == 0 ? (int32_t)SS_WORD_BITS : (int32_t)part->rho + 1;
        }
        assert_true(end <= SS_WORD_BITS && own > radius);
    }
    assert_true(sum > (int32_t)distance);
}

/* Whether two fingerprints would be compared in some part. */
static bool is_met(const ss_row_parts *parts, const uint64_t *a, const uint64_t *b)
{
    bool met = false;
    for (uint32_t i = 0; i < parts->count; i++) {
        const ss_row_part *part = &parts->parts[i];
        const uint64_t one = ss_row_part_lead(part, a[part->word]), other = ss_row_part_lead(part, b[part->word]);
        assert_int_equal(ss_popcount(one ^ other), ss_popcount(a[part->word] ^ b[part->word]));
        met |= ss_popcount(ss_row_part_key(part, one) ^ ss_row_part_key(part, other)) <= part->rho &&
               (int32_t)ss_popcount(one ^ other) <= parts->radii[part->word];
    }
    return met;
}

static void check_near_ones(rng *random, const ss_row_parts *parts, uint32_t words, uint32_t distance)
{
    for (int i = 0; i < PAIRS; i++) {
        const uint64_t *from = sample + rng_below(random, ROWS) * words;
        uint64_t near[SSTORE_MAX_WORDS];
        ss_words_copy(near, from, words);
        for (uint32_t flips = distance; flips > 0; flips--) {
            const uint64_t bit = rng_below(random, words * SS_WORD_BITS);
            near[bit / SS_WORD_BITS] ^= UINT64_C(1) << bit % SS_WORD_BITS;
        }
        assert_true(is_met(parts, from, near));
    }
}

static void test_they_suffice(void **state)
{
    rng random = rng_seeded(run_seed);
    (void)state;
    for (int i = 0; i < 60; i++) {
        const uint32_t words = (uint32_t)rng_between(&random, 1, i < 50 ? 5 : SSTORE_MAX_WORDS);
        const uint32_t distance = (uint32_t)rng_below(&random, SSTORE_MAX_BUILD_DISTANCE * words + 1);
        const uint32_t max_bits = (uint32_t)rng_below(&random, SS_MAX_PART_BITS + 1);
        const double row_count = (double)(UINT64_C(1) << rng_below(&random, 34));
        ss_row_parts parts;
        testing_doing("%u words, distance %u, %.0f rows, %u bits, seed %" PRIu64, words, distance, row_count, max_bits,
                      run_seed);
        make_sample(&random, words, rng_next(&random), rng_below(&random, 101));
        choose(words, distance, row_count, max_bits, &parts);
        check_sums(&parts, words, distance, max_bits);
        check_near_ones(&random, &parts, words, distance);
    }
    testing_done();
}

/* A sample may be empty, or have a single fingerprint. */
static void test_no_pairs(void **state)
{
    (void)state;
    for (size_t count = 0; count < 2; count++) {
        ss_word_distances distances[2];
        ss_row_parts parts;
        sstore_error error = {.status = SSTORE_OK};
        ss_word_distances_measure(sample, count, 2, 7, distances);
        assert_ok(ss_row_parts_choose(distances, 2, 7, (double)count, 0, &parts, &error), &error);
        check_sums(&parts, 2, 7, 0);
    }
}

/* Few fingerprints are compared with each other, by as few words as possible; many by keys. */
static void test_few_and_many(void **state)
{
    rng random = rng_seeded(run_seed);
    ss_row_parts parts;
    (void)state;
    make_sample(&random, 4, 0, 0);
    choose(4, 31, 1000, 10, &parts);
    assert_int_equal(parts.count, 2);
    for (uint32_t i = 0; i < parts.count; i++)
        assert_int_equal(parts.parts[i].bits, 0);
    choose(4, 31, 1e7, 23, &parts);
    for (uint32_t i = 0; i < parts.count; i++)
        assert_in_range(parts.parts[i].bits, 14, 23);
}

/* A constant word has no parts, and one that is often zero has a small radius. */
static void test_skewed_words(void **state)
{
    rng random = rng_seeded(run_seed);
    ss_row_parts parts;
    (void)state;
    make_sample(&random, 4, 2, 100);
    choose(4, 31, 1e6, 20, &parts);
    assert_int_equal(parts.radii[1], SS_NO_PROBE);
    make_sample(&random, 4, 2, 40);
    choose(4, 31, 1e6, 20, &parts);
    assert_true(parts.radii[1] < parts.radii[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_they_suffice, testing_teardown),
        cmocka_unit_test(test_no_pairs),
        cmocka_unit_test(test_few_and_many),
        cmocka_unit_test(test_skewed_words),
    };
    rng_start_run();
    return cmocka_run_group_tests(tests, NULL, NULL);
}

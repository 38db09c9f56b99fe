/* All forms of the search of pairs find the same pairs as looking at each; and no two values are nearer than their folds. */
#include "codec/kernels.h"

#include <stdlib.h>

#include "support/random.h"
#include "support/testing.h"

#define MOST 200u
#define ROUNDS 2000u

static bool near(uint32_t a, uint32_t b, uint32_t distance)
{
    return sstore_hamming_distance(a, b) <= distance;
}

static void check_within(const ss_kernels *kernels, const uint32_t *folds, uint32_t count, uint32_t distance)
{
    uint32_t hits[MOST], next = 0;
    const uint32_t found = kernels->pairs_within(folds, count, distance, hits);
    for (uint32_t shift = 1; shift < count; shift++) {
        uint32_t lanes = 0;
        for (uint32_t i = 0; i < SS_PAIR_LANES && i + shift < count; i++)
            lanes |= (uint32_t)near(folds[i], folds[i + shift], distance) << i;
        if (lanes == 0)
            continue;
        assert_true(next < found);
        assert_int_equal(hits[next++], shift << SS_PAIR_LANES | lanes);
    }
    assert_int_equal(next, found);
}

static void check_between(const ss_kernels *kernels, const uint32_t *folds, uint32_t fold_count, const uint32_t *others,
                          uint32_t count, uint32_t distance)
{
    uint32_t hits[MOST + SS_PAIR_LANES], next = 0;
    const uint32_t found = kernels->pairs_between(folds, fold_count, others, count, distance, hits);
    for (uint32_t begin = 0; begin < count; begin += SS_PAIR_LANES) {
        for (uint32_t i = 0; i < fold_count; i++) {
            uint32_t lanes = 0;
            for (uint32_t j = 0; j < SS_PAIR_LANES && begin + j < count; j++)
                lanes |= (uint32_t)near(folds[i], others[begin + j], distance) << j;
            if (lanes == 0)
                continue;
            assert_true(next < found);
            assert_int_equal(hits[next++], (begin + i) << SS_PAIR_LANES | lanes);
        }
    }
    assert_int_equal(next, found);
}

static void test_all_forms(void **state)
{
    rng random;
    rng_init(&random, *(const uint64_t *)*state);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        const uint32_t count = (uint32_t)rng_below(&random, rng_one_in(&random, 2) ? 20 : MOST + 1);
        const uint32_t distance = (uint32_t)rng_below(&random, rng_one_in(&random, 2) ? 8 : 33);
        const uint64_t base = rng_next(&random);
        const size_t size = (count + SS_PAIR_PADDING) * sizeof(uint32_t); /* so that reading behind it is seen */
        uint32_t *folds = malloc(size);
        for (uint32_t i = 0; i < count + SS_PAIR_PADDING; i++) /* what is behind the last may be near, too */
            folds[i] = ss_fold(rng_flip(&random, base, (uint32_t)rng_below(&random, rng_one_in(&random, 8) ? 4 : 65)));
        const uint32_t rows = (uint32_t)rng_below(&random, count < SS_PAIR_LANES ? count + 1 : SS_PAIR_LANES + 1);
        for (int level = SS_SIMD_NONE; level <= SS_SIMD_AVX512; level++) {
            const ss_kernels *kernels = ss_kernels_of((ss_simd_level)level);
            testing_doing("level %d, %u folds, distance %u", level, count, distance);
            if (kernels == NULL)
                continue;
            check_within(kernels, folds, count, distance);
            if (rows > 0)
                check_between(kernels, folds, rows, folds + rows, count - rows, distance);
        }
        free(folds);
    }
    testing_done();
}

static void test_folds(void **state)
{
    rng random;
    rng_init(&random, *(const uint64_t *)*state);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        const uint64_t a = rng_next(&random), b = rng_flip(&random, a, (uint32_t)rng_below(&random, 65));
        const uint32_t of_folds = (uint32_t)__builtin_popcount(ss_fold(a) ^ ss_fold(b));
        assert_true(of_folds <= sstore_hamming_distance(a, b));
        assert_int_equal(of_folds % 2, sstore_hamming_distance(a, b) % 2); /* bits cancel each other in pairs */
    }
}

int main(void)
{
    uint64_t seed = rng_run_seed();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate_setup_teardown(test_all_forms, NULL, testing_teardown, &seed),
        cmocka_unit_test_prestate_setup_teardown(test_folds, NULL, testing_teardown, &seed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

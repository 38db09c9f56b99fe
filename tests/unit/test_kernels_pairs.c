/* All forms of the search of pairs find the same pairs as looking at each; and no two values are nearer than their folds. */
#include "codec/kernels.h"

#include <stdlib.h>

#include "support/random.h"
#include "support/testing.h"

#define MOST 200u
#define ROUNDS 2000u

static void check_within(const ss_kernels *kernels, const uint64_t *values, const ss_folded *folded, uint32_t begin,
                         uint32_t end, uint32_t distance)
{
    uint32_t hits[MOST], next = 0;
    const uint32_t found = kernels->pairs_within(folded, begin, end, distance, hits);
    for (uint32_t shift = 1; begin + shift < end; shift++) {
        uint32_t lanes = 0;
        for (uint32_t i = 0; i < SS_PAIR_LANES && begin + i + shift < end; i++)
            lanes |= (uint32_t)(sstore_hamming_distance(values[begin + i], values[begin + i + shift]) <= distance) << i;
        if (lanes == 0)
            continue;
        assert_true(next < found);
        assert_int_equal(hits[next++], shift << SS_PAIR_LANES | lanes);
    }
    assert_int_equal(next, found);
}

static void check_between(const ss_kernels *kernels, const uint64_t *values, const ss_folded *folded,
                          uint32_t value_count, const uint64_t *others, const ss_folded *folded_others, uint32_t count,
                          uint32_t distance)
{
    uint32_t hits[MOST + SS_PAIR_LANES], next = 0;
    const uint32_t found = kernels->pairs_between(folded, value_count, folded_others, count, distance, hits);
    for (uint32_t begin = 0; begin < count; begin += SS_PAIR_LANES) {
        for (uint32_t i = 0; i < value_count; i++) {
            uint32_t lanes = 0;
            for (uint32_t j = 0; j < SS_PAIR_LANES && begin + j < count; j++)
                lanes |= (uint32_t)(sstore_hamming_distance(values[i], others[begin + j]) <= distance) << j;
            if (lanes == 0)
                continue;
            assert_true(next < found);
            assert_int_equal(hits[next++], (begin + i) << SS_PAIR_LANES | lanes);
        }
    }
    assert_int_equal(next, found);
}

/* As many folded values as may be read, and no more, so that reading further behind them is seen. */
static ss_folded fold_all(const uint64_t *values, uint32_t count)
{
    ss_folded folded = {.folds = calloc(count, sizeof *folded.folds), .uppers = calloc(count, sizeof *folded.uppers)};
    assert_true(folded.folds != NULL && folded.uppers != NULL);
    ss_fold(values, count, &folded);
    return folded;
}

static void free_folded(ss_folded *folded)
{
    free(folded->folds);
    free(folded->uppers);
}

static void test_all_forms(void **state)
{
    rng random = rng_seeded(run_seed);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        const uint32_t count = (uint32_t)rng_below(&random, rng_one_in(&random, 2) ? 20 : MOST + 1);
        const uint32_t distance = (uint32_t)rng_below(&random, rng_one_in(&random, 2) ? 10 : 65);
        const uint32_t most_flips = rng_one_in(&random, 2) ? 12 : 64;
        const uint64_t base = rng_next(&random);
        uint64_t values[MOST + SS_PAIR_PADDING];
        for (uint32_t i = 0; i < count + SS_PAIR_PADDING; i++) /* what is behind the last may be near, too */
            values[i] = rng_flip(&random, base,
                                 (uint32_t)rng_below(&random, rng_one_in(&random, 8) ? 4 : most_flips + 1));
        const uint32_t rows = (uint32_t)rng_below(&random, count < SS_PAIR_LANES ? count + 1 : SS_PAIR_LANES + 1);
        ss_folded folded = fold_all(values, count + SS_PAIR_PADDING);
        ss_folded others = fold_all(values + rows, count - rows + SS_PAIR_PADDING);
        for (int level = SS_SIMD_NONE; level <= SS_SIMD_AVX512; level++) {
            const ss_kernels *kernels = ss_kernels_of((ss_simd_level)level);
            testing_doing("level %d, %u values, distance %u, %u against the others", level, count, distance, rows);
            if (kernels == NULL)
                continue;
            for (uint32_t begin = 0; begin < count; begin += SS_PAIR_LANES)
                check_within(kernels, values, &folded, begin, count, distance);
            if (rows > 0)
                check_between(kernels, values, &folded, rows, values + rows, &others, count - rows, distance);
        }
        free_folded(&others);
        free_folded(&folded);
    }
    testing_done();
}

static void test_folds(void **state)
{
    rng random = rng_seeded(run_seed);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        const uint64_t a = rng_next(&random), values[] = {a, rng_flip(&random, a, (uint32_t)rng_below(&random, 65))};
        uint32_t folds[2], uppers[2];
        ss_fold(values, 2, &(ss_folded){.folds = folds, .uppers = uppers});
        const uint32_t of_folds = (uint32_t)__builtin_popcount(folds[0] ^ folds[1]);
        assert_true(of_folds <= sstore_hamming_distance(values[0], values[1]));
        assert_int_equal(of_folds % 2,
                         sstore_hamming_distance(values[0], values[1]) % 2); /* bits cancel each other in pairs */
    }
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_all_forms, testing_teardown),
        cmocka_unit_test_teardown(test_folds, testing_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

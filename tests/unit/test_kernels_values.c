/* All forms of the search of values find the same as counting bit by bit. */
#include "codec/kernels.h"

#include "support/random.h"
#include "support/testing.h"

#define MOST 300u
#define ROUNDS 3000u

static uint32_t count_slowly(uint64_t x)
{
    uint32_t ones = 0;
    for (; x != 0; x >>= 1)
        ones += (uint32_t)(x & 1);
    return ones;
}

static void check(const ss_kernels *kernels, const uint64_t *values, uint32_t count, uint64_t query, uint32_t distance)
{
    uint32_t hits[MOST], next = 0;
    uint32_t found = kernels->near_values(values, count, query, distance, hits);
    for (uint32_t i = 0; i < count; i++) {
        if (count_slowly(values[i] ^ query) > distance)
            continue;
        assert_true(next < found);
        assert_int_equal(hits[next++], i);
    }
    assert_int_equal(next, found);
}

static void test_all_forms(void **state)
{
    rng random = rng_seeded(run_seed);
    uint64_t values[MOST];
    for (uint32_t round = 0; round < ROUNDS; round++) {
        uint32_t count = (uint32_t)rng_below(&random, MOST + 1);
        uint32_t distance = (uint32_t)rng_below(&random, rng_one_in(&random, 2) ? 5 : 65);
        uint64_t query = rng_next(&random);
        for (uint32_t i = 0; i < count; i++)
            values[i] = rng_flip(&random, query, (uint32_t)rng_below(&random, rng_one_in(&random, 2) ? 8 : 65));
        for (int level = SS_SIMD_NONE; level <= SS_SIMD_AVX512; level++) {
            const ss_kernels *kernels = ss_kernels_of((ss_simd_level)level);
            testing_doing("level %d, %u values, distance %u", level, count, distance);
            if (kernels != NULL)
                check(kernels, values, count, query, distance);
        }
    }
    testing_done();
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_all_forms, testing_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* All forms of gathering bits give what going from bit to bit does. */
#include "codec/kernels.h"

#include "support/random.h"
#include "support/testing.h"

#define COUNT 20u

static uint16_t gather_slowly(uint64_t value, uint64_t mask)
{
    uint64_t bits = 0;
    for (uint32_t i = 64; i-- > 0;)
        if (mask >> i & 1)
            bits = bits << 1 | (value >> i & 1);
    return (uint16_t)bits;
}

static void test_all_forms(void **state)
{
    rng random = rng_seeded(run_seed);
    for (uint32_t round = 0; round < 3000; round++) {
        const uint32_t bits = (uint32_t)rng_below(&random, SS_MAX_GATHERED + 1);
        uint64_t values[COUNT], mask = rng_flip(&random, 0, bits);
        uint16_t gathered[COUNT];
        if (rng_one_in(&random, 2)) /* neighbours */
            mask = (((uint64_t)1 << bits) - 1) << rng_below(&random, 64 - bits + 1) % 64;
        rng_fill(&random, values, sizeof values);
        testing_doing("mask %016llx", (unsigned long long)mask);
        for (int level = SS_SIMD_NONE; level <= SS_SIMD_AVX512; level++) {
            const ss_kernels *kernels = ss_kernels_of((ss_simd_level)level);
            if (kernels == NULL)
                continue;
            kernels->gather_bits(values, COUNT, mask, gathered);
            for (uint32_t i = 0; i < COUNT; i++)
                assert_int_equal(gathered[i], gather_slowly(values[i], mask));
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

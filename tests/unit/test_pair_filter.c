/* All forms of the pair filter find the same pairs as looking at each. */
#include "codec/pair_filter.h"

#include <stdlib.h>

#include "support/random.h"
#include "support/testing.h"

#define MOST 200u
#define ROUNDS 2000u

static void check(ss_pair_filter_fn filter, const uint64_t *values, uint32_t count, uint32_t distance)
{
    uint32_t hits[MOST], next = 0;
    const uint32_t found = filter(values, count, distance, hits);
    for (uint32_t shift = 1; shift < count; shift++) {
        uint32_t lanes = 0;
        for (uint32_t i = 0; i < SS_PAIR_LANES && i + shift < count; i++)
            lanes |= (uint32_t)(sstore_hamming_distance(values[i], values[i + shift]) <= distance) << i;
        if (lanes == 0)
            continue;
        assert_true(next < found);
        assert_int_equal(hits[next++], shift << SS_PAIR_LANES | lanes);
    }
    assert_int_equal(next, found);
}

static void test_all_forms(void **state)
{
    rng random;
    rng_init(&random, *(const uint64_t *)*state);
    const ss_pair_filter_fn forms[] = {ss_pair_filter_portable, ss_pair_filter_popcnt(), ss_pair_filter_avx512(),
                                       ss_pair_filter_best()};
    for (uint32_t round = 0; round < ROUNDS; round++) {
        const uint32_t count = (uint32_t)rng_below(&random, rng_one_in(&random, 2) ? 20 : MOST + 1);
        const uint32_t distance = (uint32_t)rng_below(&random, rng_one_in(&random, 2) ? 5 : 65);
        const uint64_t base = rng_next(&random);
        uint64_t *values = malloc(count * sizeof *values + 1); /* so that reading behind them is seen */
        for (uint32_t i = 0; i < count; i++)
            values[i] = rng_flip(&random, base, (uint32_t)rng_below(&random, rng_one_in(&random, 8) ? 4 : 65));
        for (size_t form = 0; form < sizeof forms / sizeof *forms; form++) {
            testing_doing("form %zu, %u values, distance %u", form, count, distance);
            if (forms[form] != NULL)
                check(forms[form], values, count, distance);
        }
        free(values);
    }
    testing_done();
}

int main(void)
{
    uint64_t seed = rng_run_seed();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate_setup_teardown(test_all_forms, NULL, testing_teardown, &seed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* All forms of the pair filter find the same pairs as looking at each. */
#include "codec/pair_filter.h"

#include <stdlib.h>

#include "support/random.h"
#include "support/testing.h"

#define MOST 200u
#define ROUNDS 2000u

static bool near(uint64_t a, uint64_t b, uint32_t distance)
{
    return sstore_hamming_distance(a, b) <= distance;
}

static void check_within(ss_pair_filter_fn filter, const uint64_t *values, uint32_t count, uint32_t distance)
{
    uint32_t hits[MOST], next = 0;
    const uint32_t found = filter(values, count, distance, hits);
    for (uint32_t shift = 1; shift < count; shift++) {
        uint32_t lanes = 0;
        for (uint32_t i = 0; i < SS_PAIR_LANES && i + shift < count; i++)
            lanes |= (uint32_t)near(values[i], values[i + shift], distance) << i;
        if (lanes == 0)
            continue;
        assert_true(next < found);
        assert_int_equal(hits[next++], shift << SS_PAIR_LANES | lanes);
    }
    assert_int_equal(next, found);
}

static void check_between(ss_cross_filter_fn filter, const uint64_t *values, uint32_t value_count,
                          const uint64_t *others, uint32_t count, uint32_t distance)
{
    uint32_t hits[MOST + SS_PAIR_LANES], next = 0;
    const uint32_t found = filter(values, value_count, others, count, distance, hits);
    for (uint32_t begin = 0; begin < count; begin += SS_PAIR_LANES) {
        for (uint32_t i = 0; i < value_count; i++) {
            uint32_t lanes = 0;
            for (uint32_t j = 0; j < SS_PAIR_LANES && begin + j < count; j++)
                lanes |= (uint32_t)near(values[i], others[begin + j], distance) << j;
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
    const ss_pair_filter forms[] = {ss_pair_filter_portable(), ss_pair_filter_popcnt(), ss_pair_filter_avx512(),
                                    ss_pair_filter_best()};
    for (uint32_t round = 0; round < ROUNDS; round++) {
        const uint32_t count = (uint32_t)rng_below(&random, rng_one_in(&random, 2) ? 20 : MOST + 1);
        const uint32_t distance = (uint32_t)rng_below(&random, rng_one_in(&random, 2) ? 5 : 65);
        const uint64_t base = rng_next(&random);
        uint64_t *values = malloc(count * sizeof *values + 1); /* so that reading behind them is seen */
        for (uint32_t i = 0; i < count; i++)
            values[i] = rng_flip(&random, base, (uint32_t)rng_below(&random, rng_one_in(&random, 8) ? 4 : 65));
        const uint32_t rows = (uint32_t)rng_below(&random, count < SS_PAIR_LANES ? count + 1 : SS_PAIR_LANES + 1);
        for (size_t form = 0; form < sizeof forms / sizeof *forms; form++) {
            testing_doing("form %zu, %u values, distance %u", form, count, distance);
            if (forms[form].within == NULL)
                continue;
            check_within(forms[form].within, values, count, distance);
            if (rows > 0)
                check_between(forms[form].between, values, rows, values + rows, count - rows, distance);
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

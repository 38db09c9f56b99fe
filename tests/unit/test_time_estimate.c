/* The time left, on a clock of the test: at a steady rate it only falls, and it follows a rate that changes. */
#include "output/time_estimate.h"

#include <inttypes.h>
#include <math.h>

#include "support/random.h"
#include "support/testing.h"

/* A task of `seconds` at a steady rate: the estimate is exact from the beginning. */
static void check_steady(double seconds)
{
    time_estimate estimate;
    double before = INFINITY;
    time_estimate_begin(&estimate, 1000);
    testing_doing("a task of %.1f seconds", seconds);
    for (double passed = 0; passed < seconds; passed += 1) {
        const double left = time_estimate_update(&estimate, 1000 + passed, passed / seconds);
        if (passed < 1 || passed / seconds < 0.01) {
            assert_true(left < 0);
            continue;
        }
        assert_true(fabs(left - (seconds - passed)) < 1e-6 * seconds);
        assert_true(left < before);
        before = left;
    }
    assert_true(time_estimate_update(&estimate, 1000 + seconds, 1) == 0);
}

static void test_steady(void **state)
{
    check_steady(3);
    check_steady(47);
    check_steady(100000);
    testing_done();
}

/* Steps of random length at random times, a third more or less than the mean: after ten seconds the estimate never
 * grows by as much as it fell in the seconds before, and is never far from the truth. */
static void test_noise(void **state)
{
    rng random = rng_seeded(run_seed + 62);
    for (int round = 0; round < 200; round++) {
        const double seconds = (double)rng_between(&random, 60, 4000);
        double time = 0, fraction = 0, before = INFINITY, told = 0;
        time_estimate estimate;
        time_estimate_begin(&estimate, 0);
        testing_doing("round %d: a task of %.0f seconds", round, seconds);
        for (double grown = 0; fraction < 1;) {
            const double step = 0.5 + (double)rng_below(&random, 1000) / 1000;
            time += step;
            fraction += step / seconds * (2.0 / 3 + (double)rng_below(&random, 667) / 1000);
            const double left = time_estimate_update(&estimate, time, fraction < 1 ? fraction : 1);
            if (left < 0 || time < 20)
                continue;
            grown += left > before;
            assert_true(left <= before || (left < 1.2 * before && grown <= seconds / 30 + 1));
            assert_true(fraction >= 1 || fabs(left - (1 - fraction) * seconds) < 0.3 * (1 - fraction) * seconds + 2);
            before = left;
            told++;
        }
        assert_true(told > 30);
    }
    testing_done();
}

/* From some moment on the task is three times as slow, or as fast: a minute later the estimate knows. */
static void test_change(void **state)
{
    static const double factors[] = {3, 1.0 / 3};
    for (size_t i = 0; i < 2; i++) {
        double time = 0, fraction = 0;
        time_estimate estimate;
        time_estimate_begin(&estimate, 0);
        for (; time < 100; time++, fraction += 0.002)
            (void)time_estimate_update(&estimate, time, fraction);
        for (; time < 190; time++, fraction += 0.002 / factors[i])
            (void)time_estimate_update(&estimate, time, fraction);
        const double left = time_estimate_update(&estimate, time, fraction),
                     right = (1 - fraction) * factors[i] / 0.002;
        testing_doing("%.1f times the time: %.0f seconds left instead of %.0f", factors[i], left, right);
        assert_true(left > 0.85 * right && left < 1.15 * right);
    }
    testing_done();
}

/* Nothing is done for a while, or ever; the clock stands still. */
static void test_standstill(void **state)
{
    time_estimate estimate;
    time_estimate_begin(&estimate, 5);
    assert_true(time_estimate_update(&estimate, 5, 0) < 0);
    assert_true(time_estimate_update(&estimate, 5, 0.5) < 0);
    assert_true(time_estimate_update(&estimate, 100, 0) < 0);
    time_estimate_begin(&estimate, 5);
    const double left = time_estimate_update(&estimate, 15, 0.5);
    assert_true(fabs(left - 10) < 1e-9);
    assert_true(time_estimate_update(&estimate, 15, 0.5) == left);
    assert_true(time_estimate_update(&estimate, 15.5, 0.5) == left); /* noise */
    assert_true(time_estimate_update(&estimate, 60, 0.5) > 30);
    testing_done();
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_steady, testing_teardown),
        cmocka_unit_test_teardown(test_noise, testing_teardown),
        cmocka_unit_test_teardown(test_change, testing_teardown),
        cmocka_unit_test_teardown(test_standstill, testing_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

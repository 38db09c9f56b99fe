/*
 * test_allocation.c - memory, or a thread, that the system does not give: whichever request it is, once or from then on. Every
 * request of every operation on one thread; on several, and with SSTORE_TEST_LONG=1 all of those, too.
 */
#include <errno.h>

#include "faults/trial.h"
#include "support/random.h"

static uint64_t run_seed;

#define MEMORY (KIND(CALL_ALLOCATE) | KIND(CALL_THREAD))

static void test_every_request(void **state)
{
    static const fault faults[] = {
        {.name = "no memory", .kinds = MEMORY, .status = SSTORE_ERROR_MEMORY, .error = ENOMEM},
        {.name = "no memory", .kinds = MEMORY, .status = SSTORE_ERROR_MEMORY, .error = ENOMEM, .for_good = true}};
    const uint64_t step = testing_sanitized() && !testing_long() ? 7 : 1;
    (void)state;
    trial_run_all("for memory or a thread", faults, sizeof faults / sizeof faults[0], step, run_seed);
}

int main(void)
{
    run_seed = rng_run_seed();
    const struct CMUnitTest tests[] = {cmocka_unit_test_teardown(test_every_request, testing_teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

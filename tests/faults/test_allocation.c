/*
 * test_allocation.c - the system refuses memory or a thread: each request in turn, once or from then on. It tries every
 * request of every operation on one thread, some of a build that spills, and some on several threads (with
 * SSTORE_TEST_LONG=1 all).
 */
#include <errno.h>

#include "faults/trial.h"
#include "support/random.h"

#define MEMORY (KIND(CALL_ALLOCATE) | KIND(CALL_THREAD))

static const fault faults[] = {
    {.name = "no memory", .kinds = MEMORY, .status = SSTORE_ERROR_MEMORY, .error = ENOMEM},
    {.name = "no memory", .kinds = MEMORY, .status = SSTORE_ERROR_MEMORY, .error = ENOMEM, .for_good = true},
};

static void test_every_request(void **state)
{
    static operation operations[OPERATION_COUNT];
    const trials all = {operations, OPERATION_COUNT, faults, sizeof faults / sizeof faults[0]};
    operations_make(run_seed, operations);
    const uint64_t step = testing_number("SSTORE_TEST_STEP", testing_sanitized() && !testing_long() ? 29 : 1);
    trial_run_all(&all, "for memory or a thread", step, run_seed);
    operations_free(operations);
}

static void test_spilling(void **state)
{
    operation spilling;
    const trials all = {&spilling, 1, faults, sizeof faults / sizeof faults[0]};
    operation_make_spilling(run_seed, &spilling);
    const uint64_t step = 5 *
                          testing_number("SSTORE_TEST_STEP", testing_sanitized() ? 10 : 1); /* it makes many calls */
    trial_run_all(&all, "for memory, of a build that spills,", testing_long() ? 1 : step, run_seed);
    operation_free(&spilling);
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {cmocka_unit_test_teardown(test_every_request, testing_teardown),
                                       cmocka_unit_test_teardown(test_spilling, testing_teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

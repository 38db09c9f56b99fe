/*
 * test_allocation.c - memory, or a thread, that the system does not give: whichever request it is, once or from then on. Every
 * request of every operation on one thread; on several, and with SSTORE_TEST_LONG=1 all of those, too.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "faults/trial.h"
#include "support/random.h"

static uint64_t run_seed;

#define MEMORY (KIND(CALL_ALLOCATE) | KIND(CALL_THREAD))

static void test_every_request(void **state)
{
    (void)state;
    static operation operations[OPERATION_COUNT];
    static const fault refused[] = {{.name = "no memory", .kinds = MEMORY, .status = SSTORE_ERROR_MEMORY, .error = ENOMEM},
                                    {.name = "no memory", .kinds = MEMORY, .status = SSTORE_ERROR_MEMORY, .error = ENOMEM, .for_good = true}};
    const uint64_t step = testing_long() ? 1 : testing_sanitized() ? 7 : 1;
    operations_make(run_seed, operations);
    for (size_t i = 0; i < OPERATION_COUNT; i++) {
        tally sum = {0};
        for (size_t j = 0; j < sizeof refused / sizeof refused[0]; j++) {
            trial_run_all(&operations[i], &refused[j], 1, step, run_seed + i, &sum);
            trial_run_all(&operations[i], &refused[j], 3, testing_long() ? 1 : 5 * step, run_seed + j, &sum);
        }
        printf("%-12s %5" PRIu64 " requests refused: %" PRIu64 " came through, %" PRIu64 " failed, %" PRIu64
               " failed when all was done\n",
               operations[i].name, sum.trials, sum.came_through, sum.failed, sum.failed_late);
        fflush(stdout);
        assert_true(sum.failed > 0);
    }
    operations_free(operations);
    testing_done();
}

int main(void)
{
    run_seed = rng_run_seed();
    const struct CMUnitTest tests[] = {cmocka_unit_test_teardown(test_every_request, testing_teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

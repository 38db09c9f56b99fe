/*
 * test_files.c - a disk that fails: whichever call for a file it is, once or from then on, with an input/output error, a full
 * disk, no file handle left, an interruption, or less read or written than asked for.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "faults/trial.h"
#include "support/random.h"

static uint64_t run_seed;

#define FULL_DISK (KIND(CALL_OPEN) | KIND(CALL_WRITE) | KIND(CALL_SYNC) | KIND(CALL_RESIZE) | KIND(CALL_RENAME) |            \
                   KIND(CALL_MAKE_FOLDER))
#define WHOLE (KIND(CALL_READ) | KIND(CALL_WRITE))

static const fault faults[] = {
    {.name = "an input/output error", .kinds = ALL_FILE_KINDS, .status = SSTORE_ERROR_IO, .error = EIO},
    {.name = "an input/output error", .kinds = ALL_FILE_KINDS, .status = SSTORE_ERROR_IO, .error = EIO, .for_good = true},
    {.name = "a full disk", .kinds = FULL_DISK, .status = SSTORE_ERROR_IO, .error = ENOSPC, .creating = true},
    {.name = "a full disk", .kinds = FULL_DISK, .status = SSTORE_ERROR_IO, .error = ENOSPC, .for_good = true, .creating = true},
    {.name = "no file handle", .kinds = KIND(CALL_OPEN) | KIND(CALL_OTHER), .status = SSTORE_ERROR_IO, .error = EMFILE},
    {.name = "an interruption", .kinds = ALL_FILE_KINDS, .status = SSTORE_ERROR_IO, .error = EINTR},
    {.name = "a part", .kinds = WHOLE, .status = SSTORE_ERROR_IO},
    {.name = "a part", .kinds = WHOLE, .status = SSTORE_ERROR_IO, .for_good = true},
};

static void test_every_call(void **state)
{
    (void)state;
    static operation operations[OPERATION_COUNT];
    const uint64_t step = testing_long() ? 1 : testing_sanitized() ? 5 : 1;
    operations_make(run_seed, operations);
    for (size_t i = 0; i < OPERATION_COUNT; i++) {
        tally sum = {0};
        for (size_t j = 0; j < sizeof faults / sizeof faults[0]; j++) {
            trial_run_all(&operations[i], &faults[j], 1, step, run_seed + j, &sum);
            trial_run_all(&operations[i], &faults[j], 3, testing_long() ? 1 : 5 * step, run_seed + i, &sum);
        }
        printf("%-12s %5" PRIu64 " calls refused: %" PRIu64 " came through, %" PRIu64 " failed, %" PRIu64
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
    const struct CMUnitTest tests[] = {cmocka_unit_test_teardown(test_every_call, testing_teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

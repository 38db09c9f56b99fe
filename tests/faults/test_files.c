/*
 * test_files.c - the disk fails: each call for a file in turn, once or from then on, with an input/output error, a full
 * disk, no free file handle, an interruption, or less read or written than asked for. Of a build that spills, with
 * thousands of calls, and of stores of several words, only some are tried.
 */
#include <errno.h>

#include "faults/trial.h"
#include "support/random.h"

#define FULL_DISK                                                                                                      \
    (KIND(CALL_OPEN) | KIND(CALL_WRITE) | KIND(CALL_SYNC) | KIND(CALL_RESIZE) | KIND(CALL_RENAME) | KIND(CALL_LINK) |  \
     KIND(CALL_MAKE_FOLDER))
#define WHOLE (KIND(CALL_READ) | KIND(CALL_WRITE))

static const fault faults[] = {
    {.name = "an input/output error", .kinds = ALL_FILE_KINDS, .status = SSTORE_ERROR_IO, .error = EIO},
    {.name = "an input/output error",
     .kinds = ALL_FILE_KINDS,
     .status = SSTORE_ERROR_IO,
     .error = EIO,
     .for_good = true},
    {.name = "a full disk", .kinds = FULL_DISK, .status = SSTORE_ERROR_IO, .error = ENOSPC, .creating = true},
    {.name = "a full disk",
     .kinds = FULL_DISK,
     .status = SSTORE_ERROR_IO,
     .error = ENOSPC,
     .for_good = true,
     .creating = true},
    {.name = "no file handle", .kinds = KIND(CALL_OPEN) | KIND(CALL_OTHER), .status = SSTORE_ERROR_IO, .error = EMFILE},
    {.name = "an interruption", .kinds = ALL_FILE_KINDS, .status = SSTORE_ERROR_IO, .error = EINTR},
    {.name = "no hard link", .kinds = KIND(CALL_LINK), .status = SSTORE_OK, .error = EPERM}, /* then files are copied */
    {.name = "a part", .kinds = WHOLE, .status = SSTORE_ERROR_IO},
    {.name = "a part", .kinds = WHOLE, .status = SSTORE_ERROR_IO, .for_good = true},
};

static void test_every_call(void **state)
{
    static operation operations[OPERATION_COUNT];
    const trials all = {operations, OPERATION_COUNT, faults, sizeof faults / sizeof faults[0]};
    operations_make(run_seed, operations);
    trial_run_all(&all, "for files", trial_step(41), run_seed);
    operations_free(operations);
}

/* Of a store of several words, which has more files. */
static void test_wide_stores(void **state)
{
    static operation operations[WIDE_OPERATION_COUNT];
    const trials all = {operations, WIDE_OPERATION_COUNT, faults, sizeof faults / sizeof faults[0]};
    operations_make_wide(run_seed, operations);
    trial_run_all(&all, "for files, of stores of several words,", testing_long() ? 1 : 10 * trial_step(15), run_seed);
    operations_free_wide(operations);
}

static void test_spilling(void **state)
{
    operation spilling;
    const trials all = {&spilling, 1, faults, sizeof faults / sizeof faults[0]};
    operation_make_spilling(run_seed, &spilling);
    const uint64_t step = testing_long() ? 11 : 34 * trial_step(119); /* it makes many calls */
    trial_run_all(&all, "for files, of a build that spills,", step, run_seed);
    operation_free(&spilling);
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {cmocka_unit_test_teardown(test_every_call, testing_teardown),
                                       cmocka_unit_test_teardown(test_wide_stores, testing_teardown),
                                       cmocka_unit_test_teardown(test_spilling, testing_teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * test_file_sizes.c - a process that may make no files, or only short ones, as services that only read. A store opens
 * if the limit allows the copy of its directory in memory. Otherwise the call fails with a message that says what to
 * do. The signal SIGXFSZ, which would end the process, must not occur.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "sstore_statistics.h"
#include "support/process.h"
#include "support/random.h"
#include "support/scratch.h"
#include "support/use_store.h"

static struct rlimit usual;
static data_set set;
static char store[256];

static void allow(uint64_t max_bytes)
{
    const struct rlimit limit = {.rlim_cur = max_bytes, .rlim_max = usual.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void allow_as_usual(void)
{
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &usual), 0);
}

static void check_refused(sstore_status status, const sstore_error *error)
{
    assert_status(status, SSTORE_ERROR_IO, error);
    assert_int_equal(error->system_errno, EFBIG);
    assert_non_null(strstr(error->message, "copy it into memory"));
    assert_non_null(strstr(error->message, "ulimit -f"));
}

static void try_to_open(sstore_io io, uint64_t max_bytes, bool enough)
{
    sstore_open_options options = SSTORE_OPEN_OPTIONS_INIT;
    sstore *opened = NULL;
    sstore_error error;
    const size_t before = process_open_files();
    testing_doing("opening, way of reading %d, where files may have %" PRIu64 " bytes, seed %" PRIu64, (int)io,
                  max_bytes, run_seed);
    options.io = io;
    allow(max_bytes);
    const sstore_status status = sstore_open(store, &options, &opened, &error);
    allow_as_usual();
    if (enough)
        assert_ok(status, &error);
    else
        check_refused(status, &error);
    sstore_close(opened);
    assert_int_equal(process_open_files(), before);
}

static void test_short_files(void **state)
{
    sstore_statistics facts = {.struct_size = sizeof facts};
    sstore_error error;
    sstore *opened = store_must_open(store, SSTORE_IO_PREAD, SSTORE_STRATEGY_AUTO);
    assert_ok(sstore_stat(opened, &facts, &error), &error);
    sstore_close(opened);
    const uint64_t needed = facts.directory_bytes; /* of the one segment */
    const uint64_t sizes[] = {0, 1, needed / 2, needed - 1, needed, needed + 1};
    for (sstore_io io = SSTORE_IO_PREAD; io <= SSTORE_IO_MEMORY; io++)
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
            try_to_open(io, sizes[i], sizes[i] >= needed);
    testing_done();
}

static int make_all(void **state)
{
    rng random = rng_seeded(run_seed);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &usual), 0);
    snprintf(store, sizeof store, "%s", scratch_path("store"));
    data_make(&random, DATA_CLUSTERED, DATA_IDS, 5000, false, &set);
    store_must_build(store, NULL, &set);
    return 0;
}

static int free_all(void **state)
{
    data_free(&set);
    return 0;
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {cmocka_unit_test_teardown(test_short_files, testing_teardown)};
    return cmocka_run_group_tests(tests, make_all, free_all);
}

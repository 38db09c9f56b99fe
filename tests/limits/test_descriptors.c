/*
 * test_descriptors.c - the number of open files of a process. An open store has as many as its segments and tables say;
 * builds, changes and joins have few, however much they spill. With one less than needed a call fails with a message
 * that says what to do, and leaves no file open.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

#include "sstore_statistics.h"
#include "support/process.h"
#include "support/random.h"
#include "support/scratch.h"
#include "support/spilling.h"
#include "support/use_store.h"
#include "support/widened.h"

#define SEGMENTS 30u
#define MANY 160000u     /* records, more than fit into the memory of builds and joins */
#define WHILE_OPENING 3u /* the folder of a segment, its directory's copy, and LMDB's handle of that */
#define BUILD_FILES 12u  /* of a build, whatever it builds */
#define SEGMENT_FILES 2u /* of each segment that is read to be merged, and a store's folder */
#define JOIN_FILES 4u    /* of a join or a collection, beside open stores */
#define STORE_FILES 7u   /* of an open store of one segment with four tables and ids */

static char many_path[256], store[256], target[256];
static data_set many;
static size_t store_files; /* of an open store of SEGMENTS segments */

/* ----- limits ----- */

static struct rlimit usual;

/* Let the process open so many more files than it has open; which may have any numbers. */
static void allow(size_t more)
{
    struct rlimit limit = {.rlim_max = usual.rlim_max};
    for (size_t available = 0; available < more; limit.rlim_cur++)
        available += fcntl((int)limit.rlim_cur, F_GETFD) < 0;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static void allow_as_usual(void)
{
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &usual), 0);
}

static void check_refused(sstore_status status, const sstore_error *error)
{
    assert_status(status, SSTORE_ERROR_IO, error);
    assert_int_equal(error->system_errno, EMFILE);
    assert_non_null(strstr(error->message, "ulimit -n"));
}

/* ----- open stores ----- */

static void check_open(const char *path, size_t needed, sstore_io io)
{
    sstore_open_options options = SSTORE_OPEN_OPTIONS_INIT;
    sstore_error error;
    sstore *opened = NULL, *again = NULL;
    options.io = io;
    const size_t before = process_open_files();
    allow(needed + WHILE_OPENING);
    assert_ok(sstore_open(path, &options, &opened, &error), &error);
    allow_as_usual();
    assert_int_equal(process_open_files() - before, needed);
    sstore_cursor *cursor = store_must_cursor(opened);
    matches found = {0};
    assert_ok(store_query(cursor, many.fingerprints[0], 3, &found, &error), &error);
    matches_free(&found);
    assert_ok(sstore_reopen(opened, &again, &error), &error); /* all segments are shared */
    assert_int_equal(process_open_files() - before, needed + 1);
    sstore_close(again);
    sstore_cursor_free(cursor);
    sstore_close(opened);
    assert_int_equal(process_open_files(), before);
    for (size_t less = 1; less <= needed + WHILE_OPENING; less += 1 + less / 8) {
        testing_doing("%zu files less than opening takes", less);
        allow(needed + WHILE_OPENING - less);
        const sstore_status status = sstore_open(path, &options, &opened, &error);
        allow_as_usual();
        check_refused(status, &error);
        assert_null(opened);
        assert_int_equal(process_open_files(), before);
    }
}

static void add_segment(size_t first, bool removes)
{
    sstore_error error;
    assert_ok(store_change(store, removes, many.fingerprints + first, many.ids + first, 20, &error), &error);
}

/* A store's folder; of each segment one for each table and the ids, unless they are in memory or small and mapped. The
 * directories are small. */
static void test_open_stores(void **state)
{
    sstore_statistics facts = {.struct_size = sizeof facts};
    sstore_segment_statistics segment = {.struct_size = sizeof segment};
    sstore_error error;
    size_t needed = 1;
    sstore *opened = store_must_open(store, SSTORE_IO_PREAD, SSTORE_STRATEGY_AUTO);
    assert_ok(sstore_stat(opened, &facts, &error), &error);
    assert_int_equal(facts.segment_count, SEGMENTS);
    for (uint32_t i = 0; i < facts.segment_count; i++) {
        assert_ok(sstore_stat_segment(opened, i, &segment, &error), &error);
        needed += segment.table_count + 1;
    }
    sstore_close(opened);
    store_files = needed;
    testing_figure("files open at once: a store of %u segments: %zu", facts.segment_count, needed);
    for (sstore_io io = SSTORE_IO_PREAD; io <= SSTORE_IO_MEMORY; io++)
        check_open(store, io == SSTORE_IO_PREAD ? needed : 1, io);
    testing_done();
}

#define WIDE_WORDS 3u

static sstore_status build_wide(const char *path, bool replace, sstore_error *error)
{
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    data_set few = many;
    few.count = 500;
    options.threads = 2;
    options.memory_bytes = 1 << 20;
    options.force = replace;
    return store_build(path, &options, &few, 0, error);
}

/* Can the system copy mapped pages, so that files need not stay open? An emulator may not. */
static bool copies_maps(void)
{
    char from = 1, into = 0;
    const struct iovec remote = {.iov_base = &from, .iov_len = 1}, local = {.iov_base = &into, .iov_len = 1};
    return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == 1;
}

/* Open stores of several words take no descriptors for their word indexes, which are small. */
static void test_open_stores_of_words(void **state)
{
    char path[256];
    sstore_error error;
    size_t needed = 1;
    widened_words = WIDE_WORDS;
    snprintf(path, sizeof path, "%s", scratch_path("wide"));
    size_t building = BUILD_FILES;
    allow(building);
    const sstore_status status = build_wide(path, false, &error);
    allow_as_usual();
    assert_ok(status, &error);
    assert_ok(store_change(path, false, many.fingerprints + 600, many.ids + 600, 20, &error), &error);
    assert_ok(store_change(path, true, many.fingerprints, many.ids, 20, &error), &error);
    file_list files = file_list_make(path, "");
    for (size_t i = 0; i < files.count; i++)
        needed += strstr(files.names[i], ".blk") != NULL && (strstr(files.names[i], "word-") == NULL || !copies_maps());
    for (sstore_io io = SSTORE_IO_PREAD; io <= SSTORE_IO_MEMORY; io++)
        check_open(path, io == SSTORE_IO_PREAD ? needed : 1, io);
    file_list_free(&files);
    for (bool enough = true; enough;) {
        allow(building - 1);
        enough = build_wide(path, true, &error) == SSTORE_OK;
        allow_as_usual();
        building -= enough;
    }
    testing_figure("files open at once: a store of %u words and 3 segments: %zu; building one: %zu, %u are allowed",
                   WIDE_WORDS, needed, building, BUILD_FILES);
    widened_words = 1;
    testing_done();
}

/* ----- work that spills ----- */

static const struct {
    const char *name;
    spilling_call *call;
    size_t files; /* at most */
    bool changes; /* the store of many segments, which is opened beside it if records are added */
} works[] = {
    {"build", spilling_build, BUILD_FILES, false},
    {"add", spilling_add, BUILD_FILES, true},
    {"compact", spilling_compact, SEGMENTS *SEGMENT_FILES + BUILD_FILES, true},
    {"merge", spilling_merge, BUILD_FILES + (SEGMENTS + 1) * SEGMENT_FILES + 2, false},
    {"pairs", spilling_pairs, STORE_FILES + JOIN_FILES, false},
    {"clusters", spilling_clusters, STORE_FILES + JOIN_FILES, false},
    {"collect", spilling_collect, JOIN_FILES, false},
};

/* Do it with so many files. */
static bool run_with(size_t number, size_t files)
{
    const spilling how = {.set = &many,
                          .store = many_path,
                          .other = store,
                          .target = target,
                          .tmp_dir = scratch_folder(),
                          .plan = "4",
                          .threads = 3,
                          .distance = 3,
                          .collection_bytes = (uint64_t)1 << 20};
    sstore_error error = {.status = SSTORE_OK};
    testing_doing("%s with %zu files, seed %" PRIu64, works[number].name, files, run_seed);
    scratch_remove(target);
    if (works[number].changes)
        folder_copy(store, target);
    const size_t before = process_open_files();
    allow(files);
    const sstore_status status = works[number].call(&how, &error);
    allow_as_usual();
    assert_int_equal(process_open_files(), before);
    if (status != SSTORE_OK)
        check_refused(status, &error);
    return status == SSTORE_OK;
}

static void test_spilling(void **state)
{
    for (size_t i = 0; i < sizeof works / sizeof works[0]; i++) {
        size_t needed = works[i].files + (works[i].call == spilling_add ? store_files : 0);
        const size_t allowed = needed;
        assert_true(run_with(i, needed));
        while (needed > 0 && run_with(i, needed - 1))
            needed--;
        testing_figure("files open at once: %s: %zu, %zu are allowed", works[i].name, needed, allowed);
        for (size_t files = 0; files < needed; files += 1 + needed / 16)
            assert_false(run_with(i, files));
    }
    testing_done();
}

static int make_all(void **state)
{
    rng random = rng_seeded(run_seed);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &usual), 0);
    data_make(&random, DATA_UNIFORM, DATA_IDS, MANY, false, &many);
    snprintf(many_path, sizeof many_path, "%s", scratch_path("many"));
    snprintf(store, sizeof store, "%s", scratch_path("store"));
    snprintf(target, sizeof target, "%s", scratch_path("target"));
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    options.plan = "4";
    data_set few = many;
    few.count = 500;
    assert_ok(store_build(many_path, &options, &many, 0, NULL), NULL);
    assert_ok(store_build(store, &options, &few, 0, NULL), NULL);
    for (size_t i = 1; i < SEGMENTS; i++)
        add_segment(i % 3 == 2 ? 20 * i : 500 + 20 * i, i % 3 == 2);
    return 0;
}

static int free_all(void **state)
{
    data_free(&many);
    return 0;
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_open_stores, testing_teardown),
        cmocka_unit_test_teardown(test_open_stores_of_words, testing_teardown),
        cmocka_unit_test_teardown(test_spilling, testing_teardown),
    };
    return cmocka_run_group_tests(tests, make_all, free_all);
}

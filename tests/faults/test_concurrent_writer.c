/*
 * test_concurrent_writer.c - another process acts between two system calls of one call: it replaces a store that is
 * being opened or verified, removes a folder before it is locked, or locks it first. Also folders and files that may
 * not be read.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "faults/interpose.h"
#include "store/manifest.h"
#include "support/random.h"
#include "support/scratch.h"
#include "support/use_store.h"

#define RECORDS 300u
#define SEGMENTS 4096u
#define BASE_BYTES                                                                                                     \
    ((uint64_t)8 << 20) /* that an open store may take beside eight bytes for each of its files: sstore.h */

static char store[256], other[256];
static data_set records;

/* What is done at a moment: at the call of this kind, for this name. */
typedef struct moment {
    system_call_kind kind;
    const char *name; /* that the call's name begins with; NULL: any */
    uint64_t passed;  /* so many such calls come before the moment */
    int error;        /* that the call fails with, each time from then on */
    void (*act)(void);
    bool always; /* else it acts once */
    bool came;
} moment;

static bool is_at(const moment *self, const system_call *call)
{
    return call->kind == self->kind &&
           (self->name == NULL || (call->name != NULL && strncmp(call->name, self->name, strlen(self->name)) == 0));
}

static verdict before(void *context, const system_call *call)
{
    moment *self = context;
    verdict what = {.size = call->size};
    if (!is_at(self, call))
        return what;
    if (self->passed > 0) {
        self->passed--;
        return what;
    }
    if (self->act != NULL && (self->always || !self->came)) {
        self->came = true; /* the action also makes calls */
        self->act();
    }
    self->came = true;
    what.error = self->error;
    return what;
}

static void begin(moment *at)
{
    static interposer hooks;
    hooks = (interposer){.before = before, .context = at};
    interpose_begin(&hooks);
}

/* ----- a store that is replaced while it is opened ----- */

static char aside[256], folders[2][300];

/* Another store's segment comes into the folder of the same name, and its manifest. */
static void replace(void)
{
    char from[300], to[300];
    snprintf(from, sizeof from, "%s/" SS_MANIFEST_NAME, other);
    snprintf(to, sizeof to, "%s/" SS_MANIFEST_NAME, store);
    if (rename(folders[0], aside) != 0 || rename(folders[1], folders[0]) != 0 || rename(from, to) != 0)
        abort();
}

static void make_store(const char *path, uint64_t seed, data_set *set)
{
    rng random = rng_seeded(seed);
    data_make(&random, DATA_UNIFORM, DATA_IDS, RECORDS, false, set);
    store_must_build(path, NULL, set);
}

/* Read a store's manifest, have it changed, and write it. */
static void change_manifest(const char *path, void (*change)(ss_manifest *manifest, uint64_t number), uint64_t number)
{
    ss_dir dir;
    ss_manifest manifest;
    sstore_error error;
    assert_ok(ss_dir_open(path, &dir, &error), &error);
    assert_ok(ss_manifest_read(&dir, &manifest, &error), &error);
    change(&manifest, number);
    assert_ok(ss_manifest_write_new(&dir, &manifest, &error), &error);
    assert_ok(ss_dir_rename(&dir, SS_MANIFEST_NEW_NAME, SS_MANIFEST_NAME, &error), &error);
    ss_manifest_free(&manifest);
    ss_dir_close(&dir);
}

static uint64_t folder_number(const char *path, char folder[300])
{
    ss_dir dir;
    ss_manifest manifest;
    char name[SS_NAME_CAPACITY];
    sstore_error error;
    assert_ok(ss_dir_open(path, &dir, &error), &error);
    assert_ok(ss_manifest_read(&dir, &manifest, &error), &error);
    const uint64_t number = manifest.segments[0].folder_number;
    ss_folder_name(name, SS_SEGMENT_PREFIX, number);
    snprintf(folder, 300, "%s/%s", path, name);
    ss_manifest_free(&manifest);
    ss_dir_close(&dir);
    return number;
}

static void set_folder_number(ss_manifest *manifest, uint64_t number)
{
    manifest->segments[0].folder_number = number;
}

/* A writer may give the name of a removed folder to another segment. A reader with the old manifest then finds a file
 * that does not match it, and starts again with the new manifest. */
static void test_replaced_while_opened(void **state)
{
    data_set first, second;
    moment at = {.kind = CALL_OPEN, .name = SS_SEGMENT_PREFIX, .act = replace};
    sstore_error error;
    sstore *opened = NULL;
    testing_doing("a store that is replaced while it is opened, seed %" PRIu64, run_seed);
    make_store(store, run_seed, &first);
    make_store(other, run_seed + 1, &second);
    (void)folder_number(other, folders[1]);
    change_manifest(other, set_folder_number, folder_number(store, folders[0]));
    snprintf(aside, sizeof aside, "%s", scratch_path("aside"));
    begin(&at);
    const sstore_status status = sstore_open(store, NULL, &opened, &error);
    interpose_end();
    assert_true(at.came);
    assert_ok(status, &error);
    sstore_cursor *cursor = store_must_cursor(opened);
    for (size_t i = 0; i < second.count; i++) {
        matches found = {.count = 0};
        assert_ok(store_query(cursor, second.fingerprints[i], 0, &found, &error), &error);
        assert_int_equal(found.count, 1);
        matches_free(&found);
    }
    sstore_cursor_free(cursor);
    sstore_close(opened);
    data_free(&first);
    data_free(&second);
    testing_done();
}

static void reindex_twice(void)
{
    sstore_reindex_options options = SSTORE_REINDEX_OPTIONS_INIT;
    sstore_error error;
    options.all = true;
    for (int i = 0; i < 2; i++)
        if (sstore_reindex(store, &options, NULL, &error) != SSTORE_OK)
            abort();
}

/* A folder has the same name again, and the manifest the same bytes, but the first folder was removed. */
static void test_same_manifest_again(void **state)
{
    moment at = {.kind = CALL_OPEN, .name = "table-01", .act = reindex_twice};
    sstore_error error;
    sstore *opened = NULL;
    store_must_build(store, NULL, &records);
    file_bytes before = file_load(scratch_path("store/" SS_MANIFEST_NAME));
    begin(&at);
    const sstore_status status = sstore_open(store, NULL, &opened, &error);
    interpose_end();
    assert_true(at.came);
    assert_ok(status, &error);
    sstore_close(opened);
    file_bytes after = file_load(scratch_path("store/" SS_MANIFEST_NAME));
    assert_int_equal(before.size, after.size);
    assert_memory_equal(before.data, after.data, before.size);
    file_bytes_free(&before);
    file_bytes_free(&after);
}

/* ----- verifying ----- */

/* What was reported, by kind. */
typedef struct report {
    size_t damaged, others;
} report;

static int count_problem(void *context, const sstore_error *problem)
{
    report *self = context;
    if (problem->status == SSTORE_ERROR_DAMAGED)
        self->damaged++;
    else
        self->others++;
    return 0;
}

static void damage(const char *name)
{
    char folder[300], path[600];
    (void)folder_number(store, folder);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    file_patch(path, 4096 + 100, "damage", 6);
}

static sstore_status verify(moment *at, report *found, sstore_error *error)
{
    *found = (report){0};
    begin(at);
    const sstore_status status = sstore_verify(store, NULL, count_problem, found, error);
    interpose_end();
    assert_true(at->came);
    return status;
}

static void reindex(void)
{
    sstore_error error;
    if (sstore_reindex(store, NULL, NULL, &error) != SSTORE_OK)
        abort();
}

/* A directory is damaged, and rebuilt after the store could not be opened: the store is then intact. */
static void test_mended_while_verified(void **state)
{
    static const char *const names[] = {SS_MANIFEST_NAME, SS_SEGMENT_PREFIX, "directory.mdb"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        report found;
        sstore_error error;
        testing_doing("a store that is mended before '%s' is opened again", names[i]);
        scratch_remove(store);
        store_must_build(store, NULL, &records);
        damage("directory.mdb");
        moment at = {.kind = CALL_OPEN, .name = names[i], .passed = i == 0 ? 2 : 1, .act = reindex};
        assert_ok(verify(&at, &found, &error), &error);
        assert_int_equal(found.damaged + found.others, 0);
    }
    testing_done();
}

/* Unreadable files do not prevent the verification of others, and do not hide damage. */
static void test_verified_beside_what_cannot_be_read(void **state)
{
    static const int refusals[] = {EIO, EACCES};
    for (size_t i = 0; i < 2; i++) {
        report found;
        sstore_error error;
        moment at = {.kind = CALL_OPEN, .name = "table-00", .error = refusals[i]};
        testing_doing("a table whose opening fails with errno %d", refusals[i]);
        scratch_remove(store);
        store_must_build(store, NULL, &records);
        assert_status(verify(&at, &found, &error), SSTORE_ERROR_IO, &error);
        assert_int_equal(error.system_errno, refusals[i]);
        assert_int_equal(found.damaged, 0);
        assert_int_equal(found.others, 1);
        damage("table-01.blk");
        damage("ids.blk");
        at.came = false;
        assert_status(verify(&at, &found, &error), SSTORE_ERROR_DAMAGED, &error);
        assert_int_equal(found.damaged, 2);
        assert_int_equal(found.others, 1);
    }
    testing_done();
}

static void set_lmdb_format(ss_manifest *manifest, uint64_t format)
{
    manifest->segments[0].lmdb_format = (uint32_t)format;
}

/* Nor does a directory of another file format. */
static void test_verified_beside_another_format(void **state)
{
    report found;
    sstore_error error;
    moment never = {.kind = CALL_OPEN, .name = SS_MANIFEST_NAME};
    store_must_build(store, NULL, &records);
    change_manifest(store, set_lmdb_format, 0x10000);
    assert_status(verify(&never, &found, &error), SSTORE_ERROR_UNSUPPORTED, &error);
    assert_int_equal(found.damaged, 0);
    assert_int_equal(found.others, 1);
    damage("table-01.blk");
    assert_status(verify(&never, &found, &error), SSTORE_ERROR_DAMAGED, &error);
    assert_int_equal(found.damaged, 1);
    assert_int_equal(found.others, 1);
}

/* ----- creating and locking a folder ----- */

static int lock;

static void remove_folder(void)
{
    if (rmdir(store) != 0)
        abort();
}

static void lock_folder(void)
{
    lock = open(store, O_RDONLY | O_DIRECTORY);
    if (lock < 0 || flock(lock, LOCK_EX) != 0)
        abort();
}

static sstore_status build(moment *at, sstore_error *error)
{
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    options.memory_bytes = 1 << 20;
    options.plan = "2";
    begin(at);
    const sstore_status status = store_build(store, &options, &records, 0, error);
    interpose_end();
    assert_true(at->came);
    return status;
}

/* A writer that created the folder and gave up removes it, perhaps after others have opened it: they create it
 * again. */
static void test_folder_is_removed_before_it_is_locked(void **state)
{
    sstore_error error;
    moment at = {.kind = CALL_LOCK, .act = remove_folder};
    assert_ok(build(&at, &error), &error);
    assert_ok(sstore_verify(store, NULL, NULL, NULL, &error), &error);
}

/* The folder is removed before it is even opened. */
static void test_folder_is_removed_before_it_is_opened(void **state)
{
    sstore_error error;
    moment at = {.kind = CALL_OPEN, .name = store, .act = remove_folder};
    assert_int_equal(mkdir(store, 0777), 0);
    assert_ok(build(&at, &error), &error);
    assert_ok(sstore_verify(store, NULL, NULL, NULL, &error), &error);
}

static void replace_folder(void)
{
    if (rename(store, scratch_path("moved")) != 0 || mkdir(store, 0777) != 0 || rmdir(scratch_path("moved")) != 0)
        abort();
}

/* The folder is replaced again and again: the call ends. */
static void test_folder_does_not_stay(void **state)
{
    sstore_error error;
    moment at = {.kind = CALL_LOCK, .act = replace_folder, .always = true};
    assert_status(build(&at, &error), SSTORE_ERROR_BUSY, &error);
    assert_non_null(strstr(error.message, "try again"));
}

/* A writer that created the folder but did not get the lock does not remove it. */
static void test_folder_is_locked_by_another(void **state)
{
    sstore_error error;
    moment at = {.kind = CALL_LOCK, .act = lock_folder};
    assert_status(build(&at, &error), SSTORE_ERROR_BUSY, &error);
    assert_true(scratch_exists(store));
    assert_int_equal(close(lock), 0);
    moment never = {.kind = CALL_OPEN, .name = "..", .act = NULL};
    assert_ok(build(&never, &error), &error);
}

/* The folder above may be written to, but not read. */
static void test_parent_cannot_be_read(void **state)
{
    sstore_error error;
    moment at = {.kind = CALL_OPEN, .name = "..", .error = EACCES};
    assert_ok(build(&at, &error), &error);
    assert_ok(sstore_verify(store, NULL, NULL, NULL, &error), &error);
    scratch_remove(store);
    at = (moment){.kind = CALL_OPEN, .name = "..", .error = EIO};
    assert_status(build(&at, &error), SSTORE_ERROR_IO, &error);
    assert_false(scratch_exists(store));
}

/* ----- a manifest whose segments are elsewhere ----- */

static void multiply(ss_manifest *manifest, uint64_t count)
{
    ss_manifest_segment *segments = calloc(count, sizeof *segments);
    assert_non_null(segments);
    for (uint64_t i = 0; i < count; i++) {
        segments[i] = manifest->segments[0];
        segments[i].folder_number = i;
    }
    ss_free(manifest->segments);
    manifest->segments = segments;
    manifest->segment_count = (uint32_t)count;
}

/* As many segments as there can be, none of which exists: reading the manifest again takes no more memory. */
static void test_no_segment_is_there(void **state)
{
    sstore_error error;
    sstore *opened;
    uint64_t all_bytes = 0;
    store_must_build(store, NULL, &records);
    change_manifest(store, multiply, SEGMENTS);
    file_list files = file_list_make(store, "");
    for (size_t i = 0; i < files.count; i++) {
        struct stat info;
        char path[600];
        snprintf(path, sizeof path, "%s/%s", store, files.names[i]);
        assert_int_equal(stat(path, &info), 0);
        all_bytes += (uint64_t)info.st_size;
    }
    file_list_free(&files);
    moment never = {.kind = CALL_OPEN, .name = SS_MANIFEST_NAME};
    interpose_watch_peak();
    begin(&never);
    const sstore_status status = sstore_open(store, NULL, &opened, &error);
    interpose_end();
    assert_status(status, SSTORE_ERROR_DAMAGED, &error);
    assert_in_range(interpose_peak_bytes(), 1, BASE_BYTES + 8 * all_bytes);
}

static int start_afresh(void **state)
{
    scratch_remove(store);
    scratch_remove(other);
    return 0;
}

static int make_records(void **state)
{
    rng random = rng_seeded(run_seed + 2);
    data_make(&random, DATA_UNIFORM, DATA_IDS, RECORDS, false, &records);
    return 0;
}

static int free_records(void **state)
{
    data_free(&records);
    return 0;
}

int main(void)
{
    rng_start_run();
    snprintf(store, sizeof store, "%s", scratch_path("store"));
    snprintf(other, sizeof other, "%s", scratch_path("other"));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_replaced_while_opened, start_afresh, testing_teardown),
        cmocka_unit_test_setup_teardown(test_folder_is_removed_before_it_is_locked, start_afresh, testing_teardown),
        cmocka_unit_test_setup_teardown(test_same_manifest_again, start_afresh, testing_teardown),
        cmocka_unit_test_setup_teardown(test_mended_while_verified, start_afresh, testing_teardown),
        cmocka_unit_test_setup_teardown(test_verified_beside_what_cannot_be_read, start_afresh, testing_teardown),
        cmocka_unit_test_setup_teardown(test_verified_beside_another_format, start_afresh, testing_teardown),
        cmocka_unit_test_setup_teardown(test_folder_is_removed_before_it_is_opened, start_afresh, testing_teardown),
        cmocka_unit_test_setup_teardown(test_folder_does_not_stay, start_afresh, testing_teardown),
        cmocka_unit_test_setup_teardown(test_folder_is_locked_by_another, start_afresh, testing_teardown),
        cmocka_unit_test_setup_teardown(test_parent_cannot_be_read, start_afresh, testing_teardown),
        cmocka_unit_test_setup_teardown(test_no_segment_is_there, start_afresh, testing_teardown),
    };
    return cmocka_run_group_tests(tests, make_records, free_records);
}

/*
 * test_commit_leftovers.c - what a build may touch in the folder that it is given: its own leavings, and nothing that only looks
 * like them. And a reader that opens a store while it is being replaced sees the old one or the new one.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>

#include "store/block_file.h"
#include "support/data.h"
#include "support/random.h"
#include "support/scratch.h"
#include "support/testing.h"
#include "support/use_store.h"

static void make_file(const char *folder, const char *name)
{
    assert_true(mkdir(folder, 0777) == 0 || scratch_exists(folder));
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    file_save(path, "mine", 4);
}

static bool there(const char *folder, const char *name)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return scratch_exists(path);
}

static sstore_status build_into(const char *path, int replace, size_t count, sstore_error *error)
{
    rng random = rng_seeded(count);
    data_set data;
    sstore_build_options options = SSTORE_BUILD_OPTIONS_INIT;
    data_make(&random, DATA_UNIFORM, DATA_ORDINALS, count, false, &data);
    options.replace = replace;
    options.plan = "4";
    sstore_status status = store_build(path, &options, &data, 0, error);
    data_free(&data);
    return status;
}

/* Names that begin like ours, in a folder that is no store. */
static void test_lookalikes_are_strangers(void **state)
{
    static const char *const names[] = {"tmp-results", "seg-notes", "tmp-0123456789abcdef0", "seg-0123456789ABCDEF"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *path = scratch_path("project");
        char inner[512];
        sstore_error error = {.status = SSTORE_OK};
        make_file(path, names[i]);
        assert_status(build_into(path, 0, 10, &error), SSTORE_ERROR_EXISTS, &error);
        assert_status(build_into(path, 1, 10, &error), SSTORE_ERROR_EXISTS, &error);
        assert_true(there(path, names[i]));
        scratch_remove(path);
        /* the same as folders with files in them */
        make_file(path, "x");
        snprintf(inner, sizeof inner, "%s/%s", path, names[i]);
        make_file(inner, "data.txt");
        snprintf(inner, sizeof inner, "%s/x", path);
        scratch_remove(inner);
        assert_status(build_into(path, 1, 10, &error), SSTORE_ERROR_EXISTS, &error);
        assert_true(there(path, names[i]));
        scratch_remove(path);
    }
}

/* A folder with a name exactly like ours that holds other files; a MANIFEST of somebody else's. */
static void test_foreign_contents(void **state)
{
    const char *path = scratch_path("project");
    char inner[512];
    sstore_error error = {.status = SSTORE_OK};
    make_file(path, "MANIFEST");
    snprintf(inner, sizeof inner, "%s/tmp-0123456789abcdef", path);
    make_file(inner, "thesis.tex");
    assert_status(build_into(path, 1, 10, &error), SSTORE_ERROR_EXISTS, &error);
    assert_true(there(inner, "thesis.tex") && there(path, "MANIFEST"));
    scratch_remove(path);
}

/* Notes of the user's beside a real store outlive its replacement. */
static void test_notes_beside_a_store_stay(void **state)
{
    const char *path = scratch_path("store");
    char inner[512];
    sstore_error error = {.status = SSTORE_OK};
    assert_ok(build_into(path, 0, 100, &error), &error);
    make_file(path, "tmp-notes.txt");
    snprintf(inner, sizeof inner, "%s/seg-backup", path);
    make_file(inner, "table-00.blk");
    assert_ok(build_into(path, 1, 200, &error), &error);
    assert_true(there(path, "tmp-notes.txt") && there(inner, "table-00.blk"));
    scratch_remove(path);
}

/* A store without its manifest is not taken for an empty folder. */
static void test_lost_manifest(void **state)
{
    const char *path = scratch_path("store");
    char manifest[1024];
    sstore_error error = {.status = SSTORE_OK};
    assert_ok(build_into(path, 0, 100, &error), &error);
    snprintf(manifest, sizeof manifest, "%s/" SS_MANIFEST_NAME, path);
    scratch_remove(manifest);
    file_list before = file_list_make(path, ".blk");
    assert_status(build_into(path, 0, 10, &error), SSTORE_ERROR_EXISTS, &error);
    file_list after = file_list_make(path, ".blk");
    assert_int_equal(after.count, before.count);
    assert_ok(build_into(path, 1, 10, &error), &error);
    file_list_free(&before);
    file_list_free(&after);
    scratch_remove(path);
}

/* ----- readers beside a writer ----- */

#define REPLACEMENTS 60

typedef struct race {
    const char *path;
    atomic_bool done;
    uint64_t opened, failed;
    sstore_error error;
} race;

static void *keep_opening(void *context)
{
    race *self = context;
    while (!atomic_load(&self->done)) {
        sstore *store;
        sstore_error error = {.status = SSTORE_OK};
        sstore_status status = sstore_open(self->path, NULL, &store, &error);
        self->opened++;
        if (status != SSTORE_OK && self->failed++ == 0)
            self->error = error;
        if (status == SSTORE_OK && error.status != SSTORE_OK)
            self->failed++; /* success leaves the error alone */
        sstore_close(store);
    }
    return NULL;
}

static void test_readers_beside_a_writer(void **state)
{
    sstore_error error = {.status = SSTORE_OK};
    race shared = {.path = scratch_path("store")};
    pthread_t reader;
    assert_ok(build_into(shared.path, 0, 50, &error), &error);
    assert_int_equal(pthread_create(&reader, NULL, keep_opening, &shared), 0);
    for (size_t i = 0; i < REPLACEMENTS; i++)
        assert_ok(build_into(shared.path, 1, 51 + i, &error), &error);
    atomic_store(&shared.done, true);
    pthread_join(reader, NULL);
    if (shared.failed > 0)
        print_error("%llu of %llu opens failed: %s\n", (unsigned long long)shared.failed,
                    (unsigned long long)shared.opened, shared.error.message);
    assert_true(shared.opened > 0);
    assert_int_equal(shared.failed, 0);
    scratch_remove(shared.path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lookalikes_are_strangers),  cmocka_unit_test(test_foreign_contents),
        cmocka_unit_test(test_notes_beside_a_store_stay), cmocka_unit_test(test_lost_manifest),
        cmocka_unit_test(test_readers_beside_a_writer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

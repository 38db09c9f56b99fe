/*
 * test_truncate.c - a file that is cut, extended, emptied, removed or replaced is always an error of verify, and of
 * open or a query. A hundred lengths of each file are tried, ten with sanitizers, and with SSTORE_TEST_LONG=1 every
 * length up to LONGER_EACH bytes more.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/damage.h"
#include "support/widened.h"

#define LENGTHS_A_FILE 100u
#define LONGER_EACH 4100 /* a page or a header, and some */
#define MAX_LONGER 70000

/* Files are replaced, not changed in place: a map of the old one stays intact. */
static void resize(damage_store *store, size_t file, size_t size, uint8_t filler)
{
    const file_bytes *whole = &store->contents[file];
    uint8_t *content = malloc(size + 1);
    assert_non_null(content);
    memset(content, filler, size);
    memcpy(content, whole->data, size < whole->size ? size : whole->size);
    testing_doing("%s: %zu bytes instead of %zu, filled with %02x", store->files.names[file], size, whole->size,
                  filler);
    assert_int_equal(unlink(damage_path(store, file)), 0);
    file_save(damage_path(store, file), content, size);
    free(content);
    damage_check_refused(store);
}

static void put_back(damage_store *store, size_t file)
{
    const char *path = damage_path(store, file);
    scratch_remove(path);
    file_save(path, store->contents[file].data, store->contents[file].size);
    testing_doing("%s whole again", store->files.names[file]);
    damage_check_whole(store);
}

static void resize_file(damage_store *store, size_t file, rng *random)
{
    static const size_t longer_by[] = {1, 2, 7, 8, 9, 16, 64, 255, 256, 257, 512, 4095, 4096, 8192, MAX_LONGER};
    const size_t lengths = LENGTHS_A_FILE / (testing_sanitized() || widened_words > 1 ? 10u : 1u);
    const size_t size = store->contents[file].size, mean = testing_long() ? 1 : size / lengths + 1;
    for (size_t length = 0; length < size; length += mean == 1 ? 1 : 1 + rng_below(random, 2 * mean))
        resize(store, file, length, 0);
    for (size_t less = 1; less <= 16 && less < size; less += testing_sanitized() && !testing_long() ? 5 : 1)
        resize(store, file, size - less, 0);
    for (size_t i = 0; i < sizeof longer_by / sizeof *longer_by; i += testing_sanitized() && !testing_long() ? 3 : 1)
        resize(store, file, size + longer_by[i], i % 2 == 0 ? 0 : 0xa5);
    if (testing_long())
        for (size_t more = 1; more <= LONGER_EACH; more++)
            resize(store, file, size + more, (uint8_t)more);
    put_back(store, file);
}

/* A missing file, or a folder or a symbolic link in its place. */
static void replace_file(damage_store *store, size_t file)
{
    const char *path = damage_path(store, file), *elsewhere = scratch_path("elsewhere");
    testing_doing("%s gone", store->files.names[file]);
    assert_int_equal(unlink(path), 0);
    damage_check_refused(store);
    testing_doing("a folder in place of %s", store->files.names[file]);
    assert_int_equal(mkdir(path, 0777), 0);
    damage_check_refused(store);
    assert_int_equal(rmdir(path), 0);
    testing_doing("a symbolic link in place of %s", store->files.names[file]);
    file_save(elsewhere, store->contents[file].data, store->contents[file].size);
    assert_int_equal(symlink(elsewhere, path), 0);
    damage_check_refused(store);
    assert_int_equal(unlink(path), 0);
    put_back(store, file);
}

/* Two files of a store, exchanged. */
static void exchange_files(damage_store *store, size_t left, size_t right)
{
    const file_bytes *a = &store->contents[left], *b = &store->contents[right];
    if (a->size == b->size && memcmp(a->data, b->data, a->size) == 0)
        return;
    testing_doing("%s and %s exchanged", store->files.names[left], store->files.names[right]);
    file_save(damage_path(store, left), b->data, b->size);
    file_save(damage_path(store, right), a->data, a->size);
    damage_check_refused(store);
    file_save(damage_path(store, left), a->data, a->size);
    put_back(store, right);
}

static void test_lengths(void **state)
{
    damage_store store;
    rng random = rng_seeded(run_seed);
    damage_store_make(&store, run_seed, 512, DATA_IDS, false);
    for (size_t file = 0; file < store.files.count; file++)
        resize_file(&store, file, &random);
    testing_done();
    damage_report(&store, "other lengths");
    damage_store_free(&store);
}

/* Also of a store of several words, with the folders of its word indexes. */
static void test_lengths_in_words(void **state)
{
    widened_words = 2;
    test_lengths(state);
    widened_words = 1;
}

static void exchange_all(uint64_t seed, bool changed)
{
    damage_store store;
    damage_store_make(&store, seed, changed ? 512 : 256, changed ? DATA_IDS : DATA_ASSIGNED, changed);
    for (size_t file = 0; file < store.files.count; file++) {
        replace_file(&store, file);
        for (size_t other = 0; other < file; other++)
            exchange_files(&store, other, file);
    }
    testing_done();
    damage_report(&store, "other files");
    damage_store_free(&store);
}

static void test_other_files(void **state)
{
    exchange_all(run_seed, false);
}

/* Also files of one segment in another one. */
static void test_other_files_of_segments(void **state)
{
    exchange_all(run_seed, true);
}

static void test_other_files_of_words(void **state)
{
    widened_words = 2;
    exchange_all(run_seed, run_seed % 2 == 0);
    widened_words = 1;
}

/* The folder of a word index is missing, or that of another one is in its place. */
static void test_folders_of_words(void **state)
{
    damage_store store;
    widened_words = 3;
    damage_store_make(&store, run_seed, 512, DATA_IDS, false);
    char folders[3][600], elsewhere[600];
    snprintf(elsewhere, sizeof elsewhere, "%s", scratch_path("word"));
    for (int word = 0; word < 3; word++) {
        snprintf(folders[word], sizeof folders[word], "%s/%.20s/word-%02d", store.path, store.files.names[1], word);
        assert_true(scratch_exists(folders[word]));
    }
    for (int word = 0; word < 3; word++) {
        testing_doing("%s gone", folders[word]);
        assert_int_equal(rename(folders[word], elsewhere), 0);
        damage_check_refused(&store);
        const char *other = folders[(word + 1) % 3];
        testing_doing("%s is %s", other, folders[word]);
        assert_int_equal(rename(other, folders[word]), 0);
        damage_check_refused(&store);
        assert_int_equal(rename(elsewhere, other), 0);
        testing_doing("%s and %s exchanged", folders[word], other);
        damage_check_refused(&store);
        assert_int_equal(rename(folders[word], elsewhere), 0);
        assert_int_equal(rename(other, folders[word]), 0);
        assert_int_equal(rename(elsewhere, other), 0);
        damage_check_whole(&store);
    }
    testing_done();
    damage_report(&store, "folders of word indexes");
    damage_store_free(&store);
    widened_words = 1;
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_lengths, testing_teardown),
        cmocka_unit_test_teardown(test_other_files, testing_teardown),
        cmocka_unit_test_teardown(test_other_files_of_segments, testing_teardown),
        cmocka_unit_test_teardown(test_lengths_in_words, testing_teardown),
        cmocka_unit_test_teardown(test_other_files_of_words, testing_teardown),
        cmocka_unit_test_teardown(test_folders_of_words, testing_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * test_lookups.c - counts, keys and numbers that do not fit the names or ids of a segment, although all checksums do:
 * the look-ups that meet them must report damage, and not what is near.
 */
#include <endian.h>
#include <stdio.h>
#include <string.h>

#include "support/edited_store.h"
#include "support/scratch.h"
#include "support/store_offsets.h"
#include "support/testing.h"
#include "support/use_store.h"

enum { SHAPE = 10 };               /* of one word, with names */
enum { SEGMENT, ID_INDEX, NAMES }; /* the entries of its first segment */

static int take_record(void *context, const sstore_match *record)
{
    (void)context, (void)record;
    return 0;
}

static int take_name(void *context, size_t index, uint64_t id, const sstore_name *name)
{
    (void)context, (void)index, (void)id, (void)name;
    return 0;
}

typedef sstore_status (*look_up_fn)(sstore_cursor *cursor, uint64_t id, sstore_error *error);

static sstore_status get(sstore_cursor *cursor, uint64_t id, sstore_error *error)
{
    return sstore_get(cursor, &id, 1, take_record, NULL, error);
}

static sstore_status find_name(sstore_cursor *cursor, uint64_t id, sstore_error *error)
{
    return sstore_names(cursor, &id, 1, take_name, NULL, error);
}

static sstore_status get_named(sstore_cursor *cursor, uint64_t id, sstore_error *error)
{
    char buffer[100];
    const sstore_name name = store_name_of(id, buffer);
    return sstore_get_named(cursor, &name, 1, take_record, NULL, error);
}

/* ----- changes ----- */

/* The block of the index of names begins with the lower halves of values, which end in numbers: no names have those of
 * the first ones now. */
static void large_numbers(edited_store *store)
{
    uint8_t *block = edited_block(store, NAMES, 0, 0);
    for (size_t i = 0; i < 20; i++)
        block[4 * i] = 0xff;
}

/* Ten fewer than there are, in the manifest and the headers. */
static void fewer_fingerprints(edited_store *store)
{
    uint64_t count;
    memcpy(&count, store->segments[0].files[0].bytes + HEADER_ITEMS, sizeof count);
    edited_set(store, SEGMENT, EDITED_DISTINCT_COUNT, 0, le64toh(count) - 10);
}

static void other_last_id(edited_store *store)
{
    edited_segment *changed = &store->segments[NAMES];
    assert_true(changed->is_names);
    changed->keys[EDITED_IDS].values[0]++;
    changed->new_directory = true;
}

static void later_first_number(edited_store *store)
{
    edited_segment *changed = &store->segments[NAMES];
    assert_true(changed->is_names && changed->numbers.count > 1);
    changed->numbers.values[1] += 5;
    changed->new_directory = true;
}

/* ----- the test ----- */

static const struct {
    void (*change)(edited_store *store);
    look_up_fn look_up;
    const char *words;
} cases[] = {
    {large_numbers, get_named, "a number that no name has"},
    {fewer_fingerprints, get, "a rank that the segment does not have"},
    {other_last_id, find_name, "its last id differs from its key"},
    {later_first_number, get_named, "it has fewer names than the directory says"},
};

/* Look up each id of a record, or its name. Returns how often that was damaged, for this reason. */
static size_t look_up_all(const char *path, const record_set *records, look_up_fn look_up, const char *words)
{
    sstore *store = store_must_open(path, SSTORE_IO_PREAD, SSTORE_STRATEGY_AUTO);
    sstore_cursor *cursor = store_must_cursor(store);
    size_t found = 0;
    for (size_t i = 0; i < records->count; i++) {
        sstore_error error = {.status = SSTORE_OK};
        const sstore_status status = look_up(cursor, records->ids[i], &error);
        if (status != SSTORE_OK)
            assert_status(status, SSTORE_ERROR_DAMAGED, &error);
        found += status != SSTORE_OK && strstr(error.message, words) != NULL;
    }
    sstore_cursor_free(cursor);
    sstore_close(store);
    return found;
}

static record_set read_records(const char *path)
{
    sstore *store = store_must_open(path, SSTORE_IO_PREAD, SSTORE_STRATEGY_AUTO);
    record_set records = store_must_read(store);
    sstore_close(store);
    return records;
}

static void test_misfits(void **state)
{
    char path[256];
    snprintf(path, sizeof path, "%s", scratch_path("misfit"));
    edited_store right = edited_make(SHAPE);
    edited_write(&right, path);
    record_set records = read_records(path);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        testing_doing("%s", cases[i].words);
        edited_write(&right, path);
        assert_int_equal(look_up_all(path, &records, cases[i].look_up, ""), 0);
        edited_store changed = edited_make(SHAPE);
        cases[i].change(&changed);
        edited_set_checksums(&changed);
        edited_write(&changed, path);
        assert_true(look_up_all(path, &records, cases[i].look_up, cases[i].words) > 0);
        edited_free(&changed);
    }
    record_set_free(&records);
    edited_free(&right);
    scratch_remove(path);
    testing_done();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_teardown(test_misfits, testing_teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

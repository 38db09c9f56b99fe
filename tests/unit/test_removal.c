/* Removing by record, fingerprint and id: what is accepted, counted and refused. property.changes checks that the
 * right records are removed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sstore_statistics.h"
#include "support/data.h"
#include "support/record_set.h"
#include "support/scratch.h"
#include "support/testing.h"
#include "support/use_store.h"

#define RECIPE "test-recipe 1"

/* The store: fingerprints 10 and 11 have several records, and id 2 is that of several. */
static const uint64_t fingerprints[] = {10, 10, 10, 11, 11, 12, 13, 14};
static const uint64_t ids[] = {1, 2, 3, 2, 4, 5, 6, UINT64_MAX};
#define RECORDS (sizeof ids / sizeof *ids)
static char path[256];

static void build(data_ids kind)
{
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    sstore_builder *builder;
    sstore_error error = {.status = SSTORE_OK};
    snprintf(path, sizeof path, "%s", scratch_path("store"));
    options.recipe = RECIPE;
    options.plan = "2";
    options.force = true;
    options.no_ids = kind == DATA_NO_IDS;
    assert_ok(sstore_builder_create(path, &options, &builder, &error), &error);
    assert_ok(sstore_builder_add(builder, fingerprints, kind == DATA_IDS ? ids : NULL, RECORDS, &error), &error);
    assert_ok(sstore_builder_finish(builder, NULL, &error), &error);
}

static sstore_remover *begin(void)
{
    sstore_remover *remover = NULL;
    sstore_error error = {.status = SSTORE_OK};
    assert_ok(sstore_remover_create(path, &change_apart, &remover, &error), &error);
    assert_non_null(remover);
    return remover;
}

/* Finish, and compare the result with the expected one: `left` is a mask of the remaining records. */
static void finish(sstore_remover *remover, data_ids kind, uint64_t given, unsigned left)
{
    sstore_change change = {.struct_size = sizeof change};
    sstore_error error = {.status = SSTORE_OK};
    sstore_statistics before = {.struct_size = sizeof before}, after = {.struct_size = sizeof after};
    uint64_t left_fingerprints[RECORDS], left_ids[RECORDS];
    data_set rest = {.id_kind = kind == DATA_NO_IDS ? DATA_NO_IDS : DATA_IDS, .fingerprints = left_fingerprints};
    record_set truth;
    bool right;
    size_t count;
    for (size_t i = 0; i < RECORDS; i++) {
        if ((left >> i & 1) == 0)
            continue;
        left_fingerprints[rest.count] = fingerprints[i];
        left_ids[rest.count++] = kind == DATA_IDS ? ids[i] : i;
    }
    rest.ids = kind == DATA_NO_IDS ? NULL : left_ids;
    truth = record_set_of_data(&rest);
    sstore *store = store_must_open(path, SSTORE_IO_PREAD, SSTORE_STRATEGY_AUTO);
    assert_ok(sstore_stat(store, &before, &error), &error);
    sstore_close(store);
    assert_ok(sstore_remover_finish(remover, &change, &error), &error);
    store = store_must_open(path, SSTORE_IO_PREAD, SSTORE_STRATEGY_AUTO);
    assert_ok(sstore_stat(store, &after, &error), &error);
    assert_ok(store_compare_records(store, &truth, &right, &count, &error), &error);
    assert_true(right && count == truth.count);
    sstore_close(store);
    assert_int_equal(change.struct_size, sizeof change);
    assert_int_equal(change.given_count, given);
    assert_int_equal(change.added_count, 0);
    assert_int_equal(change.removed_count, before.record_count - truth.count);
    assert_int_equal(change.record_count, truth.count);
    assert_int_equal(change.total_bytes, after.total_bytes);
    assert_int_equal(change.total_bytes_before, before.total_bytes);
    assert_int_equal(change.segment_count, after.segment_count);
    assert_int_equal(change.segment_count_before, before.segment_count);
    assert_int_equal(change.segment_count,
                     before.segment_count + (change.removed_count > 0)); /* otherwise nothing is written */
    assert_true(change.conflict_count == 0 && change.min_conflicting_id == 0 && !change.ids_checked);
    assert_ok(sstore_verify(path, NULL, NULL, NULL, &error), &error);
    record_set_free(&truth);
}

#define ALL ((1u << RECORDS) - 1)

static void test_records(void **state)
{
    const uint64_t some[] = {10, 10, 11, 12, 99},
                   their_ids[] = {2, 2, 1, 5, 5}; /* repeated; not there: by its id, by its fingerprint */
    sstore_error error = {.status = SSTORE_OK};
    build(DATA_IDS);
    sstore_remover *remover = begin();
    assert_ok(sstore_remover_remove(remover, some, their_ids, 5, &error), &error);
    finish(remover, DATA_IDS, 5, ALL & ~(1u << 1) & ~(1u << 5));
    remover = begin(); /* they are removed */
    assert_ok(sstore_remover_remove(remover, some, their_ids, 3, &error), &error);
    finish(remover, DATA_IDS, 3, ALL & ~(1u << 1) & ~(1u << 5));
}

static void test_fingerprints(void **state)
{
    const uint64_t some[] = {11, 99, 10, 11};
    sstore_error error = {.status = SSTORE_OK};
    build(DATA_IDS);
    sstore_remover *remover = begin();
    assert_ok(sstore_remover_remove(remover, some, NULL, 2, &error), &error);
    assert_ok(sstore_remover_remove(remover, some + 2, NULL, 2, &error), &error);
    finish(remover, DATA_IDS, 4, ALL & ~0x1fu);
}

static void test_ids(void **state)
{
    const uint64_t some[] = {2, UINT64_MAX, 77, 2, 0};
    sstore_error error = {.status = SSTORE_OK};
    build(DATA_IDS);
    sstore_remover *remover = begin();
    assert_ok(sstore_remover_remove(remover, NULL, some, 5, &error), &error);
    finish(remover, DATA_IDS, 5, ALL & ~(1u << 1) & ~(1u << 3) & ~(1u << 7));
    build(DATA_ASSIGNED); /* assigned ids are removed like others */
    remover = begin();
    assert_ok(sstore_remover_remove(remover, NULL, some, 5, &error), &error);
    finish(remover, DATA_ASSIGNED, 5, ALL & ~(1u << 2) & ~1u);
}

typedef struct absent_ids {
    uint64_t items[8];
    size_t count, stop_after;
} absent_ids;

static int note_absent(void *context, uint64_t id)
{
    absent_ids *self = context;
    self->items[self->count++] = id;
    return self->count > self->stop_after;
}

/* Ids and fingerprints without a record are counted, and ids are told. */
static void test_absent_keys(void **state)
{
    const uint64_t some[] = {77, 2, 0, UINT64_MAX, 77, 5}, keys[] = {99, 10, 98};
    absent_ids absent = {.stop_after = 8};
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    sstore_change change = SSTORE_CHANGE_INIT;
    sstore_remover *remover;
    sstore_error error = {.status = SSTORE_OK};
    build(DATA_IDS);
    options.no_compact = true; /* removed records stay in their segment */
    options.on_absent = note_absent;
    options.absent_context = &absent;
    for (absent.stop_after = 0; absent.stop_after < 3; absent.stop_after += 2) {
        absent.count = 0;
        assert_ok(sstore_remover_create(path, &options, &remover, &error), &error);
        assert_ok(sstore_remover_remove(remover, NULL, some, 6, &error), &error);
        assert_ok(sstore_remover_remove(remover, keys, NULL, 3, &error), &error);
        const sstore_status status = sstore_remover_finish(remover, &change, &error);
        assert_int_equal(status, absent.stop_after == 0 ? SSTORE_STOPPED : SSTORE_OK);
    }
    assert_int_equal(absent.count, 2); /* once each, ascending */
    assert_true(absent.items[0] == 0 && absent.items[1] == 77);
    assert_int_equal(change.absent_count, 4);
    assert_int_equal(change.removed_count, 6);
    assert_ok(sstore_remover_create(path, &change_apart, &remover, &error), &error);
    assert_ok(sstore_remover_remove(remover, NULL, some, 6, &error), &error);
    assert_ok(sstore_remover_remove(remover, keys, NULL, 3, &error), &error);
    assert_ok(sstore_remover_finish(remover, &change, &error), &error);
    assert_int_equal(change.absent_count, 8);
    /* Records, of which two are there with other ids, one of them twice. */
    const uint64_t given[] = {10, 11, 10, 12}, given_ids[] = {999, 999, 999, 998};
    assert_ok(sstore_remover_create(path, NULL, &remover, &error), &error);
    assert_ok(sstore_remover_remove(remover, given, given_ids, 4, &error), &error);
    assert_ok(sstore_remover_finish(remover, &change, &error), &error);
    assert_int_equal(change.absent_count, 3);
    assert_int_equal(change.removed_count, 0);
}

/* More fingerprints, and more ids, than the memory has room for at once. */
static void test_many_keys(void **state)
{
    enum { MANY = 60000 };
    uint64_t *keys = malloc(MANY * sizeof *keys);
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    sstore_change change = SSTORE_CHANGE_INIT;
    sstore_builder *builder;
    sstore_remover *remover;
    sstore_error error = {.status = SSTORE_OK};
    assert_non_null(keys);
    for (uint64_t i = 0; i < MANY; i++)
        keys[i] = i;
    options.force = true;
    assert_ok(sstore_builder_create(path, &options, &builder, &error), &error);
    assert_ok(sstore_builder_add(builder, keys, NULL, MANY, &error), &error);
    assert_ok(sstore_builder_finish(builder, NULL, &error), &error);
    options = (sstore_write_options)SSTORE_WRITE_OPTIONS_INIT;
    options.memory_bytes = 1 << 20;
    assert_ok(sstore_remover_create(path, &options, &remover, &error), &error);
    assert_ok(sstore_remover_remove(remover, keys, NULL, MANY / 2, &error), &error);
    assert_ok(sstore_remover_remove(remover, NULL, keys + MANY / 2, MANY / 2, &error), &error);
    assert_ok(sstore_remover_finish(remover, &change, &error), &error);
    assert_int_equal(change.removed_count, MANY);
    assert_int_equal(change.record_count, 0);
    free(keys);
}

/* All ways in one removal, and each way without records. */
static void test_all_ways_in_one_removal(void **state)
{
    const uint64_t fingerprint = 12, id = 4, other = 10, other_id = 3;
    sstore_error error = {.status = SSTORE_OK};
    build(DATA_IDS);
    sstore_remover *remover = begin();
    assert_ok(sstore_remover_remove(remover, NULL, &id, 1, &error), &error);
    assert_ok(sstore_remover_remove(remover, &other, &other_id, 1, &error), &error);
    assert_ok(sstore_remover_remove(remover, &fingerprint, NULL, 1, &error), &error);
    assert_ok(sstore_remover_remove(remover, &other, NULL, 0, &error), &error);
    assert_ok(sstore_remover_remove(remover, NULL, NULL, 0, &error), &error);
    finish(remover, DATA_IDS, 3, ALL & ~(1u << 2) & ~(1u << 4) & ~(1u << 5));
    build(DATA_IDS);
    finish(begin(), DATA_IDS, 0, ALL);
}

/* In a store without ids a record is a fingerprint, and ids are ignored. */
static void test_no_ids(void **state)
{
    const uint64_t some[] = {10, 14, 99}, unread[] = {7, 7, 7};
    sstore_error error = {.status = SSTORE_OK};
    build(DATA_NO_IDS);
    sstore_remover *remover = begin();
    assert_ok(sstore_remover_remove(remover, some, NULL, 1, &error), &error);
    assert_ok(sstore_remover_remove(remover, some + 1, unread, 2, &error), &error);
    finish(remover, DATA_NO_IDS, 3, ALL & ~7u & ~(1u << 7));
    build(DATA_NO_IDS);
    remover = begin();
    assert_ok(sstore_remover_remove(remover, some, NULL, 3, &error), &error);
    finish(remover, DATA_NO_IDS, 3, ALL & ~7u & ~(1u << 7));
    /* Removal by id fails, and the remover can only be freed. */
    build(DATA_NO_IDS);
    remover = begin();
    assert_status(sstore_remover_remove(remover, NULL, unread, 1, &error), SSTORE_ERROR_ARGUMENT, &error);
    assert_int_equal(sstore_remover_remove(remover, NULL, unread, 1, NULL), SSTORE_ERROR_ARGUMENT);
    sstore_remover_abort(remover);
    finish(begin(), DATA_NO_IDS, 0, ALL);
}

static void test_refusals(void **state)
{
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    sstore_remover *remover = (sstore_remover *)1, *second;
    sstore_change change = {.struct_size = 3};
    sstore_error error = {.status = SSTORE_OK};
    build(DATA_IDS);
    assert_status(sstore_remover_create(NULL, NULL, &remover, &error), SSTORE_ERROR_ARGUMENT, &error);
    assert_null(remover);
    assert_status(sstore_remover_create(path, NULL, NULL, &error), SSTORE_ERROR_ARGUMENT, &error);
    assert_status(sstore_remover_create(scratch_path("nowhere"), NULL, &remover, &error), SSTORE_ERROR_NOT_FOUND,
                  &error);
    options.block_bytes = 1000;
    assert_status(sstore_remover_create(path, &options, &remover, &error), SSTORE_ERROR_ARGUMENT, &error);
    options.block_bytes = 0;
    options.memory_bytes = 1;
    assert_status(sstore_remover_create(path, &options, &remover, &error), SSTORE_ERROR_ARGUMENT, &error);
    options.memory_bytes = 0;
    options.recipe = "another";
    assert_status(sstore_remover_create(path, &options, &remover, &error), SSTORE_ERROR_RECIPE, &error);
    options.recipe = RECIPE;
    options.tmp_dir = "/nowhere/at/all";
    assert_status(sstore_remover_create(path, &options, &remover, &error), SSTORE_ERROR_NOT_FOUND, &error);
    assert_null(remover);
    options.tmp_dir = NULL;
    assert_ok(sstore_remover_create(path, &options, &remover, &error), &error);
    assert_status(sstore_remover_create(path, &options, &second, &error), SSTORE_ERROR_BUSY, &error);
    assert_null(second);
    assert_status(sstore_remover_remove(remover, NULL, NULL, 1, &error), SSTORE_ERROR_ARGUMENT, &error);
    sstore_remover_abort(remover);
    assert_status(sstore_remover_remove(NULL, fingerprints, ids, 1, &error), SSTORE_ERROR_ARGUMENT, &error);
    assert_status(sstore_remover_finish(NULL, NULL, &error), SSTORE_ERROR_ARGUMENT, &error);
    sstore_remover_abort(NULL);
    /* A call that fails frees the remover, and the store is unchanged: another one can begin. */
    remover = begin();
    assert_ok(sstore_remover_remove(remover, NULL, ids, 1, &error), &error);
    assert_status(sstore_remover_finish(remover, &change, &error), SSTORE_ERROR_ARGUMENT, &error);
    finish(begin(), DATA_IDS, 0, ALL);
}

/* An aborted removal changes nothing. */
static void test_abort(void **state)
{
    sstore_error error = {.status = SSTORE_OK};
    build(DATA_IDS);
    sstore_remover *remover = begin();
    assert_ok(sstore_remover_remove(remover, fingerprints, ids, RECORDS, &error), &error);
    assert_ok(sstore_remover_remove(remover, fingerprints, NULL, RECORDS, &error), &error);
    assert_ok(sstore_remover_remove(remover, NULL, ids, RECORDS, &error), &error);
    sstore_remover_abort(remover);
    finish(begin(), DATA_IDS, 0, ALL);
    /* Removing everything leaves an empty store. */
    remover = begin();
    assert_ok(sstore_remover_remove(remover, fingerprints, ids, RECORDS, &error), &error);
    assert_ok(sstore_remover_remove(remover, NULL, ids, RECORDS, &error), &error);
    finish(remover, DATA_IDS, 2 * RECORDS, 0);
}

static int stop(void *context, const sstore_progress *progress)
{
    ++*(int *)context;
    return 1;
}

static void test_stopping(void **state)
{
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    sstore_remover *remover;
    sstore_error error = {.status = SSTORE_OK};
    int calls = 0;
    build(DATA_IDS);
    options.on_progress = stop;
    options.progress_context = &calls;
    assert_ok(sstore_remover_create(path, &options, &remover, &error), &error);
    assert_ok(sstore_remover_remove(remover, fingerprints, ids, RECORDS, &error), &error);
    assert_int_equal(calls, 0);
    assert_status(sstore_remover_finish(remover, NULL, &error), SSTORE_STOPPED, &error);
    assert_int_equal(calls, 1);
    finish(begin(), DATA_IDS, 0, ALL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_records),   cmocka_unit_test(test_fingerprints),
        cmocka_unit_test(test_ids),       cmocka_unit_test(test_absent_keys),
        cmocka_unit_test(test_many_keys), cmocka_unit_test(test_all_ways_in_one_removal),
        cmocka_unit_test(test_no_ids),    cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_abort),     cmocka_unit_test(test_stopping),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

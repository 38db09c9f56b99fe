/*
 * test_replacement.c - additions that replace the records of their ids, or names: what is counted and refused, that
 * nothing is written if nothing changes, and that readers see a record of the old state or of the new one, and never
 * none or both. test_changes.c has random replacements.
 */
#include "support/testing.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "support/random.h"
#include "support/record_set.h"
#include "support/scratch.h"
#include "support/use_store.h"

#define ROUNDS (testing_slow() ? 20u : 60u)

static sstore_write_options replacing(bool apart)
{
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    options.replace_records = true;
    options.no_compact = apart;
    return options;
}

static void build(const char *path, bool no_ids, bool id_index, bool names)
{
    const uint64_t fingerprints[] = {10, 20, 21, 30, 40}, ids[] = {1, 2, 2, 3, names ? 4 : UINT64_MAX};
    const sstore_name texts[] = {{"a", 1}, {"b", 1}, {"b", 1}, {"b", 1}, {"c", 1}};
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    sstore_builder *builder;
    sstore_error error;
    options.no_ids = no_ids;
    options.id_index = id_index;
    options.names = names;
    assert_ok(sstore_builder_create(path, &options, &builder, &error), &error);
    assert_ok(names ? sstore_builder_add_named(builder, fingerprints, ids, texts, 5, &error)
                    : sstore_builder_add(builder, fingerprints, ids, 5, &error),
              &error);
    assert_ok(sstore_builder_finish(builder, NULL, &error), &error);
}

static void assert_records(const char *path, const uint64_t *fingerprints, const uint64_t *ids, size_t count)
{
    record_set wanted = record_set_new(1);
    sstore_error error;
    bool right;
    size_t found;
    for (size_t i = 0; i < count; i++)
        record_set_put(&wanted, &fingerprints[i], ids[i]);
    record_set_sort(&wanted);
    sstore *store = store_must_open(path, SSTORE_IO_AUTO, SSTORE_STRATEGY_AUTO);
    assert_ok(store_compare_records(store, &wanted, &right, &found, &error), &error);
    assert_true(right && found == count);
    sstore_close(store);
    assert_ok(sstore_verify(path, NULL, NULL, NULL, &error), &error);
    record_set_free(&wanted);
}

/* What happens to each id, with an id index and without, apart and merged: 1 has the same record again, 2 loses two
 * records for one, 3 gets two for one, one of which it had, and 4 is new. */
static void test_counts(void **state)
{
    const uint64_t fingerprints[] = {10, 22, 30, 31, 50}, ids[] = {1, 2, 3, 3, 4}, after[] = {10, 22, 30, 31, 50, 40},
                   after_ids[] = {1, 2, 3, 3, 4, UINT64_MAX};
    const char *path = scratch_path("counts"), *before = scratch_path("before");
    for (int i = 0; i < 4; i++) {
        const sstore_write_options options = replacing(i % 2 == 0);
        sstore_change change = SSTORE_CHANGE_INIT;
        sstore_error error;
        build(path, false, i / 2 == 0, false);
        assert_ok(store_add(path, &options, fingerprints, ids, 5, &change, &error), &error);
        assert_int_equal(change.given_count, 5);
        assert_int_equal(change.added_count, 3);
        assert_int_equal(change.removed_count, 2);
        assert_int_equal(change.absent_count, 1);
        assert_int_equal(change.record_count, 6);
        assert_int_equal(change.segment_count, i % 2 == 0 ? 3 : 1);
        assert_records(path, after, after_ids, 6);
        folder_copy(path, before);
        assert_ok(store_add(path, &options, fingerprints, ids, 5, &change, &error), &error);
        assert_int_equal(change.added_count, 0);
        assert_int_equal(change.removed_count, 0);
        assert_true(folders_equal(before, path, ""));
        scratch_remove(path);
        scratch_remove(before);
    }
}

/* The only records are replaced, and by records of other segments that were removed before. */
static void test_all_replaced_and_back(void **state)
{
    const uint64_t first = 1, second = 2, id = 7;
    const char *path = scratch_path("back");
    sstore_error error;
    for (int apart = 0; apart < 2; apart++) {
        const sstore_write_options options = replacing(apart != 0);
        sstore_builder *builder;
        assert_ok(sstore_builder_create(path, NULL, &builder, &error), &error);
        assert_ok(sstore_builder_finish(builder, NULL, &error), &error);
        for (int i = 0; i < 6; i++) {
            const uint64_t *fingerprint = i % 2 == 0 ? &first : &second;
            sstore_change change = SSTORE_CHANGE_INIT;
            assert_ok(store_add(path, &options, fingerprint, &id, 1, &change, &error), &error);
            assert_int_equal(change.added_count, 1);
            assert_int_equal(change.removed_count, i > 0);
            assert_records(path, fingerprint, &id, 1);
        }
        assert_ok(sstore_compact(path, SSTORE_COMPACTION_ALL, NULL, NULL, &error), &error);
        assert_records(path, &second, &id, 1);
        scratch_remove(path);
    }
}

/* Replace by names. Frees the builder. */
static sstore_status replace_named(const char *path, const uint64_t *fingerprints, const uint64_t *ids,
                                   const sstore_name *names, size_t count, sstore_change *change, sstore_error *error)
{
    const sstore_write_options options = replacing(false);
    sstore_builder *builder;
    assert_ok(sstore_builder_create_addition(path, &options, &builder, error), error);
    const sstore_status status = sstore_builder_add_named(builder, fingerprints, ids, names, count, error);
    if (status == SSTORE_OK)
        return sstore_builder_finish(builder, change, error);
    sstore_builder_abort(builder);
    return status;
}

/* A name keeps its smallest id, and a new one gets the next id, for all of its records. Given ids are taken. */
static void test_names(void **state)
{
    const uint64_t fingerprints[] = {50, 51, 60, 40, 61}, other = 80, nine = 9, one = 1;
    const sstore_name names[] = {{"b", 1}, {"b", 1}, {"d", 1}, {"c", 1}, {"d", 1}};
    const uint64_t after[] = {10, 50, 51, 60, 40, 61}, after_ids[] = {1, 2, 2, 5, 4, 5};
    const uint64_t last[] = {10, 80, 60, 40, 61}, last_ids[] = {1, 9, 5, 4, 5};
    const char *path = scratch_path("names");
    sstore_change change = SSTORE_CHANGE_INIT;
    sstore_error error;
    build(path, false, false, true);
    assert_ok(replace_named(path, fingerprints, NULL, names, 5, &change, &error), &error);
    assert_int_equal(change.given_count, 5);
    assert_int_equal(change.added_count, 4);
    assert_int_equal(change.removed_count, 3);
    assert_int_equal(change.absent_count, 2);
    assert_records(path, after, after_ids, 6);
    assert_ok(replace_named(path, &other, &nine, names, 1, &change, &error), &error);
    assert_int_equal(change.added_count, 1);
    assert_int_equal(change.removed_count, 2);
    assert_records(path, last, last_ids, 5);
    /* Id 1 has the name 'a'. */
    assert_int_equal(replace_named(path, &other, &one, names, 1, &change, &error), SSTORE_ERROR_ARGUMENT);
    assert_records(path, last, last_ids, 5);
    scratch_remove(path);
}

static void test_refused(void **state)
{
    const uint64_t fingerprint = 1, id = 1;
    const char *path = scratch_path("refused");
    const sstore_write_options options = replacing(false);
    sstore_builder *builder;
    sstore_remover *remover;
    sstore_error error;
    assert_int_equal(sstore_builder_create(path, &options, &builder, &error), SSTORE_ERROR_ARGUMENT);
    build(path, true, false, false);
    assert_int_equal(sstore_builder_create_addition(path, &options, &builder, &error), SSTORE_ERROR_ARGUMENT);
    assert_null(builder);
    assert_non_null(strstr(error.message, "no ids"));
    scratch_remove(path);
    build(path, false, false, false);
    assert_int_equal(sstore_remover_create(path, &options, &remover, &error), SSTORE_ERROR_ARGUMENT);
    assert_ok(sstore_builder_create_addition(path, &options, &builder, &error), &error);
    assert_int_equal(sstore_builder_add(builder, &fingerprint, NULL, 1, &error), SSTORE_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "without ids"));
    sstore_builder_abort(builder);
    scratch_remove(path);
    build(path, false, false, true);
    assert_ok(sstore_builder_create_addition(path, &options, &builder, &error), &error);
    assert_int_equal(sstore_builder_add(builder, &fingerprint, &id, 1, &error), SSTORE_ERROR_ARGUMENT);
    sstore_builder_abort(builder);
    scratch_remove(path);
}

/* ----- readers beside ----- */

/* A reader of a record that is replaced repeatedly: each time its fingerprint grows by one. */
typedef struct watch {
    const char *path;
    atomic_bool stops;
    uint64_t seen_count, last; /* states, and the newest one */
    bool is_wrong;
} watch;

static int take_state(void *context, const sstore_match *record)
{
    watch *self = context;
    self->is_wrong |= *record->fingerprint < self->last;
    self->last = *record->fingerprint;
    self->seen_count++;
    return 0;
}

static void *read_states(void *context)
{
    watch *self = context;
    const uint64_t id = 7;
    sstore *store = NULL, *newer;
    while (!self->is_wrong && !atomic_load(&self->stops)) {
        const uint64_t before = self->seen_count;
        sstore_cursor *cursor = NULL;
        sstore_status status = store == NULL ? sstore_open(self->path, NULL, &newer, NULL)
                                             : sstore_reopen(store, &newer, NULL);
        sstore_close(store);
        store = status == SSTORE_OK ? newer : NULL;
        if (status == SSTORE_OK)
            status = sstore_cursor_create(store, &cursor, NULL);
        if (status == SSTORE_OK)
            status = sstore_get(cursor, &id, 1, take_state, self, NULL);
        sstore_cursor_free(cursor);
        self->is_wrong |= status != SSTORE_OK || self->seen_count != before + 1;
    }
    sstore_close(store);
    return NULL;
}

static void test_reader_beside(void **state)
{
    for (int apart = 0; apart < 2; apart++) {
        const uint64_t id = 7;
        const sstore_write_options options = replacing(apart != 0);
        watch watched = {.path = scratch_path("watched")};
        pthread_t reader;
        sstore_error error;
        build(watched.path, false, apart == 0, false);
        for (uint64_t i = 0; i < ROUNDS; i++) {
            assert_ok(store_add(watched.path, &options, &i, &id, 1, NULL, &error), &error);
            if (i == 0)
                assert_int_equal(pthread_create(&reader, NULL, read_states, &watched), 0);
        }
        atomic_store(&watched.stops, true);
        assert_int_equal(pthread_join(reader, NULL), 0);
        assert_false(watched.is_wrong);
        testing_figure("a reader saw %llu states", (unsigned long long)watched.seen_count);
        scratch_remove(watched.path);
    }
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),  cmocka_unit_test(test_all_replaced_and_back), cmocka_unit_test(test_names),
        cmocka_unit_test(test_refused), cmocka_unit_test(test_reader_beside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Ids that are added again with another fingerprint: their number must equal that of a slow search of all records,
 * after any additions and removals. If ids are not looked up, the result must tell this. */
#include <stdlib.h>
#include <string.h>

#include "base/common.h"
#include "support/random.h"
#include "support/scratch.h"
#include "support/testing.h"
#include "support/use_store.h"

#define STORES (testing_slow() ? 10u : 40u)
#define MAX_RECORDS 4000u

/* The expected records of the store. */
static ss_record held[MAX_RECORDS];
static size_t held_count;

static bool holds(const ss_record *record)
{
    for (size_t i = 0; i < held_count; i++)
        if (held[i].fingerprint == record->fingerprint && held[i].id == record->id)
            return true;
    return false;
}

static sstore_change change_store(const char *path, bool removes, const ss_record *records, size_t count)
{
    sstore_write_options add = change_apart;
    sstore_write_options remove = change_apart;
    sstore_change change = {.struct_size = sizeof change};
    sstore_error error;
    uint64_t *fingerprints = test_calloc(count + 1, sizeof *fingerprints), *ids = test_calloc(count + 1, sizeof *ids);
    add.plan = "1";
    add.threads = remove.threads = 2;
    add.check_ids = true;
    for (size_t i = 0; i < count; i++) {
        fingerprints[i] = records[i].fingerprint;
        ids[i] = records[i].id;
    }
    assert_ok(removes ? store_remove(path, &remove, fingerprints, ids, count, &change, &error)
                      : store_add(path, &add, fingerprints, ids, count, &change, &error),
              &error);
    test_free(fingerprints);
    test_free(ids);
    return change;
}

/* Of the held records from `before` on, which were added together: how many of their ids another record also has, with
 * another fingerprint, and the least of these ids. */
static uint64_t count_conflicts(size_t before, uint64_t *min_out)
{
    uint64_t conflicts = 0;
    *min_out = 0;
    for (size_t i = before; i < held_count; i++) {
        bool conflicting = false, counted = false;
        for (size_t j = 0; j < held_count; j++) {
            conflicting = conflicting || (held[j].id == held[i].id && held[j].fingerprint != held[i].fingerprint);
            counted = counted || (j >= before && j < i && held[j].id == held[i].id);
        }
        if (!conflicting || counted)
            continue;
        *min_out = conflicts == 0 || held[i].id < *min_out ? held[i].id : *min_out;
        conflicts++;
    }
    return conflicts;
}

/* Add records, and compare the reported conflicts. */
static void check_addition(const char *path, const ss_record *records, size_t count)
{
    const size_t before = held_count;
    uint64_t min;
    for (size_t i = 0; i < count; i++)
        if (!holds(&records[i]))
            held[held_count++] = records[i];
    const uint64_t conflicts = count_conflicts(before, &min);
    const sstore_change change = change_store(path, false, records, count);
    assert_int_equal(change.given_count, count);
    assert_int_equal(change.added_count, held_count - before);
    assert_int_equal(change.conflict_count, conflicts);
    assert_int_equal(change.min_conflicting_id, min);
    assert_int_equal(change.ids_checked, 1);
}

static uint64_t random_id(rng *random, uint64_t range)
{
    return rng_next(random) % 50 == 0 ? UINT64_MAX - rng_next(random) % 2 : rng_next(random) % range;
}

static void test_random_additions(void **state)
{
    rng random = rng_seeded(run_seed);
    for (uint32_t i = 0; i < STORES; i++) {
        const char *path = scratch_path("store");
        const uint64_t id_range = rng_between(&random, 1, 2000), fingerprint_range = rng_between(&random, 1, 1000);
        sstore_builder *builder;
        sstore_error error;
        testing_doing("store %u, seed %llu", i, (unsigned long long)run_seed);
        scratch_remove(path);
        assert_ok(sstore_builder_create(path, NULL, &builder, &error), &error);
        assert_ok(sstore_builder_finish(builder, NULL, &error), &error);
        held_count = 0;
        for (uint64_t steps = rng_between(&random, 1, 6); steps > 0; steps--) {
            ss_record records[500];
            const size_t count = rng_between(&random, 0, 500);
            for (size_t j = 0; j < count; j++)
                records[j] = (ss_record){rng_next(&random) % fingerprint_range, random_id(&random, id_range)};
            check_addition(path, records, count);
            if (rng_next(&random) % 3 != 0 || held_count == 0)
                continue;
            const size_t removed = rng_between(&random, 1, held_count);
            (void)change_store(path, true, held + held_count - removed, removed);
            held_count -= removed;
        }
    }
    testing_done();
}

static int hold_new(void *context, const sstore_dedup_answer *answer)
{
    if (answer->is_new)
        held[held_count++] = (ss_record){*answer->fingerprint, answer->id};
    return 0;
}

/* Deduplication reports the conflicts of all its publications, also if it compacts after each. */
static void test_dedup(void **state)
{
    rng random = rng_seeded(run_seed + 1);
    for (uint32_t i = 0; i < STORES; i++) {
        const char *path = scratch_path("dedup");
        const uint64_t id_range = rng_between(&random, 1, 3000);
        sstore_change change = {.struct_size = sizeof change};
        sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
        sstore_builder *builder;
        sstore_dedup *dedup;
        sstore_error error;
        uint64_t conflicts = 0, min = 0;
        testing_doing("dedup %u, seed %llu", i, (unsigned long long)run_seed);
        scratch_remove(path);
        assert_ok(sstore_builder_create(path, NULL, &builder, &error), &error);
        assert_ok(sstore_builder_finish(builder, NULL, &error), &error);
        held_count = 0;
        options.distance = 0;
        options.no_compact = i % 2 == 0;
        options.check_ids = true;
        assert_ok(sstore_dedup_open(path, &options, &dedup, &error), &error);
        for (uint64_t steps = rng_between(&random, 1, 6); steps > 0; steps--) {
            const size_t before = held_count, count = rng_between(&random, 1, 500);
            uint64_t fingerprints[500], ids[500];
            for (size_t j = 0; j < count; j++) {
                fingerprints[j] = rng_next(&random) % 5000;
                ids[j] = random_id(&random, id_range);
            }
            assert_ok(sstore_dedup_insert(dedup, fingerprints, ids, count, NULL, hold_new, NULL, &error), &error);
            uint64_t min_here;
            const uint64_t conflicts_here = count_conflicts(before, &min_here);
            if (conflicts_here > 0 && (conflicts == 0 || min_here < min))
                min = min_here;
            conflicts += conflicts_here;
            assert_ok(sstore_dedup_publish(dedup, &change, &error), &error);
            assert_int_equal(change.added_count, held_count); /* also if nothing was published now */
            assert_int_equal(change.conflict_count, conflicts);
            assert_int_equal(change.min_conflicting_id, min);
            assert_int_equal(change.ids_checked, 1);
        }
        sstore_dedup_close(dedup);
    }
    testing_done();
}

/* Random ids, and far more records than are added: older segments are not searched, and the result tells this.
 * Consecutive ids are always searched. */
static void test_ids_that_are_not_looked_up(void **state)
{
    enum { MANY = 2200000, TOGETHER = 1 << 16 };
    for (uint64_t factor = 1; factor <= 1000; factor += 999) {
        const char *path = scratch_path("many");
        sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
        uint64_t *words = malloc(2 * TOGETHER * sizeof *words);
        sstore_builder *builder;
        sstore_error error;
        assert_non_null(words);
        options.plan = "1";
        options.force = true;
        assert_ok(sstore_builder_create(path, &options, &builder, &error), &error);
        for (uint64_t i = 0; i < MANY; i += TOGETHER) {
            for (uint64_t j = 0; j < TOGETHER; j++) {
                words[j] = (i + j) * UINT64_C(0x9e3779b97f4a7c15);
                words[TOGETHER + j] = (i + j) * factor;
            }
            assert_ok(sstore_builder_add(builder, words, words + TOGETHER, TOGETHER, &error), &error);
        }
        assert_ok(sstore_builder_finish(builder, NULL, &error), &error);
        free(words);
        const ss_record records[] = {{1, 5000}, {2, 6000}, {3, 6000}};
        const sstore_change change = change_store(path, false, records, 3);
        assert_int_equal(change.added_count, 3);
        assert_int_equal(change.conflict_count, factor == 1 ? 2 : 1);
        assert_int_equal(change.min_conflicting_id, factor == 1 ? 5000 : 6000);
        assert_int_equal(change.ids_checked, factor == 1);
    }
}

/* Additions that are merged with a removal, while an older segment stays: a removed record is no conflict. */
static void test_merged_with_a_removal(void **state)
{
    enum { OLDER = 40000 };
    static uint64_t fingerprints[OLDER], ids[OLDER];
    const char *path = scratch_path("merged");
    const uint64_t added[] = {1, 2}, added_ids[] = {5, 7};
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    sstore_change change = SSTORE_CHANGE_INIT;
    sstore_builder *builder;
    sstore_error error;
    for (uint64_t i = 0; i < OLDER; i++) {
        ids[i] = i;
        fingerprints[i] = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    }
    options.plan = "1";
    assert_ok(sstore_builder_create(path, &options, &builder, &error), &error);
    assert_ok(sstore_builder_add(builder, fingerprints, ids, OLDER, &error), &error);
    assert_ok(sstore_builder_finish(builder, NULL, &error), &error);
    assert_ok(store_remove(path, NULL, &fingerprints[5], &ids[5], 1, NULL, &error), &error);
    options = (sstore_write_options)SSTORE_WRITE_OPTIONS_INIT;
    options.check_ids = true;
    assert_ok(store_add(path, &options, added, added_ids, 2, &change, &error), &error);
    assert_int_equal(change.segment_count, 3); /* the older one, and the changes to it */
    assert_int_equal(change.conflict_count, 1);
    assert_int_equal(change.min_conflicting_id, 7);
    assert_int_equal(change.ids_checked, 1);
    scratch_remove(path);
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_random_additions, testing_teardown),
        cmocka_unit_test_teardown(test_dedup, testing_teardown),
        cmocka_unit_test(test_ids_that_are_not_looked_up),
        cmocka_unit_test(test_merged_with_a_removal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * test_builds.c - equal records give equal stores, byte for byte, for any order, memory and threads of the build, and
 * for any merged parts. Shards partition a store. A stopped build leaves nothing behind.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "sstore_statistics.h"
#include "support/data.h"
#include "support/random.h"
#include "support/record_set.h"
#include "support/scratch.h"
#include "support/testing.h"
#include "support/use_store.h"

#define CASES 40u
#define SLOW_CASES 12u
#define MAX_RECORDS 120000u
#define MAX_PARTS 5u

static const char *const plans[] = {"auto", "4", "3", "2", "1", "5c2", "64:3", "20"};
#define PLAN_COUNT (sizeof plans / sizeof *plans)

/* Parameters that do not affect the store. */
static void vary(sstore_write_options *options, rng *random)
{
    options->memory_bytes = (uint64_t)1 << rng_between(random, 20, 26);
    options->threads = (uint32_t)rng_between(random, 1, 6);
    options->tmp_dir = rng_one_in(random, 3) ? scratch_folder() : NULL;
}

static sstore_write_options make_options(rng *random)
{
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    options.plan = plans[rng_below(random, PLAN_COUNT)];
    options.block_bytes = rng_one_in(random, 2) ? 0 : UINT32_C(256) << rng_below(random, 9);
    vary(&options, random);
    return options;
}

static size_t choose_count(rng *random)
{
    static const size_t few[] = {0, 1, 2, 3, 50, 700};
    if (rng_one_in(random, 4))
        return few[rng_below(random, sizeof few / sizeof *few)];
    return rng_one_in(random, 2) ? rng_below(random, 3000) : rng_below(random, MAX_RECORDS);
}

/* Records of which each has its id, so that they may be shuffled and divided. */
static data_set make_set(rng *random)
{
    data_set made;
    data_ids ids = rng_one_in(random, 3) ? DATA_NO_IDS : DATA_IDS;
    data_make(random, (data_kind)rng_below(random, DATA_KIND_COUNT), ids, choose_count(random), rng_one_in(random, 2),
              &made);
    return made;
}

static uint64_t case_count(void)
{
    return testing_number("SSTORE_TEST_CASES", testing_slow() ? SLOW_CASES : CASES);
}

/* A part of a set, borrowed. */
static data_set part_of(const data_set *set, size_t begin, size_t end)
{
    data_set part = *set;
    part.count = end - begin;
    part.fingerprints += begin;
    part.ids = set->ids == NULL ? NULL : set->ids + begin;
    return part;
}

static void test_one_set_one_store(void **state)
{
    rng random = rng_seeded(run_seed);
    char *first = strdup(scratch_path("first")), *second = strdup(scratch_path("second"));
    for (uint64_t i = 0; i < case_count(); i++) {
        data_set set = make_set(&random);
        sstore_write_options options = make_options(&random);
        sstore_error error = {.status = SSTORE_OK};
        testing_doing("case %" PRIu64 ": %zu of %s, %s, plan %s, seed %" PRIu64, i, set.count, data_kind_name(set.kind),
                      data_ids_name(set.id_kind), options.plan, run_seed);
        scratch_remove(first);
        scratch_remove(second);
        store_must_build(first, &options, &set);
        data_shuffle(&random, &set);
        vary(&options, &random);
        assert_ok(store_build(second, &options, &set, rng_between(&random, 1, 5000), &error), &error);
        assert_true(folders_equal(first, second, ""));
        assert_ok(sstore_verify(second, NULL, NULL, NULL, &error), &error);
        data_free(&set);
    }
    scratch_remove(first);
    scratch_remove(second);
    free(first);
    free(second);
    testing_done();
}

/* The reported change of a new store is right. */
static void check_change(const char *path, const sstore_change *change)
{
    sstore_statistics facts = {.struct_size = sizeof facts};
    sstore_error error = {.status = SSTORE_OK};
    sstore *store = store_must_open(path, SSTORE_IO_PREAD, SSTORE_STRATEGY_AUTO);
    assert_ok(sstore_stat(store, &facts, &error), &error);
    assert_int_equal(change->record_count, facts.record_count);
    assert_int_equal(change->added_count, facts.record_count);
    assert_int_equal(change->total_bytes, facts.total_bytes);
    assert_int_equal(change->segment_count, facts.segment_count);
    assert_int_equal(change->total_bytes_before, 0);
    assert_int_equal(change->segment_count_before, 0);
    assert_int_equal(change->removed_count, 0);
    assert_int_equal(change->conflict_count, 0);
    assert_false(change->ids_checked);
    sstore_close(store);
}

/* Cut the set anywhere, build the parts each in its way, and merge them. Parts may overlap. */
static void test_merged_parts(void **state)
{
    rng random = rng_seeded(run_seed + 1);
    char *whole = strdup(scratch_path("whole")), *merged = strdup(scratch_path("merged"));
    char *paths[MAX_PARTS];
    for (uint32_t i = 0; i < MAX_PARTS; i++)
        paths[i] = strdup(scratch_path("part%u", i));
    for (uint64_t i = 0; i < case_count(); i++) {
        data_set set = make_set(&random);
        sstore_write_options options = make_options(&random);
        sstore_error error = {.status = SSTORE_OK};
        const uint32_t parts = (uint32_t)rng_between(&random, 1, MAX_PARTS);
        testing_doing("case %" PRIu64 ": %zu of %s, %s, in %u parts, plan %s, seed %" PRIu64, i, set.count,
                      data_kind_name(set.kind), data_ids_name(set.id_kind), parts, options.plan, run_seed);
        store_must_build(whole, &options, &set);
        for (uint32_t part = 0; part < parts; part++) {
            size_t begin = set.count * part / parts, end = set.count * (part + 1) / parts;
            if (begin > 0)
                begin -= rng_below(&random, begin);
            const data_set piece = part_of(&set, begin, end);
            const sstore_write_options its_own = make_options(&random);
            store_must_build(paths[part], &its_own, &piece);
        }
        vary(&options, &random);
        const sstore_write_options merge = options_to_merge(&options);
        sstore_change change = {.struct_size = sizeof change};
        assert_ok(sstore_merge(merged, (const char *const *)paths, parts, &merge, &change, &error), &error);
        check_change(merged, &change);
        assert_true(change.given_count >= change.added_count &&
                    (parts > 1 || change.given_count == change.added_count));
        assert_true(folders_equal(whole, merged, ""));
        data_free(&set);
        scratch_remove(whole);
        scratch_remove(merged);
        for (uint32_t part = 0; part < parts; part++)
            scratch_remove(paths[part]);
    }
    for (uint32_t i = 0; i < MAX_PARTS; i++)
        free(paths[i]);
    free(whole);
    free(merged);
    testing_done();
}

/* All shards together have all records, and each is the same for any build. */
static void test_shards(void **state)
{
    rng random = rng_seeded(run_seed + 2);
    char *whole = strdup(scratch_path("whole")), *merged = strdup(scratch_path("merged"));
    char *paths[MAX_PARTS];
    for (uint32_t i = 0; i < MAX_PARTS; i++)
        paths[i] = strdup(scratch_path("shard%u", i));
    for (uint64_t i = 0; i < case_count() / 2; i++) {
        data_set set = make_set(&random);
        sstore_write_options options = make_options(&random);
        sstore_error error = {.status = SSTORE_OK};
        const uint32_t shards = (uint32_t)rng_between(&random, 1, MAX_PARTS);
        testing_doing("case %" PRIu64 ": %zu of %s, %s, %u shards, seed %" PRIu64, i, set.count,
                      data_kind_name(set.kind), data_ids_name(set.id_kind), shards, run_seed);
        store_must_build(whole, &options, &set);
        uint64_t records = 0;
        for (uint32_t shard = 0; shard < shards; shard++) {
            const sstore_write_options as_built = make_options(&random);
            const sstore_write_options its_own = options_to_merge(&as_built);
            sstore_change change = {.struct_size = sizeof change};
            assert_ok(store_shard(paths[shard], whole, shard, shards, &its_own, &change, &error), &error);
            check_change(paths[shard], &change);
            records += change.record_count;
        }
        record_set truth;
        truth = record_set_of_data(&set);
        assert_int_equal(records, truth.count);
        record_set_free(&truth);
        const sstore_write_options merge = options_to_merge(&options);
        assert_ok(sstore_merge(merged, (const char *const *)paths, shards, &merge, NULL, &error), &error);
        assert_true(folders_equal(whole, merged, ".blk"));
        data_free(&set);
        scratch_remove(whole);
        scratch_remove(merged);
        for (uint32_t shard = 0; shard < shards; shard++)
            scratch_remove(paths[shard]);
    }
    for (uint32_t i = 0; i < MAX_PARTS; i++)
        free(paths[i]);
    free(whole);
    free(merged);
    testing_done();
}

/* ----- progress ----- */

typedef struct watch {
    uint64_t calls, stop_at; /* 0: never */
    double fraction;
    uint64_t done;
    uint32_t table;
    char phase[32];
} watch;

static int note_progress(void *context, const sstore_progress *progress)
{
    watch *self = context;
    assert_true(progress->struct_size == sizeof *progress);
    assert_true(progress->fraction >= self->fraction && progress->fraction <= 1);
    assert_true(progress->done <= progress->total);
    bool same = strcmp(self->phase, progress->phase) == 0 && self->table == progress->table;
    assert_true(!same || progress->done >= self->done);
    assert_true(progress->table >= self->table);
    self->fraction = progress->fraction;
    self->done = progress->done;
    self->table = progress->table;
    snprintf(self->phase, sizeof self->phase, "%s", progress->phase);
    return ++self->calls == self->stop_at;
}

/* Stop at any call: the next build succeeds, and the previous store is unchanged. */
static void test_stopped(void **state)
{
    rng random = rng_seeded(run_seed + 3);
    char *path = strdup(scratch_path("stopped")), *old = strdup(scratch_path("old"));
    data_set set, other;
    data_make(&random, DATA_CLUSTERED, DATA_ASSIGNED, 50000, false, &set);
    data_make(&random, DATA_UNIFORM, DATA_ASSIGNED, 100, false, &other);
    store_must_build(old, NULL, &other);
    watch all = {0};
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    sstore_error error = {.status = SSTORE_OK};
    options.on_progress = note_progress;
    options.progress_context = &all;
    options.memory_bytes = 1 << 20;
    options.plan = "2";
    options.threads = 1;
    assert_ok(store_build(path, &options, &set, 0, &error), &error);
    assert_true(all.calls > 5 && all.fraction == 1);
    scratch_remove(path);
    for (uint64_t i = 0; i < case_count(); i++) {
        watch until = {.stop_at = rng_between(&random, 1, all.calls)};
        const bool replace = rng_one_in(&random, 2);
        testing_doing("stopped at call %" PRIu64 " of %" PRIu64 ", seed %" PRIu64, until.stop_at, all.calls, run_seed);
        if (replace)
            folder_copy(old, path);
        vary(&options, &random);
        options.memory_bytes = 1 << 20;
        options.threads = i % 2 == 0 ? 1 : options.threads;
        options.replace = replace;
        options.progress_context = &until;
        sstore_status status = store_build(path, &options, &set, 0, &error);
        /* With several threads the last calls may come after the work is done. */
        assert_true(status == SSTORE_STOPPED || (status == SSTORE_OK && options.threads > 1));
        assert_true(status == SSTORE_OK || scratch_exists(path) == replace);
        assert_true(status == SSTORE_OK || !replace || folders_equal(path, old, ""));
        scratch_remove(path);
    }
    data_free(&set);
    data_free(&other);
    scratch_remove(old);
    free(path);
    free(old);
    testing_done();
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_one_set_one_store, testing_teardown),
        cmocka_unit_test_teardown(test_merged_parts, testing_teardown),
        cmocka_unit_test_teardown(test_shards, testing_teardown),
        cmocka_unit_test_teardown(test_stopped, testing_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * test_builds.c - equal records of 1 to 16 words give equal stores, byte for byte, for any order, memory and threads of
 * the build, and for any merged parts. Shards partition a store. A stopped build leaves nothing behind.
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

/* A set of records, and the stores that are made of it. */
typedef struct test_case {
    rng random;
    data_set set;
    sstore_write_options options;
    const char *whole, *other, *paths[MAX_PARTS];
    uint32_t parts;
} test_case;

/* Parameters that do not affect the store. */
static void vary(sstore_write_options *options, rng *random)
{
    options->memory_bytes = (uint64_t)1 << rng_between(random, 20, 26);
    options->threads = (uint32_t)rng_between(random, 1, 6);
    options->tmp_dir = rng_one_in(random, 3) ? scratch_folder() : NULL;
}

static sstore_write_options make_options(rng *random, uint32_t words, uint32_t distance)
{
    static const char *const plans[] = {"auto", "4", "3", "2", "1", "5c2", "64:3", "20"};
    static const char *const wide_plans[] = {"auto", "22,21,21", "1"};
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    options.distance = distance;
    options.plan = words == 1 ? plans[rng_below(random, sizeof plans / sizeof *plans)]
                              : wide_plans[rng_below(random, sizeof wide_plans / sizeof *wide_plans)];
    options.block_bytes = rng_one_in(random, 2) ? 0 : UINT32_C(256) << rng_below(random, 9);
    vary(&options, random);
    return options;
}

/* Other options for the same records. */
static sstore_write_options other_options(test_case *self)
{
    return make_options(&self->random, self->set.words, self->options.distance);
}

static size_t choose_count(rng *random)
{
    static const size_t few[] = {0, 1, 2, 3, 50, 700};
    if (rng_one_in(random, 4))
        return few[rng_below(random, sizeof few / sizeof *few)];
    return rng_one_in(random, 2) ? rng_below(random, 3000) : rng_below(random, MAX_RECORDS);
}

/* Each record has its id, so that they may be shuffled and divided. */
static void begin(test_case *self, uint64_t seed)
{
    self->random = rng_seeded(seed);
    rng *random = &self->random;
    const fingerprint_form form = rng_one_in(random, 3) ? form_any(random, 2) : form_with(random, 1, 3);
    const data_ids ids = rng_one_in(random, 3) ? DATA_NO_IDS : DATA_IDS;
    data_make_form(random, &form, ids, choose_count(random) / form.words, rng_one_in(random, 2), &self->set);
    self->options = make_options(random, form.words, form.distance);
    self->parts = (uint32_t)rng_between(random, 1, MAX_PARTS);
    testing_doing("%zu of %s, %s, plan %s, %u parts, seed %" PRIu64, self->set.count, form_text(&form),
                  data_ids_name(ids), self->options.plan, self->parts, seed);
    store_must_build(self->whole, &self->options, &self->set);
}

static void end(test_case *self)
{
    data_free(&self->set);
    scratch_remove(self->whole);
    scratch_remove(self->other);
    for (uint32_t part = 0; part < self->parts; part++)
        scratch_remove(self->paths[part]);
}

static uint64_t case_count(void)
{
    return testing_number("SSTORE_TEST_CASES", testing_slow() ? SLOW_CASES : CASES);
}

/* Check `count` cases, each with a store of all its records. */
static void check_cases(uint64_t seed, uint64_t count, void (*check)(test_case *))
{
    test_case self = {.whole = scratch_path("whole"), .other = scratch_path("other")};
    for (uint32_t i = 0; i < MAX_PARTS; i++)
        self.paths[i] = scratch_path("part%u", i);
    for (uint64_t i = 0; i < count; i++) {
        begin(&self, seed + i);
        check(&self);
        end(&self);
    }
    testing_done();
}

static void check_built_again(test_case *self)
{
    sstore_error error = {.status = SSTORE_OK};
    data_shuffle(&self->random, &self->set);
    vary(&self->options, &self->random);
    assert_ok(store_build(self->other, &self->options, &self->set, rng_between(&self->random, 1, 5000), &error),
              &error);
    assert_true(folders_equal(self->whole, self->other, ""));
    assert_ok(sstore_verify(self->other, NULL, NULL, NULL, &error), &error);
}

static void test_one_set_one_store(void **state)
{
    check_cases(run_seed, case_count(), check_built_again);
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
static void check_merged_parts(test_case *self)
{
    sstore_error error = {.status = SSTORE_OK};
    sstore_change change = {.struct_size = sizeof change};
    for (uint32_t part = 0; part < self->parts; part++) {
        const size_t end = self->set.count * (part + 1) / self->parts;
        size_t begin = self->set.count * part / self->parts;
        if (begin > 0)
            begin -= rng_below(&self->random, begin);
        const data_set piece = data_part(&self->set, begin, end);
        const sstore_write_options its_own = other_options(self);
        store_must_build(self->paths[part], &its_own, &piece);
    }
    vary(&self->options, &self->random);
    const sstore_write_options merge = options_to_merge(&self->options);
    assert_ok(sstore_merge(self->other, self->paths, self->parts, &merge, &change, &error), &error);
    check_change(self->other, &change);
    assert_true(change.given_count >= change.added_count &&
                (self->parts > 1 || change.given_count == change.added_count));
    assert_true(folders_equal(self->whole, self->other, ""));
}

static void test_merged_parts(void **state)
{
    check_cases(run_seed + 1000, case_count(), check_merged_parts);
}

/* All shards together have all records, and each is the same for any build. */
static void check_shards(test_case *self)
{
    sstore_error error = {.status = SSTORE_OK};
    record_set truth = record_set_of_data(&self->set);
    uint64_t records = 0;
    for (uint32_t shard = 0; shard < self->parts; shard++) {
        const sstore_write_options as_built = other_options(self);
        const sstore_write_options its_own = options_to_merge(&as_built);
        sstore_change change = {.struct_size = sizeof change};
        assert_ok(store_shard(self->paths[shard], self->whole, shard, self->parts, &its_own, &change, &error), &error);
        check_change(self->paths[shard], &change);
        records += change.record_count;
    }
    assert_int_equal(records, truth.count);
    record_set_free(&truth);
    const sstore_write_options merge = options_to_merge(&self->options);
    assert_ok(sstore_merge(self->other, self->paths, self->parts, &merge, NULL, &error), &error);
    assert_true(folders_equal(self->whole, self->other, ".blk"));
}

static void test_shards(void **state)
{
    check_cases(run_seed + 2000, case_count() / 2, check_shards);
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
        options.force = replace;
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

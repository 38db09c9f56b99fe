/*
 * test_changes.c - records are added and removed in random steps, beside a list of the records that the store must
 * have. After each step every way of reading must give this list. An older handle must still show its records, lost
 * directories are rebuilt, and compacting must give the same bytes as a build of the records.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/data.h"
#include "support/iterate.h"
#include "support/lost_directory.h"
#include "support/oracle.h"
#include "support/random.h"
#include "support/scratch.h"
#include "support/testing.h"
#include "support/use_store.h"

#define CASES 60u
#define SLOW_CASES 12u
#define MAX_STEPS 16u
#define MAX_RECORDS 4000u

/* A store under test, and what it must hold. */
typedef struct living {
    rng random;
    char path[256];
    data_set pool; /* records that are added and removed repeatedly */
    oracle truth;  /* sorted, each once */
    uint64_t next_id;
    const char *plan; /* of the build; NULL: chosen */
    uint32_t block_bytes;
    bool has_ids, assigned; /* assigned: records are added without ids */
    bool crawls;            /* small steps in a large store, compacted only by tiers */
    sstore *old;            /* a handle on an earlier state, or NULL */
    oracle old_truth;
    uint32_t steps;
    char words[200];
} living;

/* ----- the list ----- */

/* Sort, and count distinct fingerprints. */
static void settle(oracle *truth)
{
    size_t kept = 0;
    qsort(truth->records, truth->count, sizeof *truth->records, compare_records);
    truth->distinct_count = 0;
    for (size_t i = 0; i < truth->count; i++) {
        if (kept > 0 && compare_records(&truth->records[kept - 1], &truth->records[i]) == 0)
            continue;
        truth->distinct_count += kept == 0 || truth->records[kept - 1].fingerprint != truth->records[i].fingerprint;
        truth->records[kept++] = truth->records[i];
    }
    truth->count = kept;
}

static void list_add(oracle *truth, const sstore_record *records, size_t count)
{
    truth->records = realloc(truth->records, (truth->count + count + 1) * sizeof *truth->records);
    memcpy(truth->records + truth->count, records, count * sizeof *records);
    truth->count += count;
    settle(truth);
}

/* A removal: of records, or of all with a fingerprint or an id. */
typedef enum naming { BY_RECORD, BY_FINGERPRINT, BY_ID } naming;

static bool is_named(const sstore_record *record, naming how, const sstore_record *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        bool same_fingerprint = how == BY_ID || names[i].fingerprint == record->fingerprint;
        bool same_id = how == BY_FINGERPRINT || names[i].id == record->id;
        if (same_fingerprint && same_id)
            return true;
    }
    return false;
}

static void list_remove(oracle *truth, naming how, const sstore_record *names, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < truth->count; i++)
        if (!is_named(&truth->records[i], how, names, count))
            truth->records[kept++] = truth->records[i];
    truth->count = kept;
    settle(truth);
}

static void list_copy(const oracle *from, oracle *to)
{
    *to = *from;
    to->records = malloc((from->count + 1) * sizeof *to->records);
    memcpy(to->records, from->records, from->count * sizeof *to->records);
}

/* ----- steps ----- */

static sstore_record pool_record(living *self)
{
    size_t i = rng_below(&self->random, self->pool.count);
    return (sstore_record){.fingerprint = self->pool.fingerprints[i],
                           .id = self->has_ids && self->pool.ids != NULL ? self->pool.ids[i] : 0};
}

static size_t choose_count(living *self)
{
    static const size_t few[] = {0, 1, 2, 5, 40, 300};
    if (self->crawls)
        return rng_below(&self->random, self->pool.count / 16 + 2);
    return rng_one_in(&self->random, 3) ? rng_below(&self->random, self->pool.count)
                                        : few[rng_below(&self->random, sizeof few / sizeof *few)];
}

static sstore_write_options make_options(living *self)
{
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    options.memory_bytes = (uint64_t)1 << rng_between(&self->random, 20, 26);
    return options;
}

/* Fingerprints and ids of records, apart. */
typedef struct columns {
    uint64_t *fingerprints, *ids;
} columns;

static columns columns_of(const sstore_record *records, size_t count)
{
    columns made = {malloc((count + 1) * sizeof *made.fingerprints), malloc((count + 1) * sizeof *made.ids)};
    for (size_t i = 0; i < count; i++) {
        made.fingerprints[i] = records[i].fingerprint;
        made.ids[i] = records[i].id;
    }
    return made;
}

static void columns_free(columns *made)
{
    free(made->fingerprints);
    free(made->ids);
}

/* The reported change of the store is right. */
static void check_change(const living *self, const sstore_change *change)
{
    sstore_statistics facts = {.struct_size = sizeof facts};
    sstore_error error = {.status = SSTORE_OK};
    sstore *store = store_must_open(self->path, SSTORE_IO_PREAD, SSTORE_STRATEGY_AUTO);
    assert_ok(sstore_stat(store, &facts, &error), &error);
    assert_int_equal(change->record_count, self->truth.count);
    assert_int_equal(facts.record_count, self->truth.count);
    assert_int_equal(change->total_bytes, facts.total_bytes);
    assert_int_equal(change->segment_count, facts.segment_count);
    sstore_close(store);
}

static void add_some(living *self)
{
    size_t count = choose_count(self);
    sstore_record *records = malloc((count + 1) * sizeof *records);
    sstore_builder *builder;
    sstore_error error = {.status = SSTORE_OK};
    sstore_change change = {.struct_size = sizeof change};
    const sstore_write_options as_built = make_options(self);
    sstore_write_options options = options_to_add(&as_built);
    options.check_ids = rng_one_in(&self->random, 2);
    options.no_compact = rng_one_in(&self->random, 2);
    for (size_t i = 0; i < count; i++) {
        records[i] = pool_record(self);
        if (self->assigned)
            records[i].id = self->next_id + i;
    }
    columns given = columns_of(records, count);
    assert_ok(sstore_builder_create_addition(self->path, &options, &builder, &error), &error);
    const bool ids = self->has_ids && !self->assigned;
    const size_t half = count / 3; /* in two calls */
    assert_ok(sstore_builder_add(builder, given.fingerprints, ids ? given.ids : NULL, half, &error), &error);
    assert_ok(sstore_builder_add(builder, given.fingerprints + half, ids ? given.ids + half : NULL, count - half,
                                 &error),
              &error);
    columns_free(&given);
    if (rng_one_in(&self->random, 10)) { /* change one's mind */
        sstore_builder_abort(builder);
    } else {
        assert_ok(sstore_builder_finish(builder, &change, &error), &error);
        size_t before = self->truth.count;
        list_add(&self->truth, records, count);
        if (self->assigned)
            self->next_id += count;
        assert_int_equal(change.added_count, self->truth.count - before);
        assert_int_equal(change.given_count, count);
        assert_int_equal(change.removed_count, 0);
        if (!options.check_ids)
            assert_true(change.conflict_count == 0 && !change.ids_checked);
        check_change(self, &change);
    }
    free(records);
}

static void give_names(sstore_remover *remover, naming how, const sstore_record *names, size_t count)
{
    sstore_error error = {.status = SSTORE_OK};
    columns given = columns_of(names, count);
    const size_t half = count / 3; /* in two calls */
    for (int part = 0; part < 2; part++) {
        const size_t begin = part == 0 ? 0 : half, end = part == 0 ? half : count;
        const uint64_t *fingerprints = given.fingerprints + begin, *ids = given.ids + begin;
        assert_ok(how == BY_RECORD ? sstore_remover_remove(remover, fingerprints, ids, end - begin, &error)
                  : how == BY_ID   ? sstore_remover_remove_ids(remover, ids, end - begin, &error)
                                   : sstore_remover_remove_fingerprints(remover, fingerprints, end - begin, &error),
                  &error);
    }
    columns_free(&given);
}

static void remove_some(living *self)
{
    naming how = self->has_ids ? (naming)rng_below(&self->random, 3) : BY_FINGERPRINT;
    size_t count = choose_count(self);
    sstore_record *names = malloc((count + 1) * sizeof *names);
    sstore_remover *remover;
    sstore_error error = {.status = SSTORE_OK};
    sstore_change change = {.struct_size = sizeof change};
    const sstore_write_options as_built = make_options(self);
    sstore_write_options options = options_to_remove(&as_built);
    options.no_compact = rng_one_in(&self->random, 2);
    for (size_t i = 0; i < count; i++) {
        names[i] = pool_record(self);
        if (self->truth.count > 0 && rng_one_in(&self->random, 2))
            names[i] = self->truth.records[rng_below(&self->random, self->truth.count)];
    }
    assert_ok(sstore_remover_create(self->path, &options, &remover, &error), &error);
    give_names(remover, how, names, count);
    if (rng_one_in(&self->random, 10)) {
        sstore_remover_abort(remover);
    } else {
        assert_ok(sstore_remover_finish(remover, &change, &error), &error);
        size_t before = self->truth.count;
        list_remove(&self->truth, how, names, count);
        assert_int_equal(change.removed_count, before - self->truth.count);
        assert_int_equal(change.given_count, count);
        assert_int_equal(change.added_count, 0);
        check_change(self, &change);
    }
    free(names);
}

static void compact(living *self, sstore_compaction which)
{
    sstore_error error = {.status = SSTORE_OK};
    sstore_change change = {.struct_size = sizeof change};
    const sstore_write_options as_built = make_options(self);
    sstore_write_options options = options_to_compact(&as_built);
    assert_ok(sstore_compact(self->path, which, &options, &change, &error), &error);
    check_change(self, &change);
}

/* Some directories are lost, and rebuilt. */
static void reindex(living *self)
{
    uint32_t lost = 0, made = 0;
    sstore_error error = {.status = SSTORE_OK};
    sstore_reindex_options options = SSTORE_REINDEX_OPTIONS_INIT;
    file_list files = file_list_make(self->path, "directory.mdb");
    for (size_t i = 0; i < files.count; i++) {
        if (rng_one_in(&self->random, 2))
            continue;
        char path[512];
        snprintf(path, sizeof path, "%s/%s", self->path, files.names[i]);
        directory_lose(path, (directory_loss)rng_below(&self->random, LOSS_COUNT), &self->random);
        lost++;
    }
    options.all = rng_one_in(&self->random, 4);
    assert_ok(sstore_reindex(self->path, &options, &made, &error), &error);
    assert_int_equal(made, options.all ? files.count : lost);
    file_list_free(&files);
}

static void step(living *self)
{
    switch (rng_below(&self->random, 9)) {
    case 8: reindex(self); break;
    case 0: compact(self, self->crawls ? SSTORE_COMPACTION_TIERS : SSTORE_COMPACTION_ALL); break;
    case 1: compact(self, SSTORE_COMPACTION_TIERS); break;
    case 2:
    case 3:
    case 4: remove_some(self); break;
    default: add_some(self); break;
    }
}

/* ----- reading ----- */

static void check_queries(living *self, sstore *store, const oracle *truth)
{
    matches got = {.count = 0}, wanted = {.count = 0};
    sstore_cursor *cursor = store_must_cursor(store);
    sstore_error error = {.status = SSTORE_OK};
    uint64_t queries[12];
    uint32_t distance = rng_one_in(&self->random, 4) ? (uint32_t)rng_below(&self->random, 12)
                                                     : (uint32_t)rng_below(&self->random, 5);
    for (uint32_t i = 0; i < 12; i++) {
        queries[i] = data_query(&self->random, &self->pool, distance);
        assert_ok(store_query_sorted(cursor, queries[i], distance, &got, &error), &error);
        oracle_query(truth, queries[i], distance, 0, &wanted);
        assert_true(matches_equal(&got, &wanted));
        got.count = wanted.count = 0;
        if (i < 3) {
            assert_ok(store_nearest_sorted(cursor, queries[i], 20, &got, &error), &error);
            oracle_nearest(truth, queries[i], 20, &wanted);
            assert_true(matches_equal(&got, &wanted));
            got.count = wanted.count = 0;
        }
    }
    assert_ok(store_batch(store, queries, 12, distance, 2, &got, &error), &error);
    for (uint32_t i = 0; i < 12; i++)
        oracle_query(truth, queries[i], distance, i, &wanted);
    assert_true(matches_equal(&got, &wanted));
    iterate_matches(&self->random, store, queries, 12, distance, 2, &wanted);
    matches_free(&got);
    matches_free(&wanted);
    sstore_cursor_free(cursor);
}

static void check_store(living *self, sstore *store, const oracle *truth)
{
    sstore_statistics facts = {.struct_size = sizeof facts};
    sstore_error error = {.status = SSTORE_OK};
    bool right;
    size_t count;
    assert_ok(sstore_stat(store, &facts, &error), &error);
    assert_int_equal(facts.record_count, truth->count);
    assert_ok(store_compare_records(store, truth, &right, &count, &error), &error);
    assert_true(right);
    assert_int_equal(count, truth->count);
    iterate_records(&self->random, store, truth->records, truth->count);
    check_queries(self, store, truth);
}

static void check_all(living *self)
{
    sstore_error error = {.status = SSTORE_OK};
    sstore *store;
    if (self->old != NULL && rng_one_in(&self->random, 2)) {
        check_store(self, self->old, &self->old_truth);
        assert_ok(sstore_reopen(self->old, &store, &error), &error);
    } else {
        store = store_must_open(self->path, (sstore_io)rng_below(&self->random, 4), SSTORE_STRATEGY_AUTO);
    }
    check_store(self, store, &self->truth);
    if (rng_one_in(&self->random, 2)) {
        sstore_close(self->old);
        free(self->old_truth.records);
        self->old = store;
        list_copy(&self->truth, &self->old_truth);
    } else {
        sstore_close(store);
    }
    if (rng_one_in(&self->random, 2))
        assert_ok(sstore_verify(self->path, NULL, NULL, NULL, &error), &error);
}

/* ----- in the end ----- */

/* The folder of the store's only segment. */
static const char *only_segment(const char *path)
{
    sstore_error error = {.status = SSTORE_OK};
    sstore_segment_statistics facts = {.struct_size = sizeof facts};
    sstore_statistics all = {.struct_size = sizeof all};
    sstore *store = store_must_open(path, SSTORE_IO_PREAD, SSTORE_STRATEGY_AUTO);
    assert_ok(sstore_stat(store, &all, &error), &error);
    assert_int_equal(all.segment_count, 1);
    assert_int_equal(all.removed_count, 0);
    assert_ok(sstore_stat_segment(store, 0, &facts, &error), &error);
    sstore_close(store);
    const char *name = strrchr(path, '/') + 1;
    return scratch_path("%s/%s", name, facts.folder);
}

static void check_fresh_build(living *self)
{
    const char *path = scratch_path("fresh");
    sstore_error error = {.status = SSTORE_OK};
    sstore_write_options options = make_options(self);
    sstore_builder *builder;
    compact(self, SSTORE_COMPACTION_ALL);
    check_all(self);
    options.plan = self->plan;
    options.block_bytes = self->block_bytes;
    options.without_ids = !self->has_ids;
    assert_ok(sstore_builder_create(path, &options, &builder, &error), &error);
    columns given = columns_of(self->truth.records, self->truth.count);
    assert_ok(sstore_builder_add(builder, given.fingerprints, self->has_ids ? given.ids : NULL, self->truth.count,
                                 &error),
              &error);
    columns_free(&given);
    assert_ok(sstore_builder_finish(builder, NULL, &error), &error);
    assert_true(folders_equal(only_segment(self->path), only_segment(path), ".blk"));
    scratch_remove(path);
}

/* ----- one store's life ----- */

static void begin_life(living *self, uint64_t number)
{
    static const char *const plans[] = {NULL, "4", "3", "2", "1", "5c2", "64:3"};
    self->random = rng_seeded(run_seed + number);
    rng *random = &self->random;
    data_ids ids = (data_ids)rng_below(random, DATA_IDS_COUNT);
    sstore_error error = {.status = SSTORE_OK};
    data_make(random, (data_kind)rng_below(random, DATA_KIND_COUNT), ids, rng_between(random, 1, MAX_RECORDS),
              rng_one_in(random, 2), &self->pool);
    self->has_ids = ids != DATA_NO_IDS;
    self->assigned = ids == DATA_ASSIGNED;
    self->plan = plans[rng_below(random, sizeof plans / sizeof *plans)];
    self->block_bytes = rng_one_in(random, 2) ? 0 : UINT32_C(256) << rng_below(random, 9);
    snprintf(self->path, sizeof self->path, "%s", scratch_path("living"));
    snprintf(self->words, sizeof self->words,
             "case %" PRIu64 ", pool of %zu, %s, %s, plan %s, blocks %u, seed %" PRIu64, number, self->pool.count,
             data_kind_name(self->pool.kind), data_ids_name(ids), self->plan == NULL ? "auto" : self->plan,
             self->block_bytes, run_seed);
    sstore_write_options options = make_options(self);
    options.plan = self->plan;
    options.block_bytes = self->block_bytes;
    data_set first = self->pool; /* a part of the pool */
    self->crawls = rng_one_in(random, 2);
    first.count = self->crawls ? self->pool.count : rng_one_in(random, 4) ? 0 : rng_below(random, self->pool.count + 1);
    scratch_remove(self->path);
    assert_ok(store_build(self->path, &options, &first, 0, &error), &error);
    oracle_make(&first, &self->truth);
    self->next_id = first.count;
}

static void end_life(living *self)
{
    sstore_close(self->old);
    free(self->old_truth.records);
    oracle_free(&self->truth);
    data_free(&self->pool);
    scratch_remove(self->path);
}

static void test_random_changes(void **state)
{
    uint64_t cases = testing_number("SSTORE_TEST_CASES", testing_slow() ? SLOW_CASES : CASES);
    for (uint64_t i = 0; i < cases; i++) {
        living self = {.old = NULL};
        begin_life(&self, i);
        testing_doing("%s", self.words);
        self.steps = (uint32_t)rng_between(&self.random, 1, MAX_STEPS);
        for (uint32_t at = 0; at < self.steps; at++) {
            testing_doing("%s, step %u", self.words, at);
            step(&self);
            check_all(&self);
        }
        check_fresh_build(&self);
        end_life(&self);
    }
    testing_done();
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_random_changes, testing_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * test_batch.c - a batch must give the answers of its single queries, of 1 to 6 words, sorted and in the order of the
 * queries: by every strategy and number of threads, with few queries and many, and if a round finds so many matches
 * that it is repeated in halves. The iterator must do the same.
 */
#include <stdlib.h>
#include <string.h>

#include "output/walk.h"
#include "support/iterate.h"
#include "support/random.h"
#include "support/record_set.h"
#include "support/scratch.h"
#include "support/testing.h"
#include "support/use_store.h"

#define QUERIES 3000u
#define ALL_MATCH ((size_t)1600)
#define MANY ((size_t)300000) /* fingerprints: more than a slice of a table pass has */

typedef struct fixture {
    rng random;
    data_set data;
    record_set truth;
    const char *path;
    uint64_t *queries; /* QUERIES of them */
} fixture;

static void make_queries(fixture *self, uint32_t distance)
{
    const size_t words = self->truth.words;
    self->queries = malloc(QUERIES * words * sizeof *self->queries);
    assert_non_null(self->queries);
    for (size_t i = 0; i < QUERIES; i++)
        if (i > 0 && rng_one_in(&self->random, 10))
            memcpy(self->queries + i * words, self->queries + (i - 1) * words, words * sizeof *self->queries);
        else
            data_query_words(&self->random, &self->data, distance, self->queries + i * words);
}

static void build_from_data(fixture *self, const char *plan, uint32_t block_bytes)
{
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    sstore_error error = {.status = SSTORE_OK};
    self->truth = record_set_of_data(&self->data);
    self->path = scratch_path("store");
    options.distance = 3 * self->truth.words;
    options.plan = plan;
    options.block_bytes = block_bytes;
    assert_ok(store_build(self->path, &options, &self->data, 0, &error), &error);
    make_queries(self, options.distance);
}

static void set_up(fixture *self, uint64_t seed, data_kind kind, data_ids ids, size_t count, const char *plan,
                   uint32_t block_bytes)
{
    self->random = rng_seeded(seed);
    data_make(&self->random, kind, ids, count, true, &self->data);
    build_from_data(self, plan, block_bytes);
}

static void tear_down(fixture *self)
{
    scratch_remove(self->path);
    record_set_free(&self->truth);
    data_free(&self->data);
    free(self->queries);
    testing_done();
}

/* The distance is that for each word. */
static void check_batch(fixture *self, size_t count, uint32_t distance, sstore_strategy strategy, uint32_t threads)
{
    const uint32_t words = self->truth.words;
    sstore_error error = {.status = SSTORE_OK};
    matches got = {.words = words}, wanted = got;
    testing_doing("%zu queries of %u words at %u a word, strategy %d, %u threads", count, words, distance,
                  (int)strategy, threads);
    sstore *store = store_must_open(self->path, (sstore_io)rng_below(&self->random, 4), strategy);
    for (size_t i = 0; i < count; i++)
        record_set_query(&self->truth, self->queries + i * words, words * distance, i, &wanted);
    assert_ok(store_batch(store, self->queries, count, words * distance, threads, &got, &error), &error);
    assert_true(matches_equal(&got, &wanted));
    matches_free(&got);
    matches_free(&wanted);
    sstore_close(store);
}

/* Distances at which probing, if demanded, would take long. */
static const sstore_strategy strategies_beyond[] = {SSTORE_STRATEGY_AUTO, SSTORE_STRATEGY_AUTO,
                                                    SSTORE_STRATEGY_FULL_SCAN};

static void check_everything(uint64_t seed, const fingerprint_form *form, data_ids ids, const char *plan,
                             uint32_t block_bytes)
{
    fixture self = {.random = rng_seeded(seed)};
    const size_t queries = QUERIES / form->words;
    data_make_form(&self.random, form, ids, 8000 / form->words, true, &self.data);
    build_from_data(&self, plan, block_bytes);
    for (int strategy = SSTORE_STRATEGY_AUTO; strategy <= SSTORE_STRATEGY_FULL_SCAN; strategy++) {
        check_batch(&self, queries, 3, (sstore_strategy)strategy, 2);
        check_batch(&self, 100, (uint32_t)rng_below(&self.random, 4), (sstore_strategy)strategy, 3);
        check_batch(&self, 40, 5, (sstore_strategy)strategy, 1);
        check_batch(&self, 40, (uint32_t)rng_between(&self.random, 9, 20), strategies_beyond[strategy],
                    2); /* blocks decoded completely */
        check_batch(&self, 1, 3, (sstore_strategy)strategy, 4);
        check_batch(&self, 0, 3, (sstore_strategy)strategy, 1);
    }
    tear_down(&self);
}

static void test_plans(void **state)
{
    static const struct {
        data_kind kind;
        data_ids ids;
        const char *plan;
        uint32_t block_bytes;
        bool is_wide;
    } cases[] = {{DATA_CLUSTERED, DATA_IDS, "4", 1024, false},   {DATA_CLUSTERED, DATA_ASSIGNED, "3", 65536, false},
                 {DATA_SKEWED, DATA_IDS, "2", 4096, false},      {DATA_UNIFORM, DATA_IDS, NULL, 4096, true},
                 {DATA_SKEWED, DATA_NO_IDS, "5c2", 1024, false}, {DATA_DENSE, DATA_ASSIGNED, "3", 1024, false},
                 {DATA_CLUSTERED, DATA_NO_IDS, NULL, 1024, true}};
    const size_t step = testing_slow() && !testing_long() ? 2 : 1; /* other ones with another seed */
    for (size_t i = run_seed % step; i < sizeof cases / sizeof *cases; i += step) {
        rng random = rng_seeded(run_seed + i);
        const uint32_t words = cases[i].is_wide ? (uint32_t)rng_between(&random, 2, 6) : 1;
        fingerprint_form form = form_of(&random, cases[i].kind, words, 3 * words);
        form.apart = words == 1;
        check_everything(run_seed + i, &form, cases[i].ids, cases[i].plan, cases[i].block_bytes);
    }
}

static void check_table_passes(fixture *self)
{
    const size_t fewer = testing_slow() && !testing_long() ? 5 : 1;
    check_batch(self, QUERIES / 8 / fewer, 3, SSTORE_STRATEGY_PROBE, 2);
    check_batch(self, QUERIES / 8 / fewer, (uint32_t)rng_below(&self->random, 3), SSTORE_STRATEGY_PROBE, 1);
    check_batch(self, 50 / fewer, 4, SSTORE_STRATEGY_PROBE, 3);
    check_batch(self, 50 / fewer, (uint32_t)rng_between(&self->random, 1, 8), SSTORE_STRATEGY_FULL_SCAN, 2);
    check_batch(self, 50 / fewer, (uint32_t)rng_between(&self->random, 9, 20), SSTORE_STRATEGY_FULL_SCAN, 3);
}

/* So many fingerprints that a table pass has several slices, of unequal depth if the data is skewed. */
static void test_many_slices(void **state)
{
    static const struct {
        data_kind kind;
        const char *plan;
    } cases[] = {{DATA_CLUSTERED, "4"}, {DATA_SKEWED, "3"}};
    const size_t step = testing_slow() && !testing_long() ? 2 : 1;
    for (size_t i = run_seed % step; i < sizeof cases / sizeof *cases; i += step) {
        fixture self;
        set_up(&self, run_seed + 10 + i, cases[i].kind, DATA_ASSIGNED, MANY, cases[i].plan, 4096);
        check_table_passes(&self);
        tear_down(&self);
    }
}

/* Slices so deep that more leading bits are near them than there are queries: each query is tested instead. */
static void test_deep_slices(void **state)
{
    fixture self;
    self.random = rng_seeded(run_seed + 20);
    data_make(&self.random, DATA_UNIFORM, DATA_ASSIGNED, MANY, true, &self.data);
    const uint64_t shared = rng_next(&self.random) & ~UINT64_C(0) << 32;
    for (size_t i = 0; i < MANY; i++)
        self.data.fingerprints[i] = shared | (uint32_t)self.data.fingerprints[i];
    build_from_data(&self, "48:3", 4096);
    check_table_passes(&self);
    tear_down(&self);
}

/* 1,600 queries that each match 1,600 records are more matches than a round holds (2^21). */
static void test_too_many_matches(void **state)
{
    fixture self;
    set_up(&self, run_seed, DATA_UNIFORM, DATA_ASSIGNED, ALL_MATCH, "4", 1024);
    sstore_error error = {.status = SSTORE_OK};
    matches got = {0};
    sstore *store = store_must_open(self.path, SSTORE_IO_PREAD, SSTORE_STRATEGY_AUTO);
    testing_doing("all queries match all records");
    assert_ok(store_batch(store, self.queries, ALL_MATCH, SSTORE_MAX_DISTANCE, 2, &got, &error), &error);
    assert_int_equal(got.count, ALL_MATCH * self.truth.count);
    for (size_t i = 0; i < ALL_MATCH; i++) {
        const matches one = matches_part(&got, i * self.truth.count, self.truth.count);
        matches wanted = {0};
        record_set_query(&self.truth, &self.queries[i], SSTORE_MAX_DISTANCE, i, &wanted);
        assert_true(matches_equal(&one, &wanted));
        matches_free(&wanted);
    }
    iterate_matches(&self.random, store, self.queries, ALL_MATCH, SSTORE_MAX_DISTANCE, 2, &got);
    matches_free(&got);
    sstore_close(store);
    check_batch(&self, 30, SSTORE_MAX_DISTANCE, SSTORE_STRATEGY_AUTO, 2);
    tear_down(&self);
}

/* One fingerprint with more ids than a round may have matches of several queries, behind as many queries that have
 * none. */
static void test_many_ids(void **state)
{
    fixture self;
    set_up(&self, 1, DATA_EQUAL, DATA_ASSIGNED, 30000, "4", 1024);
    for (size_t i = 0; i < 200; i++)
        self.queries[i] = i < 100 ? ~self.data.fingerprints[0] : self.data.fingerprints[0];
    sstore_error error = {.status = SSTORE_OK};
    matches got = {0};
    sstore *store = store_must_open(self.path, SSTORE_IO_PREAD, SSTORE_STRATEGY_AUTO);
    assert_ok(store_batch(store, self.queries, 200, 3, 2, &got, &error), &error);
    assert_int_equal(got.count, 100 * 30000);
    for (size_t i = 0; i < got.count; i++) {
        const sstore_match match = matches_get(&got, i);
        assert_int_equal(match.query_index, 100 + i / 30000);
        assert_int_equal(match.id, i % 30000);
    }
    iterate_matches(&self.random, store, self.queries, 200, 3, 2, &got);
    matches_free(&got);
    sstore_close(store);
    tear_down(&self);
}

/* A callback that stops the batch. */
static int stop_at_tenth(void *context, const sstore_match *match)
{
    return ++*(int *)context == 10;
}

static void test_stopping(void **state)
{
    fixture self;
    set_up(&self, run_seed, DATA_CLUSTERED, DATA_IDS, 3000, "3", 1024);
    sstore_error error = {.status = SSTORE_OK};
    sstore_batch_options options = SSTORE_BATCH_OPTIONS_INIT;
    int seen = 0;
    options.threads = 2;
    sstore *store = store_must_open(self.path, SSTORE_IO_PREAD, SSTORE_STRATEGY_AUTO);
    assert_status(walk_matches(store, self.queries, QUERIES, 3, &options, stop_at_tenth, &seen, &error), SSTORE_STOPPED,
                  &error);
    assert_int_equal(seen, 10);
    sstore_close(store);
    tear_down(&self);
}

/* Counts calls, and stops at the last of them. */
typedef struct watcher {
    uint64_t calls, last;
    double fraction;
} watcher;

static int watch(void *context, const sstore_progress *progress)
{
    watcher *self = context;
    assert_string_equal(progress->phase, "answering");
    assert_true(progress->done <= progress->total && progress->total == QUERIES);
    assert_true(progress->fraction >= self->fraction && progress->fraction <= 1);
    self->fraction = progress->fraction;
    return ++self->calls == self->last;
}

/* A batch reports its progress, and can be stopped at each report, whichever way its queries are answered. */
static void test_progress(void **state)
{
    static const sstore_strategy strategies[] = {SSTORE_STRATEGY_PROBE, SSTORE_STRATEGY_FULL_SCAN};
    for (size_t i = 0; i < 2; i++) {
        fixture self;
        set_up(&self, run_seed, DATA_CLUSTERED, DATA_IDS, 3000, "3", 1024);
        sstore_error error = {.status = SSTORE_OK};
        sstore_batch_options options = SSTORE_BATCH_OPTIONS_INIT;
        watcher all = {.last = 0};
        int ignored = 100;
        testing_doing("strategy %zu", i);
        options.threads = 2;
        options.on_progress = watch;
        options.progress_context = &all;
        sstore *store = store_must_open(self.path, SSTORE_IO_PREAD, strategies[i]);
        assert_ok(walk_matches(store, self.queries, QUERIES, 3, &options, stop_at_tenth, &ignored, &error), &error);
        assert_true(all.calls > 0 && all.fraction == 1);
        for (uint64_t last = 1; last <= all.calls && last <= 3; last++) {
            watcher some = {.last = last};
            options.progress_context = &some;
            const sstore_status status = walk_matches(store, self.queries, QUERIES, 3, &options, stop_at_tenth,
                                                      &ignored, &error);
            /* The two threads share the tasks in different ways each time. */
            assert_int_equal(status, some.calls >= last ? SSTORE_STOPPED : SSTORE_OK);
            sstore_iterator *iterator;
            size_t count;
            some = (watcher){.last = 1};
            assert_ok(sstore_iterate_matches(store, self.queries, QUERIES, 3, &options, &iterator, &error), &error);
            assert_status(sstore_iterator_next(iterator, NULL, 1, &count, &error), SSTORE_STOPPED, &error);
            assert_status(sstore_iterator_next(iterator, NULL, 1, &count, &error), SSTORE_ERROR_ARGUMENT, &error);
            sstore_iterator_free(iterator);
        }
        sstore_close(store);
        tear_down(&self);
    }
    testing_done();
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_plans, testing_teardown),
        cmocka_unit_test_teardown(test_many_slices, testing_teardown),
        cmocka_unit_test_teardown(test_deep_slices, testing_teardown),
        cmocka_unit_test_teardown(test_too_many_matches, testing_teardown),
        cmocka_unit_test_teardown(test_many_ids, testing_teardown),
        cmocka_unit_test_teardown(test_stopping, testing_teardown),
        cmocka_unit_test_teardown(test_progress, testing_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

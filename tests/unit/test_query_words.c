/*
 * test_query_words.c - queries of fingerprints of any width: arguments that are refused, explanations, the work of
 * finding the nearest, at which rank a fingerprint is found, and that a plan is made once.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/words.h"
#include "read/cursor.h"
#include "read/row_search.h"
#include "sstore_statistics.h"
#include "store/lookup.h"
#include "support/random.h"
#include "support/scratch.h"
#include "support/use_store.h"
#include "support/widened.h"

#define RECORDS 200u
#define DISTANCE 3u

typedef struct opened {
    data_set set;
    sstore *store;
    sstore_cursor *cursor;
    uint64_t query[WIDENED_MAX_WORDS];
} opened;

static void set_up(opened *self, uint32_t words, sstore_strategy strategy)
{
    rng random = rng_seeded(run_seed);
    const char *path = scratch_path("words-%u", words);
    widened_words = words;
    data_make(&random, DATA_CLUSTERED, DATA_IDS, RECORDS, false, &self->set);
    scratch_remove(path);
    store_must_build(path, NULL, &self->set);
    self->store = store_must_open(path, SSTORE_IO_AUTO, strategy);
    self->cursor = store_must_cursor(self->store);
    memcpy(self->query, widened(&self->set.fingerprints[7], 1), words * sizeof self->query[0]);
    assert_int_equal(sstore_fingerprint_bits(self->store), 64 * words);
}

static void tear_down(opened *self)
{
    sstore_cursor_free(self->cursor);
    sstore_close(self->store);
    data_free(&self->set);
    widened_words = 1;
}

/* The work of whole queries. */
typedef struct work {
    size_t tables;
    uint64_t found;
    double probe_ns, full_scan_ns; /* of the only segment: each table has them */
    bool scanned;
} work;

static int add_work(void *context, const sstore_table_explanation *explanation)
{
    work *all = context;
    all->tables++;
    all->found += explanation->hit_count;
    all->scanned |= explanation->is_full_scan;
    if (all->tables == 1) {
        all->probe_ns = explanation->probe_ns;
        all->full_scan_ns = explanation->full_scan_ns;
    }
    return explanation->probe_ns == all->probe_ns && explanation->full_scan_ns == all->full_scan_ns &&
                   all->probe_ns > 0 && all->full_scan_ns > 0
               ? 0
               : 1;
}

static int count_table(void *context, const sstore_table_explanation *explanation)
{
    ++*(size_t *)context;
    return 0;
}

/* At the largest distance a full scan finds everything. Probes do not scan. Each table has the times of the segment. */
static void test_explained_scan(void **state)
{
    for (uint32_t words = 2; words <= WIDENED_MAX_WORDS; words++) {
        opened now;
        sstore_error error;
        sstore_statistics statistics;
        work all = {.tables = 0};
        set_up(&now, words, SSTORE_STRATEGY_FULL_SCAN);
        statistics.struct_size = sizeof statistics;
        assert_ok(sstore_stat(now.store, &statistics, &error), &error);
        assert_ok(sstore_explain(now.cursor, now.query, 64 * words, add_work, &all, &error), &error);
        assert_true(all.scanned && all.tables > words);
        assert_int_equal(all.found, statistics.distinct_count);
        all = (work){.tables = 0};
        sstore_cursor_free(now.cursor);
        sstore_close(now.store);
        now.store = store_must_open(scratch_path("words-%u", words), SSTORE_IO_AUTO, SSTORE_STRATEGY_PROBE);
        now.cursor = store_must_cursor(now.store);
        assert_ok(sstore_explain(now.cursor, now.query, DISTANCE, add_work, &all, &error), &error);
        assert_true(!all.scanned && all.found > 0);
        for (uint32_t distance = 0; distance <= 64 * words; distance += 16)
            assert_ok(sstore_explain(now.cursor, now.query, distance, count_table, &all.tables, &error), &error);
        tear_down(&now);
    }
}

#define MANY 3000u

/* Write records of 128 bits. */
static void write_rows(const char *path, uint64_t (*rows)[2], uint32_t block_bytes)
{
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    sstore_builder *builder;
    sstore_error error;
    options.fingerprint_bits = 128;
    options.distance = 7;
    options.block_bytes = block_bytes;
    options.force = true;
    assert_ok(sstore_builder_create(path, &options, &builder, &error), &error);
    assert_ok(sstore_builder_add(builder, rows[0], NULL, MANY, &error), &error);
    assert_ok(sstore_builder_finish(builder, NULL, &error), &error);
}

/* Random records, of which the last one is removed. */
static void write_many(rng *random, const char *path, uint64_t (*rows)[2])
{
    sstore_remover *remover;
    sstore_error error;
    for (size_t i = 0; i < MANY; i++)
        rows[i][0] = rng_next(random), rows[i][1] = rng_next(random);
    write_rows(path, rows, 1024);
    assert_ok(sstore_remover_create(path, NULL, &remover, &error), &error);
    assert_ok(sstore_remover_remove(remover, rows[MANY - 1], NULL, 1, &error), &error);
    assert_ok(sstore_remover_finish(remover, NULL, &error), &error);
}

static int compare_rows(const void *a, const void *b)
{
    return ss_words_compare(a, b, 2);
}

/* A fingerprint is found at its rank alone, and another one at none; as by the search that knows no rank. */
static void test_rank_of_fingerprint(void **state)
{
    rng random = rng_seeded(run_seed + 11);
    static uint64_t rows[MANY][2];
    sstore_error error;
    (void)state;
    testing_doing("ranks, seed %" PRIu64, run_seed);
    for (size_t i = 0; i < MANY; i++) { /* many have the same first word */
        rows[i][0] = rng_one_in(&random, 2) ? rng_below(&random, 9) << 60 : rng_next(&random);
        rows[i][1] = rng_next(&random);
    }
    write_rows(scratch_path("crowded"), rows, 256);
    qsort(rows, MANY, sizeof rows[0], compare_rows);
    sstore *store = store_must_open(scratch_path("crowded"), SSTORE_IO_MEMORY, SSTORE_STRATEGY_AUTO);
    const ss_segment *segment = store->segments[0];
    ss_block_slot slot = {.buffer = NULL};
    assert_int_equal(segment->metadata.distinct_count, MANY);
    for (uint64_t rank = 0; rank < MANY; rank++) {
        const uint64_t at[] = {rank, rank > 0 ? rank - 1 : rank + 1, rng_below(&random, MANY), rank};
        uint64_t row[2] = {rows[rank][0], rows[rank][1]}, found;
        bool is_found;
        for (uint32_t i = 0; i < 4; i++) {
            row[1] ^= i == 3; /* a fingerprint that the segment does not have */
            assert_ok(ss_find_row(segment, row, &slot, &found, &error), &error);
            assert_int_equal(found, i < 3 ? rank : SS_NO_RANK);
            assert_ok(ss_finds_row_at(segment, row, at[i], &slot, &is_found, &error), &error);
            assert_int_equal(is_found, found == at[i]);
        }
    }
    sstore_close(store);
    testing_done();
}

static int note_distance(void *context, const sstore_match *match)
{
    uint32_t *distance = context;
    *distance = match->distance;
    return 0;
}

/* Counts hits, and narrows the scan to nearer ones. */
typedef struct narrowing {
    uint32_t limit, count;
} narrowing;

static sstore_status narrow(void *context, const ss_hit *hit, sstore_error *error)
{
    narrowing *self = context;
    (void)error;
    assert_in_range(hit->distance, 1, self->limit);
    self->limit = hit->distance - 1;
    self->count++;
    return SSTORE_OK;
}

/* The nearest of random fingerprints are far, and nearly all fingerprints are within the distance: the work is that of
 * a few full scans, which report few of them. */
static void test_nearest_work(void **state)
{
    rng random = rng_seeded(run_seed + 10);
    const char *path = scratch_path("many");
    static uint64_t rows[MANY][2];
    sstore_error error;
    (void)state;
    testing_doing("the work of the nearest, seed %" PRIu64, run_seed);
    write_many(&random, path, rows);
    sstore *store = store_must_open(path, SSTORE_IO_AUTO, SSTORE_STRATEGY_AUTO);
    sstore_cursor *cursor = store_must_cursor(store);
    const uint64_t blocks = 2 * MANY * 16 / 1000;
    for (uint32_t i = 0; i < 20; i++) {
        const uint64_t query[2] = {i > 0 ? rng_next(&random) : rows[MANY - 1][0],
                                   i > 0 ? rng_next(&random) : rows[MANY - 1][1]};
        const uint64_t before = sstore_cursor_block_count(cursor);
        uint32_t distance = UINT32_MAX, wanted = UINT32_MAX;
        for (size_t j = 0; j + 1 < MANY; j++) {
            const uint32_t other = (uint32_t)(__builtin_popcountll(query[0] ^ rows[j][0]) +
                                              __builtin_popcountll(query[1] ^ rows[j][1]));
            wanted = other < wanted ? other : wanted;
        }
        assert_ok(store_nearest(cursor, query, 128, note_distance, &distance, &error), &error);
        assert_int_equal(distance, wanted);
        narrowing scan = {.limit = 128};
        ss_cursor_begin(cursor);
        if (i > 0) { /* the first query is the removed fingerprint itself */
            assert_ok(ss_row_search_scan(cursor, 0, query, &scan.limit, narrow, &scan, &error), &error);
            assert_in_range(scan.limit, 0, wanted - 1);
            assert_in_range(scan.count, 1, 40);
        }
        assert_in_range(sstore_cursor_block_count(cursor) - before, 1, 10 * blocks);
    }
    sstore_cursor_free(cursor);
    sstore_close(store);
    testing_done();
}

static void test_refused_arguments(void **state)
{
    for (uint32_t words = 1; words <= 2; words++) {
        opened now;
        matches found = {.count = 0};
        sstore_error error;
        const uint32_t max = 64 * words;
        size_t tables;
        set_up(&now, words, SSTORE_STRATEGY_PROBE);
        assert_status(sstore_query(NULL, now.query, 3, store_collect, &found, &error), SSTORE_ERROR_ARGUMENT, &error);
        assert_status(sstore_query(now.cursor, NULL, 3, store_collect, &found, &error), SSTORE_ERROR_ARGUMENT, &error);
        assert_status(sstore_query(now.cursor, now.query, 3, NULL, &found, &error), SSTORE_ERROR_ARGUMENT, &error);
        assert_status(sstore_query(now.cursor, now.query, max + 1, store_collect, &found, &error),
                      SSTORE_ERROR_ARGUMENT, &error);
        assert_status(store_nearest(now.cursor, now.query, max + 1, store_collect, &found, &error),
                      SSTORE_ERROR_ARGUMENT, &error);
        assert_status(sstore_explain(now.cursor, now.query, max + 1, count_table, &tables, &error),
                      SSTORE_ERROR_ARGUMENT, &error);
        tear_down(&now);
    }
}

/* ----- plans of queries ----- */

#define PLANNERS 4u

/* The plans of one thread, and the steps that they took. */
typedef struct planned {
    const sstore *store;
    uint64_t steps;
    double costs[SSTORE_MAX_DISTANCE * 2 + 1];
} planned;

static void *plan_each_distance(void *context)
{
    planned *self = context;
    sstore_cursor *cursor = store_must_cursor(self->store);
    const uint32_t words = sstore_fingerprint_bits(self->store) / 64;
    for (uint32_t distance = 0; distance <= SSTORE_MAX_DISTANCE * words; distance++) {
        ss_cursor_begin(cursor);
        const uint64_t before = cursor->planning.left;
        self->costs[distance] = ss_cursor_plan(cursor, 0, distance)->probe_cost;
        self->steps += before - cursor->planning.left;
    }
    sstore_cursor_free(cursor);
    return NULL;
}

/* A store keeps the radii for each distance: other cursors and threads take them without a step. */
static void test_plans_are_made_once(void **state)
{
    for (uint32_t words = 1; words <= 2; words++) {
        sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
        pthread_t threads[PLANNERS];
        planned all[PLANNERS + 1] = {{.steps = 0}};
        rng random = rng_seeded(run_seed);
        data_set set;
        widened_words = words;
        data_make(&random, DATA_UNIFORM, DATA_IDS, 4000, false, &set);
        options.plan = "16";
        options.distance = 12 * words + words - 1;
        options.fingerprint_bits = 64 * words;
        scratch_remove(scratch_path("planned"));
        store_must_build(scratch_path("planned"), &options, &set);
        sstore *store = store_must_open(scratch_path("planned"), SSTORE_IO_AUTO, SSTORE_STRATEGY_PROBE);
        testing_doing("%u words", words);
        for (uint32_t i = 0; i < PLANNERS; i++) {
            all[i].store = store;
            assert_int_equal(pthread_create(&threads[i], NULL, plan_each_distance, &all[i]), 0);
        }
        for (uint32_t i = 0; i < PLANNERS; i++)
            assert_int_equal(pthread_join(threads[i], NULL), 0);
        all[PLANNERS].store = store;
        (void)plan_each_distance(&all[PLANNERS]);
        assert_true(all[0].steps + all[1].steps + all[2].steps + all[3].steps > 0);
        assert_int_equal(all[PLANNERS].steps, 0);
        for (uint32_t i = 0; i < PLANNERS; i++)
            assert_memory_equal(all[i].costs, all[PLANNERS].costs, sizeof all[i].costs);
        sstore_close(store);
        data_free(&set);
        widened_words = 1;
    }
    testing_done();
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_explained_scan, testing_teardown),
        cmocka_unit_test_teardown(test_nearest_work, testing_teardown),
        cmocka_unit_test_teardown(test_rank_of_fingerprint, testing_teardown),
        cmocka_unit_test_teardown(test_refused_arguments, testing_teardown),
        cmocka_unit_test_teardown(test_plans_are_made_once, testing_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

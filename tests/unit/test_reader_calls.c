/* The calls that read, beyond right answers: wrong arguments are refused with a reason and leave nothing behind,
 * callbacks stop a call, and options that restrict a call are obeyed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "output/walk.h"
#include "sstore_statistics.h"
#include "store/store.h"
#include "support/data.h"
#include "support/scratch.h"
#include "support/testing.h"
#include "support/use_store.h"
#include "support/widened.h"

#define RECORDS 300u
#define RECIPE "test-recipe 1"

/* A store of two segments, opened. */
typedef struct fixture {
    data_set data;
    char path[256];
    sstore *store;
    sstore_cursor *cursor;
} fixture;

static void add_records(const char *path, const data_set *data, size_t first)
{
    sstore_error error;
    assert_ok(store_add(path, NULL, data->fingerprints + first, data->ids + first, data->count - first, NULL, &error),
              &error);
}

static int set_up(void **state)
{
    fixture *self = calloc(1, sizeof *self);
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    rng random = rng_seeded(1);
    assert_non_null(self);
    data_make(&random, DATA_CLUSTERED, DATA_IDS, RECORDS, false, &self->data);
    snprintf(self->path, sizeof self->path, "%s", scratch_path("reader"));
    data_set first = self->data;
    first.count = RECORDS / 2;
    options.block_bytes = 256;
    options.recipe = RECIPE;
    store_must_build(self->path, &options, &first);
    add_records(self->path, &self->data, RECORDS / 2);
    self->store = store_must_open(self->path, SSTORE_IO_PREAD, SSTORE_STRATEGY_AUTO);
    self->cursor = store_must_cursor(self->store);
    *state = self;
    return 0;
}

static int tear_down(void **state)
{
    fixture *self = *state;
    sstore_cursor_free(self->cursor);
    sstore_close(self->store);
    data_free(&self->data);
    scratch_remove(self->path);
    free(self);
    return 0;
}

/* ----- refused arguments ----- */

/* With an error to fill, and without. */
#define assert_refused(call, call_without_error)                                                                       \
    do {                                                                                                               \
        sstore_error refusal = {.status = SSTORE_OK};                                                                  \
        sstore_error *const error = &refusal;                                                                          \
        assert_status(call, SSTORE_ERROR_ARGUMENT, error);                                                             \
        assert_int_equal(call_without_error, SSTORE_ERROR_ARGUMENT);                                                   \
    } while (0)
#define REFUSED(function, ...) assert_refused(function(__VA_ARGS__, error), function(__VA_ARGS__, NULL))

static int never(void *context, const sstore_match *match)
{
    fail_msg("there is nothing to report");
    return 1;
}

static int never_a_table(void *context, const sstore_table_explanation *table)
{
    fail_msg("there is nothing to explain");
    return 1;
}

static int never_a_record(void *context, const uint64_t *fingerprint, uint64_t id)
{
    fail_msg("there is no record to report");
    return 1;
}

static void test_open_refuses(void **state)
{
    const fixture *self = *state;
    sstore_open_options options = SSTORE_OPEN_OPTIONS_INIT;
    sstore *store = self->store;
    REFUSED(sstore_open, NULL, NULL, &store);
    assert_null(store);
    REFUSED(sstore_open, self->path, NULL, NULL);
    store = self->store;
    REFUSED(sstore_reopen, NULL, &store);
    assert_null(store);
    REFUSED(sstore_reopen, self->store, NULL);
    options.io = (sstore_io)(SSTORE_IO_MEMORY + 1);
    store = self->store;
    REFUSED(sstore_open, self->path, &options, &store);
    assert_null(store);
    options.io = SSTORE_IO_PREAD;
    options.strategy = (sstore_strategy)(SSTORE_STRATEGY_FULL_SCAN + 1);
    REFUSED(sstore_open, self->path, &options, &store);
    options.strategy = SSTORE_STRATEGY_AUTO;
    for (size_t size = 0; size < sizeof options; size++) { /* as of no version of the header */
        options.struct_size = size;
        REFUSED(sstore_open, self->path, &options, &store);
    }
    struct {
        sstore_open_options options;
        uint8_t more[sizeof(sstore_open_options) + 1];
    } newer = {.options = SSTORE_OPEN_OPTIONS_INIT};
    for (size_t more = 1; more < sizeof newer.more; more++) { /* as of a later one */
        sstore_error error = {.status = SSTORE_OK};
        newer.options.struct_size = sizeof options + more;
        newer.more[more] = 1; /* after the struct */
        assert_ok(sstore_open(self->path, &newer.options, &store, &error), &error);
        sstore_close(store);
        newer.more[more] = 0;
        newer.more[more - 1] = 1; /* an unknown field that is set */
        assert_status(sstore_open(self->path, &newer.options, &store, &error), SSTORE_ERROR_UNSUPPORTED, &error);
        assert_null(store);
        newer.more[more - 1] = 0;
    }
    REFUSED(sstore_verify, NULL, NULL, NULL, NULL);
}

static void test_queries_refuse(void **state)
{
    const fixture *self = *state;
    const uint64_t query = self->data.fingerprints[0];
    const uint32_t too_far = SSTORE_MAX_DISTANCE + 1;
    const sstore_batch_options uncounted = {.struct_size = sizeof uncounted, .count_only = true};
    uint32_t distance;
    uint64_t count, id;
    const sstore_columns columns = {.struct_size = sizeof columns, .distance = &distance};
    const sstore_columns without = {.struct_size = sizeof without, .id = &id};
    sstore_cursor *cursor = self->cursor;
    REFUSED(sstore_cursor_create, NULL, &cursor);
    assert_null(cursor);
    REFUSED(sstore_cursor_create, self->store, NULL);
    REFUSED(sstore_query, NULL, &query, 3, never, NULL);
    REFUSED(sstore_query, self->cursor, NULL, 3, never, NULL);
    REFUSED(sstore_query, self->cursor, &query, 3, NULL, NULL);
    REFUSED(sstore_query, self->cursor, &query, too_far, never, NULL);
    REFUSED(sstore_query_nearest, NULL, &query, 3, &columns, 1, &count);
    REFUSED(sstore_query_nearest, self->cursor, NULL, 3, &columns, 1, &count);
    REFUSED(sstore_query_nearest, self->cursor, &query, 3, &columns, 1, NULL);
    REFUSED(sstore_query_nearest, self->cursor, &query, too_far, &columns, 1, &count);
    REFUSED(sstore_query_nearest, self->cursor, &query, 3, NULL, 1, &count);
    REFUSED(sstore_query_nearest, self->cursor, &query, 3, &without, 1, &count);
    REFUSED(walk_matches, NULL, &query, 1, 3, NULL, never, NULL);
    REFUSED(walk_matches, self->store, NULL, 1, 3, NULL, never, NULL);
    REFUSED(walk_matches, self->store, &query, 1, 3, &uncounted, never, NULL);
    REFUSED(walk_matches, self->store, &query, 1, too_far, NULL, never, NULL);
    REFUSED(sstore_explain, NULL, &query, 3, never_a_table, NULL);
    REFUSED(sstore_explain, self->cursor, &query, 3, NULL, NULL);
    REFUSED(sstore_explain, self->cursor, &query, too_far, never_a_table, NULL);
    REFUSED(walk_records, NULL, never_a_record, NULL);
    REFUSED(sstore_iterate_records, self->store, NULL);
    /* No queries are none to answer, wherever they are. */
    assert_ok(walk_matches(self->store, NULL, 0, 3, NULL, never, NULL, NULL), NULL);
}

static void test_stat_refuses(void **state)
{
    const fixture *self = *state;
    sstore_statistics facts = {.struct_size = sizeof facts};
    sstore_segment_statistics segment = {.struct_size = sizeof segment};
    sstore_word_statistics word = {.struct_size = sizeof word};
    sstore_table_statistics table = {.struct_size = sizeof table};
    assert_ok(sstore_stat(self->store, &facts, NULL), NULL);
    assert_int_equal(facts.segment_count, 2);
    REFUSED(sstore_stat, NULL, &facts);
    REFUSED(sstore_stat, self->store, NULL);
    REFUSED(sstore_stat_segment, NULL, 0, &segment);
    REFUSED(sstore_stat_segment, self->store, 0, NULL);
    REFUSED(sstore_stat_segment, self->store, facts.segment_count, &segment);
    REFUSED(sstore_stat_word, NULL, 0, 0, &word);
    REFUSED(sstore_stat_word, self->store, 0, 0, NULL);
    REFUSED(sstore_stat_word, self->store, facts.segment_count, 0, &word);
    REFUSED(sstore_stat_word, self->store, 0, facts.fingerprint_bits / 64, &word);
    REFUSED(sstore_stat_table, NULL, 0, 0, &table);
    REFUSED(sstore_stat_table, self->store, 0, 0, NULL);
    REFUSED(sstore_stat_table, self->store, facts.segment_count, 0, &table);
    REFUSED(sstore_stat_table, self->store, 0, facts.table_count, &table);
    facts.struct_size--;
    segment.struct_size = sizeof segment.struct_size;
    word.struct_size--;
    table.struct_size = 0;
    REFUSED(sstore_stat, self->store, &facts);
    REFUSED(sstore_stat_segment, self->store, 0, &segment);
    REFUSED(sstore_stat_word, self->store, 0, 0, &word);
    REFUSED(sstore_stat_table, self->store, 0, 0, &table);
}

static void test_stat_of_a_block_refuses(void **state)
{
    const fixture *self = *state;
    sstore_table_statistics table = {.struct_size = sizeof table};
    sstore_block_statistics block = {.struct_size = sizeof block};
    assert_ok(sstore_stat_table(self->store, 0, 0, &table, NULL), NULL);
    REFUSED(sstore_stat_block, NULL, 0, 0, 0, &block);
    REFUSED(sstore_stat_block, self->store, 0, 0, 0, NULL);
    REFUSED(sstore_stat_block, self->store, 2, 0, 0, &block);
    REFUSED(sstore_stat_block, self->store, 0, 64, 0, &block);
    REFUSED(sstore_stat_block, self->store, 0, 0, table.block_count, &block);
    assert_ok(sstore_stat_block(self->store, 0, 0, table.block_count - 1, &block, NULL), NULL);
    block.struct_size = 0;
    REFUSED(sstore_stat_block, self->store, 0, 0, 0, &block);
}

static void test_sample_refuses(void **state)
{
    const fixture *self = *state;
    uint64_t fingerprints[4];
    size_t count = 7;
    REFUSED(sstore_sample, NULL, 1, fingerprints, 4, &count);
    REFUSED(sstore_sample, self->store, 1, NULL, 4, &count);
    REFUSED(sstore_sample, self->store, 1, fingerprints, 4, NULL);
    assert_ok(sstore_sample(self->store, 1, NULL, 0, &count, NULL), NULL);
    assert_int_equal(count, 0);
}

/* ----- stopping ----- */

/* Stops at the `left`-th call. */
typedef struct stopper {
    uint32_t left, calls;
} stopper;

static int stop(stopper *self)
{
    self->calls++;
    return --self->left == 0 ? -1 : 0;
}

static int stop_at_match(void *context, const sstore_match *match)
{
    return stop(context);
}

static int stop_at_table(void *context, const sstore_table_explanation *table)
{
    return stop(context);
}

static int stop_at_record(void *context, const uint64_t *fingerprint, uint64_t id)
{
    return stop(context);
}

static int stop_at_problem(void *context, const sstore_error *problem)
{
    assert_int_equal(problem->status, SSTORE_ERROR_DAMAGED);
    return stop(context);
}

static void test_callbacks_stop(void **state)
{
    const fixture *self = *state;
    const uint64_t query = self->data.fingerprints[0];
    sstore_batch_options options = SSTORE_BATCH_OPTIONS_INIT;
    options.threads = 2;
    for (uint32_t at = 1; at <= 4; at++) {
        stopper match = {.left = at}, nearest = {.left = 1}, batch = {.left = at}, table = {.left = at},
                record = {.left = at};
        assert_int_equal(sstore_query(self->cursor, &query, SSTORE_MAX_DISTANCE, stop_at_match, &match, NULL),
                         SSTORE_STOPPED);
        assert_int_equal(store_nearest(self->cursor, &query, 3, stop_at_match, &nearest, NULL), SSTORE_STOPPED);
        assert_int_equal(walk_matches(self->store, &query, 1, SSTORE_MAX_DISTANCE, &options, stop_at_match, &batch,
                                      NULL),
                         SSTORE_STOPPED);
        assert_int_equal(sstore_explain(self->cursor, &query, 3, stop_at_table, &table, NULL), SSTORE_STOPPED);
        assert_int_equal(walk_records(self->store, stop_at_record, &record, NULL), SSTORE_STOPPED);
        assert_int_equal(match.calls, at);
        assert_int_equal(nearest.calls, 1);
        assert_int_equal(batch.calls, at);
        assert_int_equal(table.calls, at);
        assert_int_equal(record.calls, at);
    }
}

/* ----- filters ----- */

static uint64_t count_all(sstore_cursor *cursor, uint64_t fingerprint)
{
    sstore_error error = {.status = SSTORE_OK};
    uint64_t count;
    assert_ok(sstore_query_columns(cursor, &fingerprint, SSTORE_MAX_DISTANCE, NULL, 0, &count, &error), &error);
    return count;
}

/* A filter that is refused changes nothing; NULL takes it away; the excluded id is copied. */
static void test_filter(void **state)
{
    const fixture *self = *state;
    const uint64_t fingerprint = self->data.fingerprints[0], all = count_all(self->cursor, fingerprint);
    uint64_t excluded = self->data.ids[0];
    sstore_id_filter filter = SSTORE_ID_FILTER_INIT;
    sstore_error error = {.status = SSTORE_OK};
    filter.excluded_ids = &excluded;
    assert_ok(sstore_cursor_set_filter(self->cursor, &filter, &error), &error);
    excluded = UINT64_MAX;
    const uint64_t others = count_all(self->cursor, fingerprint);
    assert_true(others < all);
    filter.min_id = 2;
    filter.max_id = 1;
    assert_status(sstore_cursor_set_filter(self->cursor, &filter, &error), SSTORE_ERROR_ARGUMENT, &error);
    assert_int_equal(count_all(self->cursor, fingerprint), others);
    assert_ok(sstore_cursor_set_filter(self->cursor, NULL, &error), &error);
    assert_int_equal(count_all(self->cursor, fingerprint), all);
}

/* Without ids there is nothing to filter by. */
static void test_filter_without_ids(void **state)
{
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    const sstore_id_filter filter = SSTORE_ID_FILTER_INIT;
    sstore_batch_options batch = SSTORE_BATCH_OPTIONS_INIT;
    sstore_error error = {.status = SSTORE_OK};
    const fixture *self = *state;
    const char *path = scratch_path("no_ids");
    sstore_iterator *made;
    options.no_ids = true;
    store_must_build(path, &options, &self->data);
    sstore *store = store_must_open(path, SSTORE_IO_PREAD, SSTORE_STRATEGY_AUTO);
    sstore_cursor *cursor = store_must_cursor(store);
    batch.filter = &filter;
    assert_status(sstore_cursor_set_filter(cursor, &filter, &error), SSTORE_ERROR_ARGUMENT, &error);
    assert_status(sstore_iterate_matches(store, self->data.fingerprints, 1, 0, &batch, &made, &error),
                  SSTORE_ERROR_ARGUMENT, &error);
    assert_ok(sstore_cursor_set_filter(cursor, NULL, &error), &error);
    sstore_cursor_free(cursor);
    sstore_close(store);
    scratch_remove(path);
}

/* ----- stopping ----- */

static int stop_when_asked(void *context)
{
    return stop(context);
}

typedef sstore_status (*columns_fn)(sstore_cursor *cursor, const uint64_t *fingerprint, uint32_t distance,
                                    const sstore_columns *columns, size_t capacity, uint64_t *count_out,
                                    sstore_error *error);

/* A query ends when should_stop() says so, at whatever call, and not after it was taken away. */
static void check_should_stop(sstore_cursor *cursor, columns_fn query, uint64_t fingerprint, uint32_t distance)
{
    stopper all = {.left = UINT32_MAX};
    uint32_t distances[2];
    uint64_t count;
    const sstore_columns columns = {.struct_size = sizeof columns, .distance = distances};
    sstore_cursor_set_stop(cursor, stop_when_asked, &all);
    assert_int_equal(query(cursor, &fingerprint, distance, &columns, 2, &count, NULL), SSTORE_OK);
    assert_true(all.calls > 0);
    for (uint32_t at = 1; at <= all.calls; at++) {
        stopper some = {.left = at};
        sstore_cursor_set_stop(cursor, stop_when_asked, &some);
        assert_int_equal(query(cursor, &fingerprint, distance, &columns, 2, &count, NULL), SSTORE_STOPPED);
        assert_int_equal(some.calls, at);
    }
    sstore_cursor_set_stop(cursor, NULL, NULL);
    assert_int_equal(query(cursor, &fingerprint, distance, &columns, 2, &count, NULL), SSTORE_OK);
}

static void test_should_stop(void **state)
{
    const fixture *self = *state;
    sstore *scanning = store_must_open(self->path, SSTORE_IO_PREAD, SSTORE_STRATEGY_FULL_SCAN);
    sstore_cursor *cursor = store_must_cursor(scanning);
    for (uint32_t flips = 0; flips < 4; flips++) {
        const uint64_t fingerprint = self->data.fingerprints[0] ^ ((UINT64_C(1) << 9 * flips) - 1);
        check_should_stop(self->cursor, sstore_query_columns, fingerprint, 3);
        check_should_stop(cursor, sstore_query_columns, fingerprint, 3);
        check_should_stop(self->cursor, sstore_query_nearest, fingerprint, SSTORE_MAX_DISTANCE);
        check_should_stop(cursor, sstore_query_nearest, fingerprint, SSTORE_MAX_DISTANCE);
    }
    sstore_cursor_free(cursor);
    sstore_close(scanning);
}

static int add_blocks(void *context, const sstore_table_explanation *table)
{
    *(uint64_t *)context += table->block_count;
    return 0;
}

/* The blocks that a new cursor reads for a query without a match. */
static uint64_t blocks_of_query(const sstore *store, uint64_t query)
{
    sstore_cursor *cursor = store_must_cursor(store);
    sstore_error error;
    assert_int_equal(sstore_cursor_block_count(cursor), 0);
    assert_ok(sstore_query(cursor, &query, 3, never, NULL, &error), &error);
    const uint64_t count = sstore_cursor_block_count(cursor);
    sstore_cursor_free(cursor);
    return count;
}

/* A query without a match, a batch of one, and an explanation count the same blocks. All blocks of a table that a batch
 * passes over count. */
static void test_block_counts(void **state)
{
    const fixture *self = *state;
    sstore *scanning = store_must_open(self->path, SSTORE_IO_PREAD, SSTORE_STRATEGY_FULL_SCAN);
    sstore_batch_options options = SSTORE_BATCH_OPTIONS_INIT;
    sstore_segment_statistics segment = SSTORE_SEGMENT_STATISTICS_INIT;
    sstore_table_statistics table = SSTORE_TABLE_STATISTICS_INIT;
    sstore_error error;
    uint64_t queries[2] = {0}, explained = 0, batched = 0, passed = 0, all = 0, match_count = 1;
    for (uint64_t query = 1; match_count > 0; query++) {
        queries[0] = query * UINT64_C(0x9e3779b97f4a7c15);
        assert_ok(sstore_query_columns(self->cursor, &queries[0], 3, NULL, 0, &match_count, &error), &error);
    }
    const uint64_t expected = blocks_of_query(self->store, queries[0]);
    sstore_cursor *cursor = store_must_cursor(self->store);
    assert_ok(sstore_explain(cursor, &queries[0], 3, add_blocks, &explained, &error), &error);
    sstore_cursor_free(cursor);
    options.block_count = &batched;
    assert_ok(walk_matches(self->store, queries, 1, 3, &options, never, NULL, &error), &error);
    assert_true(expected > 0);
    assert_int_equal(explained, expected);
    assert_int_equal(batched, expected);

    queries[1] = queries[0];
    options.block_count = &passed;
    assert_ok(walk_matches(scanning, queries, 2, 3, &options, never, NULL, &error), &error);
    for (uint32_t i = 0; i < 2; i++) {
        assert_ok(sstore_stat_segment(scanning, i, &segment, &error), &error);
        assert_ok(sstore_stat_table(scanning, i, 0, &table, &error), &error);
        all += table.block_count;
    }
    assert_int_equal(passed, all);
    sstore_close(scanning);
}

static void test_is_newest(void **state)
{
    const fixture *self = *state;
    data_set more = self->data;
    more.count = 1;
    more.ids = (uint64_t[]){UINT64_C(1) << 40};
    assert_true(sstore_is_newest(self->store));
    add_records(self->path, &more, 0);
    assert_false(sstore_is_newest(self->store));
    sstore *newest;
    sstore_error error;
    assert_ok(sstore_reopen(self->store, &newest, &error), &error);
    assert_true(sstore_is_newest(newest));
    assert_false(sstore_is_newest(self->store));
    scratch_remove(self->path);
    assert_false(sstore_is_newest(newest));
    sstore_close(newest);
}

/* Damage the last byte of every file of that suffix; returns how many there are. */
static uint32_t damage_all(const char *path, const char *suffix)
{
    file_list files = file_list_make(path, suffix);
    const uint32_t count = (uint32_t)files.count;
    for (uint32_t i = 0; i < count; i++) {
        char name[4096];
        snprintf(name, sizeof name, "%s/%s", path, files.names[i]);
        file_bytes content = file_load(name);
        const uint8_t other = (uint8_t)~content.data[content.size - 1];
        file_patch(name, content.size - 1, &other, 1);
        file_bytes_free(&content);
    }
    file_list_free(&files);
    return count;
}

/* Each damaged file is reported, up to where the callback stops; stopped or not, the first damage is returned. */
static void check_verify_stops(const char *path, uint32_t min)
{
    sstore_error error, first;
    stopper all = {.left = UINT32_MAX};
    assert_int_equal(sstore_verify(path, NULL, stop_at_problem, &all, &first), SSTORE_ERROR_DAMAGED);
    assert_true(all.calls >= min);
    for (uint32_t at = 1; at <= all.calls; at++) {
        stopper some = {.left = at};
        assert_status(sstore_verify(path, NULL, stop_at_problem, &some, &error), SSTORE_ERROR_DAMAGED, &error);
        assert_int_equal(some.calls, at);
        assert_string_equal(error.message, first.message);
    }
    assert_int_equal(sstore_verify(path, NULL, NULL, NULL, NULL), SSTORE_ERROR_DAMAGED);
}

static void test_verify_stops(void **state)
{
    const fixture *self = *state;
    const uint32_t blocks = damage_all(self->path, ".blk");
    assert_true(blocks > 4);
    check_verify_stops(self->path, blocks);
    const uint32_t directories = damage_all(self->path, ".mdb"); /* now it cannot be opened */
    assert_int_equal(directories, 2);
    check_verify_stops(self->path, blocks + directories);
}

typedef struct progress_watch {
    double fraction;
    uint32_t calls, stop_at;
} progress_watch;

static int watch_progress(void *context, const sstore_progress *progress)
{
    progress_watch *watch = context;
    assert_string_equal(progress->phase, "verifying");
    assert_true(progress->done <= progress->total);
    assert_true(progress->fraction >= watch->fraction && progress->fraction <= 1);
    watch->fraction = progress->fraction;
    return ++watch->calls == watch->stop_at;
}

/* The progress of a check ends at 1. It can stop the check, which then tells nothing about the store. */
static void test_verify_progress(void **state)
{
    const fixture *self = *state;
    sstore_verify_options options = SSTORE_VERIFY_OPTIONS_INIT;
    progress_watch all = {.fraction = 0};
    sstore_error error = {.status = SSTORE_OK};
    options.on_progress = watch_progress;
    options.progress_context = &all;
    assert_ok(sstore_verify(self->path, &options, NULL, NULL, &error), &error);
    assert_true(all.fraction == 1);
    for (uint32_t at = 1; at <= all.calls; at++) {
        progress_watch some = {.stop_at = at};
        options.progress_context = &some;
        assert_status(sstore_verify(self->path, &options, NULL, NULL, &error), SSTORE_STOPPED, &error);
        assert_int_equal(some.calls, at);
    }
    damage_all(self->path, ".mdb"); /* now it cannot be opened */
    progress_watch damaged = {.stop_at = 3};
    options.progress_context = &damaged;
    assert_status(sstore_verify(self->path, &options, NULL, NULL, &error), SSTORE_STOPPED, &error);
    assert_int_equal(error.status, SSTORE_OK);
}

/* ----- restrictions ----- */

static void test_recipe(void **state)
{
    const fixture *self = *state;
    sstore_open_options options = SSTORE_OPEN_OPTIONS_INIT;
    sstore *store, *newest;
    sstore_error error;
    options.recipe = RECIPE;
    assert_ok(sstore_open(self->path, &options, &store, &error), &error);
    options.recipe = "test-recipe 2";
    assert_status(sstore_open(self->path, &options, &newest, &error), SSTORE_ERROR_RECIPE, &error);
    assert_null(newest);
    assert_non_null(strstr(error.message, RECIPE));
    assert_non_null(strstr(error.message, options.recipe));
    /* Another store in its place. */
    sstore_write_options build = SSTORE_WRITE_OPTIONS_INIT;
    build.force = true;
    build.recipe = options.recipe;
    store_must_build(self->path, &build, &self->data);
    assert_status(sstore_reopen(store, &newest, &error), SSTORE_ERROR_RECIPE, &error);
    assert_null(newest);
    sstore_close(store);
}

/* What a builder says of a recipe that it is told after `before` records; then it is finished, or aborted. */
static sstore_status tell_recipe(sstore_builder *builder, const char *recipe, uint64_t before, sstore_error *error)
{
    const uint64_t fingerprint = 5, id = 1000000;
    if (before > 0)
        assert_ok(sstore_builder_add(builder, &fingerprint, &id, 1, error), error);
    const sstore_status status = sstore_builder_set_recipe(builder, recipe, error);
    if (status != SSTORE_OK)
        sstore_builder_abort(builder);
    else
        assert_ok(sstore_builder_finish(builder, NULL, error), error);
    return status;
}

static void assert_recipe(const char *path, const char *wanted)
{
    sstore_statistics facts = {.struct_size = sizeof facts};
    sstore *store = store_must_open(path, SSTORE_IO_PREAD, SSTORE_STRATEGY_AUTO);
    assert_ok(sstore_stat(store, &facts, NULL), NULL);
    assert_string_equal(facts.recipe, wanted);
    sstore_close(store);
}

static void test_recipe_of_a_builder(void **state)
{
    const fixture *self = *state;
    const char *path = scratch_path("told");
    static char too_long[4098];
    sstore_write_options build = SSTORE_WRITE_OPTIONS_INIT;
    sstore_builder *builder;
    sstore_error error;
    memset(too_long, 'x', sizeof too_long - 1);
    build.force = true;
    for (uint64_t before = 0; before < 2; before++) { /* records; the recipe may come later */
        build.recipe = NULL;
        assert_ok(sstore_builder_create(path, &build, &builder, &error), &error);
        assert_int_equal(tell_recipe(builder, RECIPE, before, &error), SSTORE_OK);
        assert_recipe(path, RECIPE);
        /* The options, or an earlier call, said another one. */
        build.recipe = "of the options";
        assert_ok(sstore_builder_create(path, &build, &builder, &error), &error);
        assert_status(tell_recipe(builder, RECIPE, before, &error), SSTORE_ERROR_RECIPE, &error);
        assert_non_null(strstr(error.message, RECIPE));
        assert_non_null(strstr(error.message, build.recipe));
        build.recipe = NULL;
        assert_ok(sstore_builder_create(path, &build, &builder, &error), &error);
        assert_ok(sstore_builder_set_recipe(builder, "earlier", &error), &error);
        assert_ok(sstore_builder_set_recipe(builder, "earlier", &error), &error);
        assert_status(tell_recipe(builder, RECIPE, before, &error), SSTORE_ERROR_RECIPE, &error);
        assert_recipe(path, RECIPE);
    }
    /* A store that is added to keeps its own recipe. */
    assert_ok(sstore_builder_create_addition(self->path, &change_apart, &builder, &error), &error);
    assert_status(tell_recipe(builder, "another", 1, &error), SSTORE_ERROR_RECIPE, &error);
    assert_ok(sstore_builder_create_addition(self->path, &change_apart, &builder, &error), &error);
    assert_int_equal(tell_recipe(builder, RECIPE, 1, &error), SSTORE_OK);
    assert_recipe(self->path, RECIPE);
    /* One without a recipe takes any. */
    store_must_build(path, &build, &self->data);
    assert_ok(sstore_builder_create_addition(path, &change_apart, &builder, &error), &error);
    assert_int_equal(tell_recipe(builder, RECIPE, 1, &error), SSTORE_OK);
    assert_recipe(path, "");
    const char *const wrong[] = {"two\nlines", too_long, NULL};
    for (size_t i = 0; i < 3; i++) {
        assert_ok(sstore_builder_create(path, &build, &builder, &error), &error);
        assert_status(tell_recipe(builder, wrong[i], 0, &error), SSTORE_ERROR_ARGUMENT, &error);
    }
    assert_status(sstore_builder_set_recipe(NULL, RECIPE, &error), SSTORE_ERROR_ARGUMENT, &error);
    scratch_remove(path);
}

struct strikes {
    const data_set *expected;
    size_t *left;
};

/* Every record is one of those expected. */
static int strike_out(void *context, const uint64_t *fingerprint, uint64_t id)
{
    const struct strikes *self = context;
    for (size_t i = 0; i < self->expected->count; i++)
        if (self->expected->fingerprints[i] == *fingerprint && self->expected->ids[i] == id)
            return (void)--*self->left, 0;
    return 1;
}

/* Numbers that a builder leaves out, in a build and in an addition. */
static void test_skipped_ids(void **state)
{
    const fixture *self = *state;
    const char *path = scratch_path("skipped");
    const uint64_t skips[] = {3, 0, 70000}; /* before each of three calls */
    const size_t each = RECORDS / 3;
    sstore_write_options build = SSTORE_WRITE_OPTIONS_INIT;
    sstore_builder *builder;
    sstore_error error;
    build.first_id = 7;
    data_set expected = {.fingerprints = calloc(2 * RECORDS, sizeof(uint64_t)),
                         .ids = calloc(2 * RECORDS, sizeof(uint64_t))};
    uint64_t next = build.first_id;
    for (int adds = 0; adds < 2; adds++) {
        if (adds == 0)
            assert_ok(sstore_builder_create(path, &build, &builder, &error), &error);
        else
            assert_ok(sstore_builder_create_addition(path, NULL, &builder, &error), &error);
        for (size_t i = 0; i < 3; i++) {
            const uint64_t *from = self->data.fingerprints + each * i;
            assert_ok(sstore_builder_skip_ids(builder, skips[i], &error), &error);
            assert_ok(sstore_builder_add(builder, from, NULL, each, &error), &error);
            next += skips[i];
            for (size_t j = 0; j < each; j++) {
                expected.fingerprints[expected.count] = from[j];
                expected.ids[expected.count++] = next++;
            }
        }
        assert_ok(sstore_builder_finish(builder, NULL, &error), &error);
    }
    sstore *store = store_must_open(path, SSTORE_IO_PREAD, SSTORE_STRATEGY_AUTO);
    size_t left = expected.count;
    assert_ok(store_each_record(store, strike_out, &(struct strikes){&expected, &left}, &error), &error);
    assert_int_equal(left, 0);
    sstore_close(store);
    /* There must be an id left; a store without ids has none to leave out. */
    assert_ok(sstore_builder_create_addition(path, NULL, &builder, &error), &error);
    assert_status(sstore_builder_skip_ids(builder, UINT64_MAX, &error), SSTORE_ERROR_ARGUMENT, &error);
    sstore_builder_abort(builder);
    build = (sstore_write_options)SSTORE_WRITE_OPTIONS_INIT;
    build.force = build.no_ids = true;
    assert_ok(sstore_builder_create(path, &build, &builder, &error), &error);
    assert_ok(sstore_builder_skip_ids(builder, UINT64_MAX, &error), &error);
    sstore_builder_abort(builder);
    assert_status(sstore_builder_skip_ids(NULL, 1, &error), SSTORE_ERROR_ARGUMENT, &error);
    free(expected.fingerprints);
    free(expected.ids);
    scratch_remove(path);
}

static void test_max_memory(void **state)
{
    const fixture *self = *state;
    sstore_open_options options = SSTORE_OPEN_OPTIONS_INIT;
    sstore *store;
    sstore_error error;
    for (sstore_io io = SSTORE_IO_PREAD; io <= SSTORE_IO_MEMORY; io++) {
        sstore_statistics facts = {.struct_size = sizeof facts};
        options.io = io;
        options.max_memory_bytes = 0;
        assert_ok(sstore_open(self->path, &options, &store, &error), &error);
        assert_ok(sstore_stat(store, &facts, &error), &error);
        sstore_close(store);
        options.max_memory_bytes = facts.memory_bytes;
        assert_ok(sstore_open(self->path, &options, &store, &error), &error);
        sstore_close(store);
        options.max_memory_bytes--;
        assert_status(sstore_open(self->path, &options, &store, &error), SSTORE_ERROR_MEMORY, &error);
        assert_null(store);
    }
}

/* Mapped if the store fits into half of the memory. */
static void test_auto_mode(void **state)
{
    const char *path = scratch_path("larger");
    const sstore_write_options build = SSTORE_WRITE_OPTIONS_INIT;
    sstore_open_options options = SSTORE_OPEN_OPTIONS_INIT;
    data_set data;
    rng random = rng_seeded(1);
    sstore *store, *again;
    sstore_error error;
    data_make(&random, DATA_UNIFORM, DATA_ASSIGNED, 40000, false, &data);
    store_must_build(path, &build, &data);
    assert_int_equal(options.io, SSTORE_IO_AUTO);
    assert_ok(sstore_open(path, &options, &store, &error), &error);
    assert_int_equal(store->options.io, SSTORE_IO_MMAP);
    const uint64_t store_bytes = ss_manifest_total_bytes(&store->manifest);
    assert_in_range(store_bytes, 40000 * 20, 40000 * 40);
    assert_ok(sstore_reopen(store, &again, &error), &error);
    assert_int_equal(again->options.io, SSTORE_IO_MMAP);
    sstore_close(again);
    sstore_close(store);
    for (uint64_t less = 0; less < 2; less++) {
        options.max_memory_bytes = 2 * store_bytes - less;
        assert_ok(sstore_open(path, &options, &store, &error), &error);
        assert_int_equal(store->options.io, less == 0 ? SSTORE_IO_MMAP : SSTORE_IO_PREAD);
        sstore_close(store);
    }
    /* If the buffers of pread do not fit, but mapping does */
    sstore_statistics facts = {.struct_size = sizeof facts};
    options.io = SSTORE_IO_PREAD;
    options.max_memory_bytes = 0;
    assert_ok(sstore_open(path, &options, &store, &error), &error);
    assert_ok(sstore_stat(store, &facts, &error), &error);
    sstore_close(store);
    options.io = SSTORE_IO_AUTO;
    options.max_memory_bytes = facts.memory_bytes - 1;
    assert_ok(sstore_open(path, &options, &store, &error), &error);
    assert_int_equal(store->options.io, SSTORE_IO_MMAP);
    sstore_close(store);
    scratch_remove(path);
    data_free(&data);
}

/* In a separate process: whether the limit of address space counts. An emulator may ignore it. */
static bool limit_counts(const struct rlimit *space, uint64_t limit_before)
{
    struct rlimit now;
    if (setrlimit(RLIMIT_AS, space) != 0 || getrlimit(RLIMIT_AS, &now) != 0)
        return false;
    return now.rlim_cur != space->rlim_cur || ss_memory_limit() == ss_min_u64(limit_before, space->rlim_cur);
}

static void test_memory_limit(void **state)
{
    const uint64_t limit = ss_memory_limit(), min = UINT64_C(1) << 40;
    const struct rlimit space = {.rlim_cur = min / 1024, .rlim_max = min / 1024};
    assert_true(limit > (1 << 20) && limit <= (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE));
    if (testing_sanitized()) /* which takes terabytes of addresses */
        return;
    const pid_t child = fork();
    if (child == 0)
        _exit(limit_counts(&space, limit) ? 0 : 1);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* ----- what opening leaves to later calls ----- */

static uint32_t tables_ready_to_decode(const ss_segment *segment)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < segment->table_count; i++)
        count += atomic_load(&segment->tables[i].code.can_decode);
    for (uint32_t i = 0; i < segment->index_count; i++)
        count += tables_ready_to_decode(segment->indexes[i]);
    return count;
}

/* A table's code is made ready to decode when a query first reads one of its blocks. */
static void test_work_is_left_to_later_calls(void **state)
{
    const fixture *self = *state;
    sstore *scanning = store_must_open(self->path, SSTORE_IO_MMAP, SSTORE_STRATEGY_FULL_SCAN);
    sstore_cursor *cursor = store_must_cursor(scanning);
    uint64_t match_count;
    assert_int_equal(tables_ready_to_decode(scanning->segments[0]), 0);
    /* As in a child of a process that forked while a thread made a code ready. */
    atomic_store(&scanning->segments[0]->filler, (int)getpid() + 1);
    assert_ok(sstore_query_columns(cursor, &self->data.fingerprints[0], 3, NULL, 0, &match_count, NULL), NULL);
    assert_int_equal(tables_ready_to_decode(scanning->segments[0]), 1);
    assert_int_equal(atomic_load(&scanning->segments[0]->filler), 0);
    sstore_cursor_free(cursor);
    sstore_close(scanning);
}

/* Each word has its radius and the name of its plan, which a build takes for a store of 64 bits for this radius. */
static void check_words_plans(const char *path)
{
    sstore *store = store_must_open(path, SSTORE_IO_PREAD, SSTORE_STRATEGY_AUTO);
    const ss_segment *segment = store->segments[0];
    uint32_t table_count = 0;
    int32_t needs = 0;
    sstore_statistics facts = SSTORE_STATISTICS_INIT;
    sstore_word_statistics word = SSTORE_WORD_STATISTICS_INIT;
    assert_ok(sstore_stat(store, &facts, NULL), NULL);
    for (uint32_t i = 0; i < facts.fingerprint_bits / 64; i++) {
        const ss_manifest_segment *index = segment->index_count > 0 ? &segment->indexes[i]->metadata
                                                                    : &segment->metadata;
        ss_plan plan;
        assert_ok(sstore_stat_word(store, 0, i, &word, NULL), NULL);
        assert_ok(ss_plan_parse(word.plan, index->plan.distance, &plan, NULL), NULL);
        assert_true(ss_plan_same(&plan, &index->plan));
        assert_int_equal(word.table_count, plan.table_count);
        assert_int_equal(word.radius < 0 ? 0 : word.radius, plan.distance);
        table_count += word.table_count;
        needs += word.radius + 1;
    }
    assert_int_equal(table_count, facts.table_count);
    assert_int_equal(needs, facts.distance + 1);
    assert_status(sstore_stat_word(store, 0, facts.fingerprint_bits / 64, &word, NULL), SSTORE_ERROR_ARGUMENT, NULL);
    sstore_close(store);
}

static void test_plans_of_words(void **state)
{
    const fixture *self = *state;
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    for (uint32_t words = 1; words <= 3; words += 2) {
        char path[256];
        snprintf(path, sizeof path, "%s", scratch_path("planned"));
        options.distance = 9 * words;
        options.plan = "6c3";
        widened_words = words;
        store_must_build(path, &options, &self->data);
        widened_words = 1;
        check_words_plans(path);
        scratch_remove(path);
    }
}

/* ----- words ----- */

static void test_names_of_statuses(void **state)
{
    static const sstore_status all[] = {
        SSTORE_OK,
        SSTORE_STOPPED,
        SSTORE_ERROR_ARGUMENT,
        SSTORE_ERROR_MEMORY,
        SSTORE_ERROR_IO,
        SSTORE_ERROR_NOT_FOUND,
        SSTORE_ERROR_EXISTS,
        SSTORE_ERROR_BUSY,
        SSTORE_ERROR_DAMAGED,
        SSTORE_ERROR_UNSUPPORTED,
        SSTORE_ERROR_RECIPE,
    };
    const char *unknown = sstore_status_name((sstore_status)9999);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const char *name = sstore_status_name(all[i]);
        assert_int_not_equal(name[0], '\0');
        assert_string_not_equal(name, unknown);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(name, sstore_status_name(all[j]));
    }
    assert_string_equal(sstore_version(), SSTORE_VERSION_STRING);
}

/* Of a path that is too long for the error the end is shown. */
static void test_long_path(void **state)
{
    char path[2001] = "/nowhere";
    sstore_error error;
    sstore *store;
    for (size_t length = strlen(path); length < sizeof path - 1; length++)
        path[length] = length % 100 == 0 ? '/' : 'x';
    memcpy(path + sizeof path - 5, "/end", 5);
    assert_status(sstore_open(path, NULL, &store, &error), SSTORE_ERROR_NOT_FOUND, &error);
    assert_int_equal(strlen(error.file), sizeof error.file - 1);
    assert_int_equal(strncmp(error.file, "...", 3), 0);
    assert_string_equal(error.file + 3, path + strlen(path) - (sizeof error.file - 4));
    assert_int_equal(strncmp(error.message, error.file, strlen(error.file)), 0);
}

/* The folder's name may end with a slash. */
static void test_path_ends_with_a_slash(void **state)
{
    const fixture *self = *state;
    char path[300];
    sstore *store;
    sstore_error error;
    snprintf(path, sizeof path, "%s/", self->path);
    assert_ok(sstore_open(path, NULL, &store, &error), &error);
    sstore_close(store);
    assert_ok(sstore_verify(path, NULL, NULL, NULL, &error), &error);
}

static void check_all_found(const fixture *self, sstore_cursor *cursor)
{
    for (size_t i = 0; i < self->data.count; i++) {
        matches found = {.count = 0};
        sstore_error error;
        bool is_there = false;
        assert_ok(store_query(cursor, self->data.fingerprints[i], 0, &found, &error), &error);
        for (size_t j = 0; j < found.count; j++)
            is_there |= matches_get(&found, j).id == self->data.ids[i];
        assert_true(is_there);
        matches_free(&found);
    }
}

/* A store contains no path: it may be moved, also while it is open. */
static void test_moved_store(void **state)
{
    fixture *self = *state;
    char path[300];
    sstore_error error;
    snprintf(path, sizeof path, "%s-moved", self->path);
    assert_int_equal(rename(self->path, path), 0);
    check_all_found(self, self->cursor);
    for (int again = 0; again < 2; again++) {
        sstore *store = NULL;
        assert_ok(again ? sstore_reopen(self->store, &store, &error) : sstore_open(path, NULL, &store, &error), &error);
        sstore_cursor *cursor = store_must_cursor(store);
        check_all_found(self, cursor);
        sstore_cursor_free(cursor);
        sstore_close(store);
    }
    assert_ok(sstore_verify(path, NULL, NULL, NULL, &error), &error);
    add_records(path, &self->data, self->data.count - 1); /* the last one again */
    assert_ok(sstore_verify(path, NULL, NULL, NULL, &error), &error);
    assert_int_equal(rename(path, self->path), 0);
    assert_ok(sstore_verify(self->path, NULL, NULL, NULL, &error), &error);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_open_refuses, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_queries_refuse, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_stat_refuses, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_stat_of_a_block_refuses, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_sample_refuses, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_callbacks_stop, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_filter, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_filter_without_ids, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_should_stop, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_block_counts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_is_newest, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_verify_stops, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_verify_progress, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_recipe, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_recipe_of_a_builder, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_max_memory, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_auto_mode, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_memory_limit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_skipped_ids, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_work_is_left_to_later_calls, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_plans_of_words, set_up, tear_down),
        cmocka_unit_test(test_names_of_statuses),
        cmocka_unit_test(test_long_path),
        cmocka_unit_test_setup_teardown(test_path_ends_with_a_slash, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_moved_store, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

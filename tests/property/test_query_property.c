/*
 * test_query_property.c - random stores of 1 to 16 words must answer exactly like brute force: random data, plans,
 * block sizes, ways of reading and distances, and sizes at limits.
 *
 * A failing case prints its seed; SSTORE_TEST_SEED=<seed> SSTORE_TEST_CASES=1 runs that case first and alone.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output/walk.h"
#include "sstore_statistics.h"
#include "support/iterate.h"
#include "support/random.h"
#include "support/record_set.h"
#include "support/scratch.h"
#include "support/testing.h"
#include "support/use_store.h"

#ifdef NDEBUG
#define CASES 5000u
#else
#define CASES 300u /* without optimisation, or sanitized, each takes so much longer */
#endif
#define QUERIES_A_CASE 10
#define MAX_BATCH 24
#define LARGE_CASE 5000
#define SPILL_RECORDS 150000 /* 16 bytes each: well over the minimum memory of sorting */
#define MAX_BLOCK_FINGERPRINTS 65535
#define MAX_K 8
#define PLAN_BYTES 128
#define MAX_PROBES 3000
#define WIDE_ONE_IN 16 /* of the stores have several words */

/* The number of checked results so far. */
static struct {
    uint64_t stores, queries, nearest, batches, rebuilt, refused;
} compared;

typedef enum verdict { MUST_WORK, MUST_FAIL } verdict;

typedef struct test_case {
    rng random;
    data_set data;
    record_set truth;
    sstore_write_options options;
    char plan[PLAN_BYTES];
    const char *path;
} test_case;

/* ----- choosing ----- */

/* Sizes at which code goes wrong come up most. */
static size_t choose_count(rng *random)
{
    switch (rng_below(random, 8)) {
    case 0: return rng_below(random, 4);
    case 1: return rng_between(random, 60, 68); /* about one group */
    case 2: return rng_between(random, 1, 40);
    case 3:
    case 4: return rng_between(random, 1, 400);
    case 5: return rng_between(random, 1, LARGE_CASE);
    default: return rng_between(random, 1, 1500);
    }
}

/* Disjoint groups with radii below their widths: complete for k if and only if the sum of (radius + 1) is above k. */
static verdict choose_groups(rng *random, uint32_t k, char plan[PLAN_BYTES])
{
    uint32_t widths[6], radii[6] = {0}, left = 64, covered = 0;
    const uint32_t count = (uint32_t)rng_between(random, 1, 6);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t max = left - 4 * (count - 1 - i);
        widths[i] = i + 1 == count && rng_one_in(random, 2) ? left : (uint32_t)rng_between(random, 4, max);
        left -= widths[i];
    }
    /* Exactly enough, one too few, or random. */
    uint32_t flips = k + 1 > count ? k + 1 - count : 0;
    if (rng_one_in(random, 4))
        flips = (uint32_t)rng_below(random, MAX_K + 1);
    else if (flips > 0 && rng_one_in(random, 4))
        flips--;
    for (; flips > 0; flips--) {
        uint32_t i = (uint32_t)rng_below(random, count);
        if (radii[i] + 1 < widths[i])
            radii[i]++;
    }
    size_t length = 0;
    for (uint32_t i = 0; i < count; i++) {
        length += (size_t)snprintf(plan + length, PLAN_BYTES - length, "%s%" PRIu32 ":%" PRIu32, i == 0 ? "" : ",",
                                   widths[i], radii[i]);
        covered += radii[i] + 1;
    }
    return covered > k ? MUST_WORK : MUST_FAIL;
}

static verdict choose_plan(rng *random, uint32_t k, char plan[PLAN_BYTES])
{
    static const char *const named[] = {"20",  "16",  "10",  "4",   "3",   "2",   "1",
                                        "5c2", "6c3", "4c1", "3c1", "7c2", "8c1", "auto"};
    if (rng_one_in(random, 3))
        return choose_groups(random, k, plan);
    snprintf(plan, PLAN_BYTES, "%s", named[rng_below(random, sizeof named / sizeof *named)]);
    return MUST_WORK;
}

static fingerprint_form choose_form(rng *random)
{
    return rng_one_in(random, WIDE_ONE_IN) ? form_any(random, 2)
                                           : form_with(random, 1, (uint32_t)rng_below(random, MAX_K + 1));
}

static verdict choose_plan_of_words(rng *random, const fingerprint_form *form, char plan[PLAN_BYTES])
{
    static const char *const wide[] = {"auto", "auto", "22,21,21", "1"};
    if (form->words == 1)
        return choose_plan(random, form->distance, plan);
    snprintf(plan, PLAN_BYTES, "%s", wide[rng_below(random, sizeof wide / sizeof *wide)]);
    return MUST_WORK;
}

static uint32_t choose_distance(test_case *now, sstore_strategy strategy)
{
    rng *random = &now->random;
    const uint32_t k = now->options.distance, words = now->data.words;
    switch (rng_below(random, strategy == SSTORE_STRATEGY_PROBE ? 2 : 10)) {
    case 0: return (uint32_t)rng_below(random, k + 1);
    case 2:
    case 3: return (uint32_t)rng_below(random, 13 * words);
    case 4:
    case 5: return (uint32_t)rng_below(random, SSTORE_MAX_DISTANCE * words + 1);
    default: return k;
    }
}

static sstore_write_options choose_options(rng *random, uint32_t distance)
{
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    options.distance = distance;
    options.block_bytes = UINT32_C(256) << rng_below(random, 9);
    options.threads = (uint32_t)rng_between(random, 1, 4);
    options.memory_bytes = UINT64_C(1) << rng_between(random, 20, 24);
    return options;
}

/* ----- checking ----- */

static void check_statistics(const sstore *store, const test_case *now)
{
    sstore_error error = {.status = SSTORE_OK};
    sstore_statistics facts = {.struct_size = sizeof facts};
    assert_ok(sstore_stat(store, &facts, &error), &error);
    assert_int_equal(facts.record_count, now->truth.count);
    assert_int_equal(facts.distinct_count, record_set_count_distinct(&now->truth));
    assert_int_equal(facts.fingerprint_bits, 64 * now->data.words);
    assert_int_equal(facts.distance, now->options.distance);
    assert_int_equal(facts.has_ids, now->data.id_kind != DATA_NO_IDS);
    if (now->options.block_bytes != 0)
        assert_int_equal(facts.block_bytes, now->options.block_bytes);
}

/* A callback that stops after `left` matches. */
typedef struct stopper {
    matches seen;
    size_t left;
} stopper;

static int stop_after(void *context, const sstore_match *match)
{
    stopper *self = context;
    matches_add(&self->seen, match);
    return --self->left == 0 ? 7 : 0;
}

/* A call that queries with a callback, or into columns. */
typedef sstore_status callback_query(sstore_cursor *, const uint64_t *, uint32_t, sstore_match_fn, void *,
                                     sstore_error *);
typedef sstore_status column_query(sstore_cursor *, const uint64_t *, uint32_t, const sstore_columns *, size_t,
                                   uint64_t *, sstore_error *);

static void check_stopping(callback_query *call, sstore_cursor *cursor, const uint64_t *query, uint32_t distance,
                           const matches *wanted, size_t after)
{
    sstore_error error = {.status = SSTORE_OK};
    stopper self = {.seen = {.words = wanted->words}, .left = after};
    assert_status(call(cursor, query, distance, stop_after, &self, &error), SSTORE_STOPPED, &error);
    assert_int_equal(self.seen.count, after);
    matches_sort(&self.seen);
    assert_true(matches_within(&self.seen, wanted));
    matches_free(&self.seen);
}

/* Stop a batch, whose matches come in one order only. */
static void check_stopping_batch(const sstore *store, const uint64_t *queries, size_t count, uint32_t distance,
                                 uint32_t threads, const matches *wanted, size_t after)
{
    sstore_error error = {.status = SSTORE_OK};
    stopper self = {.seen = {.words = wanted->words}, .left = after};
    sstore_batch_options options = SSTORE_BATCH_OPTIONS_INIT;
    options.threads = threads;
    assert_status(walk_matches(store, queries, count, distance, &options, stop_after, &self, &error), SSTORE_STOPPED,
                  &error);
    const matches first = matches_part(wanted, 0, after);
    assert_true(matches_equal(&self.seen, &first));
    matches_free(&self.seen);
}

/* Matches as columns show them that lack some: sorted, with zeros in place of what is not there. */
static matches shown(const matches *list, const sstore_columns *columns)
{
    static const uint64_t zeros[SSTORE_MAX_WORDS];
    matches made = {.words = list->words};
    for (size_t i = 0; i < list->count; i++) {
        const sstore_match match = matches_get(list, i);
        matches_put(&made, &match.query_index, columns->distance != NULL ? match.distance : 0,
                    columns->fingerprint != NULL ? match.fingerprint : zeros, columns->id != NULL ? match.id : 0);
    }
    matches_sort(&made);
    return made;
}

static void *any_column(rng *random, size_t count, size_t size)
{
    void *made = rng_one_in(random, 4) ? NULL : calloc(count, size);
    return made;
}

/* The columns get the first matches by what they show, up to their capacity. All are counted, or only the nearest ones,
 * whose distance has to be shown. */
static void check_columns(bool nearest, sstore_cursor *cursor, rng *random, const uint64_t *query, uint32_t distance,
                          const matches *all)
{
    static const uint64_t zeros[SSTORE_MAX_WORDS];
    column_query *query_columns = nearest ? sstore_query_nearest : sstore_query_columns;
    const size_t small = nearest && rng_one_in(random, 2) ? 12 : all->count + 1;
    const size_t capacity = rng_one_in(random, 4) ? all->count + 2 : rng_below(random, small);
    const size_t words = all->words, size = words * sizeof *zeros;
    sstore_columns columns = SSTORE_COLUMNS_INIT;
    sstore_error error = {.status = SSTORE_OK};
    uint64_t count = UINT64_MAX;
    columns.query_index = any_column(random, capacity + 1, sizeof *columns.query_index);
    columns.fingerprint = any_column(random, capacity + 1, size);
    columns.id = any_column(random, capacity + 1, sizeof *columns.id);
    columns.distance = nearest ? calloc(capacity + 1, sizeof *columns.distance)
                               : any_column(random, capacity + 1, sizeof *columns.distance);
    matches wanted = shown(all, &columns);
    const bool without = !nearest && capacity == 0 && rng_one_in(random, 2);
    assert_ok(query_columns(cursor, query, distance, without ? NULL : &columns, capacity, &count, &error), &error);
    assert_int_equal(count, nearest && capacity < wanted.count ? capacity : wanted.count);
    for (size_t i = 0; i < capacity + 1; i++) {
        const bool is_there = i < capacity && i < wanted.count;
        const sstore_match match = is_there ? matches_get(&wanted, i) : (sstore_match){.fingerprint = zeros};
        assert_true(columns.query_index == NULL || columns.query_index[i] == 0);
        assert_true(columns.fingerprint == NULL ||
                    memcmp(columns.fingerprint + i * words, match.fingerprint, size) == 0);
        assert_true(columns.id == NULL || columns.id[i] == match.id);
        assert_true(columns.distance == NULL || columns.distance[i] == match.distance);
    }
    free(columns.query_index);
    free(columns.fingerprint);
    free(columns.id);
    free(columns.distance);
    matches_free(&wanted);
}

static void check_query(sstore_cursor *cursor, const record_set *truth, rng *random, const uint64_t *query,
                        uint32_t distance)
{
    sstore_error error = {.status = SSTORE_OK};
    matches got = {.words = truth->words}, again = got, wanted = got;
    record_set_query(truth, query, distance, 0, &wanted);
    assert_ok(sstore_query(cursor, query, distance, store_collect, &got, &error), &error);
    assert_ok(sstore_query(cursor, query, distance, store_collect, &again, &error), &error);
    assert_true(matches_equal(&again, &got)); /* unsorted: the order is part of the promise */
    check_columns(false, cursor, random, query, distance, &got);
    matches_sort(&got);
    assert_true(matches_equal(&got, &wanted));
    compared.queries++;
    if (wanted.count > 0 && rng_one_in(random, 4))
        check_stopping(sstore_query, cursor, query, distance, &wanted, rng_between(random, 1, wanted.count));
    matches_free(&got);
    matches_free(&again);
    matches_free(&wanted);
}

static void check_nearest(sstore_cursor *cursor, const record_set *truth, rng *random, const uint64_t *query,
                          uint32_t max_distance)
{
    sstore_error error = {.status = SSTORE_OK};
    matches got = {.words = truth->words}, wanted = got, all = got;
    record_set_nearest(truth, query, max_distance, &wanted);
    record_set_query(truth, query, max_distance, 0, &all);
    assert_ok(store_nearest(cursor, query, max_distance, store_collect, &got, &error), &error);
    check_columns(true, cursor, random, query, max_distance, &all);
    matches_sort(&got);
    assert_true(matches_equal(&got, &wanted));
    compared.nearest++;
    if (wanted.count > 0 && rng_one_in(random, 4))
        check_stopping(store_nearest, cursor, query, max_distance, &wanted, rng_between(random, 1, wanted.count));
    matches_free(&got);
    matches_free(&wanted);
    matches_free(&all);
}

/* The first matches of each query, whose others are not counted. */
static void check_limited_batch(const sstore *store, const record_set *truth, rng *random, const uint64_t *queries,
                                size_t count, uint32_t distance, uint32_t threads)
{
    const uint64_t limit = rng_between(random, 1, rng_one_in(random, 4) ? truth->count + 2 : 12);
    sstore_batch_options options = SSTORE_BATCH_OPTIONS_INIT;
    sstore_error error;
    matches wanted = {.words = truth->words}, got = wanted;
    options.limit = limit;
    options.threads = threads;
    options.memory_bytes = rng_one_in(random, 2) ? 1 : 0;
    for (size_t i = 0; i < count; i++) {
        matches all = {.words = truth->words};
        record_set_query(truth, queries + i * truth->words, distance, i, &all);
        for (size_t j = 0; j < all.count && j < limit; j++) {
            const sstore_match match = matches_get(&all, j);
            matches_put(&wanted, &match.query_index, match.distance, match.fingerprint, match.id);
        }
        matches_free(&all);
    }
    assert_ok(walk_matches(store, queries, count, distance, &options, store_collect, &got, &error), &error);
    assert_true(matches_equal(&got, &wanted));
    matches_free(&wanted);
    matches_free(&got);
}

static void check_batch(const sstore *store, const record_set *truth, rng *random, const uint64_t *queries,
                        size_t count, uint32_t distance, uint32_t threads)
{
    matches wanted = {.words = truth->words};
    for (size_t i = 0; i < count; i++)
        record_set_query(truth, queries + i * truth->words, distance, i, &wanted);
    check_limited_batch(store, truth, random, queries, count, distance, threads);
    check_limited_batch(store, truth, random, queries, count, 64 * truth->words, threads);
    iterate_matches(random, store, queries, count, distance, threads, &wanted);
    compared.batches++;
    if (wanted.count > 0 && rng_one_in(random, 4))
        check_stopping_batch(store, queries, count, distance, threads, &wanted, rng_between(random, 1, wanted.count));
    matches_free(&wanted);
}

/* How many probes a query at the store's own distance takes, up to a limit. */
static uint64_t count_probes(const sstore *store, uint64_t limit)
{
    sstore_error error = {.status = SSTORE_OK};
    sstore_statistics facts = {.struct_size = sizeof facts};
    assert_ok(sstore_stat(store, &facts, &error), &error);
    uint64_t probes = 0;
    for (uint32_t table = 0; table < facts.table_count; table++) {
        sstore_table_statistics part = {.struct_size = sizeof part};
        assert_ok(sstore_stat_table(store, 0, table, &part, &error), &error);
        uint64_t ways = 1; /* to choose `flips` of the prefix's bits */
        for (uint32_t flips = 0; flips <= part.radius && probes <= limit; flips++) {
            probes += ways;
            ways = ways * (part.prefix_bits - flips) / (flips + 1);
        }
    }
    return probes;
}

/* So few records would mostly be scanned: probing is demanded if it ends soon, and then at no distance above k. */
static sstore *open_somehow(test_case *now, sstore_io io, sstore_strategy *strategy_out)
{
    *strategy_out = rng_one_in(&now->random, 4) ? SSTORE_STRATEGY_FULL_SCAN : SSTORE_STRATEGY_PROBE;
    sstore *store = store_must_open(now->path, io, *strategy_out);
    if (*strategy_out != SSTORE_STRATEGY_PROBE || count_probes(store, MAX_PROBES) <= MAX_PROBES)
        return store;
    sstore_close(store);
    *strategy_out = SSTORE_STRATEGY_AUTO;
    return store_must_open(now->path, io, *strategy_out);
}

static void check_store(test_case *now, const char *text)
{
    static const char *const io_names[] = {"auto", "pread", "mmap", "memory"};
    static const char *const strategy_names[] = {"as it likes", "probing", "scanning"};
    rng *random = &now->random;
    const uint32_t words = now->truth.words;
    const sstore_io io = (sstore_io)rng_below(random, 4);
    sstore_strategy strategy;
    sstore *store = open_somehow(now, io, &strategy);
    sstore_cursor *cursor = store_must_cursor(store);
    uint64_t queries[MAX_BATCH * SSTORE_MAX_WORDS];
    check_statistics(store, now);
    testing_doing("%s: all records by %s", text, io_names[io]);
    iterate_records(random, store, now->truth.fingerprints, now->truth.ids, now->truth.count);
    for (size_t i = 0; i < QUERIES_A_CASE; i++) {
        const uint32_t distance = choose_distance(now, strategy);
        data_query_words(random, &now->data, distance, queries);
        testing_doing("%s: query %016" PRIx64 "... at %" PRIu32 " by %s, %s", text, *queries, distance, io_names[io],
                      strategy_names[strategy]);
        check_query(cursor, &now->truth, random, queries, distance);
        if (i % 2 == 0)
            check_nearest(cursor, &now->truth, random, queries, distance);
    }
    const size_t count = rng_below(random, MAX_BATCH + 1);
    const uint32_t distance = choose_distance(now, strategy), threads = (uint32_t)rng_between(random, 1, 4);
    for (size_t i = 0; i < count; i++)
        if (i > 0 && rng_one_in(random, 8))
            memcpy(queries + i * words, queries + (i - 1) * words, words * sizeof *queries);
        else
            data_query_words(random, &now->data, distance, queries + i * words);
    testing_doing("%s: batch of %zu at %" PRIu32 ", %" PRIu32 " threads, by %s, %s", text, count, distance, threads,
                  io_names[io], strategy_names[strategy]);
    check_batch(store, &now->truth, random, queries, count, distance, threads);
    sstore_cursor_free(cursor);
    sstore_close(store);

    sstore_error error = {.status = SSTORE_OK};
    testing_doing("%s: verify", text);
    assert_ok(sstore_verify(now->path, NULL, NULL, NULL, &error), &error);
    compared.stores++;
}

/* Another order, other memory, other threads: the same bytes. */
static void check_rebuild(test_case *now, const char *text)
{
    rng *random = &now->random;
    const char *path = scratch_path("again");
    sstore_write_options options = now->options;
    options.threads = now->options.threads % 4 + 1;
    options.memory_bytes = UINT64_C(1) << (options.memory_bytes > 1 << 20 ? 20 : 25);
    if (now->data.id_kind != DATA_ASSIGNED)
        data_shuffle(random, &now->data);
    sstore_error error = {.status = SSTORE_OK};
    testing_doing("%s: built again", text);
    assert_ok(store_build(path, &options, &now->data, rng_between(random, 1, now->data.count + 1), &error), &error);
    assert_true(folders_equal(now->path, path, ".blk"));
    compared.rebuilt++;
    scratch_remove(path);
}

/* ----- tests ----- */

/* Build; if the path is taken, first check that it is refused. */
static sstore_status build(test_case *now, sstore_error *error)
{
    rng *random = &now->random;
    const size_t piece = rng_one_in(random, 2) ? 0 : rng_between(random, 1, now->data.count + 1);
    if (!rng_one_in(random, 8))
        return store_build(now->path, &now->options, &now->data, piece, error);
    data_set other;
    data_make(random, DATA_UNIFORM, DATA_IDS, 100, false, &other);
    store_must_build(now->path, NULL, &other);
    assert_status(store_build(now->path, &now->options, &now->data, piece, error), SSTORE_ERROR_EXISTS, error);
    data_free(&other);
    now->options.force = true;
    sstore_status status = store_build(now->path, &now->options, &now->data, piece, error);
    now->options.force = false;
    return status;
}

/* A refused plan must leave nothing behind. Returns whether one was refused. */
static bool refuse_incomplete(test_case *now, const char *text)
{
    sstore_error error = {.status = SSTORE_OK};
    testing_doing("%s: an incomplete plan", text);
    assert_status(store_build(now->path, &now->options, &now->data, 0, &error), SSTORE_ERROR_ARGUMENT, &error);
    assert_false(scratch_exists(now->path));
    compared.refused++;
    return true;
}

static void run_case(uint64_t seed, uint64_t number)
{
    test_case now = {.path = scratch_path("case")};
    rng *random = &now.random;
    *random = rng_seeded(seed);
    const fingerprint_form form = choose_form(random);
    const data_ids ids = (data_ids)rng_below(random, DATA_IDS_COUNT);
    data_make_form(random, &form, ids, choose_count(random), rng_one_in(random, 2), &now.data);
    now.truth = record_set_of_data(&now.data);
    now.options = choose_options(random, form.distance);
    now.options.plan = now.plan;

    char text[640];
    verdict wanted;
    do {
        wanted = choose_plan_of_words(random, &form, now.plan);
        snprintf(text, sizeof text,
                 "case %" PRIu64 " (seed %" PRIu64 "): %zu records of %s; %s, plan %s, blocks of %" PRIu32
                 " bytes, %" PRIu32 " threads",
                 number, seed, now.data.count, form_text(&form), data_ids_name(ids), now.plan, now.options.block_bytes,
                 now.options.threads);
    } while (wanted == MUST_FAIL && refuse_incomplete(&now, text));

    sstore_error error = {.status = SSTORE_OK};
    testing_doing("%s: build", text);
    assert_ok(build(&now, &error), &error);
    check_store(&now, text);
    if (rng_one_in(random, 4))
        check_rebuild(&now, text);
    scratch_remove(now.path);
    record_set_free(&now.truth);
    data_free(&now.data);
}

static void test_random_stores(void **state)
{
    memset(&compared, 0, sizeof compared);
    const uint64_t cases = testing_number("SSTORE_TEST_CASES", testing_races() ? CASES / 3 : CASES);
    for (uint64_t i = 0; i < cases; i++)
        run_case(run_seed + i, i);
    testing_figure("against brute force: %" PRIu64 " cases of random k, plan, n, block size, threads: %" PRIu64
                   " stores, %" PRIu64 " queries, %" PRIu64 " nearest, %" PRIu64 " batches, 0 wrong; %" PRIu64
                   " built again alike, %" PRIu64 " incomplete plans refused",
                   cases, compared.stores, compared.queries, compared.nearest, compared.batches, compared.rebuilt,
                   compared.refused);
    testing_done();
}

/* Build the first `count` records of a set and check them; returns how many blocks table 0 has. */
static uint64_t check_first(const test_case *like, size_t count, const char *text)
{
    test_case now = *like;
    now.data.count = count;
    now.random = rng_seeded(count);
    now.truth = record_set_of_data(&now.data);
    sstore_error error = {.status = SSTORE_OK};
    testing_doing("%s: build of %zu", text, count);
    assert_ok(store_build(now.path, &now.options, &now.data, 0, &error), &error);
    check_store(&now, text);
    sstore *store = store_must_open(now.path, SSTORE_IO_PREAD, SSTORE_STRATEGY_AUTO);
    sstore_table_statistics part = {.struct_size = sizeof part};
    assert_ok(sstore_stat_table(store, 0, 0, &part, &error), &error);
    sstore_close(store);
    scratch_remove(now.path);
    record_set_free(&now.truth);
    return part.block_count;
}

/* The maximum number of records of one block of table 0, one fewer, and the first that need two. */
static void test_block_boundary(void **state)
{
    rng random = rng_seeded(run_seed);
    static const data_kind kinds[] = {DATA_UNIFORM, DATA_DENSE, DATA_SKEWED};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        test_case now = {.path = scratch_path("boundary"), .options = SSTORE_WRITE_OPTIONS_INIT};
        now.options.distance = 3;
        now.options.block_bytes = UINT32_C(256) << i;
        now.options.memory_bytes = 1 << 20;
        now.options.threads = 1;
        now.options.plan = "1";
        data_make(&random, kinds[i], DATA_IDS, 8192, false, &now.data);
        char text[64];
        snprintf(text, sizeof text, "block boundary, %s", data_kind_name(kinds[i]));
        size_t fits = 1, needs_more = now.data.count;
        while (needs_more - fits > 1) {
            size_t middle = fits + (needs_more - fits) / 2;
            if (check_first(&now, middle, text) == 1)
                fits = middle;
            else
                needs_more = middle;
        }
        assert_int_equal(check_first(&now, fits, text), 1);
        assert_int_equal(check_first(&now, needs_more, text), 2);
        data_free(&now.data);
    }
    testing_done();
}

/* Fingerprints so dense that a block is full by their count before it is by their bits. */
static void test_fullest_block(void **state)
{
    rng random = rng_seeded(run_seed);
    test_case now = {.path = scratch_path("fullest"), .options = SSTORE_WRITE_OPTIONS_INIT};
    now.options.distance = 3;
    now.options.block_bytes = 65536;
    now.options.memory_bytes = 1 << 24;
    now.options.plan = "1";
    data_make(&random, DATA_DENSE, DATA_NO_IDS, MAX_BLOCK_FINGERPRINTS + 2, false, &now.data);
    for (size_t count = MAX_BLOCK_FINGERPRINTS - 1; count <= MAX_BLOCK_FINGERPRINTS + 2; count++)
        check_first(&now, count, "fullest block");
    data_free(&now.data);
    testing_done();
}

/* Every named plan over the smallest sets of every kind. */
static void test_smallest_stores(void **state)
{
    static const char *const plans[] = {"20", "16", "10", "4", "3", "2", "1", "5c2", "24:1,20:0,20:0"};
    uint64_t seed = run_seed;
    for (size_t i = 0; i < sizeof plans / sizeof *plans * 3; i++) {
        test_case now = {.path = scratch_path("smallest"), .options = SSTORE_WRITE_OPTIONS_INIT};
        now.options.distance = 3;
        now.options.plan = plans[i / 3];
        now.options.memory_bytes = 1 << 20;
        now.options.threads = 1;
        now.random = rng_seeded(seed + i);
        const data_ids ids = (data_ids)(rng_below(&now.random, DATA_IDS_COUNT));
        data_make(&now.random, i % 2 == 0 ? DATA_EXTREMES : DATA_UNIFORM, ids, i % 3, false, &now.data);
        now.truth = record_set_of_data(&now.data);
        char text[96];
        snprintf(text, sizeof text, "%zu records, plan %s, %s", i % 3, now.options.plan, data_ids_name(ids));
        testing_doing("%s: build", text);
        store_must_build(now.path, &now.options, &now.data);
        check_store(&now, text);
        scratch_remove(now.path);
        record_set_free(&now.truth);
        data_free(&now.data);
    }
    testing_done();
}

/* More records than the memory takes: sorted runs are spilled and merged, without any visible effect. */
static void test_spilled_runs(void **state)
{
    test_case now = {.path = scratch_path("spilled"), .options = SSTORE_WRITE_OPTIONS_INIT};
    now.options.distance = 3;
    now.random = rng_seeded(run_seed);
    data_make(&now.random, DATA_CLUSTERED, DATA_IDS, SPILL_RECORDS, true, &now.data);
    now.truth = record_set_of_data(&now.data);
    now.options.memory_bytes = 1 << 20;
    now.options.threads = 2;
    now.options.plan = "3";
    const char *runs = scratch_path("runs");
    assert_int_equal(mkdir(runs, 0777), 0);
    now.options.tmp_dir = runs;
    sstore_error error = {.status = SSTORE_OK};
    testing_doing("spilled runs: build");
    assert_ok(store_build(now.path, &now.options, &now.data, 777, &error), &error);
    check_store(&now, "spilled runs");
    assert_int_equal(rmdir(runs), 0); /* nothing is left in it */
    now.options.tmp_dir = NULL;
    const char *path = scratch_path("unspilled");
    data_shuffle(&now.random, &now.data);
    now.options.memory_bytes = 1 << 28;
    now.options.threads = 1;
    testing_doing("spilled runs: built again in memory");
    assert_ok(store_build(path, &now.options, &now.data, 0, &error), &error);
    assert_true(folders_equal(now.path, path, ".blk"));
    scratch_remove(now.path);
    scratch_remove(path);
    record_set_free(&now.truth);
    data_free(&now.data);
    testing_done();
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_smallest_stores, testing_teardown),
        cmocka_unit_test_teardown(test_random_stores, testing_teardown),
        cmocka_unit_test_teardown(test_block_boundary, testing_teardown),
        cmocka_unit_test_teardown(test_fullest_block, testing_teardown),
        cmocka_unit_test_teardown(test_spilled_runs, testing_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

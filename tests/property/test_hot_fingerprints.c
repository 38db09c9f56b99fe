/*
 * test_hot_fingerprints.c - queries with a limit, counts, and filters of ids, in stores where a few fingerprints have
 * most records: like brute force at every width, with several segments that add and remove, in every read mode; and how
 * many blocks they read.
 *
 * A failing case prints its seed; SSTORE_TEST_SEED=<seed> SSTORE_TEST_CASES=1 runs that case first and alone.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/walk.h"
#include "support/record_set.h"
#include "support/scratch.h"
#include "support/step_count.h"
#include "support/testing.h"
#include "support/use_store.h"

#define CASES (testing_slow() ? 12u : 60u)
#define MAX_FINGERPRINTS 24u
#define IDS 9000u /* more than a round of little memory may have, which is 4,096 matches */
#define QUERIES 6u

/* ----- a case ----- */

typedef struct test_case {
    rng random;
    char path[512];
    uint32_t words, distance;
    bool has_ids;
    record_set fingerprints; /* distinct, sorted */
    record_set truth, change;
    bool filters; /* the queries have this filter */
    sstore_id_filter filter;
    uint64_t excluded[QUERIES]; /* an id for each query, if the filter has excluded ids */
} test_case;

static void make_fingerprints(test_case *self)
{
    record_set *made = &self->fingerprints;
    const size_t count = rng_between(&self->random, 1, MAX_FINGERPRINTS - 1);
    while (made->count < count) {
        uint64_t words[SSTORE_MAX_WORDS] = {0};
        if (made->count > 0 && !rng_one_in(&self->random, 4)) {
            memcpy(words, record_set_at(made, rng_below(&self->random, made->count)), self->words * sizeof *words);
            words[rng_below(&self->random, self->words)] ^= UINT64_C(1) << rng_below(&self->random, 64);
        } else {
            for (uint32_t i = 0; i < self->words; i++)
                words[i] = rng_one_in(&self->random, 3) ? 0 : rng_next(&self->random);
        }
        record_set_put(made, words, 0);
    }
    record_set_sort(made);
    record_set_unique(made);
}

static void begin_case(test_case *self, uint64_t seed)
{
    static const uint32_t widths[] = {1, 1, 1, 2, 3, 4, 16};
    memset(self, 0, sizeof *self);
    self->random = rng_seeded(seed);
    self->words = widths[rng_below(&self->random, sizeof widths / sizeof *widths)];
    self->distance = (uint32_t)rng_below(&self->random, 4 * self->words);
    self->has_ids = !rng_one_in(&self->random, 8);
    self->fingerprints = record_set_new(self->words);
    self->truth = record_set_new(self->words);
    self->change = record_set_new(self->words);
    make_fingerprints(self);
    snprintf(self->path, sizeof self->path, "%s/hot.store", scratch_folder());
    testing_doing("case of seed %" PRIu64 ": %u words, %zu fingerprints, %s ids", seed, self->words,
                  self->fingerprints.count, self->has_ids ? "with" : "without");
}

static void end_case(test_case *self)
{
    record_set_free(&self->fingerprints);
    record_set_free(&self->truth);
    record_set_free(&self->change);
}

/* ----- changes ----- */

/* Choose records: a range of ids of a hot fingerprint, perhaps with gaps, and a few of others. */
static void choose_change(test_case *self, bool there_only)
{
    const record_set *from = &self->fingerprints;
    const uint64_t *hot = record_set_at(from, rng_below(&self->random, from->count));
    const uint64_t length = rng_one_in(&self->random, 3) ? rng_below(&self->random, IDS)
                                                         : rng_below(&self->random, 300);
    const uint64_t first = rng_below(&self->random, IDS - length), step = rng_between(&self->random, 1, 3);
    self->change.count = 0;
    for (uint64_t id = first; self->has_ids && id < first + length; id += step)
        if (!there_only || record_set_has(&self->truth, hot, id))
            record_set_put(&self->change, hot, id);
    for (uint64_t i = rng_between(&self->random, 1, 60); i > 0; i--) {
        const uint64_t *other = record_set_at(from, rng_below(&self->random, from->count));
        record_set_put(&self->change, other,
                       self->has_ids ? rng_below(&self->random, rng_one_in(&self->random, 2) ? IDS : 5) : 0);
    }
}

static void note_addition(test_case *self)
{
    record_set_append(&self->truth, &self->change, 0, self->change.count);
    record_set_sort(&self->truth);
    record_set_unique(&self->truth);
}

static void note_removal(test_case *self)
{
    record_set kept = record_set_new(self->words);
    record_set_sort(&self->change);
    for (size_t i = 0; i < self->truth.count; i++)
        if (!record_set_has(&self->change, record_set_at(&self->truth, i), self->truth.ids[i]))
            record_set_append(&kept, &self->truth, i, i + 1);
    record_set_free(&self->truth);
    self->truth = kept;
}

static void build(test_case *self)
{
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    sstore_builder *builder;
    sstore_error error;
    options.fingerprint_bits = 64 * self->words;
    options.distance = self->distance;
    options.block_bytes = 256u << rng_below(&self->random, 4);
    options.no_ids = !self->has_ids;
    options.force = true;
    assert_ok(sstore_builder_create(self->path, &options, &builder, &error), &error);
    choose_change(self, false);
    assert_ok(sstore_builder_add(builder, self->change.fingerprints, self->has_ids ? self->change.ids : NULL,
                                 self->change.count, &error),
              &error);
    assert_ok(sstore_builder_finish(builder, NULL, &error), &error);
    note_addition(self);
}

static void add(test_case *self)
{
    sstore_builder *builder;
    sstore_error error;
    choose_change(self, false);
    assert_ok(sstore_builder_create_addition(self->path, NULL, &builder, &error), &error);
    assert_ok(sstore_builder_add(builder, self->change.fingerprints, self->has_ids ? self->change.ids : NULL,
                                 self->change.count, &error),
              &error);
    assert_ok(sstore_builder_finish(builder, NULL, &error), &error);
    note_addition(self);
}

static void remove_some(test_case *self)
{
    sstore_remover *remover;
    sstore_error error;
    choose_change(self, rng_one_in(&self->random, 2));
    assert_ok(sstore_remover_create(self->path, NULL, &remover, &error), &error);
    assert_ok(sstore_remover_remove(remover, self->change.fingerprints, self->change.ids, self->change.count, &error),
              &error);
    assert_ok(sstore_remover_finish(remover, NULL, &error), &error);
    note_removal(self);
}

/* ----- comparisons ----- */

/* Choose which records queries may find: all of them, or those of some ids. */
static void choose_filter(test_case *self)
{
    const uint64_t first = rng_below(&self->random, IDS);
    self->filter = (sstore_id_filter)SSTORE_ID_FILTER_INIT;
    self->filters = self->has_ids && rng_one_in(&self->random, 2);
    if (!rng_one_in(&self->random, 4))
        self->filter.min_id = first;
    if (!rng_one_in(&self->random, 4))
        self->filter.max_id = first + rng_below(&self->random, rng_one_in(&self->random, 3) ? IDS : 100);
    if (self->filter.min_id > self->filter.max_id)
        self->filter.min_id = 0;
    if (rng_one_in(&self->random, 2))
        self->filter.excluded_ids = self->excluded;
    for (size_t i = 0; i < QUERIES; i++)
        self->excluded[i] = self->filter.min_id + rng_below(&self->random, rng_one_in(&self->random, 3) ? IDS : 4);
}

static bool passes(const test_case *self, size_t query, uint64_t id)
{
    const sstore_id_filter *filter = &self->filter;
    return !self->filters || (id >= filter->min_id && id <= filter->max_id &&
                              (filter->excluded_ids == NULL || id != filter->excluded_ids[query]));
}

/* The matches that query `number` must find, in their order. */
static matches search_all(const test_case *self, size_t number, const uint64_t *query, uint32_t distance)
{
    matches all = {.words = self->words}, found = all;
    record_set_query(&self->truth, query, distance, 0, &all);
    for (size_t i = 0; i < all.count; i++) {
        const sstore_match match = matches_get(&all, i);
        if (passes(self, number, match.id))
            matches_add(&found, &match);
    }
    matches_free(&all);
    return found;
}

static void assert_match(const sstore_match *got, const matches *wanted, size_t index)
{
    assert_true(index < wanted->count);
    const sstore_match right = matches_get(wanted, index);
    assert_int_equal(got->id, right.id);
    assert_int_equal(got->distance, right.distance);
    assert_memory_equal(got->fingerprint, right.fingerprint, wanted->words * sizeof *right.fingerprint);
}

typedef struct question {
    uint64_t words[SSTORE_MAX_WORDS];
    uint32_t distance;
    uint64_t limit;
} question;

static question choose_question(test_case *self)
{
    question asked = {.distance = 0};
    const uint32_t max = 64 * self->words;
    memcpy(asked.words, record_set_at(&self->fingerprints, rng_below(&self->random, self->fingerprints.count)),
           self->words * sizeof *asked.words);
    for (uint64_t flips = rng_below(&self->random, 3); flips > 0; flips--)
        asked.words[rng_below(&self->random, self->words)] ^= UINT64_C(1) << rng_below(&self->random, 64);
    asked.distance = (uint32_t)rng_below(&self->random, rng_one_in(&self->random, 4) ? max + 1 : 4);
    return asked;
}

/* Up to a little more than all matches. */
static uint64_t choose_limit(test_case *self, uint64_t count)
{
    return rng_below(&self->random, rng_one_in(&self->random, 2) ? 4 : count + 3);
}

/* Report all matches, in any order. */
static void compare_query(const test_case *self, sstore_cursor *cursor, const question *asked)
{
    matches wanted = search_all(self, 0, asked->words, asked->distance), got = {.words = self->words};
    sstore_error error;
    assert_ok(sstore_query(cursor, asked->words, asked->distance, store_collect, &got, &error), &error);
    matches_sort(&got);
    assert_true(matches_equal(&got, &wanted));
    matches_free(&got);
    matches_free(&wanted);
}

/* Fill the columns that are wanted; the matches are ordered by these. The nearest ones are ordered by all, and those
 * without room are not counted. */
static void compare_columns(test_case *self, sstore_cursor *cursor, const question *asked)
{
    const bool nearest = rng_one_in(&self->random, 3);
    matches wanted = search_all(self, 0, asked->words, asked->distance), by_id = {.words = self->words};
    const uint64_t none[SSTORE_MAX_WORDS] = {0};
    const uint64_t capacity = choose_limit(self, wanted.count),
                   filled = capacity < wanted.count ? capacity : wanted.count;
    uint64_t *fingerprints = calloc(capacity + 1, self->words * sizeof *fingerprints),
             *ids = calloc(capacity + 1, sizeof *ids), count;
    uint32_t *distances = calloc(capacity + 1, sizeof *distances);
    const bool all = nearest || !rng_one_in(&self->random, 4); /* otherwise the ids alone */
    const sstore_columns to = {.struct_size = sizeof to,
                               .fingerprint = all ? fingerprints : NULL,
                               .id = ids,
                               .distance = all ? distances : NULL};
    sstore_error error;
    assert_ok((nearest ? sstore_query_nearest : sstore_query_columns)(cursor, asked->words, asked->distance, &to,
                                                                      capacity, &count, &error),
              &error);
    assert_int_equal(count, nearest ? filled : wanted.count);
    for (uint64_t i = 0; i < wanted.count; i++)
        matches_put(&by_id, none, 0, none, matches_get(&wanted, i).id);
    matches_sort(&by_id);
    for (uint64_t i = 0; i < filled; i++) {
        const sstore_match got = {.fingerprint = fingerprints + i * self->words,
                                  .id = ids[i],
                                  .distance = distances[i]};
        assert_match(&got, all ? &wanted : &by_id, i);
    }
    assert_int_equal(ids[filled], 0);
    assert_ok(sstore_query_columns(cursor, asked->words, asked->distance, NULL, 0, &count, &error), &error);
    assert_int_equal(count, wanted.count);
    free(fingerprints);
    free(ids);
    free(distances);
    matches_free(&wanted);
    matches_free(&by_id);
}

/* The destination of a batch's matches. */
typedef struct batch_check {
    matches wanted[QUERIES];
    uint64_t seen[QUERIES], limit;
    const uint64_t *counts;
} batch_check;

static int check_match(void *context, const sstore_match *match)
{
    batch_check *self = context;
    const uint64_t query = match->query_index;
    assert_true(query < QUERIES);
    const uint64_t at = self->seen[query]++;
    assert_match(match, &self->wanted[query], at);
    for (uint64_t later = query + 1; later < QUERIES; later++)
        assert_int_equal(self->seen[later], 0);
    if (self->counts != NULL)
        assert_int_equal(self->counts[query], self->wanted[query].count);
    return 0;
}

static void compare_batch(test_case *self, const sstore *store)
{
    uint64_t queries[QUERIES * SSTORE_MAX_WORDS], counts[QUERIES], most = 0;
    const size_t count = rng_one_in(&self->random, 3) ? 1 : QUERIES;
    const bool only_count = rng_one_in(&self->random, 4), counted = only_count || rng_one_in(&self->random, 2);
    sstore_batch_options options = SSTORE_BATCH_OPTIONS_INIT;
    sstore_error error;
    batch_check check = {.counts = NULL};
    const uint32_t distance = choose_question(self).distance;
    for (size_t i = 0; i < count; i++) {
        const question asked = choose_question(self);
        memcpy(queries + i * self->words, asked.words, self->words * sizeof *queries);
        check.wanted[i] = search_all(self, i, asked.words, distance);
        most = check.wanted[i].count > most ? check.wanted[i].count : most;
    }
    options.threads = (uint32_t)rng_between(&self->random, 1, 3);
    options.limit = rng_one_in(&self->random, 4) ? 0 : choose_limit(self, most);
    options.memory_bytes = rng_one_in(&self->random, 2) ? 1 : 0;
    options.match_counts = counted ? counts : NULL;
    options.count_only = only_count;
    options.filter = self->filters ? &self->filter : NULL;
    check.limit = options.limit == 0 ? UINT64_MAX : options.limit;
    check.counts = options.match_counts;
    assert_ok(walk_matches(store, queries, count, distance, &options, check_match, &check, &error), &error);
    for (size_t i = 0; i < count; i++) {
        const uint64_t all = check.wanted[i].count;
        assert_true(only_count || check.seen[i] == (all < check.limit ? all : check.limit));
        assert_true(!counted || counts[i] == all);
        matches_free(&check.wanted[i]);
    }
}

static void compare(test_case *self)
{
    sstore_open_options options = SSTORE_OPEN_OPTIONS_INIT;
    sstore *store;
    sstore_cursor *cursor;
    sstore_error error;
    options.io = (sstore_io)rng_below(&self->random, 4);
    options.strategy = (sstore_strategy)rng_below(&self->random, 3);
    assert_ok(sstore_open(self->path, &options, &store, &error), &error);
    assert_ok(sstore_cursor_create(store, &cursor, &error), &error);
    choose_filter(self);
    assert_ok(sstore_cursor_set_filter(cursor, self->filters ? &self->filter : NULL, &error), &error);
    for (uint32_t i = 0; i < QUERIES; i++) {
        const question asked = choose_question(self);
        compare_columns(self, cursor, &asked);
        compare_query(self, cursor, &asked);
    }
    compare_batch(self, store);
    compare_batch(self, store);
    self->filters = false;
    sstore_cursor_free(cursor);
    sstore_close(store);
}

/* ----- deduplication ----- */

typedef struct dedup_check {
    const test_case *tested;
    uint64_t limit, answered;
    uint32_t distance;
} dedup_check;

/* No given record is new: each is a fingerprint of the store. */
static int check_answer(void *context, const sstore_dedup_answer *answer)
{
    dedup_check *self = context;
    matches wanted = search_all(self->tested, 0, answer->fingerprint, self->distance);
    const uint64_t listed = wanted.count < self->limit ? wanted.count : self->limit;
    assert_false(answer->is_new);
    assert_int_equal(answer->match_count, wanted.count);
    assert_int_equal(answer->listed_count, listed);
    for (uint64_t i = 0; i < listed; i++)
        assert_match(&answer->listed[i], &wanted, i);
    self->answered++;
    matches_free(&wanted);
    return 0;
}

static void compare_dedup(test_case *self)
{
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    dedup_check check = {.tested = self, .limit = rng_one_in(&self->random, 4) ? 0 : rng_between(&self->random, 1, 10)};
    sstore_dedup *dedup;
    sstore_error error;
    record_set given = record_set_new(self->words);
    check.distance = options.distance = (uint32_t)rng_below(&self->random, 4);
    options.limit = check.limit;
    check.limit = check.limit == 0 ? UINT64_MAX : check.limit;
    for (size_t i = 0; i < self->truth.count; i++)
        if (i == 0 || !record_set_alike(&self->truth, i, i - 1))
            record_set_append(&given, &self->truth, i, i + 1);
    assert_ok(sstore_dedup_open(self->path, &options, &dedup, &error), &error);
    assert_ok(sstore_dedup_insert(dedup, given.fingerprints, NULL, given.count, NULL, check_answer, &check, &error),
              &error);
    if (given.count > 0)
        assert_ok(sstore_dedup_insert(dedup, given.fingerprints, NULL, 1, NULL, check_answer, &check, &error), &error);
    assert_int_equal(check.answered, given.count + (given.count > 0));
    assert_int_equal(dedup_state(dedup).new_count, 0);
    record_set_free(&given);
    sstore_dedup_close(dedup);
}

static void test_random_stores(void **state)
{
    const uint64_t cases = testing_number("SSTORE_TEST_CASES", CASES);
    uint64_t states = 0;
    (void)state;
    test_case tested, *self = &tested;
    for (uint64_t i = 0; i < cases; i++) {
        begin_case(self, run_seed + i);
        build(self);
        compare(self);
        for (uint64_t step = rng_below(&self->random, 6); step > 0; step--, states++) {
            if (rng_one_in(&self->random, 2))
                add(self);
            else
                remove_some(self);
            compare(self);
        }
        compare_dedup(self);
        end_case(self);
    }
    testing_figure("%" PRIu64 " stores with %" PRIu64
                   " changes of hot fingerprints: limits and counts like brute force",
                   cases, states);
    testing_done();
}

/* ----- the blocks that are read ----- */

#define EQUAL ((size_t)400000)
#define FEW_BLOCKS 16u

/* Build a store whose fingerprints are zero and, one in `others`, something else; and the same width. */
static void build_equal(const char *path, uint32_t words, uint64_t others)
{
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    sstore_builder *builder;
    sstore_error error;
    uint64_t *rows = calloc(EQUAL, words * sizeof *rows);
    assert_non_null(rows);
    for (size_t i = 0; others > 0 && i < EQUAL; i += others)
        rows[i * words + words - 1] = rng_mix(i) | 1;
    options.fingerprint_bits = 64 * words;
    options.force = true;
    assert_ok(sstore_builder_create(path, &options, &builder, &error), &error);
    assert_ok(sstore_builder_add(builder, rows, NULL, EQUAL, &error), &error);
    assert_ok(sstore_builder_finish(builder, NULL, &error), &error);
    free(rows);
}

/* Remove three records of the zeros, and add one twice. */
static void change_equal(const char *path)
{
    const uint64_t zeros[3 * SSTORE_MAX_WORDS] = {0}, removed[] = {0, 100000, EQUAL - 1}, added[] = {5};
    sstore_remover *remover;
    sstore_builder *builder;
    sstore_error error;
    assert_ok(sstore_remover_create(path, NULL, &remover, &error), &error);
    assert_ok(sstore_remover_remove(remover, zeros, removed, 3, &error), &error);
    assert_ok(sstore_remover_finish(remover, NULL, &error), &error);
    assert_ok(sstore_builder_create_addition(path, NULL, &builder, &error), &error);
    assert_ok(sstore_builder_add(builder, zeros, added, 1, &error), &error);
    assert_ok(sstore_builder_finish(builder, NULL, &error), &error);
}

/* Query the zeros: the first record, the number of all, the nearest, and both in a batch. */
static void check_blocks(const char *path, uint64_t wanted, uint64_t first, uint64_t max_blocks, sstore_io io)
{
    const uint64_t zeros[8 * SSTORE_MAX_WORDS] = {0};
    uint64_t ids[1], count, counts[8], blocks = 0;
    uint32_t distances[1];
    const sstore_columns to = {.struct_size = sizeof to, .id = ids, .distance = distances};
    sstore_batch_options options = SSTORE_BATCH_OPTIONS_INIT;
    sstore_open_options how = SSTORE_OPEN_OPTIONS_INIT;
    sstore_error error;
    sstore *store;
    sstore_cursor *cursor;
    how.io = io;
    assert_ok(sstore_open(path, &how, &store, &error), &error);
    assert_ok(sstore_cursor_create(store, &cursor, &error), &error);
    assert_ok(sstore_query_columns(cursor, zeros, 0, &to, 1, &count, &error), &error);
    assert_int_equal(count, wanted);
    assert_int_equal(ids[0], first);
    assert_ok(sstore_query_nearest(cursor, zeros, 3, &to, 1, &count, &error), &error);
    assert_int_equal(count, 1);
    assert_int_equal(ids[0], first);
    assert_in_range(sstore_cursor_block_count(cursor), 1, max_blocks);
    options.threads = 1;
    options.limit = 1;
    options.match_counts = counts;
    options.block_count = &blocks;
    options.count_only = true;
    assert_ok(walk_matches(store, zeros, 8, 0, &options, NULL, NULL, &error), &error);
    for (int i = 0; i < 8; i++)
        assert_int_equal(counts[i], wanted);
    assert_in_range(blocks, 1, 8 * max_blocks);
    sstore_cursor_free(cursor);
    sstore_close(store);
}

static int take_nothing(void *context, const sstore_dedup_answer *answer)
{
    (void)context, (void)answer;
    return 0;
}

/* Of the ids of the zeros, those before and behind the filter's are not read. */
static void check_window(const char *path, uint64_t min_id, uint64_t max_id)
{
    const uint64_t zeros[SSTORE_MAX_WORDS] = {0};
    sstore_id_filter filter = SSTORE_ID_FILTER_INIT;
    sstore_error error;
    uint64_t count;
    sstore *store = store_must_open(path, SSTORE_IO_PREAD, SSTORE_STRATEGY_AUTO);
    sstore_cursor *cursor = store_must_cursor(store);
    filter.min_id = min_id;
    filter.max_id = max_id;
    assert_ok(sstore_cursor_set_filter(cursor, &filter, &error), &error);
    assert_ok(sstore_query_columns(cursor, zeros, 0, NULL, 0, &count, &error), &error);
    assert_int_equal(count, max_id - min_id + 1);
    assert_in_range(sstore_cursor_block_count(cursor), 1, 2 * FEW_BLOCKS);
    sstore_cursor_free(cursor);
    sstore_close(store);
}

/* The reads of blocks that inserting some zeros takes, with answers or without. */
static uint64_t count_dedup_reads(const char *path, size_t count, sstore_dedup_fn on_answer)
{
    const uint64_t zeros[8 * SSTORE_MAX_WORDS] = {0};
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    bool is_new[8];
    sstore_dedup *dedup;
    sstore_error error;
    options.threads = 1;
    assert_ok(sstore_dedup_open(path, &options, &dedup, &error), &error);
    step_count_begin("inserting zeros");
    assert_ok(sstore_dedup_insert(dedup, zeros, NULL, count, is_new, on_answer, NULL, &error), &error);
    const uint64_t reads = step_count_end().reads;
    for (size_t i = 0; i < count; i++)
        assert_false(is_new[i]);
    sstore_dedup_close(dedup);
    return reads;
}

static void test_few_blocks(void **state)
{
    static const uint32_t widths[] = {1, 2, 16};
    char path[512];
    (void)state;
    snprintf(path, sizeof path, "%s/equal.store", scratch_folder());
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        testing_doing("%u words", widths[i]);
        build_equal(path, widths[i], 0);
        for (sstore_io io = SSTORE_IO_PREAD; io <= SSTORE_IO_MEMORY; io++)
            check_blocks(path, EQUAL, 0, FEW_BLOCKS, io);
        check_window(path, 10, 90);
        check_window(path, EQUAL / 2, EQUAL / 2 + 900);
        check_window(path, EQUAL - 7, EQUAL - 1);
        for (size_t count = 1; count <= 8; count += 7) {
            assert_in_range(count_dedup_reads(path, count, NULL), 1, FEW_BLOCKS);
            assert_true(count_dedup_reads(path, count, take_nothing) > FEW_BLOCKS);
        }
        change_equal(path);
        for (sstore_io io = SSTORE_IO_PREAD; io <= SSTORE_IO_MEMORY; io++)
            check_blocks(path, EQUAL - 3, 1, 8 * FEW_BLOCKS, io);
        build_equal(path, widths[i], 5);
        check_blocks(path, EQUAL / 5 * 4, 1, EQUAL / 1000, SSTORE_IO_PREAD);
    }
    testing_done();
}

/* Every other fingerprint has one id more than the one before it, the others have ids for many blocks: so the ids of
 * some end where a block does, and the next block is full of others. No id of a fingerprint passes a filter of larger
 * ones. */
static void test_ids_that_end_a_block(void **state)
{
    const char *path = scratch_path("ends");
    const uint64_t few = 150, many = 100, apart = UINT64_C(1) << 40;
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    sstore_id_filter filter = SSTORE_ID_FILTER_INIT;
    sstore_builder *builder;
    sstore_error error;
    uint64_t count;
    (void)state;
    options.block_bytes = 256;
    assert_ok(sstore_builder_create(path, &options, &builder, &error), &error);
    for (uint64_t fingerprint = 0; fingerprint < 2 * few; fingerprint++)
        for (uint64_t i = 0; i <= (fingerprint % 2 == 0 ? fingerprint / 2 : many); i++) {
            const uint64_t id = i * apart;
            assert_ok(sstore_builder_add(builder, &fingerprint, &id, 1, &error), &error);
        }
    assert_ok(sstore_builder_finish(builder, NULL, &error), &error);
    sstore *store = store_must_open(path, SSTORE_IO_PREAD, SSTORE_STRATEGY_AUTO);
    sstore_cursor *cursor = store_must_cursor(store);
    for (uint64_t i = 0; i < few; i++) {
        const uint64_t fingerprint = 2 * i;
        filter.min_id = i * apart;
        assert_ok(sstore_cursor_set_filter(cursor, &filter, &error), &error);
        assert_ok(sstore_query_columns(cursor, &fingerprint, 0, NULL, 0, &count, &error), &error);
        assert_int_equal(count, 1);
        filter.min_id = i * apart + 1;
        assert_ok(sstore_cursor_set_filter(cursor, &filter, &error), &error);
        assert_ok(sstore_query_columns(cursor, &fingerprint, 0, NULL, 0, &count, &error), &error);
        assert_int_equal(count, 0);
    }
    sstore_cursor_free(cursor);
    sstore_close(store);
    scratch_remove(path);
    testing_done();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_teardown(test_random_stores, testing_teardown),
                                       cmocka_unit_test_teardown(test_ids_that_end_a_block, testing_teardown),
                                       cmocka_unit_test_teardown(test_few_blocks, testing_teardown)};
    rng_start_run();
    return cmocka_run_group_tests_name("hot fingerprints", tests, NULL, NULL);
}

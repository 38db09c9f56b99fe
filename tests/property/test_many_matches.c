/*
 * test_many_matches.c - batches whose queries match most fingerprints of a store: matches, first matches and counts
 * like brute force at every width, with repeated fingerprints and several segments; and the blocks that they read.
 *
 * A failing case prints its seed; SSTORE_TEST_SEED=<seed> SSTORE_TEST_CASES=1 runs that case first and alone.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/data.h"
#include "support/scratch.h"
#include "support/testing.h"
#include "support/use_store.h"

#define CASES (testing_slow() ? 20u : 150u)
#define MAX_RECORDS 1500u
#define QUERIES 40u

typedef struct record {
    uint64_t words[SSTORE_MAX_WORDS], id;
    bool removed;
} record;

typedef struct test_case {
    rng random;
    char path[512];
    uint32_t words, distance;
    bool has_ids;
    uint64_t centre[SSTORE_MAX_WORDS];
    record *records; /* by (fingerprint, id), each once */
    size_t count;
    uint64_t *rows, *ids; /* of a change */
} test_case;

static uint32_t distance_of(const test_case *self, const uint64_t *a, const uint64_t *b)
{
    uint32_t bits = 0;
    for (uint32_t i = 0; i < self->words; i++)
        bits += sstore_hamming_distance(a[i], b[i]);
    return bits;
}

static int compare_by_words(const void *left, const void *right)
{
    const record *a = left, *b = right;
    for (uint32_t i = 0; i < SSTORE_MAX_WORDS; i++)
        if (a->words[i] != b->words[i])
            return a->words[i] < b->words[i] ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

/* A fingerprint a few bits from the centre. */
static void choose_near(test_case *self, uint64_t *words)
{
    memcpy(words, self->centre, self->words * sizeof *words);
    for (uint64_t flips = rng_below(&self->random, 2 + 2 * self->words); flips > 0; flips--)
        words[rng_below(&self->random, self->words)] ^= UINT64_C(1) << rng_below(&self->random, 64);
}

/* ----- changes ----- */

static void note(test_case *self, const uint64_t *words, uint64_t id)
{
    record *to = &self->records[self->count++];
    memset(to, 0, sizeof *to);
    memcpy(to->words, words, self->words * sizeof *words);
    to->id = self->has_ids ? id : 0;
}

static void sort_records(test_case *self)
{
    size_t kept = 0;
    qsort(self->records, self->count, sizeof *self->records, compare_by_words);
    for (size_t i = 0; i < self->count; i++)
        if (!self->records[i].removed &&
            (kept == 0 || compare_by_words(&self->records[i], &self->records[kept - 1]) != 0))
            self->records[kept++] = self->records[i];
    self->count = kept;
}

/* Add records: of every `repeats`-th one the fingerprint is there already, and some of these are records of the store.
 * 0: of none. */
static void add(test_case *self, sstore_builder *builder, size_t count, uint64_t repeats)
{
    sstore_error error;
    const size_t before = self->count;
    for (size_t i = 0; i < count; i++) {
        uint64_t *words = self->rows + i * self->words;
        choose_near(self, words);
        self->ids[i] = rng_below(&self->random, 100000);
        if (repeats > 0 && i + before > 0 && rng_one_in(&self->random, repeats)) {
            const record *again = &self->records[rng_below(&self->random, self->count)];
            memcpy(words, again->words, self->words * sizeof *words);
            self->ids[i] = rng_one_in(&self->random, 3) ? again->id : self->ids[i];
        }
        note(self, words, self->ids[i]);
    }
    assert_ok(sstore_builder_add(builder, self->rows, self->has_ids ? self->ids : NULL, count, &error), &error);
    assert_ok(sstore_builder_finish(builder, NULL, &error), &error);
    sort_records(self);
}

static void remove_some(test_case *self)
{
    sstore_remover *remover;
    sstore_error error;
    size_t count = 0;
    for (size_t i = 0; i < self->count; i++) {
        if (!rng_one_in(&self->random, 20))
            continue;
        memcpy(self->rows + count * self->words, self->records[i].words, self->words * sizeof *self->rows);
        self->ids[count++] = self->records[i].id;
        self->records[i].removed = true;
    }
    assert_ok(sstore_remover_create(self->path, NULL, &remover, &error), &error);
    assert_ok(sstore_remover_remove(remover, self->rows, self->has_ids ? self->ids : NULL, count, &error), &error);
    assert_ok(sstore_remover_finish(remover, NULL, &error), &error);
    sort_records(self);
}

static void begin_case(test_case *self, uint64_t seed)
{
    static const uint32_t widths[] = {1, 1, 1, 2, 3, 5, 16};
    static const uint64_t repeats[] = {0, 0, 2, 500};
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    sstore_builder *builder;
    sstore_error error;
    memset(self, 0, sizeof *self);
    self->random = rng_seeded(seed);
    self->words = widths[rng_below(&self->random, sizeof widths / sizeof *widths)];
    self->distance = (uint32_t)rng_below(&self->random, 8 * self->words);
    self->has_ids = !rng_one_in(&self->random, 4);
    self->records = calloc(2 * MAX_RECORDS, sizeof *self->records);
    self->rows = calloc(MAX_RECORDS, SSTORE_MAX_WORDS * sizeof *self->rows);
    self->ids = calloc(MAX_RECORDS, sizeof *self->ids);
    for (uint32_t i = 0; i < self->words; i++)
        self->centre[i] = rng_next(&self->random);
    snprintf(self->path, sizeof self->path, "%s/many.store", scratch_folder());
    testing_doing("case of seed %" PRIu64 ": %u words, distance %u, %s ids", seed, self->words, self->distance,
                  self->has_ids ? "with" : "without");
    options.fingerprint_bits = 64 * self->words;
    options.distance = self->distance;
    options.without_ids = !self->has_ids;
    options.block_bytes = 256u << rng_below(&self->random, 5);
    options.replace = true;
    assert_ok(sstore_builder_create(self->path, &options, &builder, &error), &error);
    add(self, builder, rng_between(&self->random, 1, MAX_RECORDS), repeats[rng_below(&self->random, 4)]);
}

static void change(test_case *self)
{
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    sstore_builder *builder;
    sstore_error error;
    options.no_compact = true;
    if (rng_one_in(&self->random, 3)) {
        remove_some(self);
        return;
    }
    assert_ok(sstore_builder_create_addition(self->path, &options, &builder, &error), &error);
    add(self, builder, rng_between(&self->random, 1, MAX_RECORDS / 8), 3);
}

static void end_case(test_case *self)
{
    free(self->records);
    free(self->rows);
    free(self->ids);
}

/* ----- comparing ----- */

typedef struct found {
    uint32_t distance, place; /* place: of the record in the case */
} found;

static int compare_found(const void *left, const void *right)
{
    const found *a = left, *b = right;
    if (a->distance != b->distance)
        return a->distance < b->distance ? -1 : 1;
    return a->place < b->place ? -1 : a->place > b->place;
}

typedef struct batch_check {
    const test_case *tested;
    found *wanted[QUERIES];
    uint64_t all[QUERIES], seen[QUERIES];
} batch_check;

static void search_all(batch_check *self, uint32_t index, const uint64_t *query, uint32_t distance)
{
    const test_case *given = self->tested;
    self->wanted[index] = calloc(given->count + 1, sizeof(found));
    for (uint32_t i = 0; i < given->count; i++) {
        const uint32_t bits = distance_of(given, given->records[i].words, query);
        if (bits <= distance)
            self->wanted[index][self->all[index]++] = (found){.distance = bits, .place = i};
    }
    qsort(self->wanted[index], self->all[index], sizeof(found), compare_found);
}

static int check_match(void *context, const sstore_match *match)
{
    batch_check *self = context;
    const uint64_t query = match->query_index;
    assert_true(query < QUERIES && self->seen[query] < self->all[query]);
    const found *wanted = &self->wanted[query][self->seen[query]++];
    const record *right = &self->tested->records[wanted->place];
    assert_int_equal(match->distance, wanted->distance);
    assert_int_equal(match->id, right->id);
    assert_int_equal(memcmp(match->words, right->words, self->tested->words * sizeof(uint64_t)), 0);
    return 0;
}

static void compare_batch(test_case *self, const sstore *store)
{
    uint64_t queries[QUERIES * SSTORE_MAX_WORDS], counts[QUERIES];
    sstore_batch_options options = SSTORE_BATCH_OPTIONS_INIT;
    sstore_error error;
    batch_check check = {.tested = self};
    const uint32_t distance = (uint32_t)rng_below(&self->random, rng_one_in(&self->random, 2) ? 12 : 64 * self->words);
    const size_t count = rng_between(&self->random, 1, QUERIES);
    const bool only_count = rng_one_in(&self->random, 3), counted = only_count || rng_one_in(&self->random, 2);
    for (uint32_t i = 0; i < count; i++) {
        choose_near(self, queries + i * self->words);
        if (self->count > 0 && rng_one_in(&self->random, 2))
            memcpy(queries + i * self->words, self->records[rng_below(&self->random, self->count)].words,
                   self->words * sizeof *queries);
        search_all(&check, i, queries + i * self->words, distance);
    }
    options.threads = (uint32_t)rng_between(&self->random, 1, 3);
    options.limit = rng_one_in(&self->random, 3)
                        ? 0
                        : rng_between(&self->random, 1, rng_one_in(&self->random, 2) ? 3 : 100);
    options.match_counts = counted ? counts : NULL;
    assert_ok(sstore_query_batch(store, queries, count, distance, &options, only_count ? NULL : check_match, &check,
                                 &error),
              &error);
    for (size_t i = 0; i < count; i++) {
        const uint64_t listed = options.limit > 0 && options.limit < check.all[i] ? options.limit : check.all[i];
        assert_int_equal(check.seen[i], only_count ? 0 : listed);
        if (counted)
            assert_int_equal(counts[i], check.all[i]);
        free(check.wanted[i]);
    }
}

static void compare(test_case *self)
{
    const sstore_io io = (sstore_io)rng_below(&self->random, 4);
    const sstore_strategy strategy = (sstore_strategy)rng_below(&self->random, 3);
    sstore *store = store_must_open(self->path, io, strategy);
    for (int i = 0; i < 4; i++)
        compare_batch(self, store);
    sstore_close(store);
}

static void test_random_stores(void **state)
{
    const uint64_t cases = testing_number("SSTORE_TEST_CASES", CASES);
    (void)state;
    test_case *self = calloc(1, sizeof *self);
    assert_non_null(self);
    for (uint64_t i = 0; i < cases; i++) {
        begin_case(self, run_seed + i);
        compare(self);
        for (uint64_t step = rng_below(&self->random, 4); step > 0; step--) {
            change(self);
            compare(self);
        }
        end_case(self);
    }
    free(self);
    testing_figure("%" PRIu64 " stores with many matches for each query: batches like brute force", cases);
    testing_done();
}

/* ----- the blocks that are read ----- */

#define NEAR ((size_t)2000)

/* Build a store of NEAR fingerprints near zero, of which one in `repeats` is there twice. */
static void build_near(const char *path, uint32_t words, size_t repeats, uint64_t *rows)
{
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    sstore_builder *builder;
    sstore_error error;
    memset(rows, 0, NEAR * words * sizeof *rows);
    for (size_t i = 0; i < NEAR; i++)
        rows[(i + 1) * words - 1] = repeats > 0 && i % repeats == 0 ? 0x111 : 1 + i;
    options.fingerprint_bits = 64 * words;
    options.block_bytes = 1024;
    options.replace = true;
    assert_ok(sstore_builder_create(path, &options, &builder, &error), &error);
    assert_ok(sstore_builder_add(builder, rows, NULL, NEAR, &error), &error);
    assert_ok(sstore_builder_finish(builder, NULL, &error), &error);
}

/* Counting reads each block of the store about once, however many matches there are. */
static void test_blocks(void **state)
{
    static const uint32_t widths[] = {1, 2, 16};
    uint64_t *rows = calloc(NEAR, SSTORE_MAX_WORDS * sizeof *rows), *counts = calloc(NEAR, sizeof *counts);
    char path[512];
    (void)state;
    snprintf(path, sizeof path, "%s/near.store", scratch_folder());
    for (size_t i = 0; i < 2 * sizeof widths / sizeof *widths; i++) {
        sstore_open_options how = SSTORE_OPEN_OPTIONS_INIT;
        sstore_batch_options options = SSTORE_BATCH_OPTIONS_INIT;
        sstore_statistics statistics = SSTORE_STATISTICS_INIT;
        sstore_error error;
        sstore *store;
        uint64_t blocks = 0;
        testing_doing("%u words, %s", widths[i / 2], i % 2 ? "repeats" : "no repeats");
        build_near(path, widths[i / 2], i % 2 ? 100 : 0, rows);
        how.strategy = SSTORE_STRATEGY_FULL_SCAN;
        assert_ok(sstore_open(path, &how, &store, &error), &error);
        assert_ok(sstore_stat(store, &statistics, &error), &error);
        options.threads = 1;
        options.match_counts = counts;
        options.block_count = &blocks;
        assert_ok(sstore_query_batch(store, rows, NEAR, 12, &options, NULL, NULL, &error), &error);
        for (size_t j = 0; j < NEAR; j++)
            assert_int_equal(counts[j], NEAR);
        assert_in_range(blocks, 1, statistics.total_bytes / statistics.block_bytes);
        sstore_close(store);
    }
    free(rows);
    free(counts);
    testing_done();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_teardown(test_random_stores, testing_teardown),
                                       cmocka_unit_test_teardown(test_blocks, testing_teardown)};
    rng_start_run();
    return cmocka_run_group_tests_name("many matches", tests, NULL, NULL);
}

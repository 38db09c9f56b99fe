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

#include "output/walk.h"
#include "sstore_statistics.h"
#include "support/record_set.h"
#include "support/scratch.h"
#include "support/testing.h"
#include "support/use_store.h"

#define CASES (testing_slow() ? 20u : 150u)
#define MAX_RECORDS 1500u
#define QUERIES 40u

typedef struct test_case {
    rng random;
    char path[512];
    uint32_t words, distance;
    bool has_ids;
    uint64_t centre[SSTORE_MAX_WORDS];
    record_set truth; /* sorted, each once */
} test_case;

/* A fingerprint a few bits from the centre. */
static void choose_near(test_case *self, uint64_t *words)
{
    memcpy(words, self->centre, self->words * sizeof *words);
    for (uint64_t flips = rng_below(&self->random, 2 + 2 * self->words); flips > 0; flips--)
        words[rng_below(&self->random, self->words)] ^= UINT64_C(1) << rng_below(&self->random, 64);
}

/* ----- changes ----- */

/* Add records: of every `repeats`-th one the fingerprint is there already, and some of these are records of the store.
 * 0: of none. */
static void add(test_case *self, sstore_builder *builder, size_t count, uint64_t repeats)
{
    rng *random = &self->random;
    sstore_error error;
    record_set added = {.words = self->words};
    for (size_t i = 0; i < count; i++) {
        uint64_t words[SSTORE_MAX_WORDS], id = self->has_ids ? rng_below(random, 100000) : 0;
        const record_set *from = i == 0 || (self->truth.count > 0 && rng_one_in(random, 2)) ? &self->truth : &added;
        choose_near(self, words);
        if (repeats > 0 && from->count > 0 && rng_one_in(random, repeats)) {
            const size_t again = rng_below(random, from->count);
            memcpy(words, record_set_at(from, again), self->words * sizeof *words);
            id = rng_one_in(random, 3) ? from->ids[again] : id;
        }
        record_set_put(&added, words, id);
    }
    assert_ok(sstore_builder_add(builder, added.fingerprints, self->has_ids ? added.ids : NULL, count, &error), &error);
    assert_ok(sstore_builder_finish(builder, NULL, &error), &error);
    record_set_append(&self->truth, &added, 0, count);
    record_set_sort(&self->truth);
    record_set_unique(&self->truth);
    record_set_free(&added);
}

static void remove_some(test_case *self)
{
    record_set removed = {.words = self->words}, kept = removed;
    sstore_remover *remover;
    sstore_error error;
    for (size_t i = 0; i < self->truth.count; i++)
        record_set_append(rng_one_in(&self->random, 20) ? &removed : &kept, &self->truth, i, i + 1);
    assert_ok(sstore_remover_create(self->path, NULL, &remover, &error), &error);
    assert_ok(sstore_remover_remove(remover, removed.fingerprints, self->has_ids ? removed.ids : NULL, removed.count,
                                    &error),
              &error);
    assert_ok(sstore_remover_finish(remover, NULL, &error), &error);
    record_set_free(&removed);
    record_set_free(&self->truth);
    self->truth = kept;
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
    self->words = self->truth.words = widths[rng_below(&self->random, sizeof widths / sizeof *widths)];
    self->distance = (uint32_t)rng_below(&self->random, 8 * self->words);
    self->has_ids = !rng_one_in(&self->random, 4);
    for (uint32_t i = 0; i < self->words; i++)
        self->centre[i] = rng_next(&self->random);
    snprintf(self->path, sizeof self->path, "%s/many.store", scratch_folder());
    testing_doing("case of seed %" PRIu64 ": %u words, distance %u, %s ids", seed, self->words, self->distance,
                  self->has_ids ? "with" : "without");
    options.fingerprint_bits = 64 * self->words;
    options.distance = self->distance;
    options.no_ids = !self->has_ids;
    options.block_bytes = 256u << rng_below(&self->random, 5);
    options.force = true;
    assert_ok(sstore_builder_create(self->path, &options, &builder, &error), &error);
    add(self, builder, rng_between(&self->random, 1, MAX_RECORDS), repeats[rng_below(&self->random, 4)]);
}

static void change(test_case *self)
{
    sstore_builder *builder;
    sstore_error error;
    if (rng_one_in(&self->random, 3)) {
        remove_some(self);
        return;
    }
    assert_ok(sstore_builder_create_addition(self->path, &change_apart, &builder, &error), &error);
    add(self, builder, rng_between(&self->random, 1, MAX_RECORDS / 8), 3);
}

/* ----- comparing ----- */

/* Put queries near the centre into `queries`, half of them fingerprints of records; find the matches that are to be
 * reported, the first `limit` (0: all) of each query, and count all of them. */
static void choose_queries(test_case *self, size_t count, uint32_t distance, uint64_t limit, uint64_t *queries,
                           uint64_t *counts, matches *listed)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t *query = queries + i * self->words;
        matches found = {.words = self->words};
        choose_near(self, query);
        if (self->truth.count > 0 && rng_one_in(&self->random, 2))
            memcpy(query, record_set_at(&self->truth, rng_below(&self->random, self->truth.count)),
                   self->words * sizeof *query);
        record_set_query(&self->truth, query, distance, i, &found);
        counts[i] = found.count;
        const matches first = matches_part(&found, 0, limit > 0 && limit < found.count ? limit : found.count);
        matches_append(listed, &first);
        matches_free(&found);
    }
}

static void compare_batch(test_case *self, const sstore *store)
{
    uint64_t queries[QUERIES * SSTORE_MAX_WORDS], counts[QUERIES], wanted_counts[QUERIES];
    sstore_batch_options options = SSTORE_BATCH_OPTIONS_INIT;
    sstore_error error;
    matches wanted = {.words = self->words}, got = wanted;
    rng *random = &self->random;
    const uint32_t distance = (uint32_t)rng_below(random, rng_one_in(random, 2) ? 12 : 64 * self->words);
    const size_t count = rng_between(random, 1, QUERIES);
    const bool only_count = rng_one_in(random, 3), counted = only_count || rng_one_in(random, 2);
    options.threads = (uint32_t)rng_between(random, 1, 3);
    options.limit = rng_one_in(random, 3) ? 0 : rng_between(random, 1, rng_one_in(random, 2) ? 3 : 100);
    options.match_counts = counted ? counts : NULL;
    choose_queries(self, count, distance, options.limit, queries, wanted_counts, &wanted);
    options.count_only = only_count;
    assert_ok(walk_matches(store, queries, count, distance, &options, store_collect, &got, &error), &error);
    if (only_count)
        assert_int_equal(got.count, 0);
    else
        assert_true(matches_equal(&got, &wanted)); /* in this order */
    if (counted)
        assert_memory_equal(counts, wanted_counts, count * sizeof *counts);
    matches_free(&got);
    matches_free(&wanted);
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
    for (uint64_t i = 0; i < cases; i++) {
        test_case self;
        begin_case(&self, run_seed + i);
        compare(&self);
        for (uint64_t step = rng_below(&self.random, 4); step > 0; step--) {
            change(&self);
            compare(&self);
        }
        record_set_free(&self.truth);
    }
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
    options.force = true;
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
        options.count_only = true;
        assert_ok(walk_matches(store, rows, NEAR, 12, &options, NULL, NULL, &error), &error);
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

/*
 * test_words.c - stores of fingerprints of 64 to 1,024 bits must answer exactly like brute force: random widths, skewed
 * and constant words, distances, block sizes, and sequences of changes.
 *
 * A failing case prints its seed; SSTORE_TEST_SEED=<seed> SSTORE_TEST_CASES=1 runs that case first and alone.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/row_set.h"
#include "support/scratch.h"
#include "support/testing.h"
#include "support/use_store.h"

#ifdef NDEBUG
#define CASES 80u
#else
#define CASES 20u
#endif
#define MAX_STEPS 6u
#define QUERIES 12u
#define PAGE 17u /* matches and records that are asked for at once */

/* ----- a case ----- */

typedef struct test_case {
    rng random;
    uint64_t seed;
    char path[512];
    uint32_t words, distance, block_bytes;
    row_maker maker;
    bool has_ids;
    row_set truth;
    uint64_t next_id;
} test_case;

static void begin_case(test_case *of, uint64_t seed)
{
    static const uint32_t widths[] = {1, 2, 2, 3, 4, 4, 8, 16};
    *of = (test_case){.random = rng_seeded(seed), .seed = seed};
    rng *random = &of->random;
    of->words = widths[rng_below(random, sizeof widths / sizeof *widths)];
    const uint64_t max = SSTORE_MAX_BUILD_DISTANCE * of->words;
    of->distance = (uint32_t)(rng_one_in(random, 4) ? rng_below(random, max + 1) : rng_below(random, 8 * of->words));
    if (of->words == 1) /* larger ones have tests of their own, and take long to plan */
        of->distance = (uint32_t)rng_below(random, 5);
    of->block_bytes = 256u << rng_below(random, 5);
    of->has_ids = !rng_one_in(random, 3);
    of->maker = row_maker_any(random, of->words, of->distance);
    snprintf(of->path, sizeof of->path, "%s/words.store", scratch_folder());
    testing_doing("case of seed %" PRIu64 ": %u words, k = %u, blocks of %u, %s ids", seed, of->words, of->distance,
                  of->block_bytes, of->has_ids ? "with" : "without");
}

/* ----- changes ----- */

static void add_rows(test_case *of, sstore_builder *builder, size_t count)
{
    row_set added = {.count = 0};
    sstore_error error;
    const bool assigned = of->has_ids && rng_one_in(&of->random, 3);
    for (size_t i = 0; i < count; i++) {
        row made = row_make(&of->random, &of->maker, rng_one_in(&of->random, 2) ? &of->truth : &added);
        made.id = !of->has_ids ? 0 : assigned ? of->next_id + i : rng_below(&of->random, 2 * count + 10);
        row_set_put(&added, &made);
    }
    row_columns of_added = row_columns_of(&added, of->words);
    assert_ok(sstore_builder_add(builder, of_added.fingerprints, assigned || !of->has_ids ? NULL : of_added.ids, count,
                                 &error),
              &error);
    for (size_t i = 0; i < count; i++) {
        row_set_put(&of->truth, &added.rows[i]);
        if (of->has_ids && added.rows[i].id >= of->next_id)
            of->next_id = added.rows[i].id + 1;
    }
    row_set_sort(&of->truth);
    row_columns_free(&of_added);
    free(added.rows);
}

static void build(test_case *of)
{
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    sstore_builder *builder;
    sstore_change change = SSTORE_CHANGE_INIT;
    sstore_error error;
    options.fingerprint_bits = 64 * of->words;
    options.distance = of->distance;
    options.block_bytes = of->block_bytes;
    options.without_ids = !of->has_ids;
    options.replace = true;
    options.memory_bytes = rng_one_in(&of->random, 2) ? 0 : UINT64_C(1) << 20;
    options.threads = (uint32_t)rng_between(&of->random, 1, 3);
    if (of->words > 1 && rng_one_in(&of->random, 3))
        options.plan = rng_one_in(&of->random, 2) ? "22,21,21" : "1";
    assert_ok(sstore_builder_create(of->path, &options, &builder, &error), &error);
    assert_int_equal(sstore_builder_word_count(builder), of->words);
    add_rows(of, builder, rng_below(&of->random, rng_one_in(&of->random, 3) ? 3000 : 60));
    assert_ok(sstore_builder_finish(builder, &change, &error), &error);
    assert_int_equal(change.record_count, of->truth.count);
}

static void add(test_case *of)
{
    sstore_builder *builder;
    sstore_error error;
    sstore_change change = SSTORE_CHANGE_INIT;
    const size_t before = of->truth.count;
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    options.no_compact = rng_one_in(&of->random, 2);
    assert_ok(sstore_builder_create_addition(of->path, &options, &builder, &error), &error);
    assert_int_equal(sstore_builder_word_count(builder), of->words);
    add_rows(of, builder, rng_between(&of->random, 1, 200));
    assert_ok(sstore_builder_finish(builder, &change, &error), &error);
    assert_int_equal(change.added_count, of->truth.count - before);
    assert_int_equal(change.record_count, of->truth.count);
}

/* Remove records, fingerprints or ids, of which some are not there. */
static void remove_some(test_case *of)
{
    sstore_remover *remover;
    sstore_error error;
    row_set removed = {.count = 0}, left = {.count = 0};
    const uint64_t way = rng_below(&of->random, of->has_ids ? 3 : 2);
    for (uint64_t i = rng_between(&of->random, 1, 30); i > 0; i--) {
        row chosen = of->truth.count > 0 && !rng_one_in(&of->random, 4)
                         ? of->truth.rows[rng_below(&of->random, of->truth.count)]
                         : row_make(&of->random, &of->maker, &of->truth);
        row_set_put(&removed, &chosen);
    }
    row_columns keys = row_columns_of(&removed, of->words);
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    options.no_compact = rng_one_in(&of->random, 2);
    assert_ok(sstore_remover_create(of->path, &options, &remover, &error), &error);
    assert_int_equal(sstore_remover_word_count(remover), of->words);
    if (way == 0)
        assert_ok(sstore_remover_remove(remover, keys.fingerprints, keys.ids, removed.count, &error), &error);
    else if (way == 1)
        assert_ok(sstore_remover_remove_fingerprints(remover, keys.fingerprints, removed.count, &error), &error);
    else
        assert_ok(sstore_remover_remove_ids(remover, keys.ids, removed.count, &error), &error);
    assert_ok(sstore_remover_finish(remover, NULL, &error), &error);
    for (size_t i = 0; i < of->truth.count; i++) {
        bool stays = true;
        for (size_t j = 0; j < removed.count; j++) {
            const bool same_words = row_words_compare(of->truth.rows[i].words, removed.rows[j].words) == 0,
                       same_id = of->truth.rows[i].id == removed.rows[j].id;
            stays &= !(way == 0 ? same_words && same_id : way == 1 ? same_words : same_id);
        }
        if (stays)
            row_set_put(&left, &of->truth.rows[i]);
    }
    row_columns_free(&keys);
    free(removed.rows);
    free(of->truth.rows);
    of->truth = left;
}

static void compact(test_case *of)
{
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    sstore_error error;
    const sstore_compaction scope = rng_one_in(&of->random, 2) ? SSTORE_COMPACTION_TIERS : SSTORE_COMPACTION_ALL;
    assert_ok(sstore_compact(of->path, scope, &options, NULL, &error), &error);
}

/* Divide the store into shards, and merge these in its place. */
static void shard_and_merge(test_case *of)
{
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    sstore_error error;
    char parts[3][600];
    const char *paths[3];
    const uint32_t count = (uint32_t)rng_between(&of->random, 1, 3);
    options.replace = true;
    for (uint32_t i = 0; i < count; i++) {
        snprintf(parts[i], sizeof parts[i], "%s.%u", of->path, i);
        paths[i] = parts[i];
        assert_ok(sstore_shard(parts[i], of->path, i, count, &options, NULL, &error), &error);
    }
    assert_ok(sstore_merge(of->path, paths, count, &options, NULL, &error), &error);
}

static void reindex(test_case *of)
{
    sstore_reindex_options options = SSTORE_REINDEX_OPTIONS_INIT;
    sstore_error error;
    options.all = true;
    assert_ok(sstore_reindex(of->path, &options, NULL, &error), &error);
}

/* ----- comparisons ----- */

static void compare_all_records(const test_case *of, const sstore *store)
{
    sstore_record_iterator *iterator;
    sstore_error error;
    uint64_t fingerprints[PAGE * SSTORE_MAX_WORDS], ids[PAGE];
    const sstore_record_columns to = {sizeof to, fingerprints, ids};
    size_t count = 1, at = 0;
    assert_ok(sstore_record_iterator_create(store, &iterator, &error), &error);
    while (count > 0) {
        assert_ok(sstore_record_iterator_next(iterator, &to, PAGE, &count, &error), &error);
        for (size_t i = 0; i < count; i++, at++) {
            assert_true(at < of->truth.count);
            assert_memory_equal(fingerprints + i * of->words, of->truth.rows[at].words, of->words * sizeof(uint64_t));
            assert_int_equal(ids[i], of->truth.rows[at].id);
        }
    }
    assert_int_equal(at, of->truth.count);
    sstore_record_iterator_free(iterator);
}

/* A match, to sort them as a batch does. */
typedef struct found_row {
    uint32_t distance;
    row record;
} found_row;

static int compare_found(const void *left, const void *right)
{
    const found_row *a = left, *b = right;
    return a->distance != b->distance ? (a->distance < b->distance ? -1 : 1) : rows_compare(&a->record, &b->record);
}

typedef struct found_rows {
    uint32_t words;
    size_t count;
    found_row *rows;
} found_rows;

static void put_found(found_rows *to, const uint64_t *words, uint64_t id, uint32_t distance)
{
    if (to->count % 64 == 0) {
        to->rows = realloc(to->rows, (to->count + 64) * sizeof *to->rows);
        assert_non_null(to->rows);
    }
    found_row *made = &to->rows[to->count++];
    *made = (found_row){.distance = distance, .record = {.id = id}};
    memcpy(made->record.words, words, to->words * sizeof *words);
}

static int take_match(void *context, const sstore_match *match)
{
    assert_int_equal(match->fingerprint, match->words[0]);
    put_found(context, match->words, match->id, match->distance);
    return 0;
}

/* By brute force; `nearest`: only those at the smallest distance. */
static found_rows search_all(const test_case *of, const row *query, uint32_t distance, bool nearest)
{
    found_rows found = {.words = of->words};
    uint32_t max = distance;
    for (size_t i = 0; nearest && i < of->truth.count; i++) {
        const uint32_t bits = row_distance(query->words, of->truth.rows[i].words);
        max = bits < max ? bits : max;
    }
    for (size_t i = 0; i < of->truth.count; i++) {
        const uint32_t bits = row_distance(query->words, of->truth.rows[i].words);
        if (bits <= max)
            put_found(&found, of->truth.rows[i].words, of->truth.rows[i].id, bits);
    }
    if (found.count > 0)
        qsort(found.rows, found.count, sizeof *found.rows, compare_found);
    return found;
}

static void compare_lists(const found_rows *got, const found_rows *wanted)
{
    assert_int_equal(got->count, wanted->count);
    for (size_t i = 0; i < got->count; i++)
        assert_int_equal(compare_found(&got->rows[i], &wanted->rows[i]), 0);
}

static uint32_t choose_distance(test_case *of)
{
    const uint64_t way = rng_below(&of->random, 6);
    if (way < 3)
        return of->distance;
    return (uint32_t)rng_below(&of->random, way < 5 ? of->distance + 3u : 64 * of->words + 1);
}

static void compare_single_queries(test_case *of, const sstore *store)
{
    sstore_cursor *cursor;
    sstore_error error;
    assert_ok(sstore_cursor_create(store, &cursor, &error), &error);
    for (uint32_t i = 0; i < QUERIES; i++) {
        const row query = row_make(&of->random, &of->maker, &of->truth);
        uint32_t distance = choose_distance(of);
        const bool nearest = rng_one_in(&of->random, 4);
        found_rows got = {.words = of->words}, wanted;
        if (distance > 64 * of->words)
            distance = 64 * of->words;
        assert_ok(nearest ? sstore_query_nearest(cursor, query.words, distance, take_match, &got, &error)
                          : sstore_query(cursor, query.words, distance, take_match, &got, &error),
                  &error);
        wanted = search_all(of, &query, distance, nearest);
        if (got.count > 0)
            qsort(got.rows, got.count, sizeof *got.rows, compare_found);
        compare_lists(&got, &wanted);
        free(got.rows);
        free(wanted.rows);
    }
    sstore_cursor_free(cursor);
}

/* Add the next matches of an iterator, which are of one query after the other, to the lists of their queries. */
static void compare_batch(test_case *of, const sstore *store)
{
    sstore_match_iterator *iterator;
    sstore_error error;
    row_set queries = {.count = 0};
    found_rows got[QUERIES];
    uint64_t query_index[PAGE], fingerprints[PAGE * SSTORE_MAX_WORDS], ids[PAGE], last = 0;
    uint32_t distances[PAGE];
    sstore_batch_options options = SSTORE_BATCH_OPTIONS_INIT;
    const sstore_match_columns to = {sizeof to, query_index, fingerprints, ids, distances};
    uint32_t distance = choose_distance(of);
    distance = distance > 64 * of->words ? 64 * of->words : distance;
    options.threads = (uint32_t)rng_between(&of->random, 1, 3);
    for (uint32_t i = 0; i < QUERIES; i++) {
        const row query = row_make(&of->random, &of->maker, &of->truth);
        row_set_put(&queries, &query);
        got[i] = (found_rows){.words = of->words};
    }
    row_columns given = row_columns_of(&queries, of->words);
    assert_ok(sstore_match_iterator_create(store, given.fingerprints, QUERIES, distance, &options, &iterator, &error),
              &error);
    for (size_t count = 1; count > 0;) {
        assert_ok(sstore_match_iterator_next(iterator, &to, PAGE, &count, &error), &error);
        for (size_t i = 0; i < count; i++) {
            assert_true(query_index[i] >= last && query_index[i] < QUERIES);
            last = query_index[i];
            put_found(&got[last], fingerprints + i * of->words, ids[i], distances[i]);
        }
    }
    sstore_match_iterator_free(iterator);
    for (uint32_t i = 0; i < QUERIES; i++) {
        found_rows wanted = search_all(of, &queries.rows[i], distance, false);
        compare_lists(&got[i], &wanted);
        free(got[i].rows);
        free(wanted.rows);
    }
    row_columns_free(&given);
    free(queries.rows);
}

static void compare_sample(test_case *of, const sstore *store)
{
    uint64_t sample[PAGE * SSTORE_MAX_WORDS];
    sstore_statistics statistics = SSTORE_STATISTICS_INIT;
    sstore_error error;
    size_t count;
    assert_ok(sstore_sample(store, of->seed, sample, PAGE, &count, &error), &error);
    assert_ok(sstore_stat(store, &statistics, &error), &error);
    assert_int_equal(statistics.fingerprint_bits, 64 * of->words);
    assert_int_equal(statistics.record_count, of->truth.count);
    for (size_t i = 0; statistics.removed_count == 0 && i < count; i++) {
        bool is_there = false;
        for (size_t j = 0; j < of->truth.count; j++)
            is_there |= memcmp(sample + i * of->words, of->truth.rows[j].words, of->words * sizeof *sample) == 0;
        assert_true(is_there);
    }
}

static void compare(test_case *of)
{
    const sstore_io io = (sstore_io)rng_below(&of->random, 4);
    const sstore_strategy strategy = (sstore_strategy)rng_below(&of->random, 3);
    sstore *store = store_must_open(of->path, io, strategy);
    sstore_error error;
    assert_int_equal(sstore_word_count(store), of->words);
    compare_all_records(of, store);
    compare_single_queries(of, store);
    compare_batch(of, store);
    compare_sample(of, store);
    sstore_close(store);
    assert_ok(sstore_verify(of->path, NULL, NULL, NULL, &error), &error);
}

static void test_random_stores(void **state)
{
    const uint64_t cases = testing_number("SSTORE_TEST_CASES", CASES);
    uint64_t records = 0;
    (void)state;
    for (uint64_t i = 0; i < cases; i++) {
        test_case of;
        begin_case(&of, run_seed + i);
        build(&of);
        compare(&of);
        for (uint64_t step = rng_below(&of.random, MAX_STEPS); step > 0; step--) {
            static void (*const changes[])(test_case *) = {add, add, remove_some, compact, shard_and_merge, reindex};
            changes[rng_below(&of.random, sizeof changes / sizeof *changes)](&of);
            compare(&of);
        }
        records += of.truth.count;
        free(of.truth.rows);
    }
    testing_figure("%" PRIu64 " stores of 64 to 1,024 bits, with %" PRIu64 " records at their ends, like brute force",
                   cases, records);
    testing_done();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_teardown(test_random_stores, testing_teardown)};
    rng_start_run();
    return cmocka_run_group_tests_name("words", tests, NULL, NULL);
}

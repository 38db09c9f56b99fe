/*
 * test_stream_matcher.c - stream matchers and collections of fingerprints of 64 to 1,024 bits. A matcher must find what
 * comparing every pair finds, for skewed and constant words, all distances, threads and sizes of parts. A collection
 * must sort matches, however many they are.
 */
#include <stdlib.h>
#include <string.h>

#include "sstore_stream.h"
#include "support/fingerprint_form.h"
#include "support/scratch.h"
#include "support/testing.h"
#include "support/use_store.h"

#define MIN_MEMORY_BYTES ((uint64_t)1 << 20) /* of a collection */

/* ----- matchers ----- */

/* What is fed, and the queries, some of them several times. */
typedef struct input {
    fingerprint_form form;
    size_t count, query_count;
    uint64_t *rows, *ids, *queries; /* ids NULL: none */
} input;

static input make_input(rng *random, const fingerprint_form *form, size_t count, size_t query_count)
{
    input made = {.form = *form, .count = count, .query_count = query_count};
    made.rows = fingerprint_make_many(random, form, count);
    made.queries = malloc((query_count + 1) * form->words * sizeof *made.queries);
    for (size_t i = 0; i < query_count; i++) {
        const bool repeats = rng_one_in(random, 2);
        fingerprint_make(random, form, repeats ? made.queries : made.rows, repeats ? i : count,
                         made.queries + i * form->words);
    }
    if (rng_one_in(random, 3))
        return made;
    made.ids = malloc((count + 1) * sizeof *made.ids);
    for (size_t i = 0; i < count; i++)
        made.ids[i] = rng_next(random) >> rng_below(random, 64);
    return made;
}

static void free_input(input *made)
{
    free(made->rows);
    free(made->ids);
    free(made->queries);
}

/* The first of the queries that is equal to query `index`. */
static size_t first_equal(const input *from, size_t index)
{
    const size_t words = from->form.words;
    size_t first = 0;
    while (memcmp(from->queries + first * words, from->queries + index * words, words * sizeof *from->queries) != 0)
        first++;
    return first;
}

/* The matches of what is fed, repeats included, with each query once. */
static matches try_all(const input *from)
{
    const uint32_t words = from->form.words;
    matches wanted = {.words = words, .query_words = words};
    for (size_t i = 0; i < from->query_count; i++) {
        const uint64_t *query = from->queries + i * words;
        if (first_equal(from, i) < i)
            continue;
        for (size_t j = 0; j < from->count; j++) {
            const uint64_t *row = from->rows + j * words;
            const uint32_t bits = fingerprint_distance(query, row, words);
            if (bits <= from->form.distance)
                matches_put(&wanted, query, bits, row, from->ids != NULL ? from->ids[j] : 0);
        }
    }
    matches_sort(&wanted);
    return wanted;
}

static sstore_stream_options make_options(const fingerprint_form *form, uint32_t threads)
{
    sstore_stream_options options = SSTORE_STREAM_OPTIONS_INIT;
    options.fingerprint_bits = 64 * form->words;
    options.distance = form->distance;
    options.threads = threads;
    return options;
}

/* Returns the number of matches. */
static size_t check_matcher(rng *random, const fingerprint_form *form, size_t count, size_t query_count)
{
    sstore_stream_matcher *matcher;
    sstore_error error = {.status = SSTORE_OK};
    matches got = {.words = form->words, .query_words = form->words};
    const sstore_stream_options options = make_options(form, (uint32_t)rng_between(random, 0, 3));
    testing_doing("%zu queries against %zu records, %s, %u threads", query_count, count, form_text(form),
                  options.threads);
    input from = make_input(random, form, count, query_count);
    matches wanted = try_all(&from);
    const bool is_default = form->words == 1 && form->distance == 3 && options.threads == 0;
    assert_ok(sstore_stream_matcher_create(from.queries, query_count, is_default ? NULL : &options, &matcher, &error),
              &error);
    for (size_t done = 0, part; done < count; done += part) {
        part = (size_t)rng_between(random, 0, count - done);
        assert_ok(sstore_stream_matcher_feed(matcher, from.rows + done * form->words,
                                             from.ids != NULL ? from.ids + done : NULL, part, store_collect_stream,
                                             &got, &error),
                  &error);
    }
    matches_sort(&got);
    matches_assert_equal(&got, &wanted, "the matcher");
    sstore_stream_matcher_free(matcher);
    matches_free(&got);
    matches_free(&wanted);
    free_input(&from);
    return wanted.count;
}

static void test_matchers(void **state)
{
    rng random = rng_seeded(run_seed);
    for (unsigned i = 0; i < (testing_races() ? 10 : testing_slow() ? 30 : 300); i++) {
        const fingerprint_form form = form_any(&random, 1), usual = form_of(&random, DATA_UNIFORM, 1, 3);
        check_matcher(&random, &form, (size_t)rng_below(&random, 1000), (size_t)rng_below(&random, 400));
        if (i % 10 == 0)
            check_matcher(&random, &usual, (size_t)rng_below(&random, 1000), (size_t)rng_below(&random, 400));
    }
    /* Many of each, so that fingerprints are looked up in the order of their keys. */
    for (uint32_t words = 1; words <= (testing_sanitized() ? 2u : 4u); words++) {
        const fingerprint_form form = form_of(&random, DATA_UNIFORM, words, 1 + 2 * words);
        check_matcher(&random, &form, 20000, 500);
    }
    testing_done();
}

/* Queries, whose last words are their numbers, and how often each fingerprint was reported with each. */
enum { MANY = 300000, FED = 3 };

typedef struct counting {
    uint32_t words;
    uint8_t *seen;
} counting;

static int count_match(void *context, const sstore_stream_match *match)
{
    const counting *self = context;
    const uint64_t query = match->query[self->words - 1];
    assert_true(match->id < FED && query < MANY);
    assert_int_equal(match->distance, fingerprint_distance(match->query, match->fingerprint, self->words));
    self->seen[match->id * MANY + query]++;
    return 0;
}

/* More matches than a thread's list can have, of many fingerprints and of each one. */
static void check_many(rng *random, uint32_t words, uint32_t threads)
{
    const fingerprint_form form = form_of(random, DATA_UNIFORM, words, 16 * words);
    const uint64_t fed[FED * 2] = {0}, ids[FED] = {0, 1, 2};
    uint64_t *queries = malloc(MANY * words * sizeof *queries);
    counting self = {words, calloc(FED, MANY)};
    sstore_stream_matcher *matcher;
    sstore_error error = {.status = SSTORE_OK};
    const sstore_stream_options options = make_options(&form, threads);
    testing_doing("almost every query of %u words matches each fingerprint, %u threads", words, threads);
    for (size_t i = 0; i < MANY; i++) {
        queries[words * i] = rng_flip(random, 0, 5);
        queries[words * i + words - 1] = i;
    }
    assert_ok(sstore_stream_matcher_create(queries, MANY, &options, &matcher, &error), &error);
    assert_ok(sstore_stream_matcher_feed(matcher, fed, ids, FED, count_match, &self, &error), &error);
    for (size_t i = 0; i < (size_t)FED * MANY; i++)
        assert_int_equal(self.seen[i], fingerprint_distance(queries + i % MANY * words, fed, words) <= form.distance);
    sstore_stream_matcher_free(matcher);
    free(self.seen);
    free(queries);
}

static void test_many_matches(void **state)
{
    rng random = rng_seeded(run_seed + 1);
    for (uint32_t words = 1; words <= 2; words++)
        for (uint32_t threads = 1; threads <= 2; threads++)
            if (testing_races() ? threads == 2 && words == 1 + run_seed % 2
                                : !testing_slow() || (words + threads + run_seed) % 2 == 0)
                check_many(&random, words, threads);
    testing_done();
}

static int stop_at_fifth(void *context, const sstore_stream_match *match)
{
    return ++*(int *)context == 5;
}

static void test_stopping(void **state)
{
    const fingerprint_form form = {.words = 1, .distance = 3};
    const uint64_t query = 7;
    uint64_t fed[100] = {0};
    int seen = 0;
    sstore_stream_matcher *matcher;
    sstore_error error = {.status = SSTORE_OK};
    matches got = {.count = 0};
    const sstore_stream_options options = make_options(&form, 2);
    assert_ok(sstore_stream_matcher_create(&query, 1, &options, &matcher, &error), &error);
    assert_status(sstore_stream_matcher_feed(matcher, fed, NULL, 100, stop_at_fifth, &seen, &error), SSTORE_STOPPED,
                  &error);
    assert_int_equal(seen, 5);
    /* Nothing remains of earlier calls. */
    assert_ok(sstore_stream_matcher_feed(matcher, fed, NULL, 100, store_collect_stream, &got, &error), &error);
    assert_int_equal(got.count, 100);
    matches_free(&got);
    sstore_stream_matcher_free(matcher);
}

static void test_arguments(void **state)
{
    const uint64_t query = 7;
    sstore_stream_matcher *matcher = NULL;
    sstore_collection *collection = NULL;
    sstore_error error = {.status = SSTORE_OK};
    sstore_stream_options far = SSTORE_STREAM_OPTIONS_INIT;
    far.distance = 17;
    assert_status(sstore_stream_matcher_create(&query, 1, &far, &matcher, &error), SSTORE_ERROR_ARGUMENT, &error);
    assert_status(sstore_stream_matcher_create(NULL, 1, NULL, &matcher, &error), SSTORE_ERROR_ARGUMENT, &error);
    assert_null(matcher);
    assert_status(sstore_stream_matcher_create(&query, 1, NULL, NULL, &error), SSTORE_ERROR_ARGUMENT, &error);
    assert_status(sstore_stream_matcher_feed(NULL, &query, NULL, 1, store_collect_stream, NULL, &error),
                  SSTORE_ERROR_ARGUMENT, &error);
    sstore_stream_matcher_free(NULL);
    sstore_collection_options options = SSTORE_COLLECTION_OPTIONS_INIT;
    options.tmp_dir = "/nowhere/at/all";
    assert_status(sstore_collection_create(&options, &collection, &error), SSTORE_ERROR_NOT_FOUND, &error);
    options.memory_bytes = MIN_MEMORY_BYTES - 1;
    assert_status(sstore_collection_create(&options, &collection, &error), SSTORE_ERROR_ARGUMENT, &error);
    options.struct_size = 3;
    assert_status(sstore_collection_create(&options, &collection, &error), SSTORE_ERROR_ARGUMENT, &error);
    assert_null(collection);
    sstore_collection_free(NULL);
}

static void test_widths(void **state)
{
    const uint64_t rows[4] = {0};
    sstore_stream_matcher *matcher;
    sstore_collection *collection;
    sstore_error error = {.status = SSTORE_OK};
    static const uint32_t no_widths[] = {1, 63, 65, 1088, UINT32_MAX};
    for (size_t i = 0; i < sizeof no_widths / sizeof *no_widths; i++) {
        sstore_stream_options stream = SSTORE_STREAM_OPTIONS_INIT;
        sstore_collection_options options = SSTORE_COLLECTION_OPTIONS_INIT;
        stream.fingerprint_bits = options.fingerprint_bits = no_widths[i];
        assert_status(sstore_stream_matcher_create(rows, 1, &stream, &matcher, &error), SSTORE_ERROR_ARGUMENT, &error);
        assert_status(sstore_collection_create(&options, &collection, &error), SSTORE_ERROR_ARGUMENT, &error);
    }
    sstore_stream_options stream = SSTORE_STREAM_OPTIONS_INIT;
    stream.fingerprint_bits = 256;
    stream.distance = 64;
    assert_ok(sstore_stream_matcher_create(rows, 1, &stream, &matcher, &error), &error);
    sstore_stream_matcher_free(matcher);
    stream.distance = 65;
    assert_status(sstore_stream_matcher_create(rows, 1, &stream, &matcher, &error), SSTORE_ERROR_ARGUMENT, &error);
    sstore_collection_options options = SSTORE_COLLECTION_OPTIONS_INIT;
    options.fingerprint_bits = 256;
    options.tmp_dir = scratch_folder();
    assert_ok(sstore_collection_create(&options, &collection, &error), &error);
    const sstore_stream_match without = {.fingerprint = rows};
    assert_status(sstore_collection_add(collection, &without, 1, &error), SSTORE_ERROR_ARGUMENT, &error);
    const sstore_stream_match with = {.query = rows, .fingerprint = rows};
    assert_ok(sstore_collection_add(collection, &with, 1, &error), &error);
    sstore_collection_free(collection);
}

/* ----- collections ----- */

/* A row with up to `max_bits` bits flipped. */
static void make_near(rng *random, const uint64_t *row, uint32_t words, uint32_t max_bits, uint64_t *to)
{
    memcpy(to, row, words * sizeof *to);
    for (uint64_t flips = rng_below(random, max_bits + 1); flips > 0; flips--)
        to[rng_below(random, words)] ^= UINT64_C(1) << rng_below(random, 64);
}

/* Add matches of `query_count` queries; one in three is of the first one, near it or far. */
static void add_matches(rng *random, sstore_collection *collection, size_t count, size_t query_count, uint32_t max_bits,
                        matches *wanted)
{
    enum { TOGETHER = 1000 };
    const uint32_t words = wanted->words;
    const fingerprint_form form = form_of(random, DATA_FEW, words, 0);
    uint64_t *queries = fingerprint_make_many(random, &form, query_count),
             *rows = malloc((size_t)TOGETHER * words * sizeof *rows);
    sstore_stream_match part[TOGETHER];
    sstore_error error = {.status = SSTORE_OK};
    for (size_t done = 0, size; done < count; done += size) {
        size = (size_t)rng_between(random, 0, count - done < TOGETHER ? count - done : TOGETHER);
        for (size_t i = 0; i < size; i++) {
            const uint64_t *query = queries + (rng_one_in(random, 3) ? 0 : rng_below(random, query_count)) * words;
            uint64_t *row = rows + i * words;
            make_near(random, query, words, max_bits, row);
            part[i] = (sstore_stream_match){.query = query,
                                            .fingerprint = row,
                                            .id = rng_one_in(random, 50) ? UINT64_MAX : rng_below(random, 3),
                                            .distance = fingerprint_distance(query, row, words)};
            store_collect_stream(wanted, &part[i]);
            part[i].distance = 77; /* not read */
        }
        assert_ok(sstore_collection_add(collection, part, size, &error), &error);
    }
    free(queries);
    free(rows);
}

static void check_collection(rng *random, uint32_t words, size_t count, size_t query_count, uint32_t max_bits,
                             uint64_t memory_bytes)
{
    sstore_collection_options options = SSTORE_COLLECTION_OPTIONS_INIT;
    sstore_collection *collection;
    sstore_error error = {.status = SSTORE_OK};
    matches wanted = {.words = words, .query_words = words}, got = wanted;
    testing_doing("%zu matches of %zu queries of %u words, up to %u bits, %ju bytes", count, query_count, words,
                  max_bits, (uintmax_t)memory_bytes);
    options.memory_bytes = memory_bytes;
    options.tmp_dir = scratch_folder();
    options.fingerprint_bits = 64 * words;
    assert_ok(sstore_collection_create(&options, &collection, &error), &error);
    add_matches(random, collection, count, query_count, max_bits, &wanted);
    matches_sort(&wanted);
    matches_unique(&wanted);
    for (int round = 0; round < 2; round++) {
        got.count = 0;
        assert_ok(sstore_collection_report(collection, store_collect_stream, &got, &error), &error);
        matches_assert_equal(&got, &wanted, "the collection"); /* in this order */
    }
    assert_status(sstore_collection_add(collection, NULL, 0, &error), SSTORE_ERROR_ARGUMENT, &error);
    sstore_collection_free(collection);
    matches_free(&wanted);
    matches_free(&got);
}

static void test_collections(void **state)
{
    rng random = rng_seeded(run_seed + 2);
    static const size_t counts[] = {0, 1, 2, 100, 5000};
    const size_t many = 60000;
    for (uint32_t words = 1; words <= SSTORE_MAX_WORDS; words += 1 + words / 3)
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
            check_collection(&random, words, counts[i], 1 + counts[i] / 5, 3, 0);
            check_collection(&random, words, counts[i], 1, 64 * words, MIN_MEMORY_BYTES);
        }
    /* Spilled; the matches of the first query are more than a piece holds. */
    check_collection(&random, 1, 200000, 20000, 3, MIN_MEMORY_BYTES);
    check_collection(&random, 1, 200000, 2, 16, MIN_MEMORY_BYTES);
    check_collection(&random, 2, many, many / 10, 3, MIN_MEMORY_BYTES);
    check_collection(&random, 4, many, 2, 30, MIN_MEMORY_BYTES);
    check_collection(&random, 16, many, 2, 16, MIN_MEMORY_BYTES);
    check_collection(&random, 3, many, 1, 1, MIN_MEMORY_BYTES); /* hardly any different ones */
    testing_done();
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_matchers, testing_teardown),
        cmocka_unit_test_teardown(test_many_matches, testing_teardown),
        cmocka_unit_test_teardown(test_stopping, testing_teardown),
        cmocka_unit_test_teardown(test_arguments, testing_teardown),
        cmocka_unit_test_teardown(test_widths, testing_teardown),
        cmocka_unit_test_teardown(test_collections, testing_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * test_stream_matcher.c - a stream matcher must find what comparing every pair finds, for all data, distances, threads
 * and sizes of parts. A collection must sort matches, however many they are.
 */
#include <stdlib.h>
#include <string.h>

#include "support/answers.h"
#include "support/scratch.h"
#include "support/testing.h"
#include "support/use_store.h"

#define MIN_MEMORY_BYTES ((uint64_t)1 << 20) /* of a collection */

/* The matches of records as they were fed: also of repeats. */
static void try_all(const data_set *data, const uint64_t *queries, size_t query_count, uint32_t distance,
                    matches *wanted)
{
    for (size_t i = 0; i < query_count; i++)
        for (size_t j = 0; j < data->count; j++) {
            const uint32_t bits = sstore_hamming_distance(queries[i], data->fingerprints[j]);
            const uint64_t id = data->ids != NULL ? data->ids[j] : 0;
            if (bits <= distance)
                matches_add(wanted, &(sstore_match){queries[i], data->fingerprints[j], id, bits, NULL});
        }
    matches_sort(wanted);
}

/* Drop repeats from sorted matches. */
static void matches_unique(matches *list)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++)
        if (i == 0 || compare_matches(&list->items[i], &list->items[kept - 1]) != 0)
            list->items[kept++] = list->items[i];
    list->count = kept;
}

/* Feed all records in parts of up to `max`. */
static void feed_all(rng *random, sstore_stream_matcher *matcher, const data_set *data, size_t max, matches *got)
{
    sstore_error error = {.status = SSTORE_OK};
    for (size_t done = 0; done < data->count;) {
        size_t part = (size_t)rng_between(random, 0, max);
        part = part < data->count - done ? part : data->count - done;
        assert_ok(sstore_stream_matcher_feed(matcher, data->fingerprints + done,
                                             data->ids != NULL ? data->ids + done : NULL, part, store_collect_stream,
                                             got, &error),
                  &error);
        done += part;
    }
    matches_sort(got);
}

static sstore_stream_options make_options(uint32_t distance, uint32_t threads)
{
    sstore_stream_options options = SSTORE_STREAM_OPTIONS_INIT;
    options.distance = distance;
    options.threads = threads;
    return options;
}

/* Queries, some of them several times. */
static uint64_t *make_queries(rng *random, const data_set *data, size_t count, uint32_t distance)
{
    uint64_t *queries = malloc((count + 1) * sizeof *queries);
    for (size_t i = 0; i < count; i++)
        queries[i] = i > 0 && rng_one_in(random, 10) ? queries[rng_below(random, i)]
                                                     : data_query(random, data, distance);
    return queries;
}

static void check_matcher(rng *random, data_kind kind, data_ids ids, size_t count, size_t query_count,
                          uint32_t distance)
{
    data_set data;
    sstore_stream_matcher *matcher;
    sstore_error error = {.status = SSTORE_OK};
    matches got = {0}, wanted = {0};
    const uint32_t threads = (uint32_t)rng_between(random, 0, 3);
    testing_doing("%zu queries against %zu records, %s, %s, distance %u, %u threads", query_count, count,
                  data_kind_name(kind), data_ids_name(ids), distance, threads);
    data_make(random, kind, ids, count, true, &data);
    uint64_t *queries = make_queries(random, &data, query_count, distance);
    oracle batch;
    data_set as_set = {.kind = kind, .id_kind = DATA_NO_IDS, .count = query_count, .fingerprints = queries};
    oracle_make(&as_set, &batch); /* each query once */
    uint64_t *distinct = malloc((batch.count + 1) * sizeof *distinct);
    for (size_t i = 0; i < batch.count; i++)
        distinct[i] = batch.records[i].fingerprint;
    try_all(&data, distinct, batch.count, distance, &wanted);
    const sstore_stream_options options = make_options(distance, threads);
    const bool is_default = distance == 3 && threads == 0; /* for which NULL stands */
    assert_ok(sstore_stream_matcher_create(queries, query_count, is_default ? NULL : &options, &matcher, &error),
              &error);
    feed_all(random, matcher, &data, rng_one_in(random, 2) ? count : 1 + count / 5, &got);
    matches_assert_equal(&got, &wanted, "the matcher");
    sstore_stream_matcher_free(matcher);
    matches_free(&got);
    matches_free(&wanted);
    oracle_free(&batch);
    free(distinct);
    free(queries);
    data_free(&data);
}

static void test_kinds(void **state)
{
    rng random = rng_seeded(run_seed);
    for (int kind = 0; kind < DATA_KIND_COUNT; kind++) {
        check_matcher(&random, (data_kind)kind, DATA_IDS, 2000, 200, 3);
        check_matcher(&random, (data_kind)kind, DATA_NO_IDS, 500, 1500, (uint32_t)rng_below(&random, 17));
        check_matcher(&random, (data_kind)kind, DATA_IDS, 50, 3, (uint32_t)rng_below(&random, 17));
        check_matcher(&random, (data_kind)kind, DATA_IDS, 10, 0, 3);
    }
    check_matcher(&random, DATA_CLUSTERED, DATA_IDS, 30000, 3000, 3);
    testing_done();
}

/* More matches than a thread's list can have, of many fingerprints and of each one. */
static void test_many_matches(void **state)
{
    enum { QUERIES = 300000, FED = 7 };
    rng random = rng_seeded(run_seed + 1);
    uint64_t *queries = malloc(QUERIES * sizeof *queries), fed[FED], ids[FED];
    for (size_t i = 0; i < QUERIES; i++)
        queries[i] = rng_flip(&random, 0, i % 3 == 0 ? 8 : 7);
    for (size_t i = 0; i < FED; i++) {
        fed[i] = rng_flip(&random, 0, (uint32_t)i + 2);
        ids[i] = i;
    }
    for (uint32_t threads = 1; threads <= 2; threads++) {
        sstore_stream_matcher *matcher;
        sstore_error error = {.status = SSTORE_OK};
        matches got = {0}, wanted = {0};
        testing_doing("most queries match each fingerprint, %u threads", threads);
        const sstore_stream_options options = make_options(16, threads);
        assert_ok(sstore_stream_matcher_create(queries, QUERIES, &options, &matcher, &error), &error);
        assert_ok(sstore_stream_matcher_feed(matcher, fed, ids, FED, store_collect_stream, &got, &error), &error);
        const data_set data = {.count = FED, .fingerprints = fed, .ids = ids};
        try_all(&data, queries, QUERIES, 16, &wanted);
        matches_unique(&wanted); /* queries that are repeated count once */
        matches_sort(&got);
        matches_assert_equal(&got, &wanted, "the matcher");
        sstore_stream_matcher_free(matcher);
        matches_free(&got);
        matches_free(&wanted);
    }
    free(queries);
    testing_done();
}

static int stop_at_fifth(void *context, const sstore_stream_match *match)
{
    return ++*(int *)context == 5;
}

static void test_stopping(void **state)
{
    const uint64_t query = 7;
    uint64_t fed[100] = {0};
    int seen = 0;
    sstore_stream_matcher *matcher;
    sstore_error error = {.status = SSTORE_OK};
    matches got = {0};
    const sstore_stream_options options = make_options(3, 2);
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
    sstore_stream_options far = make_options(17, 1);
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

/* ----- collections ----- */

/* Matches of `queries` queries; one in three is of the first one, near it or far. */
static sstore_stream_match make_match(rng *random, uint64_t queries, uint32_t max_bits)
{
    sstore_stream_match match = {.query = rng_mix(rng_one_in(random, 3) ? 0 : rng_below(random, queries))};
    match.fingerprint = rng_flip(random, match.query, (uint32_t)rng_below(random, max_bits + 1));
    match.distance = sstore_hamming_distance(match.query, match.fingerprint);
    match.id = rng_one_in(random, 50) ? UINT64_MAX : rng_below(random, 3);
    return match;
}

static void check_collection(rng *random, size_t count, uint64_t queries, uint32_t max_bits, uint64_t memory_bytes)
{
    sstore_collection_options options = SSTORE_COLLECTION_OPTIONS_INIT;
    sstore_collection *collection;
    sstore_error error = {.status = SSTORE_OK};
    matches got = {0}, wanted = {0};
    testing_doing("%zu matches of %ju queries, up to %u bits, %ju bytes", count, (uintmax_t)queries, max_bits,
                  (uintmax_t)memory_bytes);
    options.memory_bytes = memory_bytes;
    options.tmp_dir = scratch_folder();
    assert_ok(sstore_collection_create(&options, &collection, &error), &error);
    for (size_t done = 0; done < count;) {
        sstore_stream_match part[1000];
        size_t size = (size_t)rng_between(random, 0, count - done < 1000 ? count - done : 1000);
        for (size_t i = 0; i < size; i++) {
            part[i] = make_match(random, queries, max_bits);
            store_collect_stream(&wanted, &part[i]);
        }
        assert_ok(sstore_collection_add(collection, part, size, &error), &error);
        done += size;
    }
    matches_sort(&wanted);
    matches_unique(&wanted);
    for (int round = 0; round < 2; round++) {
        got.count = 0;
        assert_ok(sstore_collection_report(collection, store_collect_stream, &got, &error), &error);
        matches_assert_equal(&got, &wanted, "the collection"); /* in this order */
    }
    assert_status(sstore_collection_add(collection, NULL, 0, &error), SSTORE_ERROR_ARGUMENT, &error);
    sstore_collection_free(collection);
    matches_free(&got);
    matches_free(&wanted);
}

static void test_collections(void **state)
{
    rng random = rng_seeded(run_seed + 2);
    static const size_t counts[] = {0, 1, 2, 100, 20000};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        check_collection(&random, counts[i], 1 + counts[i] / 5, 3, 0);
        check_collection(&random, counts[i], 1, 64, MIN_MEMORY_BYTES);
    }
    /* Spilled; the matches of the first query are more than a piece holds. */
    check_collection(&random, 200000, 20000, 3, MIN_MEMORY_BYTES);
    check_collection(&random, 200000, 2, 16, MIN_MEMORY_BYTES);
    check_collection(&random, 100000, 1, 1, MIN_MEMORY_BYTES); /* hardly any different ones */
    testing_done();
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_kinds, testing_teardown),
        cmocka_unit_test_teardown(test_many_matches, testing_teardown),
        cmocka_unit_test_teardown(test_stopping, testing_teardown),
        cmocka_unit_test_teardown(test_arguments, testing_teardown),
        cmocka_unit_test_teardown(test_collections, testing_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

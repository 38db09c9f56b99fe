/* The static index in memory must find the same fingerprints as comparing all, for all kinds of data, distances and
 * numbers of fingerprints. */
#include "stream/memory_index.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/memory.h"
#include "sort/radix.h"
#include "support/answers.h"
#include "support/testing.h"
#include "support/use_store.h"

typedef struct sample {
    data_set data;
    uint64_t *values; /* the distinct fingerprints, ascending */
    uint32_t count;
} sample;

static void sample_make(rng *random, data_kind kind, size_t count, sample *made)
{
    data_make(random, kind, DATA_NO_IDS, count, true, &made->data);
    uint64_t *scratch = ss_realloc(NULL, count, sizeof *scratch);
    made->values = ss_realloc(NULL, count, sizeof *made->values);
    made->count = 0;
    for (size_t i = 0; i < count; i++)
        made->values[i] = made->data.fingerprints[i];
    ss_sort_keys(made->values, scratch, count);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || made->values[i] != made->values[made->count - 1])
            made->values[made->count++] = made->values[i];
    ss_free(scratch);
}

typedef struct collecting {
    const uint64_t *fingerprints;
    matches found;
} collecting;

static sstore_status collect(void *context, uint32_t number, uint64_t value, sstore_error *error)
{
    collecting *self = context;
    const uint32_t distance = sstore_hamming_distance(self->fingerprints[number], value);
    matches_add(&self->found, &(sstore_match){.query_index = number, .distance = distance, .fingerprint = value});
    return SSTORE_OK;
}

static void static_matches(const sample *in, const uint64_t *fingerprints, uint32_t count, uint32_t distance,
                           matches *wanted)
{
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < in->count; j++) {
            const uint32_t bits = sstore_hamming_distance(fingerprints[i], in->values[j]);
            if (bits <= distance)
                matches_add(wanted, &(sstore_match){.query_index = i, .distance = bits, .fingerprint = in->values[j]});
        }
    matches_sort(wanted);
}

static void check_search(const ss_fingerprint_index *index, const sample *in, rng *random, uint32_t count,
                         uint32_t distance)
{
    uint64_t *fingerprints = malloc((count + 1) * sizeof *fingerprints);
    ss_index_order order = {malloc((count + 1) * sizeof(uint64_t)), malloc((count + 1) * sizeof(uint32_t))};
    collecting plain = {.fingerprints = fingerprints}, ordered = plain;
    matches wanted = {0};
    sstore_error error = {.status = SSTORE_OK};
    for (uint32_t i = 0; i < count; i++)
        fingerprints[i] = in->data.count > 0 ? data_query(random, &in->data, distance) : rng_next(random);
    static_matches(in, fingerprints, count, distance, &wanted);
    assert_ok(ss_fingerprint_index_search(index, fingerprints, count, distance, NULL, collect, &plain, &error), &error);
    assert_ok(ss_fingerprint_index_search(index, fingerprints, count, distance, &order, collect, &ordered, &error),
              &error);
    matches_sort(&plain.found);
    matches_sort(&ordered.found);
    matches_assert_equal(&plain.found, &wanted, "in the order given");
    matches_assert_equal(&ordered.found, &wanted, "in the order of keys");
    matches_free(&plain.found);
    matches_free(&ordered.found);
    matches_free(&wanted);
    free(order.fingerprints);
    free(order.numbers);
    free(fingerprints);
}

/* An index for `max`, searched within that and within less. */
static void check_index(rng *random, data_kind kind, size_t count, uint32_t max, uint32_t searched)
{
    sample in;
    ss_fingerprint_index index;
    sstore_error error = {.status = SSTORE_OK};
    testing_doing("%zu fingerprints, %s, distance %u, %u searched", count, data_kind_name(kind), max, searched);
    sample_make(random, kind, count, &in);
    const uint32_t threads = (uint32_t)rng_between(random, 1, 3);
    const uint32_t width = rng_one_in(random, 3) ? (uint32_t)rng_below(random, 65) : 64;
    assert_ok(ss_fingerprint_index_open(&index, in.values, in.count, width, max, threads, &error), &error);
    for (uint32_t rank = 0; rank < in.count; rank += 1 + in.count / 100)
        assert_int_equal(ss_fingerprint_index_rank(&index, in.values[rank]), rank);
    check_search(&index, &in, random, searched, max);
    check_search(&index, &in, random, searched / 8 + 1, (uint32_t)rng_below(random, max + 1));
    assert_true(ss_fingerprint_index_bytes(&index) >= in.count * sizeof(uint64_t));
    ss_fingerprint_index_close(&index);
    data_free(&in.data);
}

static void test_static_index(void **state)
{
    rng random = rng_seeded(run_seed);
    static const size_t counts[] = {1, 2, 63, 1000, 5000};
    for (int kind = 0; kind < DATA_KIND_COUNT; kind++)
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
            for (uint32_t distance = 0; distance <= SS_INDEX_MAX_DISTANCE;
                 distance += (uint32_t)rng_between(&random, 1, 5))
                check_index(&random, (data_kind)kind, counts[i], distance, 30);
    testing_done();
}

/* Tables larger than a cache's part, and enough fingerprints that they are put in order first. */
static void test_static_index_of_many(void **state)
{
    rng random = rng_seeded(run_seed + 1);
    check_index(&random, DATA_CLUSTERED, 20000, 3, 3000);
    check_index(&random, DATA_SKEWED, 20000, 3, 3000);
    check_index(&random, DATA_UNIFORM, 20000, 6, 2000);
    testing_done();
}

/* No values, and nothing to search for. */
static void test_static_index_without_work(void **state)
{
    rng random = rng_seeded(run_seed + 2);
    for (uint32_t distance = 0; distance <= SS_INDEX_MAX_DISTANCE; distance++) {
        check_index(&random, DATA_UNIFORM, 0, distance, 5);
        check_index(&random, DATA_UNIFORM, 10, distance, 0);
    }
    ss_fingerprint_index none = {.count = 0};
    ss_fingerprint_index_close(&none);
    testing_done();
}

static sstore_status stop_at_third(void *context, uint32_t number, uint64_t value, sstore_error *error)
{
    return ++*(int *)context == 3 ? SSTORE_STOPPED : SSTORE_OK;
}

static void test_stopping_a_search(void **state)
{
    rng random = rng_seeded(run_seed + 3);
    sample in;
    ss_fingerprint_index index;
    sstore_error error = {.status = SSTORE_OK};
    int seen = 0;
    sample_make(&random, DATA_UNIFORM, 1000, &in);
    assert_ok(ss_fingerprint_index_open(&index, in.values, in.count, 64, 3, 1, &error), &error);
    assert_status(ss_fingerprint_index_search(&index, in.data.fingerprints, 1000, 3, NULL, stop_at_third, &seen,
                                              &error),
                  SSTORE_STOPPED, &error);
    assert_int_equal(seen, 3);
    ss_fingerprint_index_close(&index);
    data_free(&in.data);
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_static_index, testing_teardown),
        cmocka_unit_test_teardown(test_static_index_of_many, testing_teardown),
        cmocka_unit_test_teardown(test_static_index_without_work, testing_teardown),
        cmocka_unit_test_teardown(test_stopping_a_search, testing_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

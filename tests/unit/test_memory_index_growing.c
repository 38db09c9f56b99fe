/* The growing index against trying every record that was added so far. */
#include "stream/memory_index.h"

#include <stdlib.h>

#include "support/answers.h"
#include "support/testing.h"

static void try_all(const data_set *data, size_t added, uint64_t fingerprint, uint32_t distance, rows *wanted)
{
    for (size_t i = 0; i < added; i++) {
        const uint32_t bits = sstore_hamming_distance(fingerprint, data->fingerprints[i]);
        const uint64_t id = data->ids != NULL ? data->ids[i] : 0;
        if (bits <= distance)
            rows_add(wanted, (row){.distance = bits, .fingerprint = data->fingerprints[i], .id = id});
    }
    rows_sort(wanted);
}

static void check_find(const ss_growing_index *index, const data_set *data, size_t added, uint64_t fingerprint,
                       uint32_t distance)
{
    rows got = {0}, wanted = {0};
    rows_sink sink = {.to = &got};
    try_all(data, added, fingerprint, distance, &wanted);
    assert_int_equal(ss_growing_index_find(index, fingerprint, distance, rows_collect, &sink), SSTORE_OK);
    rows_sort(&got);
    rows_assert_equal(&got, &wanted, "found");
    rows_free(&got);
    rows_free(&wanted);
}

/* Leave the first record of each fingerprint, in the order as they are. */
static void drop_repeats(data_set *data)
{
    size_t kept = 0;
    for (size_t i = 0; i < data->count; i++) {
        size_t j = 0;
        while (j < kept && data->fingerprints[j] != data->fingerprints[i])
            j++;
        if (j < kept)
            continue;
        data->fingerprints[kept] = data->fingerprints[i];
        data->ids[kept++] = data->ids[i];
    }
    data->count = kept;
}

static void make(rng *random, data_kind kind, size_t count, data_set *data)
{
    data_make(random, kind, DATA_IDS, count, true, data);
    drop_repeats(data);
}

static void must_add(ss_growing_index *index, const data_set *data, size_t from, size_t to)
{
    sstore_error error = {.status = SSTORE_OK};
    for (size_t i = from; i < to; i++)
        assert_ok(ss_growing_index_add(index, data->fingerprints[i], data->ids[i], &error), &error);
}

/* Add all records, and ask now and then. */
static void check_growth(rng *random, data_kind kind, size_t count, uint32_t distance)
{
    data_set data;
    ss_growing_index *index;
    sstore_error error = {.status = SSTORE_OK};
    testing_doing("%zu records, %s, distance %u", count, data_kind_name(kind), distance);
    make(random, kind, count, &data);
    assert_ok(ss_growing_index_create(distance, &index, &error), &error);
    for (size_t added = 0, next; added <= data.count; added = next) {
        assert_int_equal(ss_growing_index_count(index), added);
        assert_true(ss_growing_index_bytes(index) > added * 8);
        for (int i = 0; i < 10; i++)
            check_find(index, &data, added, data_query(random, &data, distance),
                       i < 5 ? distance : (uint32_t)rng_below(random, distance + 1));
        if (added == data.count)
            break;
        next = added + 1 + added / 4 < data.count ? added + 1 + added / 4 : data.count;
        must_add(index, &data, added, next);
    }
    ss_growing_index_free(index);
    data_free(&data);
}

static void test_kinds(void **state)
{
    rng random = rng_seeded(run_seed);
    for (int kind = 0; kind < DATA_KIND_COUNT; kind++) {
        check_growth(&random, (data_kind)kind, 9000, 3);
        check_growth(&random, (data_kind)kind, 5000, (uint32_t)rng_below(&random, SS_INDEX_MAX_DISTANCE + 1));
    }
    testing_done();
}

static sstore_status gather(void *context, const uint64_t *fingerprints, const uint64_t *ids, size_t count,
                            sstore_error *error)
{
    for (size_t i = 0; i < count; i++)
        rows_add(context, (row){.fingerprint = fingerprints[i], .id = ids[i]});
    return SSTORE_OK;
}

/* All records come out again. */
static void test_each(void **state)
{
    rng random = rng_seeded(run_seed + 4);
    for (size_t count = 0; count < 9000; count = 2 * count + 500) {
        data_set data;
        ss_growing_index *index;
        rows got = {0}, wanted = {0};
        sstore_error error = {.status = SSTORE_OK};
        testing_doing("each of %zu", count);
        make(&random, DATA_CLUSTERED, count, &data);
        assert_ok(ss_growing_index_create(3, &index, &error), &error);
        must_add(index, &data, 0, data.count);
        for (size_t i = 0; i < data.count; i++)
            rows_add(&wanted, (row){.fingerprint = data.fingerprints[i], .id = data.ids[i]});
        assert_ok(ss_growing_index_each(index, gather, &got, &error), &error);
        rows_sort(&got);
        rows_sort(&wanted);
        rows_assert_equal(&got, &wanted, "all records");
        rows_free(&got);
        rows_free(&wanted);
        ss_growing_index_free(index);
        data_free(&data);
    }
    testing_done();
}

/* All in one bucket of the first table. */
static void test_one_bucket(void **state)
{
    rng random = rng_seeded(run_seed + 1);
    data_set data;
    ss_growing_index *index;
    sstore_error error = {.status = SSTORE_OK};
    testing_doing("all in one bucket");
    data_make(&random, DATA_UNIFORM, DATA_IDS, 6000, false, &data);
    for (size_t i = 0; i < data.count; i++)
        data.fingerprints[i] = (data.fingerprints[i] & 0xffffffff) | 0xabcdefabULL << 32;
    drop_repeats(&data);
    assert_ok(ss_growing_index_create(3, &index, &error), &error);
    must_add(index, &data, 0, data.count);
    for (int i = 0; i < 50; i++)
        check_find(index, &data, data.count, data_query(&random, &data, 3), 3);
    ss_growing_index_free(index);
    data_free(&data);
    testing_done();
}

static int stop_at_second(void *context, const sstore_match *match)
{
    return ++*(int *)context == 2;
}

static void test_stopping(void **state)
{
    ss_growing_index *index;
    sstore_error error = {.status = SSTORE_OK};
    assert_ok(ss_growing_index_create(1, &index, &error), &error);
    for (uint64_t records = 0; records < 4000; records++) {
        int seen = 0;
        if (records == 10 || records == 3999) {
            assert_int_equal(ss_growing_index_find(index, 4, 1, stop_at_second, &seen), SSTORE_STOPPED);
            assert_int_equal(seen, 2);
        }
        assert_ok(ss_growing_index_add(index, records, records, &error), &error);
    }
    ss_growing_index_free(index);
    ss_growing_index_free(NULL);
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_kinds, testing_teardown),
        cmocka_unit_test_teardown(test_each, testing_teardown),
        cmocka_unit_test_teardown(test_one_bucket, testing_teardown),
        cmocka_unit_test_teardown(test_stopping, testing_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

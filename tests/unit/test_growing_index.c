/* The growing index in memory must find the same records as comparing all, for all kinds of data, distances and numbers
 * of records. */
#include "stream/growing_index.h"

#include <stdlib.h>

#include "stream/memory_index.h"
#include "support/answers.h"
#include "support/testing.h"
#include "support/use_store.h"
#include "support/wide_data.h"

static void growing_matches(const data_set *data, size_t added, uint64_t fingerprint, uint32_t distance,
                            matches *wanted)
{
    for (size_t i = 0; i < added; i++) {
        const uint32_t bits = sstore_hamming_distance(fingerprint, data->fingerprints[i]);
        const uint64_t id = data->ids != NULL ? data->ids[i] : 0;
        if (bits <= distance)
            matches_add(wanted, &(sstore_match){.distance = bits, .fingerprint = data->fingerprints[i], .id = id});
    }
    matches_sort(wanted);
}

static void check_find(const ss_growing_index *index, const data_set *data, size_t added, uint64_t fingerprint,
                       uint32_t distance)
{
    matches got = {0}, wanted = {0};
    growing_matches(data, added, fingerprint, distance, &wanted);
    assert_int_equal(ss_growing_index_find(index, &fingerprint, distance, store_collect, &got), SSTORE_OK);
    matches_sort(&got);
    matches_assert_equal(&got, &wanted, "found");
    matches_free(&got);
    matches_free(&wanted);
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

static void make_distinct(rng *random, data_kind kind, size_t count, data_set *data)
{
    data_make(random, kind, DATA_IDS, count, true, data);
    drop_repeats(data);
}

static void must_add(ss_growing_index *index, const data_set *data, size_t from, size_t to)
{
    sstore_error error = {.status = SSTORE_OK};
    for (size_t i = from; i < to; i++)
        assert_ok(ss_growing_index_add(index, &data->fingerprints[i], data->ids[i], &error), &error);
}

/* Add all records, and search now and then. */
static void check_growth(rng *random, data_kind kind, size_t count, uint32_t distance)
{
    data_set data;
    ss_growing_index *index;
    sstore_error error = {.status = SSTORE_OK};
    testing_doing("%zu records, %s, distance %u", count, data_kind_name(kind), distance);
    make_distinct(random, kind, count, &data);
    assert_ok(ss_growing_index_create(1, distance, 1, &index, &error), &error);
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

static void test_growing_index(void **state)
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
        matches_add(context, &(sstore_match){.fingerprint = fingerprints[i], .id = ids[i]});
    return SSTORE_OK;
}

/* All records are returned. */
static void test_each_record_of_a_growing_index(void **state)
{
    rng random = rng_seeded(run_seed + 4);
    for (size_t count = 0; count < 9000; count = 2 * count + 500) {
        data_set data;
        ss_growing_index *index;
        matches got = {0}, wanted = {0};
        sstore_error error = {.status = SSTORE_OK};
        testing_doing("each of %zu", count);
        make_distinct(&random, DATA_CLUSTERED, count, &data);
        assert_ok(ss_growing_index_create(1, 3, 1, &index, &error), &error);
        must_add(index, &data, 0, data.count);
        for (size_t i = 0; i < data.count; i++)
            matches_add(&wanted, &(sstore_match){.fingerprint = data.fingerprints[i], .id = data.ids[i]});
        assert_ok(ss_growing_index_each(index, gather, &got, &error), &error);
        matches_sort(&got);
        matches_sort(&wanted);
        matches_assert_equal(&got, &wanted, "all records");
        matches_free(&got);
        matches_free(&wanted);
        ss_growing_index_free(index);
        data_free(&data);
    }
    testing_done();
}

/* All in one bucket of the first table. */
static void test_growing_index_of_one_bucket(void **state)
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
    assert_ok(ss_growing_index_create(1, 3, 1, &index, &error), &error);
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

static void test_stopping_a_find(void **state)
{
    const uint64_t four = 4;
    ss_growing_index *index;
    sstore_error error = {.status = SSTORE_OK};
    assert_ok(ss_growing_index_create(1, 1, 1, &index, &error), &error);
    for (uint64_t records = 0; records < 4000; records++) {
        int seen = 0;
        if (records == 10 || records == 3999) {
            assert_int_equal(ss_growing_index_find(index, &four, 1, stop_at_second, &seen), SSTORE_STOPPED);
            assert_int_equal(seen, 2);
        }
        assert_ok(ss_growing_index_add(index, &records, records, &error), &error);
    }
    ss_growing_index_free(index);
    ss_growing_index_free(NULL);
}

/* ----- fingerprints of several words ----- */

typedef struct wide_growth {
    wide_form form;
    ss_growing_index *index;
    uint64_t *rows; /* those that were added, and one more */
    size_t added;
    wide_matches found;
} wide_growth;

static int collect_wide(void *context, const sstore_match *match)
{
    wide_growth *self = context;
    const uint64_t none = 0;
    assert_int_equal(match->fingerprint, match->words[0]);
    wide_matches_add(&self->found, 1, &none, self->form.words, match->words, match->id, match->distance);
    return 0;
}

static void check_wide_find(wide_growth *self, const uint64_t *fingerprint, uint32_t distance)
{
    const uint32_t words = self->form.words;
    const uint64_t none = 0;
    wide_matches wanted = {.count = 0};
    for (size_t i = 0; i < self->added; i++) {
        const uint64_t *row = self->rows + i * words;
        const uint32_t bits = wide_distance(row, fingerprint, words);
        if (bits <= distance)
            wide_matches_add(&wanted, 1, &none, words, row, 3 * i, bits);
    }
    self->found.count = 0;
    assert_int_equal(ss_growing_index_find(self->index, fingerprint, distance, collect_wide, self), SSTORE_OK);
    wide_matches_sort(&self->found);
    wide_matches_sort(&wanted);
    wide_matches_assert_equal(&self->found, &wanted, "found");
    wide_matches_free(&wanted);
}

static sstore_status check_rows(void *context, const uint64_t *fingerprints, const uint64_t *ids, size_t count,
                                sstore_error *error)
{
    wide_growth *self = context;
    const uint64_t none = 0;
    for (size_t i = 0; i < count; i++)
        wide_matches_add(&self->found, 1, &none, self->form.words, fingerprints + i * self->form.words, ids[i], 0);
    return SSTORE_OK;
}

/* All records are returned. */
static void check_each_row(wide_growth *self)
{
    const uint64_t none = 0;
    wide_matches wanted = {.count = 0};
    sstore_error error = {.status = SSTORE_OK};
    for (size_t i = 0; i < self->added; i++)
        wide_matches_add(&wanted, 1, &none, self->form.words, self->rows + i * self->form.words, 3 * i, 0);
    self->found.count = 0;
    assert_ok(ss_growing_index_each(self->index, check_rows, self, &error), &error);
    wide_matches_sort(&self->found);
    wide_matches_sort(&wanted);
    wide_matches_assert_equal(&self->found, &wanted, "all records");
    wide_matches_free(&wanted);
}

static void check_wide_growth(rng *random, const wide_form *form, size_t count)
{
    wide_growth self = {.form = *form};
    sstore_error error = {.status = SSTORE_OK};
    testing_doing("%zu records of %s", count, wide_form_text(form));
    self.rows = malloc((count + 1) * form->words * sizeof *self.rows);
    assert_ok(ss_growing_index_create(form->words, form->distance, (uint32_t)rng_between(random, 1, 3), &self.index,
                                      &error),
              &error);
    for (size_t next = 0; self.added <= count; self.added++) {
        uint64_t *row = self.rows + self.added * form->words;
        wide_make(random, form, self.rows, self.added, row);
        if (self.added == next || self.added == count) {
            next += 1 + next / 4;
            check_wide_find(&self, row, form->distance);
            check_wide_find(&self, row, (uint32_t)rng_below(random, form->distance + 1));
            assert_int_equal(ss_growing_index_count(self.index), self.added);
            assert_true(ss_growing_index_bytes(self.index) > self.added * (form->words + 1) * sizeof *row);
        }
        if (self.added == count)
            break;
        assert_ok(ss_growing_index_add(self.index, row, 3 * self.added, &error), &error);
    }
    check_each_row(&self);
    ss_growing_index_free(self.index);
    wide_matches_free(&self.found);
    free(self.rows);
}

static void test_growing_index_of_several_words(void **state)
{
    rng random = rng_seeded(run_seed + 5);
    for (unsigned i = 0; i < (testing_slow() ? 30 : 100); i++) {
        const wide_form form = wide_form_any(&random, 2);
        check_wide_growth(&random, &form, (size_t)rng_below(&random, 6000));
    }
    testing_done();
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_growing_index, testing_teardown),
        cmocka_unit_test_teardown(test_each_record_of_a_growing_index, testing_teardown),
        cmocka_unit_test_teardown(test_growing_index_of_one_bucket, testing_teardown),
        cmocka_unit_test_teardown(test_stopping_a_find, testing_teardown),
        cmocka_unit_test_teardown(test_growing_index_of_several_words, testing_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The growing index in memory must find the same records as comparing all, for 1 to 16 words of all kinds, all
 * distances and numbers of records. */
#include "stream/growing_index.h"

#include <stdlib.h>
#include <string.h>

#include "support/fingerprint_form.h"
#include "support/record_set.h"
#include "support/testing.h"

typedef struct growth {
    fingerprint_form form;
    ss_growing_index *index;
    uint64_t *rows; /* those that were added, and one more */
    size_t added;
    matches found;
} growth;

static int collect(void *context, const sstore_match *match)
{
    growth *self = context;
    matches_add(&self->found, match);
    return 0;
}

static void check_find(growth *self, const uint64_t *fingerprint, uint32_t distance)
{
    const uint32_t words = self->form.words;
    const uint64_t none = 0;
    matches wanted = {.words = self->form.words};
    for (size_t i = 0; i < self->added; i++) {
        const uint64_t *row = self->rows + i * words;
        const uint32_t bits = fingerprint_distance(row, fingerprint, words);
        if (bits <= distance)
            matches_put(&wanted, &none, bits, row, 3 * i);
    }
    self->found.count = 0;
    assert_int_equal(ss_growing_index_find(self->index, fingerprint, distance, collect, self), SSTORE_OK);
    matches_sort(&self->found);
    matches_sort(&wanted);
    matches_assert_equal(&self->found, &wanted, "found");
    matches_free(&wanted);
}

static sstore_status gather(void *context, const uint64_t *fingerprints, const uint64_t *ids, size_t count,
                            sstore_error *error)
{
    growth *self = context;
    const uint64_t none = 0;
    for (size_t i = 0; i < count; i++)
        matches_put(&self->found, &none, 0, fingerprints + i * self->form.words, ids[i]);
    return SSTORE_OK;
}

/* All records are returned. */
static void check_each(growth *self)
{
    const uint64_t none = 0;
    matches wanted = {.words = self->form.words};
    sstore_error error = {.status = SSTORE_OK};
    for (size_t i = 0; i < self->added; i++)
        matches_put(&wanted, &none, 0, self->rows + i * self->form.words, 3 * i);
    self->found.count = 0;
    assert_ok(ss_growing_index_each(self->index, gather, self, &error), &error);
    matches_sort(&self->found);
    matches_sort(&wanted);
    matches_assert_equal(&self->found, &wanted, "all records");
    matches_free(&wanted);
}

/* Whether the index has the row after the last one. */
static bool is_added(const growth *self, const uint64_t *row)
{
    const uint32_t words = self->form.words;
    for (const uint64_t *other = self->rows; other < row; other += words)
        if (*other == *row && memcmp(other, row, words * sizeof *row) == 0)
            return true;
    return false;
}

/* Add up to `count` records, each fingerprint once, and search now and then. */
static void check_growth(rng *random, const fingerprint_form *form, size_t count)
{
    growth self = {.form = *form, .found.words = form->words};
    sstore_error error = {.status = SSTORE_OK};
    testing_doing("%zu records of %s", count, form_text(form));
    self.rows = malloc((count + 1) * form->words * sizeof *self.rows);
    assert_ok(ss_growing_index_create(form->words, form->distance, (uint32_t)rng_between(random, 1, 3), &self.index,
                                      &error),
              &error);
    for (size_t i = 0, next = 0; i <= count; i++) {
        uint64_t *row = self.rows + self.added * form->words;
        fingerprint_make(random, form, self.rows, self.added, row);
        if (i == next || i == count) {
            next += 1 + next / 4;
            check_find(&self, row, form->distance);
            check_find(&self, row, (uint32_t)rng_below(random, form->distance + 1));
            assert_int_equal(ss_growing_index_count(self.index), self.added);
            assert_true(ss_growing_index_bytes(self.index) > self.added * (form->words + 1) * sizeof *row);
        }
        if (i < count && !is_added(&self, row)) {
            assert_ok(ss_growing_index_add(self.index, row, 3 * self.added, &error), &error);
            self.added++;
        }
    }
    check_each(&self);
    ss_growing_index_free(self.index);
    matches_free(&self.found);
    free(self.rows);
}

static void test_growth(void **state)
{
    rng random = rng_seeded(run_seed);
    for (unsigned i = 0; i < (testing_slow() ? 40 : 130); i++) {
        const fingerprint_form form = form_any(&random, 1);
        check_growth(&random, &form, (size_t)rng_below(&random, 6000));
    }
    testing_done();
}

/* 64-bit fingerprints: uniform, in one bucket of the first table, and few. */
static void test_growth_of_one_word(void **state)
{
    rng random = rng_seeded(run_seed + 1);
    const data_kind kinds[] = {DATA_UNIFORM, DATA_HALF, DATA_SPARSE, DATA_FEW};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (uint32_t round = 0; round < 2; round++) {
            const fingerprint_form form = form_of(
                &random, kinds[i], 1, round == 0 ? 3 : (uint32_t)rng_below(&random, SSTORE_MAX_BUILD_DISTANCE + 1));
            check_growth(&random, &form, 9000);
        }
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

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_growth, testing_teardown),
        cmocka_unit_test_teardown(test_growth_of_one_word, testing_teardown),
        cmocka_unit_test_teardown(test_stopping_a_find, testing_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

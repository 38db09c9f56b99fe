/* The static index in memory must find the same fingerprints as comparing all: for 1 to 16 words of all kinds, for all
 * distances up to its own, whether it searches word by word or tests all rows. */
#include "stream/memory_index.h"

#include <stdlib.h>

#include "base/memory.h"
#include "plan/radii.h"
#include "sort/radix.h"
#include "support/fingerprint_form.h"
#include "support/record_set.h"
#include "support/testing.h"

/* How the indexes of a run search, so that no way is left out. */
static struct {
    unsigned scanned, probed, without_radius, moved, repeated, single, only;
} seen;

static void note_ways(const ss_memory_index *index)
{
    seen.scanned += index->is_scanned;
    seen.probed += !index->is_scanned;
    seen.only += !index->is_scanned && index->words == 1;
    for (uint32_t i = 0; !index->is_scanned && i < index->words; i++) {
        const ss_indexed_word *word = &index->indexed[i];
        seen.without_radius += index->radii[i] == SS_NO_PROBE;
        seen.moved += index->radii[i] != SS_NO_PROBE && word->width < 64;
        seen.repeated += word->begins != NULL;
        seen.single += word->numbers != NULL && word->begins == NULL;
    }
}

typedef struct collecting {
    const ss_memory_index *index;
    const uint64_t *queries; /* of the search */
    uint64_t first;          /* the number of the first of them */
    matches found;
} collecting;

static sstore_status collect(void *context, uint32_t number, const uint64_t *found, sstore_error *error)
{
    collecting *self = context;
    const uint32_t words = self->index->words, row = ss_memory_index_number(self->index, found);
    const uint64_t query = self->first + number;
    assert_memory_equal(ss_memory_index_row(self->index, row), found, words * sizeof *found);
    matches_put(&self->found, &query, fingerprint_distance(self->queries + query * words, found, words), found, row);
    return SSTORE_OK;
}

/* Find all near pairs by comparing all. */
static matches compare_all(const ss_memory_index *index, const uint64_t *queries, uint32_t count, uint32_t distance)
{
    matches wanted = {.words = index->words};
    for (uint64_t i = 0; i < count; i++)
        for (uint32_t row = 0; row < index->count; row++) {
            const uint64_t *words = ss_memory_index_row(index, row);
            const uint32_t bits = fingerprint_distance(words, queries + i * index->words, index->words);
            if (bits <= distance)
                matches_put(&wanted, &i, bits, words, row);
        }
    matches_sort(&wanted);
    return wanted;
}

static void check_searches(const ss_memory_index *index, const uint64_t *queries, uint32_t count, uint32_t distance)
{
    ss_memory_scratch scratch;
    collecting single = {.index = index, .queries = queries, .found.words = index->words}, together = single;
    matches wanted = compare_all(index, queries, count, distance);
    sstore_error error = {.status = SSTORE_OK};
    assert_ok(ss_memory_scratch_open(&scratch, index->words, count + 1, &error), &error);
    for (; single.first < count; single.first++)
        assert_ok(ss_memory_index_search(index, queries + single.first * index->words, 1, distance, NULL, collect,
                                         &single, &error),
                  &error);
    assert_ok(ss_memory_index_search(index, queries, count, distance, &scratch, collect, &together, &error), &error);
    matches_sort(&single.found);
    matches_sort(&together.found);
    matches_assert_equal(&single.found, &wanted, "one by one");
    matches_assert_equal(&together.found, &wanted, "together");
    matches_free(&single.found);
    matches_free(&together.found);
    matches_free(&wanted);
    ss_memory_scratch_close(&scratch);
}

/* With `clustered`, many rows are near others. Those of one word are sorted, and distinct. */
static void open_index(rng *random, const fingerprint_form *form, uint32_t count, bool clustered,
                       ss_memory_index *index)
{
    sstore_error error = {.status = SSTORE_OK};
    uint64_t *rows = ss_realloc(NULL, count, form->words * sizeof *rows);
    for (size_t i = 0; i < count; i++)
        fingerprint_make(random, form, rows, clustered ? i : 0, rows + i * form->words);
    if (form->words == 1) {
        uint64_t *scratch = ss_realloc(NULL, count, sizeof *scratch);
        count = (uint32_t)ss_sort_unique_items(rows, scratch, count, 1);
        ss_free(scratch);
    }
    assert_ok(ss_memory_index_open(index, rows, count, form->words, form->distance, (uint32_t)rng_between(random, 1, 3),
                                   &error),
              &error);
}

static void check_index(rng *random, const fingerprint_form *form, uint32_t count, uint32_t query_count)
{
    ss_memory_index index;
    testing_doing("%u rows, %s, %u queries", count, form_text(form), query_count);
    open_index(random, form, count, !rng_one_in(random, 3), &index);
    note_ways(&index);
    uint64_t *queries = malloc((query_count + 1) * form->words * sizeof *queries);
    for (uint32_t i = 0; i < query_count; i++)
        fingerprint_make(random, form, index.rows, index.count, queries + (size_t)i * form->words);
    check_searches(&index, queries, query_count, form->distance);
    check_searches(&index, queries, query_count / 8, (uint32_t)rng_below(random, form->distance + 1));
    assert_true(ss_memory_index_bytes(&index) >= (uint64_t)index.count * form->words * sizeof *queries);
    free(queries);
    ss_memory_index_close(&index);
}

static void test_searches(void **state)
{
    rng random = rng_seeded(run_seed);
    for (unsigned i = 0; i < (testing_races() ? 15 : testing_slow() ? 60 : 300); i++) {
        static const uint32_t counts[] = {0, 1, 2, 63, 200, 1000, 3000};
        const fingerprint_form form = form_any(&random, 1);
        const uint32_t count = counts[rng_below(&random, sizeof counts / sizeof *counts)];
        check_index(&random, &form, count, (uint32_t)rng_below(&random, 40));
    }
    testing_done();
}

/* Each number of words, and each distance of one. */
static void test_widths(void **state)
{
    rng random = rng_seeded(run_seed + 4);
    for (uint32_t words = 1; words <= SSTORE_MAX_WORDS; words++)
        for (uint32_t count = 0; count <= 200; count += 100)
            for (uint32_t distance = 0; distance <= SSTORE_MAX_BUILD_DISTANCE; distance++) {
                const fingerprint_form form = form_of(&random, DATA_UNIFORM, words, words * distance);
                check_index(&random, &form, count, 8);
            }
    testing_done();
}

/* Each way of searching, by data that need it. */
static void test_ways(void **state)
{
    rng random = rng_seeded(run_seed + 1);
    for (uint32_t words = 1; words <= 16; words *= 2) {
        fingerprint_form uniform = form_of(&random, DATA_UNIFORM, words, 4 * words),
                         half = form_of(&random, DATA_HALF, words, words);
        const fingerprint_form constant = form_of(&random, DATA_EQUAL, words, 3 * words),
                               few = form_of(&random, DATA_FEW, words, words);
        for (int round = 0; round < 8; round++)
            check_index(&random, &uniform, 3000, 30);
        check_index(&random, &half, 3000, 30);
        check_index(&random, &constant, 500, 30);
        check_index(&random, &few, 500, 30);
        uniform.kinds[words - 1] = DATA_EQUAL;
        check_index(&random, &uniform, 3000, 30);
    }
    assert_true(seen.scanned > 0 && seen.probed > 0 && seen.without_radius > 0 && seen.moved > 0);
    assert_true(seen.repeated > 0 && seen.single > 0 && seen.only > 0);
    testing_done();
}

/* Tables larger than a cache's part, and enough fingerprints that they are put in order first. */
static void test_many(void **state)
{
    rng random = rng_seeded(run_seed + 5);
    const fingerprint_form forms[] = {form_of(&random, DATA_UNIFORM, 1, 3), form_of(&random, DATA_HALF, 1, 3),
                                      form_of(&random, DATA_UNIFORM, 1, 6), form_of(&random, DATA_UNIFORM, 2, 6)};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        check_index(&random, &forms[i], 20000, 2000);
    testing_done();
}

/* A constant word would make every row a candidate, so it is never probed if the others can do without it. */
static void test_constant_word(void **state)
{
    rng random = rng_seeded(run_seed + 2);
    for (uint32_t at = 0; at < 4; at++) {
        fingerprint_form form = form_of(&random, DATA_UNIFORM, 4, 24);
        ss_memory_index index;
        form.kinds[at] = DATA_EQUAL;
        testing_doing("word %u is constant", at);
        open_index(&random, &form, 20000, false, &index);
        assert_false(index.is_scanned);
        for (uint32_t i = 0; i < 4; i++)
            assert_true((index.radii[i] == SS_NO_PROBE) == (i == at));
        ss_memory_index_close(&index);
    }
    testing_done();
}

static sstore_status stop_at_third(void *context, uint32_t number, const uint64_t *found, sstore_error *error)
{
    return ++*(int *)context == 3 ? SSTORE_STOPPED : SSTORE_OK;
}

static void test_stopping(void **state)
{
    rng random = rng_seeded(run_seed + 3);
    const fingerprint_form forms[] = {form_of(&random, DATA_UNIFORM, 1, 3), form_of(&random, DATA_UNIFORM, 3, 3),
                                      form_of(&random, DATA_EQUAL, 3, 6)};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        ss_memory_index index;
        sstore_error error = {.status = SSTORE_OK};
        int hits = 0;
        open_index(&random, &forms[i], 1000, false, &index);
        assert_int_equal(index.is_scanned, forms[i].kinds[0] == DATA_EQUAL);
        for (uint32_t number = 0; hits < 3; number++) {
            const sstore_status status = ss_memory_index_search(&index, ss_memory_index_row(&index, number), 1,
                                                                index.distance, NULL, stop_at_third, &hits, &error);
            assert_int_equal(status, hits == 3 ? SSTORE_STOPPED : SSTORE_OK);
        }
        ss_memory_index_close(&index);
    }
    ss_memory_index none = {.count = 0};
    ss_memory_index_close(&none);
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_searches, testing_teardown),
        cmocka_unit_test_teardown(test_widths, testing_teardown),
        cmocka_unit_test_teardown(test_ways, testing_teardown),
        cmocka_unit_test_teardown(test_many, testing_teardown),
        cmocka_unit_test_teardown(test_constant_word, testing_teardown),
        cmocka_unit_test_teardown(test_stopping, testing_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Joins in memory must equal comparing every pair, for data of all kinds. They must do bounded work on hard data. */
#include "join/group_join.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/simd.h"
#include "join/edge_filter.h"
#include "support/pair_list.h"
#include "support/testing.h"

static sstore_status collect(void *context, const ss_fingerprint_pair *pairs, size_t count, sstore_error *error)
{
    for (size_t i = 0; i < count; i++)
        pair_list_add(context, pairs[i].first, pairs[i].second);
    return SSTORE_OK;
}

static sstore_status ignore(void *context, const ss_fingerprint_pair *pairs, size_t count, sstore_error *error)
{
    *(uint64_t *)context += count;
    return SSTORE_OK;
}

static void lower_first(pair_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        uint64_t *pair = list->items[i];
        if (pair[1] < pair[0]) {
            const uint64_t higher = pair[0];
            pair[0] = pair[1];
            pair[1] = higher;
        }
    }
    pair_list_sort(list);
}

/* One set of values with the pairs found in it. */
typedef struct trial {
    ss_group_join *join;
    uint64_t *scratch;
    pair_list got, wanted;
} trial;

static void trial_open(trial *self, uint32_t distance, size_t count)
{
    *self = (trial){.join = malloc(sizeof *self->join), .scratch = malloc((count + 1) * sizeof(uint64_t))};
    ss_group_join_init(self->join, distance, self->scratch, collect, &self->got);
}

static void trial_close(trial *self)
{
    pair_list_free(&self->got);
    pair_list_free(&self->wanted);
    free(self->scratch);
    free(self->join);
}

static void check_self(const value_list *from, uint32_t distance)
{
    trial self;
    sstore_error error = {.status = SSTORE_OK};
    uint64_t *values = malloc((from->count + 1) * sizeof *values);
    memcpy(values, from->items, from->count * sizeof *values);
    trial_open(&self, distance, from->count);
    pair_list_self(from->items, from->count, distance, &self.wanted);
    assert_ok(ss_group_join_run(self.join, SS_JOIN_SELF, values, from->count, NULL, 0, &error), &error);
    assert_ok(ss_group_flush(self.join, &error), &error);
    lower_first(&self.got);
    assert_true(pair_list_equal(&self.got, &self.wanted));
    trial_close(&self);
    free(values);
}

/* The first part of the values with the last, which overlap. */
static void check_cross(const value_list *from, uint32_t distance)
{
    trial self;
    sstore_error error = {.status = SSTORE_OK};
    const size_t left_count = from->count * 2 / 3, right_count = from->count - from->count / 3;
    uint64_t *left = malloc((left_count + 1) * sizeof *left), *right = malloc((right_count + 1) * sizeof *right);
    for (size_t i = 0; i < left_count; i++)
        left[i] = from->items[i];
    for (size_t i = 0; i < right_count; i++)
        right[i] = from->items[from->count - right_count + i];
    trial_open(&self, distance, from->count);
    pair_list_cross(left, left_count, right, right_count, distance, &self.wanted);
    assert_ok(ss_group_join_run(self.join, SS_JOIN_CROSS, left, left_count, right, right_count, &error), &error);
    assert_ok(ss_group_flush(self.join, &error), &error);
    pair_list_sort(&self.got);
    assert_true(pair_list_equal(&self.got, &self.wanted));
    trial_close(&self);
    free(left);
    free(right);
}

/* Pairs, and the values that they connect. */
typedef struct knowledge {
    pair_list *got;
    ss_edge_filter edges;
    uint64_t attached; /* sets of which all but a few values were known */
} knowledge;

static sstore_status learn(void *context, const ss_fingerprint_pair *pairs, size_t count, sstore_error *error)
{
    knowledge *self = context;
    for (size_t i = 0; i < count; i++)
        if (ss_edge_filter_pass(&self->edges, pairs[i].first, pairs[i].second))
            (void)collect(self->got, &pairs[i], 1, error);
    return SSTORE_OK;
}

/* Those that are not connected with the one in the middle. */
static size_t find_apart(void *context, const uint64_t *values, size_t count, uint32_t *apart, size_t max)
{
    knowledge *self = context;
    uint32_t *roots = malloc(count * sizeof *roots);
    size_t found = 0;
    ss_edge_filter_roots(&self->edges, values, count, roots);
    for (size_t i = 0; i < count; i++)
        if (roots[i] == SS_EDGE_FILTER_UNKNOWN || roots[i] != roots[count / 2]) {
            if (found < max)
                apart[found] = (uint32_t)i;
            found++;
        }
    self->attached += found > 0 && found <= max;
    free(roots);
    return found;
}

/* With and without remembering pairs. */
static uint64_t check_spanning(const value_list *from, uint32_t distance, bool remember)
{
    trial self;
    sstore_error error = {.status = SSTORE_OK};
    knowledge known = {.got = &self.got};
    pair_list got_roots = {NULL, 0, 0}, wanted_roots = {NULL, 0, 0};
    uint64_t *values = malloc((from->count + 1) * sizeof *values);
    memcpy(values, from->items, from->count * sizeof *values);
    trial_open(&self, distance, from->count);
    if (remember) {
        assert_ok(ss_edge_filter_open(&known.edges, 2 * from->count + 8, &error), &error);
        ss_group_join_init(self.join, distance, self.scratch, learn, &known);
        self.join->find_apart = find_apart;
    }
    assert_ok(ss_group_join_run(self.join, SS_JOIN_SPANNING, values, from->count, NULL, 0, &error), &error);
    assert_ok(ss_group_flush(self.join, &error), &error);
    for (size_t i = 0; i < self.got.count; i++)
        assert_in_range(sstore_hamming_distance(&self.got.items[i][0], &self.got.items[i][1], 64), 1, distance);
    pair_list_roots(&self.got, &got_roots);
    pair_list_self_roots(from->items, from->count, distance, &wanted_roots);
    assert_true(pair_list_equal(&got_roots, &wanted_roots));
    pair_list_free(&got_roots);
    pair_list_free(&wanted_roots);
    ss_edge_filter_close(&known.edges);
    trial_close(&self);
    free(values);
    return known.attached;
}

static void test_against_all_pairs(void **state)
{
    rng random = rng_seeded(run_seed);
    const uint64_t cases = testing_number("SSTORE_TEST_CASES", testing_slow() ? 52 : 104);
    for (uint64_t i = 0; i < cases; i++) {
        const uint32_t kind = (uint32_t)(i % VALUES_KIND_COUNT);
        const uint32_t distance = (uint32_t)(rng_one_in(&random, 2) ? rng_below(&random, 4) : rng_below(&random, 17));
        /* Enough of them to be divided, for the smaller distances. */
        const size_t count = distance <= 3 ? rng_below(&random, 6000) : rng_below(&random, 700);
        testing_doing("case %" PRIu64 ", kind %u, about %zu values, distance %u, seed %" PRIu64, i, kind, count,
                      distance, run_seed);
        value_list values = value_list_make(&random, kind, count);
        ss_simd_limit((ss_simd_level)rng_below(&random, SS_SIMD_AVX512 + 1));
        check_self(&values, distance);
        check_cross(&values, distance);
        (void)check_spanning(&values, distance, false);
        (void)check_spanning(&values, distance, true);
        value_list_free(&values);
    }
    ss_simd_limit(SS_SIMD_AVX512);
    testing_done();
}

/* So many near values that a set of them is connected for the most part while a few of it are not yet. */
static void test_spanning_a_crowd(void **state)
{
    rng random = rng_seeded(run_seed + 4);
    uint64_t attached = 0;
    for (uint32_t distance = 1; distance <= 3; distance++) {
        value_list values = value_list_make(&random, VALUES_OUTLIERS, 16000);
        attached += check_spanning(&values, distance, true);
        value_list_free(&values);
    }
    assert_true(attached > 0);
}

static void test_few_values(void **state)
{
    for (size_t count = 0; count < 4; count++) {
        uint64_t items[] = {0, 1, UINT64_MAX};
        const value_list values = {items, count < 3 ? count : 3};
        for (uint32_t distance = 0; distance <= 16; distance += 8) {
            check_self(&values, distance);
            check_cross(&values, distance);
            (void)check_spanning(&values, distance, true);
        }
    }
}

/* Pairs that are equal under a mask are left out, and no others. */
static void test_pairs_of_excepted_masks(void **state)
{
    rng random = rng_seeded(run_seed + 1);
    const uint64_t masks[] = {UINT64_C(0xff00), UINT64_C(0xff)};
    value_list values = value_list_make(&random, DATA_DENSE, 5000);
    pair_list counted = {NULL, 0, 0};
    trial self;
    sstore_error error = {.status = SSTORE_OK};
    testing_doing("seed %" PRIu64, run_seed);
    trial_open(&self, 3, values.count);
    pair_list_self(values.items, values.count, 3, &self.wanted);
    for (size_t i = 0; i < self.wanted.count; i++) {
        const uint64_t differing = self.wanted.items[i][0] ^ self.wanted.items[i][1];
        if ((differing & masks[0]) != 0 && (differing & masks[1]) != 0)
            pair_list_add(&counted, self.wanted.items[i][0], self.wanted.items[i][1]);
    }
    ss_group_join_except(self.join, masks, 2);
    assert_ok(ss_group_join_run(self.join, SS_JOIN_SELF, values.items, values.count, NULL, 0, &error), &error);
    assert_ok(ss_group_flush(self.join, &error), &error);
    lower_first(&self.got);
    assert_true(pair_list_equal(&self.got, &counted));
    pair_list_free(&counted);
    trial_close(&self);
    value_list_free(&values);
    testing_done();
}

/* ----- how much work ----- */

typedef struct work {
    uint64_t tests, pairs;
} work;

static work measure(const value_list *values, uint32_t distance, bool spanning)
{
    sstore_error error = {.status = SSTORE_OK};
    ss_group_join *join = malloc(sizeof *join);
    uint64_t *scratch = malloc(values->count * sizeof *scratch), pairs = 0;
    ss_group_join_init(join, distance, scratch, ignore, &pairs);
    if (spanning)
        assert_ok(ss_group_join_run(join, SS_JOIN_SPANNING, values->items, values->count, NULL, 0, &error), &error);
    else
        assert_ok(ss_group_join_run(join, SS_JOIN_SELF, values->items, values->count, NULL, 0, &error), &error);
    assert_ok(ss_group_flush(join, &error), &error);
    const work done = {join->tests, pairs};
    free(scratch);
    free(join);
    return done;
}

/* Many values of each hard kind: far fewer tests than pairs of values, unless these are near. */
static void test_work_is_bounded(void **state)
{
    rng random = rng_seeded(run_seed + 2);
    const size_t count = testing_slow() ? 30000 : 100000;
    for (uint32_t kind = 0; kind < VALUES_KIND_COUNT; kind++) {
        value_list values = value_list_make(&random, kind, count);
        const double n = (double)values.count, bound = n * n / 32 + 2000 * n; /* groups of some 1000 are not divided */
        testing_doing("kind %u, %zu values, seed %" PRIu64, kind, values.count, run_seed);
        if (values.count > count / 2) {
            const work found = measure(&values, 3, false);
            assert_true((double)found.tests < bound + 40 * (double)found.pairs);
            const work spanned = measure(&values, 3, true);
            assert_true((double)spanned.tests < bound);
            assert_true(spanned.pairs < 40 * values.count);
        }
        value_list_free(&values);
    }
    testing_done();
}

/* Values that are all within the distance of each other take one search. */
static void test_spanning_a_clique(void **state)
{
    const size_t count = 1 << 16;
    value_list values = {malloc(count * sizeof *values.items), count};
    for (size_t i = 0; i < count; i++)
        values.items[i] = i * UINT64_C(0x1000000);
    const work spanned = measure(&values, 16, true);
    assert_int_equal(spanned.pairs, count - 1);
    assert_int_equal(spanned.tests, count - 1);
    value_list_free(&values);
}

static sstore_status refuse(void *context, const ss_fingerprint_pair *pairs, size_t count, sstore_error *error)
{
    return SSTORE_STOPPED;
}

/* Work without pairs is also reported, and can be stopped. */
static void test_stop(void **state)
{
    rng random = rng_seeded(run_seed + 3);
    sstore_error error = {.status = SSTORE_OK};
    ss_group_join *join = malloc(sizeof *join);
    value_list values = value_list_make(&random, DATA_UNIFORM, 20000);
    uint64_t *scratch = malloc(values.count * sizeof *scratch);
    ss_group_join_init(join, 14, scratch, refuse, NULL);
    assert_int_equal(ss_group_join_run(join, SS_JOIN_SELF, values.items, values.count, NULL, 0, &error),
                     SSTORE_STOPPED);
    assert_true(join->tests < (uint64_t)values.count * values.count / 2);
    free(scratch);
    free(join);
    value_list_free(&values);
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_against_all_pairs, testing_teardown),
        cmocka_unit_test(test_few_values),
        cmocka_unit_test_teardown(test_pairs_of_excepted_masks, testing_teardown),
        cmocka_unit_test_teardown(test_work_is_bounded, testing_teardown),
        cmocka_unit_test(test_spanning_a_crowd),
        cmocka_unit_test(test_spanning_a_clique),
        cmocka_unit_test(test_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

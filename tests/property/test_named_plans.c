/*
 * test_named_plans.c - every named plan answers the same queries as brute force does, record for record, on one large
 * clustered set with ids. SSTORE_TEST_LONG makes it 10 million records and 1,000 queries.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/data.h"
#include "support/oracle.h"
#include "support/random.h"
#include "support/scratch.h"
#include "support/testing.h"
#include "support/use_store.h"

static const char *const plans[] = {"20", "16", "10", "4", "3", "2", "1"};

/* Queries and their right answers, made once for all plans. */
typedef struct questions {
    size_t count;
    uint64_t *fingerprints;
    matches wanted;
} questions;

static questions ask(rng *random, const data_set *data, const oracle *truth, size_t count)
{
    questions made = {.count = count, .fingerprints = calloc(count, sizeof(uint64_t))};
    assert_non_null(made.fingerprints);
    for (size_t i = 0; i < count; i++) {
        made.fingerprints[i] = data_query(random, data, 3);
        oracle_query(truth, made.fingerprints[i], 3, i, &made.wanted);
    }
    return made;
}

static void check_plan(const char *plan, const data_set *data, const questions *asked)
{
    const char *path = scratch_path("store");
    sstore_build_options options = SSTORE_BUILD_OPTIONS_INIT;
    sstore_error error = {.status = SSTORE_OK};
    matches got = {0};
    options.plan = plan;
    testing_doing("plan %s", plan);
    assert_ok(store_build(path, &options, data, 0, &error), &error);
    sstore *store = store_must_open(path, SSTORE_IO_PREAD, SSTORE_STRATEGY_AUTO);
    assert_ok(store_batch(store, asked->fingerprints, asked->count, 3, 2, &got, &error), &error);
    assert_true(matches_equal(&got, &asked->wanted));
    printf("plan %s: %zu queries, %zu matches, as brute force has them\n", plan, asked->count, got.count);
    matches_free(&got);
    sstore_close(store);
    scratch_remove(path);
}

static void test_named_plans(void **state)
{
    const bool all = testing_long();
    data_set data;
    oracle truth;
    rng random;
    rng_init(&random, *(const uint64_t *)*state);
    data_make(&random, DATA_CLUSTERED, DATA_IDS, all ? 10000000 : 100000, true, &data);
    oracle_make(&data, &truth);
    questions asked = ask(&random, &data, &truth, all ? 1000 : 100);
    assert_true(asked.wanted.count > asked.count / 10); /* most are near something */
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++)
        check_plan(plans[i], &data, &asked);
    testing_done();
    free(asked.fingerprints);
    matches_free(&asked.wanted);
    oracle_free(&truth);
    data_free(&data);
}

int main(void)
{
    uint64_t seed = rng_run_seed();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate_setup_teardown(test_named_plans, NULL, testing_teardown, &seed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

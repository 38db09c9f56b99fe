/*
 * test_named_plans.c - stores of every named plan, and of the plan that `auto` chooses for each distance, must answer
 * like brute force at each distance from 0 to 10, on one large clustered set with ids. SSTORE_TEST_LONG makes 10
 * million records and 1,000 queries.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/data.h"
#include "support/random.h"
#include "support/record_set.h"
#include "support/scratch.h"
#include "support/testing.h"
#include "support/use_store.h"

#define MAX_DISTANCE 10u

static const char *const plans[] = {"20", "16", "10", "4", "3", "2", "1"};

/* Queries and their right answers, computed once for all stores. */
typedef struct questions {
    size_t count;
    uint64_t *fingerprints;
    matches wanted[MAX_DISTANCE + 1]; /* at each distance */
} questions;

static questions ask(rng *random, const data_set *data, const record_set *truth, size_t count)
{
    questions made = {.count = count, .fingerprints = calloc(count, sizeof(uint64_t))};
    assert_non_null(made.fingerprints);
    for (size_t i = 0; i < count; i++) {
        matches found = {0};
        made.fingerprints[i] = data_query(random, data, MAX_DISTANCE);
        record_set_query(truth, &made.fingerprints[i], MAX_DISTANCE, i, &found);
        for (uint32_t distance = 0; distance <= MAX_DISTANCE; distance++)
            for (size_t j = 0; j < found.count; j++)
                if (matches_get(&found, j).distance <= distance) {
                    const matches one = matches_part(&found, j, 1);
                    matches_append(&made.wanted[distance], &one);
                }
        matches_free(&found);
    }
    return made;
}

static void free_questions(questions *asked)
{
    for (uint32_t distance = 0; distance <= MAX_DISTANCE; distance++)
        matches_free(&asked->wanted[distance]);
    free(asked->fingerprints);
}

/* All queries together, and one by one. */
static void check_answers(const sstore *store, const questions *asked, uint32_t distance)
{
    sstore_error error = {.status = SSTORE_OK};
    matches together = {0}, single = {0};
    assert_ok(store_batch(store, asked->fingerprints, asked->count, distance, 2, &together, &error), &error);
    assert_true(matches_equal(&together, &asked->wanted[distance]));
    sstore_cursor *cursor = store_must_cursor(store);
    for (size_t i = 0; i < asked->count; i++) {
        matches found = {0};
        assert_ok(store_query_sorted(cursor, asked->fingerprints[i], distance, &found, &error), &error);
        matches_set_query(&found, 0, i);
        matches_append(&single, &found);
        matches_free(&found);
    }
    assert_true(matches_equal(&single, &asked->wanted[distance]));
    sstore_cursor_free(cursor);
    matches_free(&together);
    matches_free(&single);
}

/* Returns how many matches were compared. */
static size_t check_store(const char *plan, uint32_t built_for, const data_set *data, const questions *asked)
{
    const char *path = scratch_path("store");
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    sstore_error error = {.status = SSTORE_OK};
    size_t compared = 0;
    options.plan = plan;
    options.distance = built_for;
    testing_doing("plan %s for distance %u", plan != NULL ? plan : "auto", (unsigned)built_for);
    assert_ok(store_build(path, &options, data, 0, &error), &error);
    for (uint32_t distance = 0; distance <= MAX_DISTANCE; distance++) {
        sstore *store = store_must_open(path, distance % 2 == 0 ? SSTORE_IO_PREAD : SSTORE_IO_MMAP,
                                        SSTORE_STRATEGY_AUTO);
        testing_doing("plan %s for distance %u, at distance %u", plan != NULL ? plan : "auto", (unsigned)built_for,
                      (unsigned)distance);
        check_answers(store, asked, distance);
        compared += 2 * asked->wanted[distance].count;
        sstore_close(store);
    }
    scratch_remove(path);
    return compared;
}

static void test_named_plans(void **state)
{
    const bool all = testing_long();
    const size_t plan_count = sizeof plans / sizeof *plans;
    data_set data;
    record_set truth;
    rng random = rng_seeded(run_seed);
    size_t compared = 0;
    data_make(&random, DATA_CLUSTERED, DATA_IDS, all ? 10000000 : 100000, true, &data);
    truth = record_set_of_data(&data);
    questions asked = ask(&random, &data, &truth, all ? 1000 : 100);
    assert_true(asked.wanted[3].count > asked.count / 10);
    assert_true(asked.wanted[MAX_DISTANCE].count > asked.wanted[3].count);
    for (size_t i = 0; i < plan_count; i++)
        compared += check_store(plans[i], 3, &data, &asked);
    for (uint32_t distance = 0; distance <= MAX_DISTANCE; distance++)
        compared += check_store(NULL, distance, &data, &asked);
    testing_done();
    printf("figure: %zu records, %zu stores, %zu queries at %u distances, in a batch and one by one: %zu matches, 0 "
           "wrong\n",
           data.count, plan_count + MAX_DISTANCE + 1, asked.count, MAX_DISTANCE + 1, compared);
    free_questions(&asked);
    record_set_free(&truth);
    data_free(&data);
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_named_plans, testing_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

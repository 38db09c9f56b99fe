/* Edges that pass the filter connect what all would, whatever it forgets, and few pass where it forgets nothing. */
#include "join/edge_filter.h"

#include <inttypes.h>

#include "support/pair_list.h"
#include "support/testing.h"

static uint64_t run_seed;

static void check(rng *random, uint64_t node_count, size_t edge_count, size_t capacity)
{
    pair_list all = {NULL, 0, 0}, passed = {NULL, 0, 0}, wanted = {NULL, 0, 0}, got = {NULL, 0, 0};
    sstore_error error = {.status = SSTORE_OK};
    ss_edge_filter filter;
    testing_doing("%" PRIu64 " nodes, %zu edges, capacity %zu, seed %" PRIu64, node_count, edge_count, capacity,
                  run_seed);
    assert_ok(ss_edge_filter_open(&filter, capacity, &error), &error);
    for (size_t i = 0; i < edge_count; i++) {
        const uint64_t a = rng_below(random, node_count), b = (a + 1 + rng_below(random, node_count - 1)) % node_count;
        pair_list_add(&all, a, b);
        if (ss_edge_filter_pass(&filter, a, b))
            pair_list_add(&passed, a, b);
    }
    pair_list_roots(&all, &wanted);
    pair_list_roots(&passed, &got);
    assert_true(pair_list_equal(&got, &wanted));
    if (capacity >= 64 * node_count)
        assert_in_range(passed.count, 0, node_count + node_count / 4);
    ss_edge_filter_close(&filter);
    pair_list_free(&all);
    pair_list_free(&passed);
    pair_list_free(&wanted);
    pair_list_free(&got);
}

static void test_passed_edges(void **state)
{
    (void)state;
    rng random;
    rng_init(&random, run_seed);
    for (uint32_t i = 0; i < 100; i++) {
        const uint64_t node_count = rng_between(&random, 2, 2000);
        check(&random, node_count, rng_below(&random, 10000),
              rng_one_in(&random, 2) ? rng_below(&random, 100) : 128000);
    }
    testing_done();
}

int main(void)
{
    run_seed = rng_run_seed();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_passed_edges, testing_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

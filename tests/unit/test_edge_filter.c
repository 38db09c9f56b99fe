/* The edge filter: the edges that pass connect the same nodes as all edges do. If it knows all nodes, no redundant edge
 * passes. Several threads may use it at once. */
#include "join/edge_filter.h"

#include <inttypes.h>

#include "base/tasks.h"
#include "support/pair_list.h"
#include "support/testing.h"

#define MAX_THREADS 4u

/* Edges, each passed to the filter by one of some threads, which sometimes also request the roots of two nodes. */
typedef struct asking {
    ss_edge_filter filter;
    const pair_list *edges;
    uint32_t threads;
    uint64_t seed;
    pair_list passed[MAX_THREADS];
    pair_list connected[MAX_THREADS]; /* nodes with the same root */
} asking;

static void ask_roots(asking *self, rng *random, uint32_t thread)
{
    const uint64_t *first = self->edges->items[rng_below(random, self->edges->count)];
    const uint64_t *second = self->edges->items[rng_below(random, self->edges->count)];
    const uint64_t nodes[2] = {first[0], second[1]};
    uint32_t roots[2];
    ss_edge_filter_roots(&self->filter, nodes, 2, roots);
    if (nodes[0] != nodes[1] && roots[0] != SS_EDGE_FILTER_UNKNOWN && roots[0] == roots[1])
        pair_list_add(&self->connected[thread], nodes[0], nodes[1]);
}

static sstore_status ask(void *context, uint64_t task, uint32_t worker, sstore_error *error)
{
    asking *self = context;
    rng random = rng_seeded(self->seed + task);
    for (size_t i = (size_t)task; i < self->edges->count; i += self->threads) {
        if (ss_edge_filter_pass(&self->filter, self->edges->items[i][0], self->edges->items[i][1]))
            pair_list_add(&self->passed[task], self->edges->items[i][0], self->edges->items[i][1]);
        if (rng_one_in(&random, 8))
            ask_roots(self, &random, (uint32_t)task);
    }
    return SSTORE_OK;
}

static size_t count_roots(const pair_list *roots)
{
    size_t count = 0;
    for (size_t i = 0; i < roots->count; i++)
        count += roots->items[i][0] == roots->items[i][1];
    return count;
}

/* If the filter knows all nodes, two nodes have the same root if they are connected. */
static void check_known(ss_edge_filter *filter, const pair_list *wanted)
{
    for (size_t i = 1; i < wanted->count; i++) {
        const uint64_t nodes[2] = {wanted->items[i - 1][0], wanted->items[i][0]};
        uint32_t roots[2];
        ss_edge_filter_roots(filter, nodes, 2, roots);
        assert_int_equal(roots[0] == roots[1], wanted->items[i - 1][1] == wanted->items[i][1]);
    }
}

/* The node that the filter cannot remember, 0, and others. */
static uint64_t node_at(uint64_t number, bool all_known)
{
    return number == 0 && !all_known ? UINT64_C(0xd1b54a32d192ed03) : number == 1 ? 0 : rng_mix(number);
}

/* Pass all edges to the filter, from some threads. The edges that pass connect the same nodes as all, and so do the
 * equal roots. */
static void check_once(asking *self, const pair_list *wanted, bool knows_all)
{
    pair_list passed = {NULL, 0, 0}, got = {NULL, 0, 0};
    sstore_error error = {.status = SSTORE_OK};
    assert_ok(ss_pool_run(self->threads, self->threads, ask, self, &error), &error);
    for (uint32_t i = 0; i < self->threads; i++)
        pair_list_move(&passed, &self->passed[i]);
    if (knows_all) { /* a forest has as many edges as nodes, less one for each tree */
        assert_int_equal(passed.count, wanted->count - count_roots(wanted));
        check_known(&self->filter, wanted);
    }
    pair_list_roots(&passed, &got);
    assert_true(pair_list_equal(&got, wanted));
    got.count = 0;
    for (uint32_t i = 0; i < self->threads; i++)
        pair_list_move(&passed, &self->connected[i]);
    pair_list_roots(&passed, &got);
    assert_true(pair_list_equal(&got, wanted));
    pair_list_free(&passed);
    pair_list_free(&got);
}

static void check(rng *random, uint64_t node_count, size_t edge_count, size_t capacity, uint32_t threads)
{
    pair_list all = {NULL, 0, 0}, wanted = {NULL, 0, 0};
    const bool knows_all = capacity >= 64 * node_count;
    sstore_error error = {.status = SSTORE_OK};
    asking self = {.edges = &all, .threads = threads, .seed = rng_next(random)};
    testing_doing("%" PRIu64 " nodes, %zu edges, capacity %zu, %u threads, seed %" PRIu64, node_count, edge_count,
                  capacity, threads, run_seed);
    assert_ok(ss_edge_filter_open(&self.filter, capacity, &error), &error);
    for (size_t i = 0; i < edge_count; i++) {
        const uint64_t a = rng_below(random, node_count), b = (a + 1 + rng_below(random, node_count - 1)) % node_count;
        pair_list_add(&all, node_at(a, knows_all), node_at(b, knows_all));
    }
    pair_list_roots(&all, &wanted);
    for (int round = 0; round < 2; round++) { /* once more after the filter was emptied */
        ss_edge_filter_expect(&self.filter, 2 * capacity + 8);
        check_once(&self, &wanted, knows_all);
    }
    ss_edge_filter_close(&self.filter);
    pair_list_free(&all);
    pair_list_free(&wanted);
}

static void test_passed_edges(void **state)
{
    rng random = rng_seeded(run_seed);
    for (uint32_t i = 0; i < 100; i++) {
        const uint64_t node_count = rng_between(&random, 2, 2000);
        check(&random, node_count, rng_between(&random, 1, 10000),
              rng_one_in(&random, 2) ? rng_below(&random, 100) : 128000,
              (uint32_t)rng_between(&random, 1, MAX_THREADS));
    }
    testing_done();
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_passed_edges, testing_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

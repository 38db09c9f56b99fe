/* Connected components must equal those of union-find: graphs of all shapes, in memory, spilled and in ranges, on one
 * thread and several. What ranges post to each other must stay in proportion to the edges. */
#include "join/components.h"

#include <inttypes.h>

#include "base/tasks.h"
#include "support/pair_list.h"
#include "support/scratch.h"
#include "support/testing.h"

typedef enum shape {
    SHAPE_PATH,     /* nodes in the order of their numbers */
    SHAPE_LONG_WAY, /* a path through nodes in any order */
    SHAPE_STAR,     /* about any node */
    SHAPE_CLIQUES,  /* of some dozen nodes */
    SHAPE_FOREST,   /* a node has an edge to an earlier one, or none */
    SHAPE_RANDOM,   /* about as many edges as nodes */
    SHAPE_LOOPS,    /* nodes with an edge only to themselves, and some to others */
    SHAPE_BAND,     /* four edges a node, to earlier nodes of nearby numbers */
    SHAPE_COUNT
} shape;

/* The number of a node: itself, or any. */
static uint64_t node_at(shape kind, uint64_t seed, uint64_t i)
{
    return kind == SHAPE_PATH || kind == SHAPE_BAND ? i : rng_mix(seed + i);
}

static void make_edge(rng *random, shape kind, uint64_t seed, uint64_t i, uint64_t count, pair_list *edges)
{
    const uint64_t node = node_at(kind, seed, i);
    switch (kind) {
    case SHAPE_STAR: pair_list_add(edges, node, node_at(kind, seed, 0)); break;
    case SHAPE_CLIQUES:
        for (uint64_t j = i / 16 * 16; j < i; j++)
            pair_list_add(edges, node, node_at(kind, seed, j));
        break;
    case SHAPE_FOREST:
        if (!rng_one_in(random, 100))
            pair_list_add(edges, node, node_at(kind, seed, rng_below(random, i)));
        break;
    case SHAPE_RANDOM:
        pair_list_add(edges, node_at(kind, seed, rng_below(random, count)),
                      node_at(kind, seed, rng_below(random, count)));
        break;
    case SHAPE_BAND:
        for (int edge = 0; edge < 4; edge++)
            pair_list_add(edges, node, i - rng_below(random, ss_min_u64(i, 2000) + 1));
        break;
    case SHAPE_LOOPS:
        pair_list_add(edges, node, rng_one_in(random, 3) ? node_at(kind, seed, rng_below(random, count)) : node);
        break;
    default: pair_list_add(edges, node, node_at(kind, seed, i - 1)); break;
    }
}

static pair_list make_edges(rng *random, shape kind, uint64_t count)
{
    pair_list edges = {NULL, 0, 0};
    const uint64_t seed = rng_next(random);
    for (uint64_t i = 1; i < count; i++)
        make_edge(random, kind, seed, i, count, &edges);
    for (size_t i = 0; i < edges.count; i++) { /* in any order, and either direction */
        uint64_t *a = edges.items[i], *b = edges.items[rng_below(random, edges.count)];
        const uint64_t first = a[0], second = a[1];
        a[0] = b[1], a[1] = b[0];
        b[0] = first, b[1] = second;
    }
    return edges;
}

#define PARTS 16u

typedef struct adding {
    const pair_list *edges;
    ss_components *components;
} adding;

static sstore_status add_part(void *context, uint64_t task, uint32_t worker, sstore_error *error)
{
    const adding *self = context;
    const size_t begin = self->edges->count * task / PARTS, end = self->edges->count * (task + 1) / PARTS;
    sstore_status status = SSTORE_OK;
    for (size_t i = begin; status == SSTORE_OK && i < end;) {
        ss_fingerprint_pair edges[100];
        size_t count = 0;
        for (; count < 100 && i < end; i++)
            edges[count++] = (ss_fingerprint_pair){self->edges->items[i][0], self->edges->items[i][1]};
        status = ss_components_add(self->components, worker, edges, count, error);
    }
    return status;
}

static void take_all(ss_components *components, pair_list *got)
{
    sstore_error error = {.status = SSTORE_OK};
    ss_record node;
    bool more;
    assert_ok(ss_components_next(components, &node, &more, &error), &error);
    while (more) {
        pair_list_add(got, node.fingerprint, node.id);
        assert_ok(ss_components_next(components, &node, &more, &error), &error);
    }
}

static void check(const pair_list *edges, uint32_t threads, uint64_t memory_bytes, size_t *most_ranges)
{
    pair_list got = {NULL, 0, 0}, wanted = {NULL, 0, 0};
    ss_dir dir;
    sstore_error error = {.status = SSTORE_OK};
    ss_progress progress = {.report = NULL};
    assert_ok(ss_dir_open(scratch_folder(), &dir, &error), &error);
    ss_components *components;
    assert_ok(ss_components_create(threads, memory_bytes, &dir, &components, &error), &error);
    adding all = {edges, components};
    assert_ok(ss_pool_run(threads, PARTS, add_part, &all, &error), &error);
    assert_ok(ss_components_finish(components, &progress, 1, &error), &error);
    take_all(components, &got);
    pair_list_roots(edges, &wanted);
    const ss_components_work work = ss_components_count_work(components);
    assert_in_range(work.posted, 0, 4 * edges->count);
    assert_in_range(work.ranges, edges->count > 0, memory_bytes >= 1 << 26 ? 1 : 1 + wanted.count / 512);
    *most_ranges = work.ranges > *most_ranges ? work.ranges : *most_ranges;
    assert_true(pair_list_equal(&got, &wanted)); /* in order */
    ss_components_free(components);
    pair_list_free(&got);
    pair_list_free(&wanted);
    ss_dir_close(&dir);
}

static void test_shapes(void **state)
{
    rng random = rng_seeded(run_seed);
    const uint64_t cases = testing_number("SSTORE_TEST_CASES", 6) * SHAPE_COUNT;
    size_t most_ranges = 0;
    for (uint64_t i = 0; i < cases; i++) {
        const shape kind = (shape)(i % SHAPE_COUNT);
        const uint64_t max = testing_slow() ? 20000 : 60000;
        const uint64_t count = rng_one_in(&random, 3) ? rng_below(&random, 50) : rng_below(&random, max);
        const uint32_t threads = (uint32_t)rng_between(&random, 1, 3);
        const uint64_t memory = rng_one_in(&random, 3) ? 1 << 26 : rng_below(&random, 1 << 18);
        pair_list edges = make_edges(&random, kind, count);
        testing_doing("shape %d, %" PRIu64 " nodes, %zu edges, %u threads, %" PRIu64 " bytes, seed %" PRIu64, (int)kind,
                      count, edges.count, threads, memory, run_seed);
        check(&edges, threads, memory, &most_ranges);
        pair_list_free(&edges);
    }
    testing_done();
    testing_figure("%zu ranges at most", most_ranges);
}

static int stop(void *context, const sstore_progress *progress)
{
    return 1;
}

static void test_stop(void **state)
{
    rng random = rng_seeded(run_seed + 1);
    ss_dir dir;
    sstore_error error = {.status = SSTORE_OK};
    ss_progress progress = {.report = stop};
    assert_ok(ss_dir_open(scratch_folder(), &dir, &error), &error);
    ss_components *components;
    pair_list edges = make_edges(&random, SHAPE_LONG_WAY, 1000);
    assert_ok(ss_components_create(1, 1 << 20, &dir, &components, &error), &error);
    adding all = {&edges, components};
    assert_ok(ss_pool_run(1, PARTS, add_part, &all, &error), &error);
    assert_int_equal(ss_components_finish(components, &progress, 1, &error), SSTORE_STOPPED);
    ss_components_free(components);
    pair_list_free(&edges);
    ss_dir_close(&dir);
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_shapes, testing_teardown),
        cmocka_unit_test(test_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

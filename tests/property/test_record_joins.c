/*
 * test_record_joins.c - the joins of all tables, each key distributed to several parts, must together report each near
 * pair of records once, and no other. Spanning joins must connect the same records. Components of edges are compared
 * with union-find.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sstore_join.h"
#include "support/record_pairs.h"
#include "support/scratch.h"
#include "support/testing.h"

#define CASES 60u
#define SLOW_CASES 10u
#define MAX_RECORDS 700u
#define MAX_PARTS 4u

/* Whether the lower record, by (fingerprint, id), comes first. */
static bool ascends(const sstore_pair *pair)
{
    return *pair->fingerprint < *pair->other_fingerprint ||
           (*pair->fingerprint == *pair->other_fingerprint && pair->id < pair->other_id);
}

/* The lower record becomes the first one. */
static int keep(void *context, const sstore_pair *pair)
{
    const sstore_pair swapped = {.fingerprint = pair->other_fingerprint,
                                 .id = pair->other_id,
                                 .other_fingerprint = pair->fingerprint,
                                 .other_id = pair->id,
                                 .distance = pair->distance};
    assert_int_equal(pair->distance, sstore_hamming_distance(pair->fingerprint, pair->other_fingerprint, 64));
    found_pairs_add(context, ascends(pair) ? pair : &swapped);
    return 0;
}

/* Keep a pair whose lower record comes first. */
static int keep_ordered(void *context, const sstore_pair *pair)
{
    assert_true(ascends(pair));
    return keep(context, pair);
}

/* The records of a key, in one of `parts` parts. `keys` are those of the records; NULL: all records. */
static record_set select_records(const record_set *from, const uint64_t *keys, uint64_t key, uint32_t part,
                                 uint32_t parts)
{
    record_set made = record_set_new(1);
    for (size_t i = 0; i < from->count; i++)
        if ((keys == NULL || keys[i] == key) && rng_mix(from->fingerprints[i] * 31 + from->ids[i]) % parts == part)
            record_set_append(&made, from, i, i + 1);
    return made;
}

/* Progress has a phase, and its fraction never falls. */
static int check_progress(void *context, const sstore_progress *progress)
{
    double *last = context;
    assert_non_null(progress->phase);
    assert_true(progress->fraction >= *last && progress->fraction <= 1);
    *last = progress->fraction;
    return 0;
}

static void join(const record_set *left, const record_set *right, uint32_t distance, uint32_t table, bool spanning,
                 found_pairs *to)
{
    sstore_record_join_options options = SSTORE_RECORD_JOIN_OPTIONS_INIT;
    const sstore_columns a = {.struct_size = sizeof a, .fingerprint = left->fingerprints, .id = left->ids};
    sstore_columns b = SSTORE_COLUMNS_INIT;
    double fraction = 0;
    sstore_error error;
    options.on_progress = check_progress;
    options.progress_context = &fraction;
    options.distance = distance;
    options.table = table;
    options.spanning = spanning;
    if (right != NULL) {
        b.fingerprint = right->fingerprints;
        b.id = right->ids;
    }
    assert_int_equal(sstore_join_records(&a, left->count, right != NULL ? &b : NULL, right != NULL ? right->count : 0,
                                         &options, right == NULL ? keep_ordered : keep, to, &error),
                     SSTORE_OK);
}

/* As a cluster does it: each key of each table, whose records are in several parts, is joined part by part. */
static void join_by_keys(const record_set *all, uint32_t distance, uint32_t parts, found_pairs *to)
{
    uint64_t *keys = malloc(8 * all->count + 8);
    bool *done = malloc(all->count + 1);
    for (uint32_t table = 0; table <= distance; table++) {
        assert_int_equal(sstore_join_keys(all->fingerprints, all->count, distance, table, keys, NULL), SSTORE_OK);
        memset(done, 0, all->count + 1);
        for (size_t i = 0; i < all->count; i++) {
            if (done[i])
                continue;
            for (size_t j = i; j < all->count; j++)
                done[j] = done[j] || keys[j] == keys[i];
            for (uint32_t a = 0; a < parts; a++) {
                record_set left = select_records(all, keys, keys[i], a, parts);
                join(&left, NULL, distance, table, false, to);
                for (uint32_t b = 0; b < a; b++) {
                    record_set right = select_records(all, keys, keys[i], b, parts);
                    join(&left, &right, distance, table, false, to);
                    record_set_free(&right);
                }
                record_set_free(&left);
            }
        }
    }
    free(keys);
    free(done);
}

/* ----- components of records ----- */

static size_t index_of_record(const record_set *all, uint64_t fingerprint, uint64_t id)
{
    size_t i = 0;
    while (all->fingerprints[i] != fingerprint || all->ids[i] != id)
        i++;
    return i;
}

/* The components that pairs connect. */
static size_t *unite(const record_set *all, const found_pairs *list)
{
    size_t *parents = components_new(all->count);
    for (size_t i = 0; i < list->count; i++) {
        const found_pair *pair = &list->items[i];
        components_unite(parents, index_of_record(all, pair->fingerprint, pair->id),
                         index_of_record(all, pair->other_fingerprint, pair->other_id));
    }
    return parents;
}

/* The public components of the same edges. */
static void check_components(const record_set *all, const found_pairs *list, size_t *parents, rng *random)
{
    sstore_components_options options = SSTORE_COMPONENTS_OPTIONS_INIT;
    sstore_components *components;
    uint64_t *numbers = malloc(16 * list->count + 16), *nodes = malloc(8 * all->count + 8),
             *roots = malloc(8 * all->count + 8);
    double fraction = 0;
    sstore_error error;
    size_t count = 0, seen = 0;
    options.on_progress = check_progress;
    options.progress_context = &fraction;
    options.threads = 1 + (uint32_t)rng_below(random, 2);
    options.tmp_dir = scratch_folder();
    for (size_t i = 0; i < list->count; i++) {
        numbers[i] = index_of_record(all, list->items[i].fingerprint, list->items[i].id);
        numbers[list->count + i] = index_of_record(all, list->items[i].other_fingerprint, list->items[i].other_id);
    }
    assert_int_equal(sstore_components_create(&options, &components, &error), SSTORE_OK);
    for (size_t begin = 0; begin < list->count; begin += 100) {
        const size_t size = list->count - begin < 100 ? list->count - begin : 100;
        assert_int_equal(sstore_components_add(components, numbers + begin, numbers + list->count + begin, size,
                                               &error),
                         SSTORE_OK);
    }
    do {
        const size_t capacity = 1 + (size_t)rng_below(random, all->count + 1);
        assert_int_equal(sstore_components_next(components, nodes, roots,
                                                capacity > all->count ? all->count + 1 : capacity, &count, &error),
                         SSTORE_OK);
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(roots[i], components_root(parents, nodes[i]));
            assert_true(i == 0 || nodes[i] > nodes[i - 1]);
        }
        seen += count;
    } while (count > 0);
    size_t expected = 0;
    bool *has_edge = calloc(all->count + 1, 1);
    for (size_t i = 0; i < 2 * list->count; i++)
        has_edge[numbers[i]] = true;
    for (size_t i = 0; i < all->count; i++)
        expected += has_edge[i];
    assert_int_equal(seen, expected);
    assert_int_equal(sstore_components_add(components, numbers, numbers, 1, &error), SSTORE_ERROR_ARGUMENT);
    sstore_components_free(components);
    free(has_edge);
    free(numbers);
    free(nodes);
    free(roots);
}

static void check_spanning(const record_set *given, const record_set *truth, uint32_t distance, size_t *parents)
{
    found_pairs spanning = {.items = NULL};
    for (uint32_t table = 0; table <= distance; table++)
        join(given, NULL, distance, table, true, &spanning);
    for (size_t i = 0; i < spanning.count; i++)
        assert_true(spanning.items[i].distance <= distance);
    size_t *other = unite(truth, &spanning);
    for (size_t i = 0; i < truth->count; i++)
        assert_int_equal(components_root(other, i), components_root(parents, i));
    free(spanning.items);
    free(other);
}

/* ----- tests ----- */

/* In any order, some twice. */
static record_set make(rng *random)
{
    const size_t count = (size_t)rng_below(random, MAX_RECORDS);
    const uint64_t kind = rng_below(random, 4), ids = 1 + rng_below(random, 3);
    record_set made = record_set_new(1);
    for (size_t i = 0; i < count; i++) {
        uint64_t value = rng_next(random);
        if (kind > 0 && i > 0 && !rng_one_in(random, 3)) { /* near an earlier one */
            value = made.fingerprints[rng_below(random, i)];
            for (uint64_t flips = rng_below(random, 6); flips > 0; flips--)
                value ^= UINT64_C(1) << rng_below(random, kind == 2 ? 8 : 64);
        }
        value = kind == 3 ? value & 0xFFF : value; /* crowded keys */
        record_set_put(&made, &value, rng_below(random, ids * count));
    }
    return made;
}

static void test_against_all_pairs(void **state)
{
    uint64_t pair_count = 0;
    (void)state;
    const uint64_t cases = testing_number("SSTORE_TEST_CASES", testing_slow() ? SLOW_CASES : CASES);
    for (uint64_t number = 0; number < cases; number++) {
        rng random = rng_seeded(run_seed + number);
        record_set given = make(&random), all = record_set_new(1);
        record_set_append(&all, &given, 0, given.count);
        record_set_sort(&all);
        record_set_unique(&all);
        const uint32_t distance = (uint32_t)rng_below(&random, 17);
        testing_doing("case %" PRIu64 ": %zu records, distance %u", number, given.count, distance);
        const uint32_t parts = 1 + (uint32_t)rng_below(&random, MAX_PARTS);
        const record_pairs expected = record_set_pairs(&all, &all, distance, SIZE_MAX - 1);
        found_pairs found = {.items = NULL};
        size_t *parents = record_set_components(&all, distance);
        join_by_keys(&given, distance, parts, &found);
        if (found.count > 0)
            qsort(found.items, found.count, sizeof *found.items, found_pair_compare);
        assert_int_equal(found.count, expected.count);
        for (size_t i = 0; i < found.count; i++)
            assert_true(found_pair_is(&found.items[i], &expected.items[i]));
        check_spanning(&given, &all, distance, parents);
        if (all.count < 200)
            check_components(&all, &found, parents, &random);
        pair_count += found.count;
        free(parents);
        free(found.items);
        free(expected.items);
        record_set_free(&all);
        record_set_free(&given);
    }
    testing_done();
    testing_figure("%" PRIu64 " sets of records, %" PRIu64 " pairs", cases, pair_count);
}

static int stop(void *context, const sstore_pair *pair)
{
    (void)pair;
    return --*(int *)context <= 0;
}

static int stop_progress(void *context, const sstore_progress *progress)
{
    (void)context;
    (void)progress;
    return 1;
}

static void test_arguments(void **state)
{
    uint64_t fingerprints[] = {1, 2, 3}, keys[3];
    const sstore_columns given = {.struct_size = sizeof given, .fingerprint = fingerprints};
    const sstore_columns nothing = SSTORE_COLUMNS_INIT;
    sstore_record_join_options options = SSTORE_RECORD_JOIN_OPTIONS_INIT;
    sstore_error error;
    int left = 2;
    found_pairs found = {.items = NULL};
    (void)state;
    assert_int_equal(sstore_join_keys(fingerprints, 3, 3, 4, keys, &error), SSTORE_ERROR_ARGUMENT);
    assert_int_equal(sstore_join_keys(fingerprints, 3, 17, 0, keys, &error), SSTORE_ERROR_ARGUMENT);
    assert_int_equal(sstore_join_keys(NULL, 3, 3, 0, keys, &error), SSTORE_ERROR_ARGUMENT);
    assert_int_equal(sstore_join_keys(fingerprints, 3, 3, 3, keys, &error), SSTORE_OK);
    assert_memory_equal(keys, fingerprints, sizeof keys);
    assert_int_equal(sstore_join_records(&nothing, 1, NULL, 0, &options, keep, &found, &error), SSTORE_ERROR_ARGUMENT);
    assert_int_equal(sstore_join_records(NULL, 0, NULL, 0, NULL, keep, &found, &error), SSTORE_OK);
    assert_int_equal(sstore_join_records(&given, 3, NULL, 0, &options, NULL, NULL, &error), SSTORE_ERROR_ARGUMENT);
    assert_int_equal(sstore_join_records(&given, 3, NULL, 0, &options, stop, &left, &error), SSTORE_STOPPED);
    assert_int_equal(left, 0);
    options.on_progress = stop_progress;
    assert_int_equal(sstore_join_records(&given, 3, NULL, 0, &options, keep, &found, &error), SSTORE_STOPPED);
    options.on_progress = NULL;
    options.spanning = true;
    assert_int_equal(sstore_join_records(&given, 3, &given, 3, &options, keep, &found, &error), SSTORE_ERROR_ARGUMENT);
    options.table = 4;
    assert_int_equal(sstore_join_records(&given, 3, NULL, 0, &options, keep, &found, &error), SSTORE_ERROR_ARGUMENT);
    free(found.items);
}

/* The progress of a long chain, in much memory and in little. */
static void test_progress(void **state)
{
    enum { COUNT = 1 << 20 };
    static uint64_t nodes[COUNT + 1];
    (void)state;
    for (size_t i = 0; i <= COUNT; i++)
        nodes[i] = i;
    for (uint64_t memory_bytes = 32u << 20; memory_bytes <= 256u << 20; memory_bytes *= 8) {
        sstore_components_options options = SSTORE_COMPONENTS_OPTIONS_INIT;
        sstore_components *components;
        uint64_t node, smallest;
        double fraction = 0;
        size_t count = 0;
        sstore_error error;
        options.on_progress = check_progress;
        options.progress_context = &fraction;
        options.memory_bytes = memory_bytes;
        options.tmp_dir = scratch_folder();
        assert_int_equal(sstore_components_create(&options, &components, &error), SSTORE_OK);
        assert_int_equal(sstore_components_add(components, nodes, nodes + 1, COUNT, &error), SSTORE_OK);
        for (uint64_t i = 0; i <= COUNT; i++) {
            assert_int_equal(sstore_components_next(components, &node, &smallest, 1, &count, &error), SSTORE_OK);
            assert_true(count == 1 && node == i && smallest == 0);
        }
        assert_true(fraction > 0.999);
        sstore_components_free(components);
    }
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_against_all_pairs, testing_teardown),
        cmocka_unit_test_teardown(test_progress, testing_teardown),
        cmocka_unit_test_teardown(test_arguments, testing_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

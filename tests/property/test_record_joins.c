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
#include "support/random.h"
#include "support/scratch.h"
#include "support/testing.h"

#define CASES 60u
#define SLOW_CASES 10u
#define MAX_RECORDS 700u
#define MAX_PARTS 4u

typedef struct records {
    uint64_t *fingerprints, *ids;
    size_t count;
} records;

typedef struct pairs {
    sstore_pair *items;
    size_t count, capacity;
    bool ordered; /* the lower record comes first */
} pairs;

static int compare(const void *a, const void *b)
{
    const sstore_pair *one = a, *other = b;
    const uint64_t left[] = {one->fingerprint, one->id, one->other_fingerprint, one->other_id};
    const uint64_t right[] = {other->fingerprint, other->id, other->other_fingerprint, other->other_id};
    for (size_t i = 0; i < 4; i++)
        if (left[i] != right[i])
            return left[i] < right[i] ? -1 : 1;
    return 0;
}

static int keep(void *context, const sstore_pair *pair)
{
    pairs *to = context;
    sstore_pair kept = *pair;
    const bool ascends = pair->fingerprint < pair->other_fingerprint ||
                         (pair->fingerprint == pair->other_fingerprint && pair->id < pair->other_id);
    assert_true(!to->ordered || ascends);
    assert_int_equal(pair->distance, sstore_hamming_distance(pair->fingerprint, pair->other_fingerprint));
    if (!ascends)
        kept = (sstore_pair){.fingerprint = pair->other_fingerprint,
                             .id = pair->other_id,
                             .other_fingerprint = pair->fingerprint,
                             .other_id = pair->id,
                             .distance = pair->distance};
    if (to->count == to->capacity) {
        to->capacity = to->capacity == 0 ? 1024 : 2 * to->capacity;
        to->items = realloc(to->items, to->capacity * sizeof *to->items);
        assert_non_null(to->items);
    }
    to->items[to->count++] = kept;
    return 0;
}

/* The records of a key, in one of `parts` parts. `keys` are those of the records; NULL: all records. */
static records select_records(const records *from, const uint64_t *keys, uint64_t key, uint32_t part, uint32_t parts)
{
    records made = {malloc(8 * from->count + 8), malloc(8 * from->count + 8), 0};
    for (size_t i = 0; i < from->count; i++) {
        const uint64_t hash = rng_mix(from->fingerprints[i] * 31 + from->ids[i]);
        if ((keys != NULL && keys[i] != key) || hash % parts != part)
            continue;
        made.fingerprints[made.count] = from->fingerprints[i];
        made.ids[made.count++] = from->ids[i];
    }
    return made;
}

static void free_records(records *given)
{
    free(given->fingerprints);
    free(given->ids);
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

static void join(const records *left, const records *right, uint32_t distance, uint32_t table, bool spanning, pairs *to)
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
    to->ordered = right == NULL;
    assert_int_equal(sstore_join_records(&a, left->count, right != NULL ? &b : NULL, right != NULL ? right->count : 0,
                                         &options, keep, to, &error),
                     SSTORE_OK);
}

/* As a cluster does it: each key of each table, whose records are in several parts, is joined part by part. */
static void join_by_keys(const records *all, uint32_t distance, uint32_t parts, pairs *to)
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
                records left = select_records(all, keys, keys[i], a, parts);
                join(&left, NULL, distance, table, false, to);
                for (uint32_t b = 0; b < a; b++) {
                    records right = select_records(all, keys, keys[i], b, parts);
                    join(&left, &right, distance, table, false, to);
                    free_records(&right);
                }
                free_records(&left);
            }
        }
    }
    free(keys);
    free(done);
}

/* Compare every record with every other. */
static void compare_all(const records *all, uint32_t distance, pairs *to)
{
    to->ordered = false;
    for (size_t i = 0; i < all->count; i++)
        for (size_t j = 0; j < i; j++) {
            const sstore_pair pair = {.fingerprint = all->fingerprints[i],
                                      .id = all->ids[i],
                                      .other_fingerprint = all->fingerprints[j],
                                      .other_id = all->ids[j],
                                      .distance = sstore_hamming_distance(all->fingerprints[i], all->fingerprints[j])};
            const bool same = pair.distance == 0 && pair.id == pair.other_id;
            if (pair.distance <= distance && !same)
                (void)keep(to, &pair);
        }
    if (to->count > 0)
        qsort(to->items, to->count, sizeof *to->items, compare);
    size_t count = 0; /* repeated records make repeated pairs */
    for (size_t i = 0; i < to->count; i++)
        if (count == 0 || compare(&to->items[i], &to->items[count - 1]) != 0)
            to->items[count++] = to->items[i];
    to->count = count;
}

/* ----- components of records ----- */

static uint64_t root_of(const uint64_t *parents, uint64_t node)
{
    while (parents[node] != node)
        node = parents[node];
    return node;
}

static size_t index_of_record(const records *all, uint64_t fingerprint, uint64_t id)
{
    size_t i = 0;
    while (all->fingerprints[i] != fingerprint || all->ids[i] != id)
        i++;
    return i;
}

/* Unite the records of pairs, numbered by their first occurrence; the smallest number is the root. */
static void unite(const records *all, const pairs *list, uint64_t *parents)
{
    for (size_t i = 0; i < all->count; i++)
        parents[i] = index_of_record(all, all->fingerprints[i], all->ids[i]);
    for (size_t i = 0; i < list->count; i++) {
        const sstore_pair *pair = &list->items[i];
        const uint64_t a = root_of(parents, index_of_record(all, pair->fingerprint, pair->id));
        const uint64_t b = root_of(parents, index_of_record(all, pair->other_fingerprint, pair->other_id));
        parents[a > b ? a : b] = a > b ? b : a;
    }
}

/* The public components of the same edges. */
static void check_components(const records *all, const pairs *list, const uint64_t *parents, rng *random)
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
            assert_int_equal(roots[i], root_of(parents, nodes[i]));
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

static void check_spanning(const records *all, uint32_t distance, const uint64_t *parents)
{
    pairs spanning = {.items = NULL};
    uint64_t *other = malloc(8 * all->count + 8);
    for (uint32_t table = 0; table <= distance; table++)
        join(all, NULL, distance, table, true, &spanning);
    for (size_t i = 0; i < spanning.count; i++)
        assert_true(spanning.items[i].distance <= distance);
    unite(all, &spanning, other);
    for (size_t i = 0; i < all->count; i++)
        assert_int_equal(root_of(other, i), root_of(parents, i));
    free(spanning.items);
    free(other);
}

/* ----- tests ----- */

static records make(rng *random)
{
    const size_t count = (size_t)rng_below(random, MAX_RECORDS);
    const uint64_t kind = rng_below(random, 4), ids = 1 + rng_below(random, 3);
    records made = {malloc(8 * count + 8), malloc(8 * count + 8), count};
    for (size_t i = 0; i < count; i++) {
        uint64_t value = rng_next(random);
        if (kind > 0 && i > 0 && !rng_one_in(random, 3)) { /* near an earlier one */
            value = made.fingerprints[rng_below(random, i)];
            for (uint64_t flips = rng_below(random, 6); flips > 0; flips--)
                value ^= UINT64_C(1) << rng_below(random, kind == 2 ? 8 : 64);
        }
        made.fingerprints[i] = kind == 3 ? value & 0xFFF : value; /* crowded keys */
        made.ids[i] = rng_below(random, ids * count);
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
        records all = make(&random);
        const uint32_t distance = (uint32_t)rng_below(&random, 17);
        testing_doing("case %" PRIu64 ": %zu records, distance %u", number, all.count, distance);
        const uint32_t parts = 1 + (uint32_t)rng_below(&random, MAX_PARTS);
        pairs found = {.items = NULL}, expected = {.items = NULL};
        uint64_t *parents = malloc(8 * all.count + 8);
        join_by_keys(&all, distance, parts, &found);
        if (found.count > 0)
            qsort(found.items, found.count, sizeof *found.items, compare);
        compare_all(&all, distance, &expected);
        assert_int_equal(found.count, expected.count);
        for (size_t i = 0; i < found.count; i++)
            assert_int_equal(compare(&found.items[i], &expected.items[i]), 0);
        unite(&all, &expected, parents);
        check_spanning(&all, distance, parents);
        if (all.count < 200)
            check_components(&all, &expected, parents, &random);
        pair_count += found.count;
        free(parents);
        free(found.items);
        free(expected.items);
        free_records(&all);
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
    pairs found = {.items = NULL, .ordered = true};
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

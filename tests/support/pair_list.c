#include "support/pair_list.h"
#include "support/data.h"
#include "support/record_pairs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ----- lists ----- */

void pair_list_add(pair_list *list, uint64_t first, uint64_t second)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity == 0 ? 64 : 2 * list->capacity;
        list->items = realloc(list->items, list->capacity * sizeof *list->items);
    }
    list->items[list->count][0] = first;
    list->items[list->count++][1] = second;
}

void pair_list_move(pair_list *list, pair_list *from)
{
    for (size_t i = 0; i < from->count; i++)
        pair_list_add(list, from->items[i][0], from->items[i][1]);
    pair_list_free(from);
}

void pair_list_free(pair_list *list)
{
    free(list->items);
    *list = (pair_list){NULL, 0, 0};
}

static int compare_items(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;
    const int by_first = compare_numbers(a, b);
    return by_first != 0 ? by_first : compare_numbers(a + 1, b + 1);
}

void pair_list_sort(pair_list *list)
{
    if (list->count > 0)
        qsort(list->items, list->count, sizeof *list->items, compare_items);
}

bool pair_list_equal(const pair_list *got, const pair_list *wanted)
{
    size_t i = 0;
    while (i < got->count && i < wanted->count && compare_items(got->items[i], wanted->items[i]) == 0)
        i++;
    if (i == got->count && i == wanted->count)
        return true;
    fprintf(stderr, "%zu pairs, wanted %zu; number %zu differs:", got->count, wanted->count, i);
    if (i < got->count)
        fprintf(stderr, " got %016" PRIx64 " %016" PRIx64, got->items[i][0], got->items[i][1]);
    if (i < wanted->count)
        fprintf(stderr, " wanted %016" PRIx64 " %016" PRIx64, wanted->items[i][0], wanted->items[i][1]);
    fprintf(stderr, "\n");
    return false;
}

/* ----- the right pairs ----- */

static bool near(uint64_t a, uint64_t b, uint32_t distance)
{
    return count_ones(a ^ b) <= distance;
}

static uint64_t *sorted(const uint64_t *values, size_t count)
{
    uint64_t *copy = malloc((count + 1) * sizeof *copy);
    if (count > 0) {
        memcpy(copy, values, count * sizeof *copy);
        qsort(copy, count, sizeof *copy, compare_numbers);
    }
    return copy;
}

void pair_list_self(const uint64_t *values, size_t count, uint32_t distance, pair_list *out)
{
    uint64_t *from = sorted(values, count);
    for (size_t i = 0; i < count; i++)
        for (size_t j = i + 1; j < count; j++)
            if (near(from[i], from[j], distance))
                pair_list_add(out, from[i], from[j]);
    free(from);
}

void pair_list_cross(const uint64_t *left, size_t left_count, const uint64_t *right, size_t right_count,
                     uint32_t distance, pair_list *out)
{
    uint64_t *from = sorted(left, left_count), *to = sorted(right, right_count);
    for (size_t i = 0; i < left_count; i++)
        for (size_t j = 0; j < right_count; j++)
            if (near(from[i], to[j], distance))
                pair_list_add(out, from[i], to[j]);
    free(from);
    free(to);
}

/* ----- components ----- */

static size_t unique(uint64_t *values, size_t count)
{
    size_t kept = 0;
    if (count > 0)
        qsort(values, count, sizeof *values, compare_numbers);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || values[i] != values[kept - 1])
            values[kept++] = values[i];
    return kept;
}

static size_t index_of(const uint64_t *nodes, size_t count, uint64_t node)
{
    return (size_t)((const uint64_t *)bsearch(&node, nodes, count, sizeof *nodes, compare_numbers) - nodes);
}

void pair_list_roots(const pair_list *edges, pair_list *out)
{
    uint64_t *nodes = malloc((2 * edges->count + 1) * sizeof *nodes);
    if (edges->count > 0)
        memcpy(nodes, edges->items, 2 * edges->count * sizeof *nodes);
    const size_t count = unique(nodes, 2 * edges->count);
    size_t *parents = components_new(count);
    for (size_t i = 0; i < edges->count; i++)
        components_unite(parents, index_of(nodes, count, edges->items[i][0]),
                         index_of(nodes, count, edges->items[i][1]));
    for (size_t i = 0; i < count; i++)
        pair_list_add(out, nodes[i], nodes[components_root(parents, i)]);
    free(parents);
    free(nodes);
}

void pair_list_self_roots(const uint64_t *values, size_t count, uint32_t distance, pair_list *out)
{
    uint64_t *nodes = sorted(values, count);
    size_t *parents = components_new(count);
    bool *paired = calloc(count + 1, sizeof *paired);
    for (size_t i = 0; i < count; i++)
        for (size_t j = i + 1; j < count; j++)
            if (near(nodes[i], nodes[j], distance)) {
                components_unite(parents, i, j);
                paired[i] = paired[j] = true;
            }
    for (size_t i = 0; i < count; i++)
        if (paired[i])
            pair_list_add(out, nodes[i], nodes[components_root(parents, i)]);
    free(paired);
    free(parents);
    free(nodes);
}

/* ----- values ----- */

/* The bits of `number`, spread over the bits of the mask. */
static uint64_t spread(uint64_t number, uint64_t mask)
{
    uint64_t value = 0;
    for (; mask != 0; mask &= mask - 1, number >>= 1)
        if (number & 1)
            value |= mask & -mask;
    return value;
}

static void make_hard(rng *random, uint32_t kind, uint64_t *values, size_t count)
{
    const uint64_t base = rng_next(random);
    uint32_t bits = 3;
    while (count >> bits > 0)
        bits++;
    const uint64_t few = rng_flip(random, 0, kind == VALUES_FEW_BITS && 2 * bits < 64 ? 2 * bits : bits);
    for (size_t i = 0; i < count; i++) {
        const bool odd = rng_one_in(random, 50);
        values[i] = base ^ spread(rng_next(random), few);
        if (kind == VALUES_EQUAL_BLOCK)
            values[i] = base ^ rng_next(random) >> (odd ? 28 : 32);
        else if (kind == VALUES_OUTLIERS && odd)
            values[i] = rng_flip(random, values[i], (uint32_t)rng_between(random, 1, 4));
    }
}

value_list value_list_make(rng *random, uint32_t kind, size_t count)
{
    value_list list = {.items = malloc((count + 1) * sizeof *list.items)};
    if (kind < DATA_KIND_COUNT) {
        data_set set;
        data_make(random, (data_kind)kind, DATA_NO_IDS, count, false, &set);
        memcpy(list.items, set.fingerprints, count * sizeof *list.items);
        data_free(&set);
    } else {
        make_hard(random, kind, list.items, count);
    }
    list.count = unique(list.items, count);
    return list;
}

void value_list_free(value_list *list)
{
    free(list->items);
    *list = (value_list){NULL, 0};
}

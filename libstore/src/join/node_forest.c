#include "join/node_forest.h"

#include "base/alloc.h"
#include "base/error.h"

#define LEAST_BITS 4u
#define MOST_BITS 30u

/* The leading bits that tell evenly spread nodes apart, but for one or two. */
static uint32_t choose_bits(uint64_t capacity)
{
    uint32_t bits = LEAST_BITS;
    while (bits < MOST_BITS && capacity >> bits > 1)
        bits++;
    return bits;
}

uint64_t ss_node_forest_bytes(uint64_t capacity)
{
    if (capacity >= UINT32_MAX)
        return UINT64_MAX;
    return capacity * (sizeof(uint64_t) + sizeof(uint32_t)) + sizeof(uint32_t) * ((uint64_t)1 << choose_bits(capacity));
}

static uint32_t leading_bits(const ss_node_forest *forest, uint64_t node)
{
    return (uint32_t)((node - forest->least) >> forest->shift);
}

sstore_status ss_node_forest_open(ss_node_forest *forest, size_t capacity, uint64_t least, uint64_t greatest,
                                  sstore_error *error)
{
    const uint32_t bits = choose_bits(capacity);
    *forest = (ss_node_forest){.least = least, .capacity = capacity};
    while ((greatest - least) >> forest->shift >> bits > 0)
        forest->shift++;
    forest->nodes = ss_alloc_large(capacity * sizeof *forest->nodes);
    forest->parents = ss_alloc_large(capacity * sizeof *forest->parents);
    forest->begins = ss_alloc_large(((size_t)1 << bits) * sizeof *forest->begins);
    if (forest->nodes != NULL && forest->parents != NULL && forest->begins != NULL)
        return SSTORE_OK;
    return ss_fail_memory(error, ss_node_forest_bytes(capacity));
}

void ss_node_forest_close(ss_node_forest *forest)
{
    ss_free(forest->nodes);
    ss_free(forest->parents);
    ss_free(forest->begins);
    *forest = (ss_node_forest){.nodes = NULL};
}

void ss_node_forest_add(ss_node_forest *forest, uint64_t node)
{
    if (forest->count > 0 && forest->nodes[forest->count - 1] == node)
        return;
    assert(forest->count < forest->capacity && (forest->count == 0 || forest->nodes[forest->count - 1] < node));
    const uint32_t leading = leading_bits(forest, node);
    while (forest->begun <= leading)
        forest->begins[forest->begun++] = (uint32_t)forest->count;
    forest->nodes[forest->count] = node;
    forest->parents[forest->count] = (uint32_t)forest->count;
    forest->count++;
}

/* The index of a node that is there. */
static uint32_t index_of(const ss_node_forest *forest, uint64_t node)
{
    const uint32_t leading = leading_bits(forest, node);
    uint32_t low = forest->begins[leading];
    uint32_t high = leading + 1 < forest->begun ? forest->begins[leading + 1] : (uint32_t)forest->count;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (forest->nodes[middle] <= node)
            low = middle;
        else
            high = middle;
    }
    assert(forest->nodes[low] == node);
    return low;
}

static uint32_t root_of(uint32_t *parents, uint32_t index)
{
    while (parents[index] != index)
        index = parents[index] = parents[parents[index]];
    return index;
}

void ss_node_forest_connect(ss_node_forest *forest, uint64_t node)
{
    const uint32_t a = root_of(forest->parents, (uint32_t)forest->count - 1);
    const uint32_t b = root_of(forest->parents, index_of(forest, node));
    forest->parents[a > b ? a : b] = a > b ? b : a;
}

void ss_node_forest_flatten(ss_node_forest *forest)
{
    for (size_t i = 0; i < forest->count; i++) /* a parent comes before its children, so it is flat already */
        forest->parents[i] = forest->parents[forest->parents[i]];
}

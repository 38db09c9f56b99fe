#include "join/edge_filter.h"

#include "base/alloc.h"
#include "base/error.h"

sstore_status ss_edge_filter_open(ss_edge_filter *filter, size_t capacity, sstore_error *error)
{
    uint32_t bits = 1;
    while (bits < 32 && (size_t)2 << bits <= capacity)
        bits++;
    filter->shift = 64 - bits;
    filter->links = ss_alloc((size_t)1 << bits, sizeof *filter->links); /* zeroed: the node 0 has no smaller one */
    return filter->links != NULL ? SSTORE_OK : ss_fail_memory(error, sizeof *filter->links << bits);
}

void ss_edge_filter_close(ss_edge_filter *filter)
{
    ss_free(filter->links);
    filter->links = NULL;
}

/* The place of a node, by Fibonacci hashing (Knuth, "The Art of Computer Programming", volume 3, section 6.4). */
static ss_edge_link *link_of(const ss_edge_filter *filter, uint64_t node)
{
    return &filter->links[node * UINT64_C(0x9e3779b97f4a7c15) >> filter->shift];
}

/* The smallest node that this one is known to be connected with. Links lead to smaller nodes, so this ends. */
static uint64_t root_of(const ss_edge_filter *filter, uint64_t node)
{
    const ss_edge_link *link = link_of(filter, node);
    while (link->node == node && link->smaller < node) {
        node = link->smaller;
        link = link_of(filter, node);
    }
    return node;
}

static void remember(const ss_edge_filter *filter, uint64_t node, uint64_t smaller)
{
    if (smaller < node)
        *link_of(filter, node) = (ss_edge_link){node, smaller};
}

bool ss_edge_filter_pass(ss_edge_filter *filter, uint64_t a, uint64_t b)
{
    const uint64_t root_a = root_of(filter, a), root_b = root_of(filter, b), root = ss_min_u64(root_a, root_b);
    remember(filter, ss_max_u64(root_a, root_b), root);
    remember(filter, a, root);
    remember(filter, b, root);
    return root_a != root_b;
}

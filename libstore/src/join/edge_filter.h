/*
 * edge_filter.h - leaves out edges between nodes that earlier edges connect already: union-find (disjoint sets) over
 * nodes that are 64-bit numbers, in a hash table of fixed size. If there is no place for a node, it is not remembered:
 * then a needless edge may pass, but no needed one is left out.
 *
 * Several threads may ask at once, without a lock, after Anderson and Woll, "Wait-free Parallel Algorithms for the
 * Union-Find Problem" (STOC 1991): a root is hung under another one by a compare-and-swap.
 */
#ifndef SS_EDGE_FILTER_H
#define SS_EDGE_FILTER_H

#include "base/common.h"

typedef struct ss_edge_filter {
    void *memory;    /* of the two arrays */
    uint64_t *nodes; /* at each place, as stored; 0: the place is free */
    uint32_t *steps; /* from each place back to its parent's; 0: it is a root */
    size_t place_count;
    size_t expected; /* nodes, since all were forgotten */
} ss_edge_filter;

/* About the bytes of a filter for so many nodes. */
uint64_t ss_edge_filter_bytes(size_t capacity);

/* A filter that remembers about `capacity` nodes: the fuller it is, the more nodes find no place. MEMORY. */
sstore_status ss_edge_filter_open(ss_edge_filter *filter, size_t capacity, sstore_error *error);
/* A zeroed one is allowed. */
void ss_edge_filter_close(ss_edge_filter *filter);

/* Whether the edge is needed; it is remembered from now on. */
bool ss_edge_filter_pass(ss_edge_filter *filter, uint64_t a, uint64_t b);

/* Set each node's root. Nodes that were ever given the same root are connected, unless it is SS_EDGE_FILTER_UNKNOWN:
 * then nothing is known of the node. */
#define SS_EDGE_FILTER_UNKNOWN UINT32_MAX
void ss_edge_filter_roots(ss_edge_filter *filter, const uint64_t *nodes, size_t count, uint32_t *roots);

/* So many more nodes are to come: forget all nodes if they may find no room. No other thread may ask meanwhile. */
void ss_edge_filter_expect(ss_edge_filter *filter, size_t count);

#endif

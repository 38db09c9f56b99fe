/*
 * edge_filter.h - leaves out edges between nodes that earlier edges already connect: union-find (disjoint sets) of
 * 64-bit numbers in a hash table of fixed size. A node that finds no slot is not remembered: then a redundant edge may
 * pass, but no needed one is left out. Nodes that are small numbers need no table: each is its own slot.
 *
 * Several threads may use it at once, without a lock, after Anderson and Woll, "Wait-free Parallel Algorithms for the
 * Union-Find Problem" (STOC 1991): a root becomes a child of another one by a compare-and-swap.
 */
#ifndef SS_EDGE_FILTER_H
#define SS_EDGE_FILTER_H

#include "base/common.h"

typedef struct ss_edge_filter {
    void *memory;    /* of the two arrays */
    uint64_t *nodes; /* of each slot, as stored; 0: the slot is free. NULL: a node is the number of its slot */
    uint32_t *steps; /* from each slot back to its parent's; 0: it is a root */
    size_t slot_count;
    size_t expected; /* nodes, since the filter was emptied */
} ss_edge_filter;

/* About the bytes of a filter for this many nodes. */
uint64_t ss_edge_filter_bytes(size_t capacity);

/* A filter that remembers about `capacity` nodes: the fuller it is, the more nodes find no slot. MEMORY. */
sstore_status ss_edge_filter_open(ss_edge_filter *filter, size_t capacity, sstore_error *error);
/* A filter that remembers all nodes, which are below `count`; it takes 4 bytes for each. MEMORY. */
sstore_status ss_edge_filter_open_dense(ss_edge_filter *filter, uint32_t count, sstore_error *error);
/* A zeroed one is allowed. */
void ss_edge_filter_close(ss_edge_filter *filter);

/* Whether the edge is needed; it is remembered from now on. */
bool ss_edge_filter_pass(ss_edge_filter *filter, uint64_t a, uint64_t b);

/* Set each node's root. Nodes that were ever given the same root are connected, unless it is SS_EDGE_FILTER_UNKNOWN:
 * then nothing is known about the node. In a dense filter, the root is the smallest of the connected nodes. */
#define SS_EDGE_FILTER_UNKNOWN UINT32_MAX
void ss_edge_filter_roots(ss_edge_filter *filter, const uint64_t *nodes, size_t count, uint32_t *roots);

/* The root of more than half of them, if there is one. */
uint32_t ss_edge_filter_majority(const uint32_t *roots, size_t count);

/* Start to bring what is known of a node into the caches. */
void ss_edge_filter_prefetch(const ss_edge_filter *filter, uint64_t node);

/* Prepare for this many more nodes: empty the filter if they might not fit. Not for a dense one. No other thread may
 * use it meanwhile. */
void ss_edge_filter_expect(ss_edge_filter *filter, size_t count);

#endif

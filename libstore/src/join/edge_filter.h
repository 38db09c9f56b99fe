/*
 * edge_filter.h - leaves out edges between nodes that edges before them connect already, as far as it remembers: a
 * union-find (disjoint sets) over nodes that are 64-bit numbers, in a hash table of fixed size. A node that finds no
 * place is not remembered: a needless edge may pass, a needed one is never held back.
 *
 * Several threads may ask at once, without a lock, after Anderson and Woll, "Wait-free Parallel Algorithms for the
 * Union-Find Problem" (STOC 1991): a root is hung under another one by a compare-and-swap.
 */
#ifndef SS_EDGE_FILTER_H
#define SS_EDGE_FILTER_H

#include "base/common.h"

typedef struct ss_edge_filter {
    void *memory;    /* of the two arrays */
    uint64_t *nodes; /* at each place, as stored; 0: nobody's */
    uint32_t *steps; /* from each place back to that of its parent; 0: it is a root */
    uint32_t bucket_count;
    size_t expected; /* nodes, since all were forgotten */
} ss_edge_filter;

/* The bytes of a filter for so many nodes, about. */
uint64_t ss_edge_filter_bytes(size_t capacity);

/* A filter that remembers `capacity` nodes, but for some that find no place: the fuller, the more. MEMORY. */
sstore_status ss_edge_filter_open(ss_edge_filter *filter, size_t capacity, sstore_error *error);
/* Also of a zeroed one that was never opened. */
void ss_edge_filter_close(ss_edge_filter *filter);

/* Whether the edge is needed; it is taken to be there from now on. */
bool ss_edge_filter_pass(ss_edge_filter *filter, uint64_t a, uint64_t b);

/* Set to each node what stands for all that it is known to be connected with. Nodes for which the same stands, whenever
 * that was told, are connected, unless it is SS_EDGE_FILTER_UNKNOWN: then nothing is known of the node. */
#define SS_EDGE_FILTER_UNKNOWN UINT32_MAX
void ss_edge_filter_roots(ss_edge_filter *filter, const uint64_t *nodes, size_t count, uint32_t *roots);

/* So many more nodes are to come: forget all if there may not be enough room for them. No other thread may ask
 * meanwhile. */
void ss_edge_filter_expect(ss_edge_filter *filter, size_t count);

#endif

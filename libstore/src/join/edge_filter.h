/*
 * edge_filter.h - leaves out edges between nodes that edges before them connect already, as far as it remembers: a
 * union-find whose links lie in a table of fixed size, where a new one takes the place of whatever was there. What is
 * forgotten lets a needless edge pass, never holds a needed one back. For one thread.
 */
#ifndef SS_EDGE_FILTER_H
#define SS_EDGE_FILTER_H

#include "base/common.h"

/* A node, and a smaller one that it is connected with. */
typedef struct ss_edge_link {
    uint64_t node, smaller;
} ss_edge_link;

typedef struct ss_edge_filter {
    ss_edge_link *links;
    uint32_t shift; /* of a node's hash to its place */
} ss_edge_filter;

/* A filter that remembers up to `capacity` links, at 16 bytes each, or half as many. MEMORY. */
sstore_status ss_edge_filter_open(ss_edge_filter *filter, size_t capacity, sstore_error *error);
/* Also of a zeroed one that was never opened. */
void ss_edge_filter_close(ss_edge_filter *filter);

/* Whether the edge is needed; it is taken to be there from now on. */
bool ss_edge_filter_pass(ss_edge_filter *filter, uint64_t a, uint64_t b);

#endif

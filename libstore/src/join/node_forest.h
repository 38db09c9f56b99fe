/*
 * node_forest.h - union-find (disjoint sets) over nodes that are 64-bit numbers and come in ascending order: so that a
 * tree's root is its smallest node, by always hanging the larger root under the smaller one, and that a node is found
 * again by the leading bits of its place between the least and the greatest one. Paths are halved as they are walked. For
 * one thread while it grows.
 */
#ifndef SS_NODE_FOREST_H
#define SS_NODE_FOREST_H

#include "base/common.h"

typedef struct ss_node_forest {
    uint64_t *nodes;   /* ascending */
    uint32_t *parents; /* of each node the index of its parent; a root's is its own */
    uint32_t *begins;  /* of each value of the leading bits: the first node that has it or a larger one */
    uint64_t least;    /* no node is below it */
    uint32_t shift;    /* leading bits are (node - least) >> shift */
    uint32_t begun;    /* values of them that `begins` is set for */
    size_t count, capacity;
} ss_node_forest;

/* The bytes that a forest of `capacity` nodes takes; UINT64_MAX where that is more nodes than there can be. */
uint64_t ss_node_forest_bytes(uint64_t capacity);

/* For nodes from `least` to `greatest`. MEMORY. */
sstore_status ss_node_forest_open(ss_node_forest *forest, size_t capacity, uint64_t least, uint64_t greatest,
                                  sstore_error *error);
/* Also of a zeroed one that was never opened. */
void ss_node_forest_close(ss_node_forest *forest);

/* Add a node above all that are there, or do nothing if it is the last one added. */
void ss_node_forest_add(ss_node_forest *forest, uint64_t node);
/* Connect the last node with one that is there. */
void ss_node_forest_connect(ss_node_forest *forest, uint64_t node);

/* Nothing is added after this: let every parent be a root, so that several threads may read. */
void ss_node_forest_flatten(ss_node_forest *forest);

#endif

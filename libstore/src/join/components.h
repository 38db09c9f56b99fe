/* components.h - connected components. */
#ifndef SS_COMPONENTS_H
#define SS_COMPONENTS_H

#include "base/common.h"
#include "base/file.h"
#include "base/tasks.h"
#include "join/group_join.h"

/* ===== union-find ===== */

/*
 * Union-find (disjoint sets) over nodes that are 64-bit numbers and come in ascending order: so that a
 * tree's root is its smallest node, by always hanging the larger root under the smaller one, and that a node is found
 * again by the leading bits of its place between the least and the greatest one. Paths are halved as they are walked. For
 * one thread while it grows.
 */

typedef struct ss_node_forest {
    uint64_t *nodes;   /* ascending */
    uint32_t *parents; /* of each node the index of its parent; a root's is its own */
    uint32_t *begins;  /* of each value of the leading bits: the first node that has it or a larger one */
    uint64_t min;    /* no node is below it */
    uint32_t shift;    /* leading bits are (node - least) >> shift */
    uint32_t begun;    /* values of them that `begins` is set for */
    size_t count, capacity;
} ss_node_forest;

/* The bytes that a forest of `capacity` nodes takes; UINT64_MAX where that is more nodes than there can be. */
uint64_t ss_node_forest_bytes(uint64_t capacity);

/* For nodes from `least` to `greatest`. MEMORY. */
sstore_status ss_node_forest_open(ss_node_forest *forest, size_t capacity, uint64_t min, uint64_t greatest,
                                  sstore_error *error);
/* Also of a zeroed one that was never opened. */
void ss_node_forest_close(ss_node_forest *forest);

/* Add a node above all that are there, or do nothing if it is the last one added. */
void ss_node_forest_add(ss_node_forest *forest, uint64_t node);
/* Connect the last node with one that is there. */
void ss_node_forest_connect(ss_node_forest *forest, uint64_t node);

/* Nothing is added after this: let every parent be a root, so that several threads may read. */
void ss_node_forest_flatten(ss_node_forest *forest);

/* ===== components ===== */

/*
 * The connected components of a graph of any size, within a fixed memory, on several threads: every node
 * that has an edge, with the smallest node of its component, its root.
 *
 * By alternating large-star and small-star steps (Kiveris, Lattanzi, Mirrokni, Rastogi and Vassilvitskii, "Connected
 * Components in MapReduce and Beyond", SOCC 2014). In a large-star step every node ties its larger neighbours to the
 * smallest of its neighbours and itself, in a small-star step its smaller ones and itself. Neither changes what is
 * connected; each is a sort of the edges and one pass over them; and when a pair of steps changes nothing, every node
 * is tied to its root alone. Where a node has many neighbours they go on from piece to piece, and the smallest with
 * them. Where all nodes fit into the memory, union-find (node_forest.h) takes one such pass instead of one to three
 * dozen.
 */

typedef struct ss_components ss_components;

typedef struct ss_components_options {
    uint32_t threads;      /* that add at once, and that work; 0: all available ones */
    uint64_t memory_bytes; /* half of it while edges are added; kept to from 32 MiB on */
    const ss_dir *tmp_dir; /* where to spill; borrowed */
} ss_components_options;

/* MEMORY. */
sstore_status ss_components_create(const ss_components_options *options, ss_components **components_out,
                                   sstore_error *error);
/* NULL is allowed. */
void ss_components_free(ss_components *components);

/* Add edges, in any order, repeatedly if that is so. One from a node to itself makes it a node. `writer` is below
 * ss_pool_threads(threads); different ones may add at once. IO, MEMORY. */
sstore_status ss_components_add(ss_components *components, uint32_t writer, const ss_fingerprint_pair *edges,
                                size_t count, sstore_error *error);

/* All edges are there: find the components. Nothing can be added after. The progress goes from its end_share to this
 * one. IO, MEMORY, STOPPED. */
sstore_status ss_components_finish(ss_components *components, ss_progress *progress, double end_share,
                                   sstore_error *error);

/* How many star steps that took: 0 where all nodes were in memory. For tests. */
uint32_t ss_components_steps(const ss_components *components);

/* What was found, in pieces: a node as a record's fingerprint, its root as the id, each node once, ascending. */
size_t ss_components_piece_count(const ss_components *components);
/* Nodes of the largest piece. */
size_t ss_components_piece_capacity(const ss_components *components);
/* Get a piece. `nodes` and `scratch` have room for ss_components_piece_capacity() of them. Different pieces may be got
 * at the same time. IO. */
sstore_status ss_components_load(ss_components *components, size_t piece, sstore_record *nodes, sstore_record *scratch,
                                 size_t *count_out, sstore_error *error);

#endif

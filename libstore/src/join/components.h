/*
 * components.h - the connected components of a graph of any size, within a fixed memory, on several threads: every node
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
#ifndef SS_COMPONENTS_H
#define SS_COMPONENTS_H

#include "base/call_progress.h"
#include "base/file.h"
#include "join/join_group.h"

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

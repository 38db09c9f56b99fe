/*
 * components.h - the connected components of a graph of any size, within a fixed memory, on several threads: every node
 * that has an edge, with its root, the smallest node of its component.
 *
 * If all nodes fit in memory, union-find takes two passes over the sorted edges. If not, they are divided into ranges
 * that do, which are removed one by one, the highest first (the node reduction of Sibeyn, "External Connected
 * Components", SWAT 2004, for many nodes at once). Union-find connects the nodes of a range. If a component has nodes
 * below it, then edges between the smallest of these and the others replace the range; they are posted to the ranges
 * of the others. Each edge that a range takes posts one at most, and none if those posted before connect its nodes. In
 * all, two or three times as many edges are posted as were added (measured with up to 64 ranges). Then the
 * lowest range has roots, and the others, from there on, get the root of the smallest node of each component.
 */
#ifndef SS_COMPONENTS_H
#define SS_COMPONENTS_H

#include "base/file.h"
#include "base/tasks.h"
#include "join/group_join.h"

typedef struct ss_components ss_components;

/* Up to `threads` threads (0: all available ones) add edges and work. Half of `memory_bytes` is used while edges are
 * added; enforced from 32 MiB up. Edges are spilled to `tmp_dir`, which is borrowed. MEMORY. */
sstore_status ss_components_create(uint32_t threads, uint64_t memory_bytes, const ss_dir *tmp_dir,
                                   ss_components **components_out, sstore_error *error);
/* NULL is allowed. */
void ss_components_free(ss_components *components);

/* Add edges, in any order; they may repeat. An edge from a node to itself makes it a node. `writer` is below
 * ss_pool_threads(threads); different ones may add at once. IO, MEMORY. */
sstore_status ss_components_add(ss_components *components, uint32_t writer, const ss_fingerprint_pair *edges,
                                size_t count, sstore_error *error);

/* Find the components of all edges. No edge can be added after this. The progress advances from its end_fraction to
 * this one. IO, MEMORY, STOPPED. */
sstore_status ss_components_finish(ss_components *components, ss_progress *progress, double end_fraction,
                                   sstore_error *error);

/* Get the next node, ascending, as a record: the node as the fingerprint, its root as the id. *more_out is false at the
 * end. IO. */
sstore_status ss_components_next(ss_components *components, ss_record *node_out, bool *more_out, sstore_error *error);

typedef struct ss_components_work {
    size_t ranges;   /* 1 if all nodes fit in memory */
    uint64_t posted; /* edges, questions and answers, of 24 bytes each */
} ss_components_work;

/* What was done so far. */
ss_components_work ss_components_count_work(const ss_components *components);

#endif

/*
 * components.h - the connected components of a graph of any size, within a fixed memory, on several threads: every node
 * that has an edge, with its root, the smallest node of its component.
 *
 * If all nodes fit in memory, union-find takes two passes over the edges. If not, large-star and small-star steps
 * alternate (Kiveris, Lattanzi, Mirrokni, Rastogi and Vassilvitskii, "Connected Components in MapReduce and Beyond",
 * SOCC 2014). In a large-star step every node connects its larger neighbours with the smallest of its neighbours and
 * itself, in a small-star step its smaller ones and itself. Neither changes the components. Each takes a sort of the
 * edges and a pass over them. After one to three dozen steps a pair of steps changes nothing: then each node has one
 * edge, to its root.
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
 * this one, and its `table` is the number of star steps so far: 0 if all nodes fit in memory. IO, MEMORY, STOPPED. */
sstore_status ss_components_finish(ss_components *components, ss_progress *progress, double end_fraction,
                                   sstore_error *error);

/* Get the next node, ascending, as a record: the node as the fingerprint, its root as the id. *more_out is false at the
 * end. IO. */
sstore_status ss_components_next(ss_components *components, sstore_record *node_out, bool *more_out,
                                 sstore_error *error);

#endif

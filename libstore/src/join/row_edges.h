/*
 * row_edges.h - edges that connect the near fingerprints of a store of several words, by their numbers
 * (row_iterator.h).
 * The fingerprints, in ascending order, are queries of the store (row_rounds.h). Edges between fingerprints that are
 * known to be connected are left out (edge_filter.h).
 *
 * Of many fingerprints near each other, only some are queries: see row_balls.h. At distance 0 there are no edges.
 */
#ifndef SS_ROW_EDGES_H
#define SS_ROW_EDGES_H

#include "join/components.h"
#include "join/join_call.h"

/* Add edges so that two fingerprints of the (left) store are connected if and only if a chain of near ones leads from
 * one to the other. Takes `bytes`. The progress advances to `end_fraction`. MEMORY, IO, DAMAGED, STOPPED. */
sstore_status ss_row_edges_find(ss_join_call *call, ss_components *components, uint64_t bytes, double end_fraction,
                                sstore_error *error);

#endif

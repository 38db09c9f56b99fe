/*
 * row_edges.h - edges that connect the near fingerprints of a store of several words, by their numbers
 * (record_reader.h). Clusters need a path of edges between near fingerprints, not each pair. The words and their parts
 * are those of plan/row_parts.h; no index is read.
 *
 *   read the distinct fingerprints, ascending, into an array                                 (row_array.h)
 *   choose parts of words by a sample of them                                                (plan/row_parts.h)
 *   for each part:
 *       sort (word, number) of all fingerprints by the key, the bits of the part             (row_runs.h)
 *       for each run of equal keys, and each run whose key differs in at most rho bits:
 *           find pairs with near words by kernels; leave out those that are connected;
 *           connect those that are near as a whole                                           (row_compare.h)
 *
 * Properties:
 * - Complete: two near fingerprints differ in few bits of some word, and these in at most rho bits of some part.
 * - An edge is added only if it connects two components (edge_filter.h), so there are fewer edges than fingerprints, if
 *   the filter has room for all of these.
 * - All reads of files are in order.
 * - Memory is fixed. If it is short, the fingerprints are in a file, and are sorted whole, with their words. They are
 *   then loaded range by range, and every two ranges are compared.
 *
 * At distance 0 there are no edges.
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

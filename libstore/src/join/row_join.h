/*
 * row_join.h - the pairs of near fingerprints of a store of several words, by their numbers (record_reader.h): all, or
 * as many as connect them, which clusters need. The words and their parts are those of plan/row_parts.h; no index is
 * read.
 *
 *   read the distinct fingerprints, ascending, into an array                                 (row_array.h)
 *   choose parts of words by a sample of them                                                (plan/row_parts.h)
 *   for each part:
 *       sort (word, number) of all fingerprints by the key, the bits of the part             (row_runs.h)
 *       for each run of equal keys, and each run whose key differs in at most rho bits:
 *           find pairs with near words by kernels; give those that are near as a whole       (row_compare.h)
 *
 * Properties:
 * - Complete: two near fingerprints differ in few bits of some word, and these in at most rho bits of some part.
 * - All pairs: each is given once, by the first part that finds it.
 * - Spanning: a pair is given only if it connects two components (edge_filter.h), so there are fewer pairs than
 *   fingerprints, if the filter has room for all of these.
 * - All reads of files are in order.
 * - Memory is fixed. If it is short, the fingerprints are in a file, and are sorted whole, with their words. They are
 *   then loaded range by range, and every two ranges are compared.
 *
 * At distance 0 there are no pairs.
 */
#ifndef SS_ROW_JOIN_H
#define SS_ROW_JOIN_H

#include "join/row_compare.h"

/* Give pairs of fingerprints of the (left) store: with SS_JOIN_SELF all near ones, with SS_JOIN_SPANNING as many that
 * two fingerprints are connected if and only if a chain of near ones leads from one to the other. The lower number
 * comes first. Takes `bytes`. The progress advances to `end_fraction`. MEMORY, IO, DAMAGED, STOPPED, and the errors of
 * on_pairs. */
sstore_status ss_row_join(ss_join_call *call, ss_join_kind kind, uint64_t bytes, double end_fraction,
                          ss_join_pairs_fn on_pairs, void *context, sstore_error *error);

/* As before with SS_JOIN_SPANNING, but whether two near fingerprints are connected is judged by the caller. */
sstore_status ss_row_connect(ss_join_call *call, uint64_t bytes, double end_fraction, ss_join_judge_fn judge,
                             void *context, sstore_error *error);

#endif

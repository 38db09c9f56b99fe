/*
 * batch.h - many queries at once. A round of queries is answered in one of three ways, whichever is estimated to take
 * least:
 *   one by one   each query for itself, on all threads
 *   swept        every table that is probed is decoded once, in slices that stay in the cache while all queries with a
 *                probe there are tested
 *   scanned      every block of table 0 is decoded once, and all queries tested against it
 * Hits (a query and a matching fingerprint) are gathered in any order; these are then turned into matches with ids,
 * put in the order of the queries and handed on. A round that finds too much is taken again in halves.
 */
#ifndef SS_BATCH_H
#define SS_BATCH_H

#include "query/batch_hits.h"

/* Find the hits of all queries, by decoding all tables that the plan probes, or by a scan of table 0. */
sstore_status ss_batch_sweep(const ss_batch *batch, sstore_error *error);
sstore_status ss_batch_scan(const ss_batch *batch, sstore_error *error);

/* What a sweep takes, in estimated nanoseconds of one thread. */
double ss_batch_sweep_cost(const ss_batch *batch);

/* Turn the hits into matches, in the order of the queries, those of one query by (distance, fingerprint, id), and hand them
 * to on_match; the first query of the round has the index `first_index`. STOPPED also where there are more than
 * SS_ROUND_MATCHES of several queries; then *too_many_out is true and nothing was handed on. */
sstore_status ss_batch_report(const ss_batch *batch, uint64_t first_index, bool *too_many_out, sstore_match_fn on_match,
                              void *context, sstore_error *error);

#endif

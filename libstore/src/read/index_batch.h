/*
 * index_batch.h - many queries of 64 bits at once on one index, in the way that is estimated to be fastest:
 *   one by one   each query alone, on all threads
 *   table pass   each probed table is read once, in slices that stay in the cache while all queries that probe them
 *                are tested
 *   full scan    a table pass over table 0 alone, which tests all queries against every fingerprint
 */
#ifndef SS_INDEX_BATCH_H
#define SS_INDEX_BATCH_H

#include "read/batch_pass.h"

typedef enum ss_index_way { SS_ONE_BY_ONE, SS_TABLE_PASS, SS_FULL_SCAN } ss_index_way;

/* Choose the best way. *cost_out: its estimated nanoseconds of one thread. */
ss_index_way ss_index_batch_choose(const ss_index_batch *batch, double *cost_out);

/* Find the hits. Errors as ss_batch_pass(). */
sstore_status ss_index_batch_run(const ss_index_batch *batch, ss_index_way way, sstore_error *error);

#endif

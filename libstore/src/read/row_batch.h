/*
 * row_batch.h - many queries at once on a segment with word indexes. Threads confirm candidates up to 1,024 at a time,
 * so they never fill memory. If words distinguish fingerprints poorly, or there are few fingerprints, comparing all
 * queries with all fingerprints takes less time; then that is done. At distance 0, queries are looked up.
 *
 *   if the plan is a full scan, or comparing all takes less time than searching:
 *       compare all queries with all fingerprints, slice by slice                            (row_scan.h)
 *   for each word within its radius:
 *       search its index for the words of all queries                                        (index_batch.h)
 *       for each distinct word that a thread has found:
 *           its ranks are candidates of each query that has found it; confirm these          (candidates.h)
 *       if this has taken as long as comparing all: forget the hits, and compare all
 */
#ifndef SS_ROW_BATCH_H
#define SS_ROW_BATCH_H

#include "read/round_hits.h"

/* Find the hits in the current segment. STOPPED if they are too many, or if the progress says so. */
sstore_status ss_row_batch_find(ss_round_hits *hits, sstore_error *error);

#endif

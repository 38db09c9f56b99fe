/*
 * batch_round.h - answers a round of queries, of one or several words: finds its hits segment by segment, and turns
 * them into matches.
 */
#ifndef SS_BATCH_ROUND_H
#define SS_BATCH_ROUND_H

#include "read/batch_report.h"

/* Answer a round. STOPPED if it has more matches than it may have, or if the progress says so. If the status is not OK,
 * there are no matches, and the counts are wrong. */
sstore_status ss_batch_find(const ss_batch *batch, ss_batch_matches *matches_out, sstore_error *error);

#endif

/*
 * round.h - answers a round of queries, of one or several words: finds its hits segment by segment, and turns them into
 * matches.
 */
#ifndef SS_ROUND_H
#define SS_ROUND_H

#include "read/round_report.h"

/* Answer a round. STOPPED if it has more matches than it may have, or if the progress says so. If the status is not OK,
 * there are no matches, and the counts are wrong. */
sstore_status ss_round_answer(const ss_round *round, ss_round_matches *matches_out, sstore_error *error);

#endif

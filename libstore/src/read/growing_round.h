/*
 * growing_round.h - a round of queries of which each wants only its first matches, and no count of the others. All are
 * answered within the distance of the store; then those with too few matches within larger ones, as long as that is
 * expected to take less time than a full scan; and those that remain by a full scan.
 */
#ifndef SS_GROWING_ROUND_H
#define SS_GROWING_ROUND_H

#include "read/round_report.h"

/* Whether this helps a round: it has a limit and no counts, and a larger distance than the store. */
bool ss_growing_round_suits(const ss_round *round);

/* The same as ss_round_answer(). */
sstore_status ss_growing_round_answer(const ss_round *round, ss_round_matches *matches_out, sstore_error *error);

#endif

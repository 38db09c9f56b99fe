/* round_report.h - the matches of a round of queries, from its hits. */
#ifndef SS_ROUND_REPORT_H
#define SS_ROUND_REPORT_H

#include "read/round_hits.h"

/* The matches of a round, in the order of the queries, those of one query by (distance, fingerprint, id). */
typedef struct ss_round_matches {
    sstore_match *matches;
    uint64_t *rows; /* the fingerprints, to which the matches point */
    size_t count;
} ss_round_matches;

/* A zeroed one is allowed. */
void ss_round_matches_free(ss_round_matches *matches);

/* Look up the records of the hits, which are taken from `hits`. STOPPED if there are more matches than the round may
 * have. If the status is not OK, there are no matches, and the counts are wrong. */
sstore_status ss_round_report(ss_round_hits *hits, ss_round_matches *matches_out, sstore_error *error);

#endif

/*
 * candidates.h - the plans that are worth estimating for a distance.
 */
#ifndef SS_CANDIDATES_H
#define SS_CANDIDATES_H

#include "plan/plan.h"

#define SS_PLAN_NAME_CAPACITY 160u /* the written-out form of any candidate fits */

typedef struct ss_candidate {
    char name[SS_PLAN_NAME_CAPACITY]; /* as ss_plan_parse() takes it */
    ss_plan plan;
} ss_candidate;

/* Called for each candidate, fewer tables first within a family. False: stop. */
typedef bool (*ss_candidate_fn)(void *context, const ss_candidate *candidate);

/*
 * Hand out every candidate for `distance` (0 to 16) in stores of about `fingerprint_count`: disjoint groups of 1 to k +
 * 1 tables in several splits of the bits, BcC, and BcC/BcC. Every one is complete: ss_plan_parse() has proved it. False
 * where the callback stopped.
 */
bool ss_candidates_each(uint32_t distance, double fingerprint_count, ss_candidate_fn on_candidate, void *context);

#endif

/* planner.h - chooses a plan. */
#ifndef SS_PLANNER_H
#define SS_PLANNER_H

#include "plan/cost.h"
#include "plan/plan.h"

/* ===== candidates ===== */

/* The plans that are worth estimating for a distance. */

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

/* ===== planner ===== */

/* Chooses a plan: estimates every candidate's size and times for the data at hand, and weighs them. */

/* A smaller store is weighed as one of so many fingerprints: its size matters to nobody, and it may grow. */
#define SS_WEIGHED_AT_MIN 1e6

typedef struct ss_planner_input {
    ss_expected_store store;
    uint32_t distance;
    sstore_objective objective;
    uint64_t max_bytes; /* 0: no limit */
} ss_planner_input;

typedef struct ss_planned {
    ss_candidate candidate;
    ss_plan_cost figures;
    ss_plan_cost weighed; /* of a small store: as it would be with SS_WEIGHED_AT_MIN; else as `figures` */
    bool useful;             /* no smaller plan is as fast */
} ss_planned;

typedef struct ss_planner {
    size_t count, capacity;
    ss_planned *plans; /* ascending by tables, and so by bytes */
    size_t choice;     /* index of the chosen one; count if none is small enough */
    ss_planner_input input;
} ss_planner;

/* Estimate all candidates and choose. Allocates; false where memory fails. To be freed in either case. */
bool ss_planner_init(ss_planner *planner, const ss_planner_input *input);
void ss_planner_free(ss_planner *planner);

/* Write in a sentence why the chosen plan was chosen, cut to fit. */
void ss_planner_reason(const ss_planner *planner, char *buffer, size_t size);

/* ----- for a build ----- */

#define SS_DEFAULT_BLOCK_BYTES 4096u

/* Choose the plan with the best balance for a store, whose `skew` is not set: for data like the sample, which this finishes, or,
 * with NULL, for uniform data. The choice depends on the set of fingerprints and on nothing else. MEMORY. */
sstore_status ss_choose_plan(const ss_expected_store *store, uint32_t distance, ss_sampler *sampler, ss_plan *plan_out,
                             sstore_error *error);

#endif

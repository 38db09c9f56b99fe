/*
 * planner.h - chooses a plan: lists every plan that is worth estimating, estimates its size and times for the given
 * data, and weighs them. The choice depends only on the set of fingerprints and on the input.
 */
#ifndef SS_PLANNER_H
#define SS_PLANNER_H

#include "plan/cost.h"
#include "plan/plan.h"
#include "sstore_statistics.h"

#define SS_DEFAULT_BLOCK_BYTES 4096u
#define SS_PLAN_NAME_CAPACITY 160u /* the written-out form of any plan of the planner fits */

/* Smaller stores are weighed as if they had this many fingerprints: their size hardly matters, and they may grow. */
#define SS_WEIGHED_AT_MIN 1e6

/* For fewer fingerprints, a build weighs only plans of disjoint bit groups, as for uniform data. To look at a sample
 * and at all plans would take longer than to compare every two. A query of so few reads them all in the time of some
 * probes, whatever their plan. */
#define SS_WEIGHED_MIN 8192.0

typedef struct ss_planner_input {
    ss_expected_store store;
    uint32_t distance; /* 0 to 16 */
    sstore_objective objective;
    uint64_t max_bytes; /* 0: no limit */
    bool only_disjoint; /* list no other plans */
} ss_planner_input;

/* Check a distance, and a block size (0: the default one) that a store of fingerprints of this many words is to have.
 * ARGUMENT. */
sstore_status ss_check_form(uint32_t words, uint32_t distance, uint32_t block_bytes, sstore_error *error);

/* A plan with its estimates. */
typedef struct ss_planned {
    char name[SS_PLAN_NAME_CAPACITY]; /* as ss_plan_parse() takes it */
    ss_plan plan;
    ss_plan_cost cost;
    ss_plan_cost weighed; /* of a store of at least SS_WEIGHED_AT_MIN fingerprints */
    bool is_useful;       /* no smaller plan is as fast */
} ss_planned;

typedef struct ss_planner {
    const ss_planner_input *input; /* borrowed */
    double bits, weighed_bits;     /* ss_expected_bits() of the store, and of one that is weighed */
    size_t count, capacity;
    ss_planned *plans; /* ascending by tables, and so by bytes; distinct; ss_plan_parse() has proved each complete */
    size_t choice;     /* index of the chosen one; count if none is small enough */
} ss_planner;

/* Estimate all plans and choose. False if an allocation fails. Free the planner in both cases. */
bool ss_planner_init(ss_planner *planner, const ss_planner_input *input);
void ss_planner_free(ss_planner *planner);

/*
 * Choose the plan with the best balance for a store, whose `skew` is not set. The data are taken to be like the sample,
 * which this finishes, or uniform if it is NULL, or if there are fewer than SS_WEIGHED_MIN fingerprints. MEMORY.
 */
sstore_status ss_choose_plan(const ss_expected_store *store, uint32_t distance, ss_sampler *sampler, ss_plan *plan_out,
                             sstore_error *error);

#endif

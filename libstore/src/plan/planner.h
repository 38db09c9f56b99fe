/*
 * planner.h - chooses a plan: estimates every candidate's size and times for the data at hand, and weighs them.
 */
#ifndef SS_PLANNER_H
#define SS_PLANNER_H

#include "plan/candidates.h"
#include "plan/figures.h"

/* A smaller store is weighed as one of so many fingerprints: its size matters to nobody, and it may grow. */
#define SS_WEIGHED_AT_LEAST 1e6

typedef struct ss_planner_input {
    ss_expected_store store;
    uint32_t distance;
    sstore_objective objective;
    uint64_t max_bytes; /* 0: no limit */
} ss_planner_input;

typedef struct ss_planned {
    ss_candidate candidate;
    ss_plan_figures figures;
    ss_plan_figures weighed; /* of a small store: as it would be with SS_WEIGHED_AT_LEAST; else as `figures` */
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

#endif

/*
 * segment_plan.h - how the segments of a store are queried at some distance: which tables are probed within which
 * radii, or that all of table 0 is read. A segment of several words has an index for each word, among which the
 * distance is divided first (plan/radii.h); a segment of one word is its own index.
 */
#ifndef SS_SEGMENT_PLAN_H
#define SS_SEGMENT_PLAN_H

#include "store/store.h"

#define SS_NO_DISTANCE UINT32_MAX /* of a plan that was not made */

typedef struct ss_segment_plan {
    int32_t radii[SSTORE_MAX_WORDS];   /* of the words; SS_NO_PROBE: its index is not searched */
    bool full_scan;                    /* test all of table 0 instead; then not every index is planned */
    double probe_cost, full_scan_cost; /* estimated nanoseconds; the first without the indexes that are not planned */
    ss_query_plan *indexes;            /* of each index */
} ss_segment_plan;

/* Allocate a plan for each segment, as one block for ss_free(). NULL if memory is short. */
ss_segment_plan *ss_segment_plans_alloc(const ss_manifest *manifest);
/* The bytes of these. */
uint64_t ss_segment_plans_bytes(const ss_manifest *manifest);

/* Make the plans for a distance, except those of segments that remove. */
void ss_segment_plans_choose(const sstore *store, uint32_t distance, ss_steps *steps, ss_segment_plan *plans);

#endif

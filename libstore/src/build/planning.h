/*
 * planning.h - the plan of a segment to be built, chosen from its own fingerprints.
 */
#ifndef SS_PLANNING_H
#define SS_PLANNING_H

#include "file/manifest.h"
#include "plan/planner.h"

#define SS_DEFAULT_BLOCK_BYTES 4096u

/* Choose the plan with the best balance for a segment whose counts and block size are known, from a sample of its
 * fingerprints, which this finishes. The choice depends on the set of fingerprints and on nothing else. MEMORY. */
sstore_status ss_choose_plan(const ss_manifest_segment *segment, bool has_ids, uint32_t distance, ss_sampler *sampler,
                             ss_plan *plan_out, sstore_error *error);

/* The plan that would be chosen for such a store if its data were uniform. MEMORY. */
sstore_status ss_expect_plan(const ss_expected_store *store, uint32_t distance, ss_plan *plan_out, sstore_error *error);

#endif

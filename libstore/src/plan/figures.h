/*
 * figures.h - what a store under a plan is expected to take, and one query of it.
 */
#ifndef SS_FIGURES_H
#define SS_FIGURES_H

#include "plan/plan.h"
#include "plan/skew.h"

/* The data and the form of the store. */
typedef struct ss_expected_store {
    double record_count, fingerprint_count; /* fingerprint_count: distinct ones */
    bool has_ids;
    uint32_t id_bits; /* of the largest id; 0: they are ordinals */
    uint32_t block_bytes;
    const ss_skew *skew; /* NULL: uniform data */
} ss_expected_store;

/* A store, and one query at the plan's own distance without a match. */
typedef struct ss_plan_figures {
    double bits; /* a fingerprint in one table, all included but the directory */
    double table_bytes, ids_bytes, directory_bytes, total_bytes; /* of all tables together */
    double probe_count, block_count, candidate_count;
    bool scans; /* a scan is cheaper than the probes, and the figures are a scan's */
    double warm_ns, cold_ns;
} ss_plan_figures;

void ss_plan_figures_init(ss_plan_figures *figures, const ss_plan *plan, const ss_expected_store *store);

#endif

/*
 * cost.h - what a query costs, and the cheapest complete radii for a distance other than the plan's own.
 */
#ifndef SS_COST_H
#define SS_COST_H

#include "plan/plan.h"

/* What the costs depend on. */
typedef struct ss_cost_model {
    double fingerprint_count; /* distinct ones, a table */
    double block_count;       /* of one table */
    sstore_io io;
    sstore_strategy strategy;
} ss_cost_model;

/* What probing one table is expected to take. */
typedef struct ss_table_cost {
    double probe_count;     /* look-ups: of a prefix, or of a range of them */
    double block_count;     /* distinct blocks: flips below a block's resolution share one */
    double candidate_count; /* fingerprints with a probed prefix */
    double warm_ns;
} ss_table_cost;

/* How a query at some distance is answered. */
typedef struct ss_query_plan {
    uint32_t distance;
    bool scan;                      /* read all of table 0 instead of probing */
    bool complete;                  /* the radii are */
    bool exact;                     /* at distance 0 table 0, which is sorted, is probed with the whole fingerprint */
    double probe_cost, scan_cost;   /* estimated nanoseconds */
    double most_blocks;             /* more of them take longer than a scan */
    int32_t radii[SS_MAX_TABLES];   /* SS_NO_PROBE: this table is left out */
} ss_query_plan;

/*
 * Choose how to query at `distance`: at the plan's own distance with its radii, else with complete radii found
 * greedily by cost, as far as the steps go; by a scan where that is estimated to be cheaper, or no radii were found. The
 * model's strategy may ask for one of the two: then probing gives way to a scan only above about 0.4 s.
 */
void ss_query_plan_init(ss_query_plan *query_plan, const ss_plan *plan, uint32_t distance, const ss_cost_model *model,
                        ss_steps *steps);

/* The same with the radii that were found for another segment with the same tables, at the same distance. */
void ss_query_plan_init_alike(ss_query_plan *query_plan, const ss_plan *plan, const ss_query_plan *alike,
                              const ss_cost_model *model);

/* The number of prefixes within `radius` flips of one of `prefix_bits` bits. */
double ss_probe_count(uint32_t prefix_bits, int32_t radius);

/* How many of a prefix's lowest bits are not flipped one by one, since few fingerprints have prefixes that differ in these alone: one
 * probe takes the range of all of them. */
uint32_t ss_range_bits(uint32_t prefix_bits, double fingerprint_count);

/* The probes that a query makes in a table of so many fingerprints, ranges and all. */
double ss_table_probe_count(const ss_plan_table *table, int32_t radius, double fingerprint_count);

/*
 * What probing a table within `radius` takes, for a query at `distance`. shares[0] is the share of all fingerprints that the query's own prefix
 * leads to, shares[1] that of a prefix one flip away, and further ones fall off as much again; NULL: uniform data, 2^-p
 * all.
 */
ss_table_cost ss_table_cost_of(const ss_plan_table *table, int32_t radius, uint32_t distance, const ss_cost_model *model,
                               const double *shares);

/* The bits of a table that are matched exactly, but for flips. */
static inline uint32_t ss_query_prefix_bits(const ss_query_plan *query_plan, const ss_plan *plan, uint32_t table)
{
    return query_plan->exact ? SS_FINGERPRINT_BITS : plan->tables[table].prefix_bits;
}

/* Nanoseconds of reading all of one table. */
double ss_scan_cost(const ss_cost_model *model, uint32_t distance);

/* The most prefixes that one query looks up in a segment, at any distance: more would be estimated to take longer than a scan, or
 * than probing is forced. `fingerprint_count`: the most that the blocks can hold, whatever the manifest says. */
uint64_t ss_most_probes(double fingerprint_count, sstore_strategy strategy);

/* Nanoseconds until `block_count` blocks that are not cached have been read, all of them asked for at once. */
double ss_cold_cost(double block_count);

#endif

/* cost.h - what queries and stores are expected to cost. */
#ifndef SS_COST_H
#define SS_COST_H

#include "base/common.h"
#include "plan/plan.h"

/* ===== samples and skew ===== */

/*
 * How evenly the data are spread: what a sample tells about the groups that a query's probes meet and about
 * the bits that a fingerprint takes. Real fingerprints are far from uniform; a plan chosen as if they were reads a
 * hundred times the candidates that it expects.
 *
 * The sample is drawn by a hash of the fingerprint, not by position: neighbours in a sorted table are alike, so every
 * n-th one would hide just the groups that matter. It depends on the set of fingerprints alone, in whatever order they
 * come.
 */

#define SS_SAMPLE_CAPACITY 32768u
#define SS_SAMPLE_MIN 1024u /* a smaller one tells nothing: its few fingerprints may be neighbours by chance */

/* ----- drawing a sample ----- */

typedef struct ss_sampler {
    uint64_t *fingerprints; /* room for SS_SAMPLE_CAPACITY; borrowed */
    size_t count;
    uint64_t limit; /* fingerprints whose hash is not above it are in the sample */
} ss_sampler;

static inline void ss_sampler_init(ss_sampler *sampler, uint64_t *room)
{
    *sampler = (ss_sampler){.fingerprints = room, .limit = UINT64_MAX};
}

/* A good mix of 64 bits: the last steps of splitmix64 (Steele, Lea and Flood, 2014). */
static inline uint64_t ss_sample_hash(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* Put a fingerprint whose hash is within the limit into the sample; a full sample is thinned first. */
void ss_sampler_keep(ss_sampler *sampler, uint64_t fingerprint);

static inline void ss_sampler_add(ss_sampler *sampler, uint64_t fingerprint)
{
    if (SS_UNLIKELY(ss_sample_hash(fingerprint) <= sampler->limit))
        ss_sampler_keep(sampler, fingerprint);
}

/* Add what another sampler was given, and so what its sample would be if this one had been given it. No fingerprint may
 * have been given to both. */
void ss_sampler_join(ss_sampler *sampler, const ss_sampler *other);

/* Sort the sample and drop repeats. Returns the share of it that is left: that of distinct fingerprints in what was
 * added. */
double ss_sampler_finish(ss_sampler *sampler);

/* ----- what a sample tells ----- */

/* A finished sample and room to count prefixes in. */
typedef struct ss_skew {
    const uint64_t *sample; /* sorted, distinct; borrowed */
    size_t count;
    size_t slot_count;  /* a power of two */
    uint64_t *prefixes; /* a hash table of the sample's prefixes ... */
    uint32_t *repeats;  /* ... and how often each occurs; 0: an empty slot */
} ss_skew;

/* Prepare to measure; allocates. False where memory fails. */
bool ss_skew_init(ss_skew *skew, const uint64_t *sample, size_t count);
/* Also of a zeroed one. */
void ss_skew_free(ss_skew *skew);

/*
 * The share of all fingerprints that a stored one's own prefix leads to, shares_out[0], and its prefix with one bit
 * flipped, shares_out[1], on average: 2^-p each if the data were uniform, and never told to be less. `key_mask` are the
 * prefix's bits. Without flips shares_out[1] is not measured.
 */
void ss_skew_measure(const ss_skew *skew, uint64_t key_mask, bool flips, double shares_out[2]);

/* Bits a fingerprint that the codes and rests of a table of `count` fingerprints take, if they are uniform. */
double ss_uniform_bits(double count);

/* The same for data like the sample (NULL: uniform). */
double ss_expected_bits(const ss_skew *skew, double count);

/* ===== costs of queries ===== */

/* What a query costs, and the cheapest complete radii for a distance other than the plan's own. */

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
    double max_blocks;             /* more of them take longer than a scan */
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
uint64_t ss_max_probes(double fingerprint_count, sstore_strategy strategy);

/* Nanoseconds until `block_count` blocks that are not cached have been read, all of them asked for at once. */
double ss_cold_cost(double block_count);

/* ===== estimates of stores ===== */

/* What a store under a plan is expected to take, and one query of it. */

/* The data and the form of the store. */
typedef struct ss_expected_store {
    double record_count, fingerprint_count; /* fingerprint_count: distinct ones */
    bool has_ids;
    uint32_t id_bits; /* of the largest id; 0: they are ordinals */
    uint32_t block_bytes;
    const ss_skew *skew; /* NULL: uniform data */
} ss_expected_store;

/* A store, and one query at the plan's own distance without a match. */
typedef struct ss_plan_cost {
    double bits; /* a fingerprint in one table, all included but the directory */
    double table_bytes, ids_bytes, directory_bytes, total_bytes; /* of all tables together */
    double probe_count, block_count, candidate_count;
    bool scans; /* a scan is cheaper than the probes, and the figures are a scan's */
    double warm_ns, cold_ns;
} ss_plan_cost;

void ss_plan_cost_init(ss_plan_cost *figures, const ss_plan *plan, const ss_expected_store *store);

#endif

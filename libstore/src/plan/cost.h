/*
 * cost.h - estimates: the skew of the data, the cost of a query and the best way to answer it, and the size of a store.
 *
 * A plan follows from these estimates, and all bytes of a store follow from its plan. So the estimates depend only on
 * the set of fingerprints, never on the order in which it is read, and every machine computes the same numbers.
 */
#ifndef SS_COST_H
#define SS_COST_H

#include "base/common.h"
#include "plan/plan.h"

/* ===== samples and skew ===== */

/*
 * Real fingerprints are far from uniform. A plan for uniform ones can then test a hundred times the expected
 * candidates. So a sample shows how many fingerprints share a query's prefix, and how many bits a fingerprint takes.
 *
 * A fingerprint is in the sample if its hash is small. Every n-th fingerprint of a table would not do: neighbours are
 * similar, and such a sample would hide them.
 */

#define SS_SAMPLE_CAPACITY 32768u
#define SS_SAMPLE_MIN 1024u /* smaller samples are ignored: their skew may be chance */

typedef struct ss_sampler {
    uint64_t *fingerprints; /* of capacity SS_SAMPLE_CAPACITY; borrowed */
    size_t count;
    uint64_t limit; /* fingerprints with a hash up to this are in the sample */
} ss_sampler;

static inline void ss_sampler_init(ss_sampler *sampler, uint64_t *buffer)
{
    *sampler = (ss_sampler){.fingerprints = buffer, .limit = UINT64_MAX};
}

/* A step of splitmix64 (Steele, Lea and Flood, 2014), so that 0, the most frequent fingerprint, has no low hash. */
static inline uint64_t ss_sample_hash(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
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

/* Add the sample of other fingerprints: the result is the sample of all. The two must have no fingerprint in common. */
void ss_sampler_join(ss_sampler *sampler, const ss_sampler *other);

/* Sort the sample and drop repeats. Returns the fraction that is left, which estimates the fraction of distinct
 * fingerprints. */
double ss_sampler_finish(ss_sampler *sampler);

/* A finished sample and a hash table to count its prefixes in. */
typedef struct ss_skew {
    const uint64_t *sample; /* sorted, distinct; borrowed */
    size_t count;
    size_t slot_count;  /* a power of two */
    uint64_t *prefixes; /* of the slots */
    uint32_t *repeats;  /* how often each prefix occurs; 0: an empty slot */
} ss_skew;

/* False if an allocation fails. Freeing a zeroed one is allowed. */
bool ss_skew_init(ss_skew *skew, const uint64_t *sample, size_t count);
void ss_skew_free(ss_skew *skew);

/*
 * Measure the average fraction of all fingerprints that have a stored one's prefix, fractions_out[0], or its prefix
 * with one bit flipped, fractions_out[1]. `key_mask` has the prefix's bits. For uniform data both are 2^-p, and no
 * result is below that. Without `flips`, fractions_out[1] is not measured.
 */
void ss_skew_measure(const ss_skew *skew, uint64_t key_mask, bool flips, double fractions_out[2]);

/* Bits of codes and suffixes for each fingerprint in a table of `count` uniform ones. */
double ss_uniform_bits(double count);

/* Bits of codes and suffixes for each fingerprint in a table of `count` that are like the sample (NULL: uniform). */
double ss_expected_bits(const ss_skew *skew, double count);

/* ===== costs of queries ===== */

/* The properties of a segment and of its reader that the costs depend on. */
typedef struct ss_cost_model {
    double fingerprint_count; /* distinct ones, in each table */
    double block_count;       /* of each table */
    sstore_io io;             /* not AUTO */
    sstore_strategy strategy;
} ss_cost_model;

/* The expected work of probing one table. */
typedef struct ss_table_cost {
    double probe_count;     /* look-ups: of a prefix, or of a range of them */
    double block_count;     /* distinct blocks: several probes may share one */
    double candidate_count; /* fingerprints with a probed prefix */
    double warm_ns;
} ss_table_cost;

/* How a query at some distance is answered. */
typedef struct ss_query_plan {
    uint32_t distance;
    bool full_scan;                    /* read all of table 0 instead of probing */
    bool complete;                     /* the radii are */
    bool exact;                        /* at distance 0: table 0 is probed with all 64 bits */
    double probe_cost, full_scan_cost; /* estimated nanoseconds */
    double max_blocks;                 /* reading more takes longer than a full scan */
    int32_t radii[SS_MAX_TABLES];      /* SS_NO_PROBE: this table is left out */
} ss_query_plan;

/*
 * Choose how to query at `distance`: with the plan's radii at its own distance, otherwise with complete radii that are
 * found greedily by cost within the steps, and no more than ss_search_steps(). A full scan is chosen if it is estimated
 * to be cheaper, or if no radii were found. The model's strategy may demand one of the two. If it demands probes, a
 * full scan is chosen only if these take more than about 0.4 s.
 */
void ss_query_plan_init(ss_query_plan *query_plan, const ss_plan *plan, uint32_t distance, const ss_cost_model *model,
                        ss_steps *steps);

/* The steps that a search for radii may take: as many as some 30 full scans last, at least 2^10 and at most 2^18. More
 * would not pay. */
uint64_t ss_search_steps(const ss_cost_model *model, uint32_t distance);

/* Choose between the probes of given radii and a full scan. For a query plan of another segment with the same
 * tables. */
void ss_query_plan_weigh(ss_query_plan *query_plan, const ss_plan *plan, const ss_cost_model *model);

/* The number of prefixes within `radius` flips of one of `prefix_bits` bits, which need not be an integer. */
double ss_probe_count(double prefix_bits, int32_t radius);

/* How many of a prefix's lowest bits are not flipped one by one, because few fingerprints have prefixes that differ in
 * these only: one probe looks up the entire range. */
uint32_t ss_range_bits(uint32_t prefix_bits, double fingerprint_count);

/* The look-ups, of prefixes and ranges, that a query makes in a table of this many fingerprints. */
double ss_table_probe_count(const ss_plan_table *table, int32_t radius, double fingerprint_count);

/*
 * Estimate the work of probing a table within `radius`, for a query at `distance`. `fractions` is as ss_skew_measure()
 * sets it; each further flip lowers the fraction by the same factor. NULL: uniform data.
 */
ss_table_cost ss_table_cost_of(const ss_plan_table *table, int32_t radius, uint32_t distance,
                               const ss_cost_model *model, const double *fractions);

/* The number of leading bits that a probe of the table matches exactly. */
static inline uint32_t ss_query_prefix_bits(const ss_query_plan *query_plan, const ss_plan *plan, uint32_t table)
{
    return query_plan->exact ? SS_FINGERPRINT_BITS : plan->tables[table].prefix_bits;
}

/* The maximum number of prefixes that one query looks up in a segment, at any distance: more would take longer than a
 * scan, or than demanded probes may. `fingerprint_count` is the maximum that the blocks can hold, whatever the manifest
 * says. */
uint64_t ss_max_probes(double fingerprint_count, sstore_strategy strategy);

/* ===== estimates of stores ===== */

typedef struct ss_expected_store {
    double record_count, fingerprint_count; /* fingerprint_count: distinct ones */
    bool has_ids;
    uint32_t id_bits; /* of the largest id; 0: ids are numbers from 0 on */
    uint32_t block_bytes;
    double other_bytes;  /* of the store beside what is estimated: of a word index, the part of the others */
    const ss_skew *skew; /* NULL: uniform data */
    double bits;         /* ss_expected_bits() of these, which takes long to compute; 0: not known */
} ss_expected_store;

/* The size of a store, and the cost of one query at the plan's own distance without a match. */
typedef struct ss_plan_cost {
    double bits; /* of a fingerprint in one table, without the directory */
    double table_bytes, ids_bytes, directory_bytes, total_bytes; /* of all tables together; the last with other_bytes */
    double probe_count, block_count, candidate_count;
    bool is_full_scan; /* a full scan is cheaper than the probes; these numbers are those of a full scan */
    double warm_ns, cold_ns;
} ss_plan_cost;

void ss_plan_cost_init(ss_plan_cost *cost, const ss_plan *plan, const ss_expected_store *store);

#endif

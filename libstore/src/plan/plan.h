/*
 * plan.h - a plan: the key masks and radii of tables that together find every fingerprint within a distance; the proof
 * that none is missed; and the permutation of a table's bits.
 *
 * A table is probed with every prefix within `radius` flips of the query's. The prefix consists of the table's key
 * bits. A table covers an error pattern e (the exclusive or of two fingerprints) if popcount(e & key_mask) <= radius. A
 * plan is complete for distance k if every pattern of at most k bits is covered by some table. There are three families
 * (format-spec/sstore-format.md, "Plans"):
 *   choose    B bit groups, a table for every choice of C of them (the paper, section 3.1.1: 5c2, 6c3, 4c1)
 *   nested    the bits that a first choice leaves are split again (the paper's 16 tables)
 *   disjoint  bit groups of any widths with radii r, complete if the sum of (r + 1) exceeds k (after Norouzi, Punjani
 *             and Fleet, "Fast search in Hamming space with multi-index hashing", 2012)
 */
#ifndef SS_PLAN_H
#define SS_PLAN_H

#include "base/common.h"

/* ===== plans ===== */

#define SS_MAX_TABLES 64u
#define SS_NO_PROBE (-1) /* the radius of a table that is not probed */

/* A call's budget for proofs and radii of plans, for all segments together. A step takes a tenth of a
 * microsecond, with many tables half of one. */
#define SS_CALL_STEPS (UINT64_C(1) << 22)

/* The budget of a proof, and of all proofs that find the radii of one plan, when radii are chosen. The named plans take
 * up to 6,000 and 43,000. A plan that needs more keeps larger radii than necessary. */
#define SS_PROOF_STEPS (UINT64_C(1) << 14)
#define SS_RADII_STEPS (UINT64_C(1) << 16)

typedef struct ss_plan_table {
    uint64_t key_mask;    /* bit 0 of a fingerprint is the most significant one */
    uint32_t prefix_bits; /* popcount(key_mask) */
    int32_t radius;
} ss_plan_table;

typedef struct ss_plan {
    uint32_t distance; /* k */
    uint32_t table_count;
    ss_plan_table tables[SS_MAX_TABLES];
} ss_plan;

/*
 * Make a plan from its name:
 *   "20", "16", "10", "4", "3", "2", "1"   6c3, 4c1/4c1, 5c2, 4c1; disjoint bit groups of 24+20+20, 32+32 and 64 bits
 *   "BcC", "BcC/BcC"                       choose, nested; as above, with small radii that are complete
 *   "bits,bits,..."                        two or more disjoint bit groups with such radii; one number alone is refused
 *   "bits:radius,..."                      disjoint bit groups from bit 0 on, at most 64 bits in all
 *   "mask:radius,..."                      any tables, each mask 16 hex digits
 * The key bits of table 0 are always the leading ones, so that table 0 is not permuted. ARGUMENT: no such name; or a
 * plan that is incomplete for `distance`, with a pattern that it misses.
 */
sstore_status ss_plan_parse(const char *name, uint32_t distance, ss_plan *plan_out, sstore_error *error);

/* Whether a plan's name gives radii. Every other plan has radii for each distance. */
bool ss_plan_has_radii(const char *name);

#define SS_PLAN_TEXT_BYTES 1280u /* of the longest text: 64 masks of 16 digits with radii of two, and their commas */

/* Write the plan's name, "BcC" or "BcC/BcC", or without one its bit groups or its masks, with their radii. Cuts text
 * that does not fit. Returns the full length, as snprintf does. */
size_t ss_plan_format(const ss_plan *plan, char *buffer, size_t size);

/* Whether a plan is valid: 1 to SS_MAX_TABLES of them, radii within their prefixes, the leading bits as keys of table
 * 0, proved complete for the plan's distance within the steps (NULL: SS_CALL_STEPS). On false, *reason is set. */
bool ss_plan_valid(const ss_plan *plan, ss_steps *steps, const char **reason);

/* Whether two plans have the same tables. */
bool ss_plan_same_tables(const ss_plan *a, const ss_plan *b);

/* Whether they also are for the same distance. */
static inline bool ss_plan_same(const ss_plan *a, const ss_plan *b)
{
    return a->distance == b->distance && ss_plan_same_tables(a, b);
}

/*
 * Look for an error pattern of at most `distance` bits that no table covers under `radii` (one for each table; NULL:
 * the plan's own). Returns false if the radii are proved complete, else true and the pattern. If the steps (NULL:
 * SS_CALL_STEPS) do not suffice, it returns true and no bits.
 */
bool ss_plan_find_uncovered(const ss_plan *plan, const int32_t *radii, uint32_t distance, ss_steps *steps,
                            uint64_t *pattern_out);

/* Lower the radius of one table as far as the radii can be proved complete for `distance`, but not below `min`. A proof
 * takes at most SS_PROOF_STEPS. */
void ss_plan_lower_radius(const ss_plan *plan, int32_t *radii, uint32_t table, int32_t min, uint32_t distance,
                          ss_steps *steps);

/* The first table that covers the pattern under the radii; table_count if none does. */
static inline uint32_t ss_plan_first_cover(const ss_plan *plan, const int32_t *radii, uint64_t pattern)
{
    uint32_t table = 0;
    while (table < plan->table_count && (int32_t)ss_popcount(pattern & plan->tables[table].key_mask) > radii[table])
        table++;
    return table;
}

/* ===== permutation ===== */

/*
 * The permutation of a table: the key bits come first, in their order. The other bits follow from the one after the
 * last key bit on, and continue with bit 0 after bit 63. So the lower half, which a query tests before it decodes
 * anything, holds the key bits of earlier tables if possible, which identifies most fingerprints that an earlier table
 * found.
 *
 * A permutation is a set of rotations under masks, one for each run of bits that moves by the same distance. It keeps
 * distances: popcount(permute(a) ^ permute(b)) = popcount(a ^ b).
 */

typedef struct ss_run {
    uint64_t from_mask, to_mask;
    uint32_t rotate_left, rotate_back;
} ss_run;

typedef struct ss_permutation {
    uint32_t run_count;
    ss_run runs[SS_FINGERPRINT_BITS];
} ss_permutation;

/* Set the permutation that moves the bits of key_mask to the front. Any mask is allowed; 0 and all ones give the
 * identity. */
void ss_permutation_init(ss_permutation *permutation, uint64_t key_mask);

static inline uint64_t ss_rotate_left(uint64_t x, uint32_t by)
{
    return x << by | x >> (-by & 63u);
}

static inline uint64_t ss_permute(const ss_permutation *permutation, uint64_t fingerprint)
{
    uint64_t permuted = 0;
    for (uint32_t i = 0; i < permutation->run_count; i++) {
        const ss_run *run = &permutation->runs[i];
        permuted |= ss_rotate_left(fingerprint & run->from_mask, run->rotate_left);
    }
    return permuted;
}

static inline uint64_t ss_unpermute(const ss_permutation *permutation, uint64_t permuted)
{
    uint64_t fingerprint = 0;
    for (uint32_t i = 0; i < permutation->run_count; i++) {
        const ss_run *run = &permutation->runs[i];
        fingerprint |= ss_rotate_left(permuted & run->to_mask, run->rotate_back);
    }
    return fingerprint;
}

#endif

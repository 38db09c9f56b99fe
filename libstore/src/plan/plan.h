/* plan.h - a plan: its tables, their permutations, and the proof that it misses no pair. */
#ifndef SS_PLAN_H
#define SS_PLAN_H

#include "base/common.h"

/* ===== plans ===== */

/*
 * The set of tables, and the probes into each, that together find every fingerprint within a distance.
 *
 * A table is probed with every prefix within `radius` flips of the query's, the prefix being the table's key bits.
 * Table j covers an error pattern e (the exclusive or of two fingerprints) if popcount(e & key_mask) <= radius. A plan
 * is complete for k if some table covers every pattern of at most k bits. Three families
 * (format-spec/sstore-format.md, "Plans"):
 *   choose    B groups of bits, a table for every choice of C of them (the paper, section 3.1.1: 5c2, 6c3, 4c1)
 *   nested    what is left after a first choice is split again (the paper's 16 tables)
 *   disjoint  groups of any widths w with radii r, complete if the sum of (r + 1) is above k (after Norouzi, Punjani and
 *             Fleet, "Fast search in Hamming space with multi-index hashing", 2012)
 */

#define SS_MAX_TABLES 64u
#define SS_NO_PROBE (-1) /* the radius of a table that is not probed at all */

typedef struct ss_plan_table {
    uint64_t key_mask;    /* bit 0 of a fingerprint is the most significant one */
    uint32_t prefix_bits; /* popcount(key_mask) */
    int32_t radius;
} ss_plan_table;

typedef struct ss_plan {
    uint32_t distance; /* k */
    uint32_t table_count;
    ss_plan_table tables[SS_MAX_TABLES];
    char name[8]; /* "BcC" or "BcC/BcC", where it is known to stand for the tables; else "" */
} ss_plan;

/*
 * Make a plan from its name:
 *   "20", "16", "10", "4", "3", "2", "1"   6c3, 4c1/4c1, 5c2, 4c1, and disjoint groups of 24+20+20, 32+32 and 64 bits
 *   "BcC", "BcC/BcC"                       choose, nested; here as above the smallest radii that are complete are found
 *   "bits,bits,..."                        two or more disjoint groups, with such radii; other numbers alone are no names
 *   "bits:radius,..."                      disjoint groups from bit 0 on, at most 64 bits in all
 *   "mask:radius,..."                      any tables, each mask 16 hex digits
 * The key bits of table 0 are always the leading ones, so that table 0 is not permuted.
 * ARGUMENT: a name that is none; a plan that is incomplete for `distance`, with a pattern that it misses.
 */
sstore_status ss_plan_parse(const char *name, uint32_t distance, ss_plan *plan_out, sstore_error *error);

#define SS_PLAN_TEXT_BYTES 1536u /* what the text of a plan takes at most, as sstore_statistics has it */

/* Find the plan's name, "BcC" or "BcC/BcC", if it has one; within the steps. */
void ss_plan_find_name(ss_plan *plan, ss_steps *steps);

/* Write the plan's name; if it has none, its groups of bits or its masks with their radii; cutting what does not fit. Returns
 * the whole length, as snprintf does. */
size_t ss_plan_format(const ss_plan *plan, char *buffer, size_t size);

/* Whether the tables are such as this module makes: 1 to SS_MAX_TABLES of them, radii within their prefixes, table 0's
 * key bits leading, complete for the plan's distance. On false, *reason says what is wrong. */
bool ss_plan_valid(const ss_plan *plan, const char **reason);

/* The same within the steps. */
bool ss_plan_valid_within(const ss_plan *plan, ss_steps *steps, const char **reason);

/* Whether two plans have the same tables. */
bool ss_plan_same_tables(const ss_plan *a, const ss_plan *b);

/*
 * Look for an error pattern of at most `distance` bits that no table covers under the given radii (one a table).
 * Returns true and the pattern if there is one, false if the radii are complete. By branch and bound over the classes
 * of bits that the tables' masks tell apart; where that takes more than SS_CALL_STEPS nothing is proved, and it returns
 * true and no bits.
 */
bool ss_plan_find_uncovered(const ss_plan *plan, const int32_t *radii, uint32_t distance, uint64_t *pattern_out);

/* The same within the steps. Where none is left, nothing is proved. */
bool ss_plan_find_uncovered_within(const ss_plan *plan, const int32_t *radii, uint32_t distance, ss_steps *steps,
                                   uint64_t *pattern_out);

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
 * The permutation of a table: the key bits lead, in their order; the other bits follow from the one behind the
 * last key bit on, and go on with bit 0 behind bit 63.
 *
 * So the lower half, which a query tests before it decodes anything, has the key bits of earlier tables where it can: it
 * tells of most fingerprints that an earlier table found them. A permutation is a handful of rotations under masks, one for
 * each run of bits that moves by the same distance: one for a single group of bits. It keeps distances:
 * popcount(permute(a) ^ permute(b)) = popcount(a ^ b).
 */

typedef struct ss_run {
    uint64_t from_mask, to_mask;
    uint32_t rotate_left, rotate_back;
} ss_run;

typedef struct ss_permutation {
    uint32_t run_count;
    ss_run runs[SS_FINGERPRINT_BITS];
} ss_permutation;

/* The permutation that lets the bits of key_mask lead. Any mask is allowed; 0 and all ones give the identity. */
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

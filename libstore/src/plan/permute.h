/*
 * permute.h - the permutation of a table: the key bits lead, in their order; the other bits follow from the one behind the
 * last key bit on, and go on with bit 0 behind bit 63.
 *
 * So the lower half, which a query tests before it decodes anything, has the key bits of earlier tables where it can: it
 * tells of most fingerprints that an earlier table found them. A permutation is a handful of rotations under masks, one for
 * each run of bits that moves by the same distance: one for a single group of bits. It keeps distances:
 * popcount(permute(a) ^ permute(b)) = popcount(a ^ b).
 */
#ifndef SS_PERMUTE_H
#define SS_PERMUTE_H

#include "base/common.h"

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

/*
 * sums.h - the simhash of hashed features: for every bit, the weights of the features that have it are added and the
 * others subtracted; the signs are the fingerprint (the paper, section 2; format-spec/fingerprint.md). A fingerprint of
 * several words has sums for each of them.
 *
 * Weights are whole multiples of 2^-20 and all sums are exact, so the result depends on the set of features alone,
 * never on their order or on the machine. Bound: a weight is at most 2^31 in magnitude, so 2^51 units; 2^11 of them
 * stay within 2^62 in `partial`, and 2^64 of them within 2^115 in `total`.
 */
#ifndef SS_SUMS_H
#define SS_SUMS_H

#include <math.h>

#include "base/bitcount.h"

#define SS_MAX_WEIGHT 2147483648.0 /* 2^31 */
#define SS_WEIGHT_UNITS 1048576.0  /* of a weight of 1: 2^20 */

__extension__ typedef __int128 ss_int128;

typedef struct ss_sums {
    ss_bit_counter ones; /* of the features of weight 1 */
    uint64_t one_count;
    uint32_t partial_count; /* weights in partial */
    bool is_weighted;       /* there are other weights: partial is set */
    bool has_total;         /* they are many: total is also set */
    int64_t partial[64];    /* in units of 2^-20 */
    ss_int128 total[64];
} ss_sums;

/* A weight rounded to units, halves to the even one, unless the program changed the rounding mode. */
static inline double ss_weight_rounded(double weight)
{
    return rint(weight * SS_WEIGHT_UNITS) / SS_WEIGHT_UNITS;
}

void ss_sums_init(ss_sums *self);

/* Add features of weight 1. */
void ss_sums_add_ones(ss_sums *self, const uint64_t *hashes, size_t count);

/* Add a feature; |weight| <= SS_MAX_WEIGHT. It is rounded to units. */
void ss_sums_add(ss_sums *self, uint64_t hash, double weight);

/* A bit is 1 where the sum is positive, and, if `ties_set`, also where it is 0. */
uint64_t ss_sums_fingerprint(ss_sums *self, bool ties_set);

/* The sums, each rounded to a double; the first is that of the most significant bit. */
void ss_sums_values(ss_sums *self, double values_out[64]);

#endif

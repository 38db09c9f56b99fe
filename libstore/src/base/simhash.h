/*
 * simhash.h - the simhash of hashed features: for every bit, the weights of the features that have it are added and the
 * others subtracted; the signs are the fingerprint (the paper, section 2; format-spec/fingerprint.md).
 *
 * Weights are whole multiples of 2^-20 and all sums are exact, so the result depends on the set of features alone,
 * never on their order or on the machine. Bound: a weight is at most 2^31 in magnitude, so 2^51 units; 2^11 of them
 * stay within 2^62 in `partial`, and 2^64 of them within 2^115 in `total`.
 */
#ifndef SS_SIMHASH_H
#define SS_SIMHASH_H

#include "base/bitcount.h"

#define SS_MAX_WEIGHT 2147483648.0 /* 2^31 */
#define SS_WEIGHT_UNIT 1048576.0   /* 2^20 */

__extension__ typedef __int128 ss_i128;

typedef struct ss_simhash {
    ss_bit_counter units; /* the features of weight 1 */
    uint64_t unit_count;
    uint32_t partial_count; /* weights in partial, at most 2^11 */
    int64_t partial[64];    /* in units of 2^-20 */
    ss_i128 total[64];
} ss_simhash;

void ss_simhash_init(ss_simhash *simhash);

/* Whether ss_simhash_add() takes the weight. False for NaN. */
bool ss_simhash_weight_valid(double weight);

void ss_simhash_add(ss_simhash *simhash, uint64_t hash, double weight);

/* The fingerprint. The struct must be initialised before it is used again. */
uint64_t ss_simhash_finish(ss_simhash *simhash);

/* The fingerprint of `unit_count` features that all have weight 1: the positions with more ones than zeros. */
static inline uint64_t ss_simhash_of_units(ss_bit_counter *units, uint64_t unit_count)
{
    return ss_bit_counter_above(units, unit_count / 2);
}

#endif

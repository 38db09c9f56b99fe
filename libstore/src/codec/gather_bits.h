/*
 * gather_bits.h - the bits of values under a mask, moved together: a small number to deal the values by. Portable, and
 * with BMI2, which has it as one instruction; tests hold them equal.
 */
#ifndef SS_GATHER_BITS_H
#define SS_GATHER_BITS_H

#include "base/common.h"

#define SS_MOST_GATHERED 16u

/* For each value set gathered[i] to its bits under the mask, at most SS_MOST_GATHERED of them, in their order. */
typedef void (*ss_gather_bits_fn)(const uint64_t *values, size_t count, uint64_t mask, uint16_t *gathered);

void ss_gather_bits_portable(const uint64_t *values, size_t count, uint64_t mask, uint16_t *gathered);

/* Another form, or NULL where ss_simd_best() does not allow it. */
ss_gather_bits_fn ss_gather_bits_bmi2(void);

/* The fastest that ss_simd_best() allows. */
ss_gather_bits_fn ss_gather_bits_best(void);

#endif

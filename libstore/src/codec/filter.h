/*
 * filter.h - which of some values lie within a distance of one. Compiled for any processor, and for those with AVX2; and with
 * AVX-512, which counts ones in vectors: a third of the time. Tests hold the forms equal.
 */
#ifndef SS_FILTER_H
#define SS_FILTER_H

#include "base/common.h"

/* Write the indices of those values[0 .. count-1] that differ from `query` in at most `distance` bits to hits[], ascending,
 * and return how many they are. hits[] has room for count. */
typedef uint32_t (*ss_filter_fn)(const uint64_t *values, uint32_t count, uint64_t query, uint32_t distance,
                                 uint32_t *hits);

uint32_t ss_filter_portable(const uint64_t *values, uint32_t count, uint64_t query, uint32_t distance, uint32_t *hits);

/* Other forms, or NULL where ss_simd_best() does not allow them. */
ss_filter_fn ss_filter_avx2(void);
ss_filter_fn ss_filter_avx512(void);

/* The fastest that ss_simd_best() allows. */
ss_filter_fn ss_filter_best(void);

#endif

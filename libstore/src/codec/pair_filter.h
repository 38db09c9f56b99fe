/*
 * pair_filter.h - which pairs of some values lie within a distance. Portable, and with AVX-512; tests hold them equal.
 *
 * The first eight values are laid beside the same values shifted by one, by two and so on: so each pair comes up once,
 * and eight at a time.
 */
#ifndef SS_PAIR_FILTER_H
#define SS_PAIR_FILTER_H

#include "base/common.h"

#define SS_PAIR_LANES 8u

/*
 * Find the pairs of values[i] and values[i + shift], i < 8, 1 <= shift, i + shift < count, that differ in at most
 * `distance` bits. For each shift that has any, hits[] gets shift << 8 | lanes, where bit i of `lanes` stands for i.
 * Ascending; hits[] has room for `count`, which is at most 2^24. Returns how many they are. To have all pairs, call it
 * for values + 8, values + 16, ... as well.
 */
typedef uint32_t (*ss_pair_filter_fn)(const uint64_t *values, uint32_t count, uint32_t distance, uint32_t *hits);

uint32_t ss_pair_filter_portable(const uint64_t *values, uint32_t count, uint32_t distance, uint32_t *hits);

/* Other forms, or NULL where ss_simd_best() does not allow them. */
ss_pair_filter_fn ss_pair_filter_popcnt(void);
ss_pair_filter_fn ss_pair_filter_avx512(void);

/* The fastest that ss_simd_best() allows. */
ss_pair_filter_fn ss_pair_filter_best(void);

#endif

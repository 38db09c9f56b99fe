/*
 * pair_filter.h - which pairs of some values lie within a distance, or of some values and some others: eight by eight.
 * Portable, with POPCNT and with AVX-512; tests hold them equal.
 */
#ifndef SS_PAIR_FILTER_H
#define SS_PAIR_FILTER_H

#include "base/common.h"

#define SS_PAIR_LANES 8u

/*
 * Within one set: the first eight values are laid beside the same values shifted by one, by two and so on, so each pair
 * comes up once.
 *
 * Find the pairs of values[i] and values[i + shift], i < 8, 1 <= shift, i + shift < count, that differ in at most
 * `distance` bits. For each shift that has any, hits[] gets shift << 8 | lanes, where bit i of `lanes` stands for i.
 * Ascending; hits[] has room for `count`, which is at most 2^24. Returns how many they are. To have all pairs, call it
 * for values + 8, values + 16, ... as well.
 */
typedef uint32_t (*ss_pair_filter_fn)(const uint64_t *values, uint32_t count, uint32_t distance, uint32_t *hits);

/*
 * Between two sets: find the pairs of values[i], i < value_count (1 to 8), and others[j], j < count, that differ in at
 * most `distance` bits. For each i and each eight others in a row that have any, hits[] gets
 * (j / 8 * 8 + i) << 8 | lanes, where bit l of `lanes` stands for others[j / 8 * 8 + l]. Ascending; hits[] has room for
 * `count`, rounded up to eights, and that is at most 2^24. Returns how many they are.
 */
typedef uint32_t (*ss_cross_filter_fn)(const uint64_t *values, uint32_t value_count, const uint64_t *others,
                                       uint32_t count, uint32_t distance, uint32_t *hits);

typedef struct ss_pair_filter {
    ss_pair_filter_fn within;
    ss_cross_filter_fn between;
} ss_pair_filter;

ss_pair_filter ss_pair_filter_portable(void);

/* Other forms, or NULL in both where ss_simd_best() does not allow them. */
ss_pair_filter ss_pair_filter_popcnt(void);
ss_pair_filter ss_pair_filter_avx512(void);

/* The fastest that ss_simd_best() allows. */
ss_pair_filter ss_pair_filter_best(void);

#endif

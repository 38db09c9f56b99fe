/*
 * pair_filter.h - which pairs of some values may lie within a distance, or of some values and some others: eight by eight, by
 * their folds. Compiled for any processor, and for those with AVX2 or AVX-512; tests hold the forms equal.
 */
#ifndef SS_PAIR_FILTER_H
#define SS_PAIR_FILTER_H

#include "base/common.h"

#define SS_PAIR_LANES 8u
#define SS_PAIR_PADDING (2 * SS_PAIR_LANES) /* folds behind the last that are read, whatever they are */

/* The two halves of a value as one: the folds of two values differ in no more bits than the values do, and those of values that have
 * nothing to do with each other in as many as other numbers of 32 bits. */
static inline uint32_t ss_fold(uint64_t value)
{
    return (uint32_t)(value ^ value >> 32);
}

/*
 * Within one set: the first eight folds are laid beside the same folds shifted by one, by two and so on, so each pair
 * comes up once.
 *
 * Find the pairs of folds[i] and folds[i + shift], i < 8, 1 <= shift, i + shift < count, that differ in at most
 * `distance` bits. For each shift that has any, hits[] gets shift << 8 | lanes, where bit i of `lanes` stands for i.
 * Ascending; hits[] has room for `count`, which is at most 2^24. Returns how many they are. To have all pairs, call it
 * for folds + 8, folds + 16, ... as well.
 */
typedef uint32_t (*ss_pair_filter_fn)(const uint32_t *folds, uint32_t count, uint32_t distance, uint32_t *hits);

/*
 * Between two sets: find the pairs of folds[i], i < fold_count (1 to 8), and others[j], j < count, that differ in at
 * most `distance` bits. For each i and each eight others in a row that have any, hits[] gets
 * (j / 8 * 8 + i) << 8 | lanes, where bit l of `lanes` stands for others[j / 8 * 8 + l]. Ascending; hits[] has room for
 * `count`, rounded up to eights, and that is at most 2^24. Returns how many they are. Eight of folds[] are read.
 */
typedef uint32_t (*ss_cross_filter_fn)(const uint32_t *folds, uint32_t fold_count, const uint32_t *others, uint32_t count,
                                       uint32_t distance, uint32_t *hits);

typedef struct ss_pair_filter {
    ss_pair_filter_fn within;
    ss_cross_filter_fn between;
} ss_pair_filter;

ss_pair_filter ss_pair_filter_portable(void);

/* Another form, or NULL in both where ss_simd_best() does not allow it. */
ss_pair_filter ss_pair_filter_avx2(void);
ss_pair_filter ss_pair_filter_avx512(void);

/* The fastest that ss_simd_best() allows. */
ss_pair_filter ss_pair_filter_best(void);

#endif

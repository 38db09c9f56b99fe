/*
 * radii.h - how the distance of a query is divided among the words of a fingerprint. Radii r of the words, each at
 * least -1, find everything within a distance k if the sum of (r + 1) exceeds k: otherwise each word would differ in
 * more than its radius, together in more than k bits. Source: Norouzi, Punjani and Fleet, "Fast search in Hamming space
 * with multi-index hashing" (CVPR 2012), for pieces of equal radii.
 */
#ifndef SS_RADII_H
#define SS_RADII_H

#include "plan/plan.h"

#define SS_ROW_SAMPLE_CAPACITY ((size_t)4096) /* fingerprints of a sample; more do not change the choice */

/*
 * Choose the radii of the word indexes of a store for `distance`, at most `max_radius` each, so that a query is
 * expected to take the least time. `sample` has `count` distinct fingerprints of `words` words, of about
 * `fingerprint_count` in all. Words of real fingerprints are skewed or even constant: then many fingerprints are near
 * in them, and such a word gets a small radius, or none (SS_NO_PROBE). The choice depends only on the set of the
 * sample. words * (max_radius + 1) exceeds the distance. MEMORY.
 */
sstore_status ss_radii_choose(const uint64_t *sample, size_t count, uint32_t words, uint32_t distance,
                              uint32_t max_radius, double fingerprint_count, int32_t *radii_out, sstore_error *error);

#define SS_RADIUS_COUNT (SSTORE_MAX_BUILD_DISTANCE + 2) /* of a word: from SS_NO_PROBE on */

/* The expected nanoseconds of searching one word at each radius, by radius + 1. */
typedef struct ss_word_costs {
    double ns[SS_RADIUS_COUNT];
} ss_word_costs;

/* Choose radii for `distance` by the smallest sum of the words' costs; otherwise as ss_radii_choose(). */
sstore_status ss_radii_choose_cheapest(const ss_word_costs *costs, uint32_t words, uint32_t distance,
                                       uint32_t max_radius, int32_t *radii_out, sstore_error *error);

/* Change radii that suffice for one distance so that they suffice for another one. If they are too large, the largest
 * ones shrink; if they are too small, the smallest ones grow. A word that is not probed gets a radius only when all
 * others have 64. */
void ss_radii_fit(int32_t *radii, uint32_t words, uint32_t distance);

/* The first word in which `a` and `b` differ in at most `radii[word]` bits; `words` if there is none. */
static inline uint32_t ss_radii_first_cover(const uint64_t *a, const uint64_t *b, const int32_t *radii, uint32_t words)
{
    uint32_t word = 0;
    while (word < words && (int32_t)ss_popcount(a[word] ^ b[word]) > radii[word])
        word++;
    return word;
}

#endif

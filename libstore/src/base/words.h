/* words.h - fingerprints of one or several words. The first word is the most significant. */
#ifndef SS_WORDS_H
#define SS_WORDS_H

#include <string.h>

#include "base/common.h"

/* Below 0, 0 or above 0, as a is below, equal to or above b. */
static inline int ss_words_compare(const uint64_t *a, const uint64_t *b, uint32_t words)
{
    for (uint32_t i = 0; i < words; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

static inline bool ss_words_equal(const uint64_t *a, const uint64_t *b, uint32_t words)
{
    uint64_t differing = 0;
    for (uint32_t i = 0; i < words; i++)
        differing |= a[i] ^ b[i];
    return differing == 0;
}

/* The number of bits in which they differ. */
static inline uint32_t ss_words_distance(const uint64_t *a, const uint64_t *b, uint32_t words)
{
    uint32_t distance = 0;
    for (uint32_t i = 0; i < words; i++)
        distance += ss_popcount(a[i] ^ b[i]);
    return distance;
}

/* Copy a fingerprint. The two places must not overlap. */
static inline void ss_words_copy(uint64_t *to, const uint64_t *from, uint32_t words)
{
    memcpy(to, from, words * sizeof *to);
}

/* Copy a fingerprint. The two places may overlap. */
static inline void ss_words_move(uint64_t *to, const uint64_t *from, uint32_t words)
{
    memmove(to, from, words * sizeof *to);
}

/* Set fingerprint `at` of a column. */
static inline void ss_words_set(uint64_t *column, size_t at, const uint64_t *fingerprint, uint32_t words)
{
    if (words == 1)
        column[at] = *fingerprint;
    else
        ss_words_copy(column + at * words, fingerprint, words);
}

#endif

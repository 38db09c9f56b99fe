/*
 * common.h - small inline helpers of all modules, on plain numbers only: bits, minima, binary search, records, and the
 * budget of steps that bounds a call's work. Bit 0 of a fingerprint is its most significant bit.
 */
#ifndef SS_COMMON_H
#define SS_COMMON_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sstore.h"

/* ===== bits and numbers ===== */

#define SS_WORD_BITS 64u        /* of a word of a fingerprint */
#define SS_FINGERPRINT_BITS 64u /* of a fingerprint in a word index, or in a segment that has none */

/* Whether a store can have fingerprints of this many bits. */
static inline bool ss_fingerprint_bits_valid(uint32_t bits)
{
    return bits > 0 && bits % SS_WORD_BITS == 0 && bits / SS_WORD_BITS <= SSTORE_MAX_WORDS;
}

#define SS_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define SS_UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#define SS_ALWAYS_INLINE __attribute__((always_inline)) static inline
#define SS_PRINTF(format_index, first_index) __attribute__((format(printf, format_index, first_index)))

/* h: the position of the first bit in which a and b differ, from 0 for the most significant one. a != b. */
static inline uint32_t ss_first_difference(uint64_t a, uint64_t b)
{
    return (uint32_t)__builtin_clzll(a ^ b);
}

/* The number of ones. Without an instruction for it, adding groups of 1, 2 and 4 bits, then the bytes, is faster than
 * the compiler's library call. */
static inline uint32_t ss_popcount(uint64_t x)
{
#ifdef __POPCNT__
    return (uint32_t)__builtin_popcountll(x);
#else
    x -= x >> 1 & UINT64_C(0x5555555555555555);
    x = (x & UINT64_C(0x3333333333333333)) + (x >> 2 & UINT64_C(0x3333333333333333));
    x = (x + (x >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return (uint32_t)(x * UINT64_C(0x0101010101010101) >> 56);
#endif
}

/* A mask of the `count` (0 to 64) most significant bits. */
static inline uint64_t ss_high_mask(uint32_t count)
{
    return count == 0 ? 0 : ~UINT64_C(0) << (64 - count);
}

/* A mask of the `count` (0 to 64) least significant bits. */
static inline uint64_t ss_low_mask(uint32_t count)
{
    return count == 0 ? 0 : ~UINT64_C(0) >> (64 - count);
}

static inline uint32_t ss_max_u32(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static inline uint32_t ss_min_u32(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static inline uint64_t ss_min_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* As for qsort(). Not (a > b) - (a < b), which gcc 12 for aarch64 sometimes compiles as if the numbers had signs. */
static inline int ss_compare_u64(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static inline uint64_t ss_max_u64(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* The number of bits, between `min` and `max`, with about as many values as there are items. */
static inline uint32_t ss_bits_for(uint64_t items, uint32_t min, uint32_t max)
{
    uint32_t bits = min;
    while (bits < max && items >> bits > 1)
        bits++;
    return bits;
}

/* Whether item `index` is below `target`; for ss_lower_bound(). */
typedef bool (*ss_is_below_fn)(const void *items, uint64_t index, uint64_t target);

/* The first of the ascending items low .. low + count - 1 that is not below `target`; low + count if there is none. */
SS_ALWAYS_INLINE uint64_t ss_lower_bound(const void *items, uint64_t low, uint64_t count, uint64_t target,
                                         ss_is_below_fn is_below)
{
    while (count > 0) {
        const uint64_t half = count / 2;
        const bool below = is_below(items, low + half, target);
        low = below ? low + half + 1 : low;
        count = below ? count - half - 1 : half;
    }
    return low;
}

/* The items are an array of uint64_t. */
SS_ALWAYS_INLINE bool ss_word_is_below(const void *items, uint64_t index, uint64_t target)
{
    return ((const uint64_t *)items)[index] < target;
}

/* ===== records ===== */

/* `fingerprint` is the first word if there are several; `id` is 0 in a store without ids. */
typedef struct ss_record {
    uint64_t fingerprint, id;
} ss_record;

/* ===== budgets of work ===== */

/* A budget of work, so that a malicious store cannot delay a call without bound. Work that the bytes of a store cause
 * beyond one read of them is counted in steps: a step of a proof, the look-up of a prefix (each at most a microsecond),
 * or the read of a block. SECURITY.md states the budget of each call. */
typedef struct ss_steps {
    uint64_t left;
    uint64_t block_count; /* of the blocks read; it never decreases */
} ss_steps;

/* Take steps. False if fewer are left; then all further calls also fail. */
static inline bool ss_steps_take(ss_steps *steps, uint64_t count)
{
    const bool enough = count <= steps->left;
    steps->left = enough ? steps->left - count : 0;
    return enough;
}

#endif

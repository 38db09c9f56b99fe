#include "codec/pair_filter.h"

#include "base/simd.h"

/* The loop of the scalar forms; POPCOUNT is inlined, so that a form's target decides which instruction it is. */
#define PAIR_FILTER_LOOP(POPCOUNT)                                                                                     \
    uint32_t found = 0;                                                                                                \
    for (uint32_t shift = 1; shift < count; shift++) {                                                                 \
        const uint32_t left = count - shift, lane_count = left < SS_PAIR_LANES ? left : SS_PAIR_LANES;                 \
        uint32_t lanes = 0;                                                                                            \
        for (uint32_t i = 0; i < lane_count; i++)                                                                      \
            lanes |= (uint32_t)((uint32_t)POPCOUNT(values[i] ^ values[i + shift]) <= distance) << i;                   \
        hits[found] = shift << SS_PAIR_LANES | lanes; /* kept if the next one goes behind it */                        \
        found += lanes != 0;                                                                                           \
    }                                                                                                                  \
    return found

uint32_t ss_pair_filter_portable(const uint64_t *values, uint32_t count, uint32_t distance, uint32_t *hits)
{
    PAIR_FILTER_LOOP(ss_popcount);
}

#if SS_SIMD_X86

#include <immintrin.h>

__attribute__((target("popcnt"))) static uint32_t pair_filter_popcnt(const uint64_t *values, uint32_t count,
                                                                     uint32_t distance, uint32_t *hits)
{
    PAIR_FILTER_LOOP(__builtin_popcountll);
}

#define AVX512 __attribute__((target("avx512f,avx512vpopcntdq")))
#define SHIFTS 4u /* looked at together: few have a hit, so one comparison stands for all */

AVX512 static inline __m512i differing_bits(__m512i first, const uint64_t *values)
{
    return _mm512_popcnt_epi64(_mm512_xor_si512(first, _mm512_loadu_si512(values)));
}

AVX512 static inline uint32_t add_hit(uint32_t *hits, uint32_t found, uint32_t shift, uint32_t lanes)
{
    hits[found] = shift << SS_PAIR_LANES | lanes;
    return found + (lanes != 0);
}

AVX512 static uint32_t pair_filter_avx512(const uint64_t *values, uint32_t count, uint32_t distance, uint32_t *hits)
{
    const __m512i limit = _mm512_set1_epi64((long long)distance);
    const __mmask8 here = (__mmask8)(count >= SS_PAIR_LANES ? 0xff : (1u << count) - 1);
    const __m512i first = _mm512_maskz_loadu_epi64(here, values);
    uint32_t found = 0, shift = 1;
    for (; shift + SHIFTS - 1 + SS_PAIR_LANES <= count; shift += SHIFTS) {
        const __m512i a = differing_bits(first, values + shift), b = differing_bits(first, values + shift + 1);
        const __m512i c = differing_bits(first, values + shift + 2), d = differing_bits(first, values + shift + 3);
        const __m512i least = _mm512_min_epu64(_mm512_min_epu64(a, b), _mm512_min_epu64(c, d));
        if (SS_LIKELY(_mm512_cmple_epu64_mask(least, limit) == 0))
            continue;
        found = add_hit(hits, found, shift, _mm512_cmple_epu64_mask(a, limit));
        found = add_hit(hits, found, shift + 1, _mm512_cmple_epu64_mask(b, limit));
        found = add_hit(hits, found, shift + 2, _mm512_cmple_epu64_mask(c, limit));
        found = add_hit(hits, found, shift + 3, _mm512_cmple_epu64_mask(d, limit));
    }
    for (; shift < count; shift++) {
        const __mmask8 present = (__mmask8)(count - shift >= SS_PAIR_LANES ? 0xff : (1u << (count - shift)) - 1);
        const __m512i others = _mm512_maskz_loadu_epi64(present, values + shift);
        const __m512i differing = _mm512_popcnt_epi64(_mm512_xor_si512(first, others));
        found = add_hit(hits, found, shift, _mm512_mask_cmple_epu64_mask(present, differing, limit));
    }
    return found;
}

ss_pair_filter_fn ss_pair_filter_popcnt(void)
{
    return ss_simd_best() >= SS_SIMD_POPCNT ? pair_filter_popcnt : NULL;
}

ss_pair_filter_fn ss_pair_filter_avx512(void)
{
    return ss_simd_best() >= SS_SIMD_AVX512 ? pair_filter_avx512 : NULL;
}

#else

ss_pair_filter_fn ss_pair_filter_popcnt(void)
{
    return NULL;
}

ss_pair_filter_fn ss_pair_filter_avx512(void)
{
    return NULL;
}

#endif

ss_pair_filter_fn ss_pair_filter_best(void)
{
    ss_pair_filter_fn fast = ss_pair_filter_avx512();
    if (fast == NULL)
        fast = ss_pair_filter_popcnt();
    return fast != NULL ? fast : ss_pair_filter_portable;
}

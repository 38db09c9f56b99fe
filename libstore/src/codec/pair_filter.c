#include "codec/pair_filter.h"

#include "base/simd.h"

/* Put a hit behind the others; it stays if it has any lanes. */
static inline uint32_t add_hit(uint32_t *hits, uint32_t found, uint32_t number, uint32_t lanes)
{
    hits[found] = number << SS_PAIR_LANES | lanes;
    return found + (lanes != 0);
}

static inline uint32_t lane_count(uint32_t left)
{
    return left < SS_PAIR_LANES ? left : SS_PAIR_LANES;
}

/* The loops of the scalar forms; POPCOUNT is inlined, so that a form's target decides which instruction it is. */
#define DEFINE_SCALAR(NAME, TARGET, POPCOUNT)                                                                          \
    TARGET static uint32_t NAME##_within(const uint64_t *values, uint32_t count, uint32_t distance, uint32_t *hits)    \
    {                                                                                                                  \
        uint32_t found = 0;                                                                                            \
        for (uint32_t shift = 1; shift < count; shift++) {                                                             \
            uint32_t lanes = 0;                                                                                        \
            for (uint32_t i = 0; i < lane_count(count - shift); i++)                                                   \
                lanes |= (uint32_t)((uint32_t)POPCOUNT(values[i] ^ values[i + shift]) <= distance) << i;               \
            found = add_hit(hits, found, shift, lanes);                                                                \
        }                                                                                                              \
        return found;                                                                                                  \
    }                                                                                                                  \
                                                                                                                       \
    TARGET static uint32_t NAME##_between(const uint64_t *values, uint32_t value_count, const uint64_t *others,        \
                                          uint32_t count, uint32_t distance, uint32_t *hits)                           \
    {                                                                                                                  \
        uint32_t found = 0;                                                                                            \
        for (uint32_t begin = 0; begin < count; begin += SS_PAIR_LANES)                                                \
            for (uint32_t i = 0; i < value_count; i++) {                                                               \
                uint32_t lanes = 0;                                                                                    \
                for (uint32_t j = 0; j < lane_count(count - begin); j++)                                               \
                    lanes |= (uint32_t)((uint32_t)POPCOUNT(values[i] ^ others[begin + j]) <= distance) << j;           \
                found = add_hit(hits, found, begin + i, lanes);                                                        \
            }                                                                                                          \
        return found;                                                                                                  \
    }

#define ANY_TARGET
DEFINE_SCALAR(portable, ANY_TARGET, ss_popcount)

ss_pair_filter ss_pair_filter_portable(void)
{
    return (ss_pair_filter){portable_within, portable_between};
}

#if SS_SIMD_X86

#include <immintrin.h>

#define POPCNT __attribute__((target("popcnt")))
DEFINE_SCALAR(popcnt, POPCNT, __builtin_popcountll)

#define AVX512 __attribute__((target("avx512f,avx512vpopcntdq")))
#define SHIFTS 4u /* looked at together: few have a hit, so one comparison stands for all */

AVX512 static inline __m512i differing_bits(__m512i first, const uint64_t *values)
{
    return _mm512_popcnt_epi64(_mm512_xor_si512(first, _mm512_loadu_si512(values)));
}

/* As many values as there are, with zeros behind them. */
AVX512 static inline __m512i load_some(const uint64_t *values, uint32_t count, __mmask8 *present_out)
{
    *present_out = (__mmask8)((1u << lane_count(count)) - 1);
    return _mm512_maskz_loadu_epi64(*present_out, values);
}

AVX512 static uint32_t avx512_within(const uint64_t *values, uint32_t count, uint32_t distance, uint32_t *hits)
{
    const __m512i limit = _mm512_set1_epi64((long long)distance);
    __mmask8 present;
    const __m512i first = load_some(values, count, &present);
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
        const __m512i others = load_some(values + shift, count - shift, &present);
        const __m512i differing = _mm512_popcnt_epi64(_mm512_xor_si512(first, others));
        found = add_hit(hits, found, shift, _mm512_mask_cmple_epu64_mask(present, differing, limit));
    }
    return found;
}

AVX512 static uint32_t avx512_between(const uint64_t *values, uint32_t value_count, const uint64_t *others,
                                      uint32_t count, uint32_t distance, uint32_t *hits)
{
    const __m512i limit = _mm512_set1_epi64((long long)distance);
    __m512i wanted[SS_PAIR_LANES], differing[SS_PAIR_LANES];
    uint32_t found = 0;
    for (uint32_t i = 0; i < SS_PAIR_LANES; i++) /* fewer values: the last one several times */
        wanted[i] = _mm512_set1_epi64((long long)values[i < value_count ? i : value_count - 1]);
    for (uint32_t begin = 0; begin < count; begin += SS_PAIR_LANES) {
        __mmask8 present;
        const __m512i some = load_some(others + begin, count - begin, &present);
        for (uint32_t i = 0; i < SS_PAIR_LANES; i++)
            differing[i] = _mm512_popcnt_epi64(_mm512_xor_si512(wanted[i], some));
        __m512i least = differing[0];
        for (uint32_t i = 1; i < SS_PAIR_LANES; i++)
            least = _mm512_min_epu64(least, differing[i]);
        if (SS_LIKELY(_mm512_mask_cmple_epu64_mask(present, least, limit) == 0))
            continue;
        for (uint32_t i = 0; i < value_count; i++)
            found = add_hit(hits, found, begin + i, _mm512_mask_cmple_epu64_mask(present, differing[i], limit));
    }
    return found;
}

ss_pair_filter ss_pair_filter_popcnt(void)
{
    if (ss_simd_best() < SS_SIMD_POPCNT)
        return (ss_pair_filter){NULL, NULL};
    return (ss_pair_filter){popcnt_within, popcnt_between};
}

ss_pair_filter ss_pair_filter_avx512(void)
{
    if (ss_simd_best() < SS_SIMD_AVX512)
        return (ss_pair_filter){NULL, NULL};
    return (ss_pair_filter){avx512_within, avx512_between};
}

#else

ss_pair_filter ss_pair_filter_popcnt(void)
{
    return (ss_pair_filter){NULL, NULL};
}

ss_pair_filter ss_pair_filter_avx512(void)
{
    return (ss_pair_filter){NULL, NULL};
}

#endif

ss_pair_filter ss_pair_filter_best(void)
{
    ss_pair_filter fast = ss_pair_filter_avx512();
    if (fast.within == NULL)
        fast = ss_pair_filter_popcnt();
    return fast.within != NULL ? fast : ss_pair_filter_portable();
}

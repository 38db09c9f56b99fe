#include "codec/filter.h"

#include "base/simd.h"

/* The loop of the scalar forms; POPCOUNT is inlined, so that a form's target decides which instruction it is. */
#define FILTER_LOOP(POPCOUNT)                                                                                          \
    uint32_t found = 0;                                                                                                \
    for (uint32_t i = 0; i < count; i++) {                                                                             \
        hits[found] = i; /* without a branch: kept if the next one goes behind it */                                   \
        found += (uint32_t)POPCOUNT(values[i] ^ query) <= distance;                                                    \
    }                                                                                                                  \
    return found

uint32_t ss_filter_portable(const uint64_t *values, uint32_t count, uint64_t query, uint32_t distance, uint32_t *hits)
{
    FILTER_LOOP(ss_popcount);
}

#if SS_SIMD_X86

#include <immintrin.h>

__attribute__((target("popcnt"))) static uint32_t filter_popcnt(const uint64_t *values, uint32_t count, uint64_t query,
                                                                uint32_t distance, uint32_t *hits)
{
    FILTER_LOOP(__builtin_popcountll);
}

__attribute__((target("avx512f,avx512vpopcntdq"))) static uint32_t
filter_avx512(const uint64_t *values, uint32_t count, uint64_t query, uint32_t distance, uint32_t *hits)
{
    const __m512i wanted = _mm512_set1_epi64((long long)query), limit = _mm512_set1_epi64((long long)distance);
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i += 8) {
        __mmask8 present = (__mmask8)(count - i >= 8 ? 0xff : (1u << (count - i)) - 1);
        __m512i differing = _mm512_xor_si512(_mm512_maskz_loadu_epi64(present, values + i), wanted);
        uint32_t near = _mm512_mask_cmple_epu64_mask(present, _mm512_popcnt_epi64(differing), limit);
        for (; near != 0; near &= near - 1)
            hits[found++] = i + (uint32_t)__builtin_ctz(near);
    }
    return found;
}

ss_filter_fn ss_filter_popcnt(void)
{
    return ss_simd_best() >= SS_SIMD_POPCNT ? filter_popcnt : NULL;
}

ss_filter_fn ss_filter_avx512(void)
{
    return ss_simd_best() >= SS_SIMD_AVX512 ? filter_avx512 : NULL;
}

#else

ss_filter_fn ss_filter_popcnt(void)
{
    return NULL;
}

ss_filter_fn ss_filter_avx512(void)
{
    return NULL;
}

#endif

ss_filter_fn ss_filter_best(void)
{
    ss_filter_fn fast = ss_filter_avx512();
    if (fast == NULL)
        fast = ss_filter_popcnt();
    return fast != NULL ? fast : ss_filter_portable;
}

/*
 * near_values.h - which of some values are near one, for kernels.c. Most often they are few.
 */

typedef uint64_t values_4 __attribute__((vector_size(32)));

#define STRIDE 16u  /* values that are looked at together: few have a hit */
#define FEW_ONES 6u /* up to which ones are taken away one by one, several values at a time; more are counted */

/* Whether any of STRIDE values is near. */
ALWAYS_INLINE bool is_any_near(const uint64_t *values, uint64_t query, uint32_t distance)
{
    values_4 any = {0};
    uint64_t parts[4];
    for (uint32_t i = 0; i < STRIDE; i += 4) {
        values_4 x;
        memcpy(&x, values + i, sizeof x);
        x ^= query;
        for (uint32_t bit = 0; bit < distance; bit++)
            x &= x - 1;
        any |= (values_4)(x == 0);
    }
    memcpy(parts, &any, sizeof parts);
    return (parts[0] | parts[1] | parts[2] | parts[3]) != 0;
}

typedef uint32_t (*count_ones_fn)(uint64_t x);

/* Without a branch where it is not known which values have a hit. */
ALWAYS_INLINE uint32_t list_near_values(const uint64_t *values, uint32_t begin, uint32_t end, uint64_t query,
                                        uint32_t distance, uint32_t *hits, uint32_t found, count_ones_fn count_ones)
{
    for (uint32_t i = begin; i < end; i++) {
        hits[found] = i;
        found += count_ones(values[i] ^ query) <= distance;
    }
    return found;
}

/* `count_ones` is a constant, and inlined. */
ALWAYS_INLINE uint32_t near_values(const uint64_t *values, uint32_t count, uint64_t query, uint32_t distance,
                                   uint32_t *hits, count_ones_fn count_ones)
{
    uint32_t found = 0, begin = 0;
    if (SS_LIKELY(count < STRIDE)) /* without vectors, whose registers would have to be set up */
        return list_near_values(values, 0, count, query, distance, hits, 0, count_ones);
    if (distance <= FEW_ONES)
        for (; begin + STRIDE <= count; begin += STRIDE)
            if (SS_UNLIKELY(is_any_near(values + begin, query, distance)))
                found = list_near_values(values, begin, begin + STRIDE, query, distance, hits, found, count_ones);
    return list_near_values(values, begin, count, query, distance, hits, found, count_ones);
}

static uint32_t near_values_portable(const uint64_t *values, uint32_t count, uint64_t query, uint32_t distance,
                                     uint32_t *hits)
{
    return near_values(values, count, query, distance, hits, ss_popcount);
}

#if SS_SIMD_X86

#include <immintrin.h>

SS_TARGET_AVX2 ALWAYS_INLINE uint32_t popcnt(uint64_t x)
{
    return (uint32_t)__builtin_popcountll(x);
}

SS_TARGET_AVX2 static uint32_t near_values_avx2(const uint64_t *values, uint32_t count, uint64_t query,
                                                uint32_t distance, uint32_t *hits)
{
    return near_values(values, count, query, distance, hits, popcnt);
}

SS_TARGET_AVX512 static uint32_t near_values_avx512(const uint64_t *values, uint32_t count, uint64_t query,
                                                    uint32_t distance, uint32_t *hits)
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

#endif

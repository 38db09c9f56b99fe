/*
 * lanes_avx512.c - the rests of eight values at a time. They lie within the 64 bytes up to where the first one ends (8
 * times 57 bits, and up to 7 behind them), so one load brings them all, a byte permutation gives each lane its eight
 * bytes, and a variable shift aligns them. Loading up to the end, not from the begin, keeps the load within the block.
 *
 * The step from one value to the next keeps the bits before h, and sets the others: x -> (x & keep) | set. Two steps
 * after one another are such a step again, with keep = keep1 & keep2 and set = (set1 & keep2) | set2; so three rounds
 * of combining neighbours at distances 1, 2 and 4 give every lane the whole way from the value before the eight.
 *
 * With a gather instead of the permutation it was slower than the portable form (bench/README.md has what else was
 * tried).
 */
#include "base/simd.h"
#include "codec/lanes.h"

#if SS_SIMD_X86

#include <immintrin.h>

#include "codec/lane_codes.h"

#define TARGET __attribute__((target("bmi2,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")))

/* Lane i takes what lane i - by has; the first `by` lanes take `fill`. */
TARGET static inline __m512i shift_lanes_1(__m512i x, __m512i fill)
{
    return _mm512_mask_permutexvar_epi64(fill, 0xfe, _mm512_set_epi64(6, 5, 4, 3, 2, 1, 0, 0), x);
}

TARGET static inline __m512i shift_lanes_2(__m512i x, __m512i fill)
{
    return _mm512_mask_permutexvar_epi64(fill, 0xfc, _mm512_set_epi64(5, 4, 3, 2, 1, 0, 0, 0), x);
}

TARGET static inline __m512i shift_lanes_4(__m512i x, __m512i fill)
{
    return _mm512_mask_permutexvar_epi64(fill, 0xf0, _mm512_set_epi64(3, 2, 1, 0, 0, 0, 0, 0), x);
}

/* (a & b) | c */
TARGET static inline __m512i and_or(__m512i a, __m512i b, __m512i c)
{
    return _mm512_ternarylogic_epi64(a, b, c, 0xea);
}

/* Each lane's sum of the widths up to its own. */
TARGET static inline __m128i prefix_sums(__m128i widths)
{
    __m128i sums = _mm_add_epi16(widths, _mm_slli_si128(widths, 2));
    sums = _mm_add_epi16(sums, _mm_slli_si128(sums, 4));
    return _mm_add_epi16(sums, _mm_slli_si128(sums, 8));
}

/* The bits from position `at` (of each lane) on, out of 64 bytes; those above the 57th may be wrong. */
TARGET static inline __m512i bits_at(__m512i bytes, __m128i at)
{
    const __m512i zero_to_seven = _mm512_set1_epi64(INT64_C(0x0706050403020100));
    const __m512i spread = _mm512_set_epi64(0x0e0e0e0e0e0e0e0e, 0x0c0c0c0c0c0c0c0c, 0x0a0a0a0a0a0a0a0a,
                                            0x0808080808080808, 0x0606060606060606, 0x0404040404040404,
                                            0x0202020202020202, 0);
    __m512i index = _mm512_permutexvar_epi8(spread, _mm512_castsi128_si512(_mm_srli_epi16(at, 3)));
    __m512i lanes = _mm512_permutexvar_epi8(_mm512_add_epi8(index, zero_to_seven), bytes);
    return _mm512_srlv_epi64(lanes, _mm512_cvtepu16_epi64(_mm_and_si128(at, _mm_set1_epi16(7))));
}

TARGET static inline bool decode_rests(const ss_lane *lane, const uint8_t *h)
{
    const __m512i one = _mm512_set1_epi64(1), zero = _mm512_setzero_si512(), all = _mm512_set1_epi64(-1);
    const __m512i minus_two = _mm512_set1_epi64(-2), last_lane = _mm512_set1_epi64(7);
    const __m128i widest = _mm_set1_epi16(63);
    __m512i value = _mm512_set1_epi64((long long)lane->first);
    uint32_t end = lane->end;
    uint64_t *out = lane->out + 1;
    uint32_t set_before = 0; /* a bit a lane: bit h was 1 in the value before */
    lane->out[0] = lane->first;
    for (uint32_t i = 0; i < lane->steps; i += 8) {
        __mmask8 wanted = (__mmask8)_bzhi_u32(0xff, lane->steps - i);
        __m128i widths = _mm_maskz_sub_epi16(wanted, widest,
                                             _mm_cvtepu8_epi16(
                                                 _mm_loadl_epi64((const __m128i *)(const void *)(h + i))));
        uint32_t begin_byte = ss_max_u32((end + 7) / 8, 64) - 64, end_in_bytes = end - 8 * begin_byte;
        __m128i sums = prefix_sums(widths);
        end -= (uint32_t)_mm_extract_epi16(sums, 7);

        __m128i at = _mm_sub_epi16(_mm_set1_epi16((short)end_in_bytes), sums);
        __m512i rest = bits_at(_mm512_loadu_si512(lane->block + begin_byte), at);
        __m512i width = _mm512_cvtepu16_epi64(widths);

        __m512i bit = _mm512_sllv_epi64(one, width), keep = _mm512_sllv_epi64(minus_two, width);
        __m512i set = _mm512_ternarylogic_epi64(rest, bit, keep, 0x54); /* (rest | bit) & ~keep */
        set = and_or(shift_lanes_1(set, zero), keep, set);
        keep = _mm512_and_si512(keep, shift_lanes_1(keep, all));
        set = and_or(shift_lanes_2(set, zero), keep, set);
        keep = _mm512_and_si512(keep, shift_lanes_2(keep, all));
        set = and_or(shift_lanes_4(set, zero), keep, set);
        keep = _mm512_and_si512(keep, shift_lanes_4(keep, all));

        __m512i before = value;
        value = and_or(value, keep, set);
        set_before |= _mm512_mask_test_epi64_mask(wanted, shift_lanes_1(value, before), bit);
        _mm512_mask_storeu_epi64(out + i, wanted, value);
        value = _mm512_permutexvar_epi64(last_lane, value);
    }
    return set_before == 0;
}

TARGET static uint32_t decode_lanes(const ss_lookup *lookup, const ss_lane *lanes, uint32_t count)
{
    return ss_lanes_decode(lookup, lanes, count, decode_rests);
}

ss_lanes_fn ss_lanes_avx512(void)
{
    return ss_simd_best() >= SS_SIMD_AVX512 ? decode_lanes : NULL;
}

#else

ss_lanes_fn ss_lanes_avx512(void)
{
    return NULL;
}

#endif

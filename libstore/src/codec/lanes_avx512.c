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
#include <string.h>

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

/* How far a lane is decoded. */
typedef struct progress {
    const uint8_t *block;
    uint32_t end;       /* of the rests that are left */
    __m512i last;       /* the last value, in every lane */
    __m512i set_before; /* each bit h that was 1 in the value before, in the lane of the value after */
} progress;

/*
 * Where the rests of `count` values (at most 8) begin, counted from from->end - `ahead` on, which the ends become: a
 * 16-bit number each. This is ordinary arithmetic on 64 bits, for the units that vectors keep busy are those that limit.
 */
TARGET static inline __m128i rests_begin(progress *from, uint32_t ahead, const uint8_t *h, uint32_t count)
{
    const uint64_t all_63 = UINT64_C(0x3f3f3f3f3f3f3f3f), every_other = UINT64_C(0x00ff00ff00ff00ff);
    const uint64_t each_16 = UINT64_C(0x0001000100010001);
    uint64_t numbers;
    memcpy(&numbers, h, sizeof numbers);
    uint64_t widths = _bzhi_u64(all_63 - numbers, 8 * count);
    uint64_t even = widths & every_other, odd = widths >> 8 & every_other;
    uint64_t sums = (even + odd) * each_16; /* up to the 1st, 3rd, 5th and 7th */
    uint64_t odd_begin = (from->end - ahead) * each_16 - sums, even_begin = odd_begin + odd;
    from->end -= (uint32_t)(sums >> 48);
    return _mm_unpacklo_epi16(_mm_cvtsi64_si128((long long)even_begin), _mm_cvtsi64_si128((long long)odd_begin));
}

/* The next `count` values, at most 8. */
TARGET __attribute__((always_inline)) static inline void decode_eight(progress *from, const uint8_t *h, uint32_t count,
                                                                      uint64_t *out)
{
    const __m512i one = _mm512_set1_epi64(1), zero = _mm512_setzero_si512(), all = _mm512_set1_epi64(-1);
    const __m512i minus_two = _mm512_set1_epi64(-2), widest = _mm512_set1_epi64(63), last_lane = _mm512_set1_epi64(7);
    const __mmask8 wanted = (__mmask8)((1u << count) - 1);
    uint32_t begin_byte = ss_max_u32((from->end + 7) / 8, 64) - 64;
    __m512i bytes = _mm512_loadu_si512(from->block + begin_byte);
    __m512i rest = bits_at(bytes, rests_begin(from, 8 * begin_byte, h, count));
    __m512i width = _mm512_sub_epi64(widest, _mm512_cvtepu8_epi64(_mm_loadl_epi64((const __m128i *)(const void *)h)));

    __m512i bit = _mm512_sllv_epi64(one, width), keep = _mm512_sllv_epi64(minus_two, width);
    __m512i set = _mm512_ternarylogic_epi64(rest, bit, keep, 0x54); /* (rest | bit) & ~keep */
    set = and_or(shift_lanes_1(set, zero), keep, set);
    keep = _mm512_and_si512(keep, shift_lanes_1(keep, all));
    set = and_or(shift_lanes_2(set, zero), keep, set);
    keep = _mm512_and_si512(keep, shift_lanes_2(keep, all));
    set = and_or(shift_lanes_4(set, zero), keep, set);
    keep = _mm512_and_si512(keep, shift_lanes_4(keep, all));

    __m512i value = and_or(from->last, keep, set), before = shift_lanes_1(value, from->last);
    from->set_before = _mm512_mask_ternarylogic_epi64(from->set_before, wanted, before, bit, 0xf8); /* a | (b & c) */
    from->last = _mm512_permutexvar_epi64(last_lane, value);
    _mm512_mask_storeu_epi64(out, wanted, value);
}

TARGET static inline bool decode_rests(const ss_lane *lane, const uint8_t *h)
{
    progress at = {lane->block, lane->end, _mm512_set1_epi64((long long)lane->first), _mm512_setzero_si512()};
    uint64_t *out = lane->out + 1;
    uint32_t i = 0;
    lane->out[0] = lane->first;
    for (; i + 8 <= lane->steps; i += 8)
        decode_eight(&at, h + i, 8, out + i);
    if (i < lane->steps)
        decode_eight(&at, h + i, lane->steps - i, out + i);
    return _mm512_test_epi64_mask(at.set_before, at.set_before) == 0;
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

/*
 * decode_avx2.h - decoding with AVX2 and BMI2, for kernels.c. Codes of two groups are read in turn, since each look-up
 * waits for the one before it. pdep takes two suffixes at a time from the stream. Eight upper halves are joined at a
 * time: each takes the bits that it keeps from the one before, then from the two before, then from the four before.
 */
#include <immintrin.h>

#define VECTOR SS_TARGET_AVX2 ALWAYS_INLINE
#define LANES 8u

VECTOR __m256i load_words(const void *from)
{
    return _mm256_loadu_si256((const __m256i *)from);
}

VECTOR void store_words(void *to, __m256i words)
{
    _mm256_storeu_si256((__m256i *)to, words);
}

/* All ones where fingerprint i of `spans` differs from the one before in its upper half. */
VECTOR __m256i load_changes(const uint8_t *spans, __m256i *span_out)
{
    *span_out = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)spans));
    return _mm256_cmpgt_epi32(*span_out, _mm256_setzero_si256());
}

/* The bits of each suffix. */
VECTOR void find_masks(const uint8_t *spans, uint32_t count, uint32_t *masks)
{
    const __m256i one = _mm256_set1_epi32(1);
    for (uint32_t i = 0; i < count; i += LANES) {
        __m256i span, changes = load_changes(spans + i, &span);
        store_words(masks + i, _mm256_sub_epi32(_mm256_sllv_epi32(one, _mm256_add_epi32(span, changes)), one));
    }
}

VECTOR uint64_t swap_words(uint64_t words)
{
    return words << 32 | words >> 32;
}

#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12 /* its analyser misses that masks come in eights */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wanalyzer-use-of-uninitialized-value"
#endif
/* Load all suffixes. Of two, the later one is lower in the stream, and so comes first out of pdep. */
VECTOR void load_suffixes(const ss_coded_group *group, const uint32_t *masks, uint32_t *suffixes)
{
    uint32_t bit = group->suffix_bit;
    for (uint32_t i = 0; i < group->count; i += 2) {
        uint64_t mask, pair;
        memcpy(&mask, masks + i, sizeof mask);
        const uint32_t width = (uint32_t)__builtin_popcountll(mask);
        bit -= width;
        if (SS_LIKELY(width <= SS_PEEK_BITS)) {
            pair = swap_words(_pdep_u64(ss_bits_peek(group->block, bit), swap_words(mask)));
        } else {
            const uint32_t later_width = (uint32_t)__builtin_popcountll(mask >> 32);
            const uint64_t later = ss_bits_peek(group->block, bit);
            pair = (later << 32 | (uint32_t)ss_bits_peek(group->block, bit + later_width)) & mask;
        }
        memcpy(suffixes + i, &pair, sizeof pair);
    }
}
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
#pragma GCC diagnostic pop
#endif

/* Move each half of the register up by this many bytes; zeros enter. */
#define UP(words, bytes) _mm256_slli_si256(words, bytes)

/* The last word of the lower half in the higher half of the register, and 0 in the lower one. */
VECTOR __m256i last_of_lower(__m256i words)
{
    return _mm256_shuffle_epi32(_mm256_permute2x128_si256(words, words, 0x08), 0xff);
}

/* Put bits under the present ones, except where these have changed since. */
VECTOR __m256i put_under(__m256i above, __m256i changed, __m256i under)
{
    return _mm256_or_si256(above, _mm256_andnot_si256(changed, under));
}

/* Make the upper halves from the suffixes, and fingerprints from both halves. False if a bit that should become 1 is
 * already 1. */
VECTOR bool join_suffixes(const ss_coded_group *group, const uint8_t *spans, const uint32_t *masks,
                          const uint32_t *suffixes, uint64_t *out)
{
    const __m256i rotation = _mm256_setr_epi32(7, 0, 1, 2, 3, 4, 5, 6);
    const uint8_t *lowers = lowers_of(group);
    __m256i repeated = _mm256_setzero_si256(), last = _mm256_set1_epi32((int)group->upper);
    for (uint32_t i = 0; i < group->count; i += LANES) {
        __m256i span, changes = load_changes(spans + i, &span);
        const __m256i mask = load_words(masks + i), first_bit = _mm256_sub_epi32(mask, changes);
        __m256i changed = _mm256_or_si256(mask, first_bit);
        __m256i upper = _mm256_or_si256(load_words(suffixes + i), first_bit);
        upper = put_under(upper, changed, UP(upper, 4));
        changed = _mm256_or_si256(changed, UP(changed, 4));
        upper = put_under(upper, changed, UP(upper, 8));
        changed = _mm256_or_si256(changed, UP(changed, 8));
        upper = put_under(upper, changed, last_of_lower(upper));
        changed = _mm256_or_si256(changed, last_of_lower(changed));
        upper = put_under(upper, changed, last);
        const __m256i rotated = _mm256_permutevar8x32_epi32(upper, rotation);
        repeated = _mm256_or_si256(repeated, _mm256_and_si256(_mm256_blend_epi32(rotated, last, 1), first_bit));
        last = _mm256_permutevar8x32_epi32(upper, _mm256_set1_epi32(LANES - 1));
        const __m256i lower = load_words(lowers + (size_t)i * SS_LOWER_BYTES);
        const __m256i even = _mm256_unpacklo_epi32(lower, upper), odd = _mm256_unpackhi_epi32(lower, upper);
        uint64_t few[LANES], *to = i + LANES <= group->count ? out + i : few;
        store_words(to, _mm256_permute2x128_si256(even, odd, 0x20));
        store_words(to + LANES / 2, _mm256_permute2x128_si256(even, odd, 0x31));
        if (to == few)
            memcpy(out + i, few, (group->count - i) * sizeof *few);
    }
    return _mm256_testz_si256(repeated, repeated);
}

/* Which spans of 64 are 0, by bits. */
VECTOR uint64_t find_equal(const uint8_t *spans)
{
    const __m256i zero = _mm256_setzero_si256();
    const uint32_t low = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(load_words(spans), zero));
    const uint32_t high = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(load_words(spans + 32), zero));
    return (uint64_t)high << 32 | low;
}

/* Decode a group whose codes were read: spans[i] is the span of fingerprint i, from 1 on. */
VECTOR bool finish_group(const ss_coded_group *group, uint8_t *spans, uint64_t *out)
{
    uint32_t masks[SS_GROUP_SIZE], suffixes[SS_GROUP_SIZE];
    spans[0] = 0;
    memset(spans + group->count, 0, LANES);
    find_masks(spans, group->count, masks);
    load_suffixes(group, masks, suffixes);
    if (!join_suffixes(group, spans, masks, suffixes, out))
        return false;
    bool ascend = true;
    for (uint64_t equal = find_equal(spans) & ss_low_mask(group->count) & ~UINT64_C(1); equal != 0;
         equal &= equal - 1) {
        const uint32_t i = (uint32_t)__builtin_ctzll(equal);
        ascend &= out[i - 1] < out[i];
    }
    return ascend;
}

SS_TARGET_AVX2 static bool decode_avx2(const ss_lookup *lookup, const ss_coded_group *group, const ss_coded_group *next,
                                       uint64_t *out)
{
    uint8_t spans[1 + MAX_SPANS], next_spans[1 + MAX_SPANS];
    code_reader codes = begin_codes(group, spans + 1);
    if (next != NULL) {
        code_reader next_codes = begin_codes(next, next_spans + 1);
        while (!is_done(&codes) && !is_done(&next_codes))
            if (!decode_round(lookup, &codes) || !decode_round(lookup, &next_codes))
                return false;
        if (!decode_codes(lookup, &next_codes) || !finish_group(next, next_spans, out + SS_GROUP_SIZE))
            return false;
    }
    return decode_codes(lookup, &codes) && finish_group(group, spans, out);
}

#undef VECTOR
#undef LANES
#undef UP

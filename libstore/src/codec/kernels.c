#include "codec/kernels.h"

#include <string.h>

#include "codec/bits.h"

#define ALWAYS_INLINE __attribute__((always_inline)) static inline

/* ----- decoding ----- */

/* The state of reading a group's codes. */
typedef struct code_reader {
    const uint8_t *block;
    uint32_t bit, end;    /* where the next code begins, and where the codes must end */
    uint32_t done, count; /* codes that were read, and all */
    uint8_t *spans;       /* room for `count` and for the excess of a round */
} code_reader;

ALWAYS_INLINE code_reader begin_codes(const ss_coded_group *group, uint8_t *spans)
{
    return (code_reader){group->block, group->code_bit, group->suffix_bit, 0, group->count - 1, spans};
}

ALWAYS_INLINE bool is_done(const code_reader *reader)
{
    return reader->done >= reader->count;
}

/* Look codes up SS_LOOKUPS_A_ROUND times. False if some bits are not a code, or codes run past the end. */
ALWAYS_INLINE bool decode_round(const ss_lookup *lookup, code_reader *reader)
{
    uint64_t bits = ss_bits_peek(reader->block, reader->bit);
    ss_lookup entry = 0;
    for (uint32_t i = 0; i < SS_LOOKUPS_A_ROUND; i++) {
        entry = lookup[bits & ((1u << SS_MAX_CODE_BITS) - 1)];
        bits >>= entry & 63;
        reader->bit += ss_lookup_code_bits(entry);
        ss_store_le32(reader->spans + reader->done, ss_lookup_spans(entry));
        reader->done += ss_lookup_symbols(entry);
    }
    return SS_LIKELY(is_done(reader) || (entry != 0 && reader->bit <= reader->end));
}

ALWAYS_INLINE bool decode_codes(const ss_lookup *lookup, code_reader *reader)
{
    while (!is_done(reader))
        if (!decode_round(lookup, reader))
            return false;
    return true;
}

/* Decode the upper halves of a group from the spans of its codes. False if a bit that should become 1 is already 1. */
ALWAYS_INLINE bool decode_suffixes(const ss_coded_group *group, const uint8_t *spans, uint32_t *uppers)
{
    uint64_t upper = group->upper, repeated = 0;
    uint32_t suffix_bit = group->suffix_bit;
    uppers[0] = group->upper;
    for (uint32_t i = 1; i < group->count; i++) {
        const uint32_t span = spans[i - 1];
        const uint64_t changed = (UINT64_C(1) << span) - 1, suffix = changed >> 1;
        suffix_bit -= span - (span > 0);
        repeated |= upper & (changed ^ suffix);
        upper = (upper & ~changed) | (changed ^ suffix) | (ss_bits_peek(group->block, suffix_bit) & suffix);
        uppers[i] = (uint32_t)upper;
    }
    return repeated == 0;
}

ALWAYS_INLINE const uint8_t *lowers_of(const ss_coded_group *group)
{
    return group->block + (size_t)group->first * SS_LOWER_BYTES;
}

/* Join the halves. False if the fingerprints do not ascend. */
ALWAYS_INLINE bool join_halves(const uint32_t *uppers, const uint8_t *lowers, uint32_t count, uint64_t *out)
{
    uint64_t descends = 0;
    for (uint32_t i = 0; i < count; i++)
        out[i] = (uint64_t)uppers[i] << SS_UPPER_BITS | ss_load_le32(lowers + (size_t)i * SS_LOWER_BYTES);
    for (uint32_t i = 1; i < count; i++)
        descends |= out[i] <= out[i - 1];
    return descends == 0;
}

#define MAX_SPANS (SS_GROUP_SIZE + SS_LOOKUPS_A_ROUND * SS_LOOKUP_SYMBOLS) /* that reading a group may yield */

ALWAYS_INLINE bool decode_group(const ss_lookup *lookup, const ss_coded_group *group, uint64_t *out)
{
    uint8_t spans[MAX_SPANS];
    uint32_t uppers[SS_GROUP_SIZE];
    code_reader codes = begin_codes(group, spans);
    if (!decode_codes(lookup, &codes))
        return false;
    return decode_suffixes(group, spans, uppers) && join_halves(uppers, lowers_of(group), group->count, out);
}

static bool decode_portable(const ss_lookup *lookup, const ss_coded_group *group, const ss_coded_group *next,
                            uint64_t *out)
{
    return decode_group(lookup, group, out) && (next == NULL || decode_group(lookup, next, out + SS_GROUP_SIZE));
}

/* ----- gathering bits ----- */

static void gather_portable(const uint64_t *values, size_t count, uint64_t mask, uint16_t *gathered)
{
    assert(ss_popcount(mask) <= SS_MAX_GATHERED);
    for (size_t i = 0; i < count; i++) {
        uint64_t bits = 0;
        uint32_t taken = 0;
        for (uint64_t left = mask; left != 0; left &= left - 1)
            bits |= (values[i] >> __builtin_ctzll(left) & 1) << taken++;
        gathered[i] = (uint16_t)bits;
    }
}

/* ----- the values near a given one, usually few ----- */

typedef uint64_t values_4 __attribute__((vector_size(32)));

#define STRIDE 16u  /* values that are tested together, since few have a hit */
#define FEW_ONES 6u /* up to this many ones are cleared one by one, in several values at a time; more are counted */

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

/* No branch depends on which values have a hit. */
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
    if (SS_LIKELY(count < STRIDE)) /* without vectors, whose setup costs more */
        return list_near_values(values, 0, count, query, distance, hits, 0, count_ones);
    if (distance <= FEW_ONES)
        for (; begin + STRIDE <= count; begin += STRIDE)
            if (SS_UNLIKELY(is_any_near(values + begin, query, distance)))
                found = list_near_values(values, begin, begin + STRIDE, query, distance, hits, found, count_ones);
    return list_near_values(values, begin, count, query, distance, hits, found, count_ones);
}

#define WORD_BATCH 4u /* of a row, that are counted before the next test: more tests would be mispredicted */

/* List the near ones of the rows `begin` to `end` - 1. */
ALWAYS_INLINE uint32_t list_near_rows(const uint64_t *rows, uint32_t begin, uint32_t end, uint32_t words,
                                      const uint64_t *query, uint32_t distance, uint32_t *hits, uint32_t found,
                                      count_ones_fn count_ones)
{
    for (uint32_t i = begin; i < end; i++) {
        const uint64_t *row = rows + (size_t)i * words;
        uint32_t ones = 0;
        for (uint32_t word = 0; word < words && ones <= distance;)
            for (const uint32_t last = ss_min_u32(word + WORD_BATCH, words); word < last; word++)
                ones += count_ones(row[word] ^ query[word]);
        hits[found] = i;
        found += ones <= distance;
    }
    return found;
}

#define ROW_BATCH 8u

/* Whether any of ROW_BATCH rows is near in the `counted` words at `rows`, of `words` in a row. */
ALWAYS_INLINE bool is_any_row_near(const uint64_t *rows, uint32_t words, const uint64_t *query, uint32_t counted,
                                   uint32_t distance, count_ones_fn count_ones)
{
    uint32_t any = 0; /* the highest bit is set if a number of ones is not above the distance */
    for (uint32_t i = 0; i < ROW_BATCH; i++, rows += words) {
        uint32_t ones = 0;
        for (uint32_t word = 0; word < counted; word++)
            ones += count_ones(rows[word] ^ query[word]);
        any |= ones - (distance + 1);
    }
    return any >> 31 != 0;
}

/* Test the last `counted` words of all rows, and all words only of eight rows of which one may be near. */
ALWAYS_INLINE uint32_t filter_rows(const uint64_t *rows, uint32_t count, uint32_t words, const uint64_t *query,
                                   uint32_t counted, uint32_t distance, uint32_t *hits, count_ones_fn count_ones)
{
    uint32_t found = 0, begin = 0;
    for (; begin + ROW_BATCH <= count; begin += ROW_BATCH)
        if (SS_UNLIKELY(is_any_row_near(rows + (size_t)begin * words + words - counted, words, query + words - counted,
                                        counted, distance, count_ones)))
            found = list_near_rows(rows, begin, begin + ROW_BATCH, words, query, distance, hits, found, count_ones);
    return list_near_rows(rows, begin, count, words, query, distance, hits, found, count_ones);
}

/* How many words exclude almost all rows: unrelated ones differ in 32 bits of each, with a standard deviation of 4, and
 * the distance is at least 2.5 deviations less. Above `words` if all do not suffice. */
static uint32_t telling_words(uint32_t words, uint32_t distance)
{
    uint32_t counted = 1;
    for (; counted <= words; counted++) {
        const uint32_t mean = SS_WORD_BITS / 2 * counted;
        if (mean > distance && (mean - distance) * (mean - distance) >= 100 * counted)
            break;
    }
    return counted;
}

/* Where few words are counted, their number is a constant to the compiler. */
ALWAYS_INLINE uint32_t near_rows(const uint64_t *rows, uint32_t count, uint32_t words, const uint64_t *query,
                                 uint32_t distance, uint32_t *hits, count_ones_fn count_ones)
{
    const uint32_t counted = telling_words(words, distance);
    if (counted > words)
        return list_near_rows(rows, 0, count, words, query, distance, hits, 0, count_ones);
    switch (counted) {
    case 1: return filter_rows(rows, count, words, query, 1, distance, hits, count_ones);
    case 2: return filter_rows(rows, count, words, query, 2, distance, hits, count_ones);
    case 3: return filter_rows(rows, count, words, query, 3, distance, hits, count_ones);
    case 4: return filter_rows(rows, count, words, query, 4, distance, hits, count_ones);
    default: return filter_rows(rows, count, words, query, counted, distance, hits, count_ones);
    }
}

static uint32_t near_values_portable(const uint64_t *values, uint32_t count, uint64_t query, uint32_t distance,
                                     uint32_t *hits)
{
    return near_values(values, count, query, distance, hits, ss_popcount);
}

static uint32_t near_rows_portable(const uint64_t *rows, uint32_t count, uint32_t words, const uint64_t *query,
                                   uint32_t distance, uint32_t *hits)
{
    return near_rows(rows, count, words, query, distance, hits, ss_popcount);
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

/* The number of ones in each byte: a table gives those of half bytes (Mula, Kurz and Lemire, "Faster population counts
 * using AVX2 instructions", 2018). */
SS_TARGET_AVX2 ALWAYS_INLINE __m256i byte_ones(__m256i x)
{
    const __m256i counts = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2, 3, 1,
                                            2, 2, 3, 2, 3, 3, 4);
    const __m256i half = _mm256_set1_epi8(15);
    const __m256i low = _mm256_shuffle_epi8(counts, _mm256_and_si256(x, half));
    return _mm256_add_epi8(low, _mm256_shuffle_epi8(counts, _mm256_and_si256(_mm256_srli_epi16(x, 4), half)));
}

/* Which of four words at `words`, two apart, differ from the query in less than `limit` bits. */
SS_TARGET_AVX2 ALWAYS_INLINE __m256i near_of_four(const uint64_t *words, __m256i query, __m256i limit)
{
    const __m256i first = _mm256_loadu_si256((const void *)words), last = _mm256_loadu_si256((const void *)(words + 3));
    const __m256i differing = _mm256_xor_si256(_mm256_blend_epi32(first, last, 0xcc), query);
    return _mm256_cmpgt_epi64(limit, _mm256_sad_epu8(byte_ones(differing), _mm256_setzero_si256()));
}

/* filter_rows() by the second of two words. */
SS_TARGET_AVX2 static uint32_t filter_pairs_avx2(const uint64_t *rows, uint32_t count, const uint64_t *query,
                                                 uint32_t distance, uint32_t *hits)
{
    const __m256i last = _mm256_set1_epi64x((long long)query[1]), limit = _mm256_set1_epi64x(distance + 1);
    uint32_t found = 0, begin = 0;
    for (; begin + ROW_BATCH <= count; begin += ROW_BATCH) {
        const uint64_t *from = rows + 2 * (size_t)begin + 1;
        const __m256i near = _mm256_or_si256(near_of_four(from, last, limit), near_of_four(from + 8, last, limit));
        if (SS_UNLIKELY(!_mm256_testz_si256(near, near)))
            found = list_near_rows(rows, begin, begin + ROW_BATCH, 2, query, distance, hits, found, popcnt);
    }
    return list_near_rows(rows, begin, count, 2, query, distance, hits, found, popcnt);
}

SS_TARGET_AVX2 static uint32_t near_rows_avx2(const uint64_t *rows, uint32_t count, uint32_t words,
                                              const uint64_t *query, uint32_t distance, uint32_t *hits)
{
    return words == 2 && telling_words(2, distance) == 1 ? filter_pairs_avx2(rows, count, query, distance, hits)
                                                         : near_rows(rows, count, words, query, distance, hits, popcnt);
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

/* ----- the forms ----- */

#define FORM portable
#define TARGET
#define VECTOR_BYTES 16
#define FOLDS_TELL 8u
#include "codec/form.h"

#if SS_SIMD_X86

#include "codec/decode_avx2.h"

__attribute__((target("bmi2"))) static void gather_bmi2(const uint64_t *values, size_t count, uint64_t mask,
                                                        uint16_t *gathered)
{
    for (size_t i = 0; i < count; i++)
        gathered[i] = (uint16_t)_pext_u64(values[i], mask);
}

/* The number of ones in each word of 32 bits. */
SS_TARGET_AVX2 ALWAYS_INLINE __m256i count_ones_by_table(__m256i x)
{
    const __m256i pairs = _mm256_maddubs_epi16(byte_ones(x), _mm256_set1_epi8(1));
    return _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
}

#define FORM avx2
#define TARGET SS_TARGET_AVX2
#define VECTOR_BYTES 32
#define COUNT_ONES(x) ((words)count_ones_by_table((__m256i)(x)))
#define FEW_BITS 4u
#define FOLDS_TELL 6u
#include "codec/form.h"

#define FORM avx512
#define TARGET SS_TARGET_AVX512
#define VECTOR_BYTES 32
#define COUNT_ONES(x) ((words)_mm256_popcnt_epi32((__m256i)(x)))
#define FEW_BITS 0u
#define FOLDS_TELL 6u
#include "codec/form.h"

#endif

/* AVX2_SLOW_PDEP is for processors with AVX2 whose pdep and pext are slow. */
typedef enum form { PORTABLE, AVX2, AVX2_SLOW_PDEP, AVX512 } form;

static const ss_kernels kernels[] = {
    [PORTABLE] = {find_near_portable, decode_portable, near_values_portable, near_rows_portable},
#if SS_SIMD_X86
    [AVX2] = {find_near_avx2, decode_avx2, near_values_avx2, near_rows_avx2},
    [AVX2_SLOW_PDEP] = {find_near_avx2, decode_portable, near_values_avx2, near_rows_avx2},
    [AVX512] = {find_near_avx512, decode_avx2, near_values_avx512, near_rows_avx2},
#endif
};

static const ss_join_kernels join_kernels[] = {
    [PORTABLE] = {pairs_within_portable, pairs_between_portable, gather_portable},
#if SS_SIMD_X86
    [AVX2] = {pairs_within_avx2, pairs_between_avx2, gather_bmi2},
    [AVX2_SLOW_PDEP] = {pairs_within_avx2, pairs_between_avx2, gather_portable},
    [AVX512] = {pairs_within_avx512, pairs_between_avx512, gather_bmi2},
#endif
};

static form form_of(ss_simd_level level)
{
    if (level == SS_SIMD_AVX512)
        return AVX512;
    if (level == SS_SIMD_AVX2)
        return ss_simd_is_pdep_fast() ? AVX2 : AVX2_SLOW_PDEP;
    return PORTABLE;
}

const ss_kernels *ss_kernels_of(ss_simd_level level)
{
    return level > ss_simd_best() ? NULL : &kernels[form_of(level)];
}

const ss_join_kernels *ss_join_kernels_of(ss_simd_level level)
{
    return level > ss_simd_best() ? NULL : &join_kernels[form_of(level)];
}

const ss_kernels *ss_kernels_best(void)
{
    return ss_kernels_of(ss_simd_best());
}

const ss_join_kernels *ss_join_kernels_best(void)
{
    return ss_join_kernels_of(ss_simd_best());
}

#include "codec/kernels.h"

#include "base/simd.h"
#include "codec/bits.h"
#include "codec/block.h"

#define ALWAYS_INLINE __attribute__((always_inline)) static inline

/* ----- decoding ----- */

/* Decode at least `count` codes to spans[], which has room for all that a round may yield more. */
ALWAYS_INLINE bool decode_codes(const ss_lookup *lookup, const uint8_t *block, uint32_t bit, uint32_t end, uint32_t count,
                                uint8_t *spans)
{
    for (uint32_t done = 0; done < count;) {
        uint64_t bits = ss_bits_peek(block, bit);
        ss_lookup entry = 0;
        for (uint32_t i = 0; i < SS_LOOKUPS_A_ROUND; i++) {
            entry = lookup[bits & ((1u << SS_MAX_CODE_BITS) - 1)];
            bits >>= entry & 63;
            bit += ss_lookup_code_bits(entry);
            ss_store_le32(spans + done, ss_lookup_spans(entry));
            done += ss_lookup_symbols(entry);
        }
        if (SS_UNLIKELY(done < count && (entry == 0 || bit > end)))
            return false;
    }
    return true;
}

/* Decode the upper halves of a group by the spans of its codes. */
ALWAYS_INLINE void decode_rests(const ss_coded_group *group, const uint8_t *spans, uint32_t *uppers)
{
    uint64_t upper = group->upper;
    uint32_t rest_bit = group->rest_bit;
    uppers[0] = group->upper;
    for (uint32_t i = 1; i < group->count; i++) {
        const uint32_t span = spans[i - 1];
        const uint64_t changed = (UINT64_C(1) << span) - 1, rest = changed >> 1;
        rest_bit -= span - (span > 0);
        upper = (upper & ~changed) | (changed ^ rest) | (ss_bits_peek(group->block, rest_bit) & rest);
        uppers[i] = (uint32_t)upper;
    }
}

/* Put the halves together. False if the fingerprints do not ascend. */
ALWAYS_INLINE bool join_halves(const uint32_t *uppers, const uint8_t *lowers, uint32_t count, uint64_t *out)
{
    uint64_t descends = 0;
    for (uint32_t i = 0; i < count; i++)
        out[i] = (uint64_t)uppers[i] << SS_UPPER_BITS | ss_load_le32(lowers + (size_t)i * SS_LOWER_BYTES);
    for (uint32_t i = 1; i < count; i++)
        descends |= out[i] <= out[i - 1];
    return descends == 0;
}

ALWAYS_INLINE bool decode_group(const ss_lookup *lookup, const ss_coded_group *group, uint64_t *out)
{
    uint8_t spans[SS_GROUP_SIZE + SS_LOOKUPS_A_ROUND * SS_LOOKUP_SYMBOLS];
    uint32_t uppers[SS_GROUP_SIZE];
    if (!decode_codes(lookup, group->block, group->code_bit, group->rest_bit, group->count - 1, spans))
        return false;
    decode_rests(group, spans, uppers);
    return join_halves(uppers, group->block + (size_t)group->first * SS_LOWER_BYTES, group->count, out);
}

/* ----- the forms ----- */

#define DEFINE_DECODE_GROUP(NAME, TARGET)                                                                              \
    TARGET static bool decode_group_##NAME(const ss_lookup *lookup, const ss_coded_group *group, uint64_t *out)        \
    {                                                                                                                  \
        return decode_group(lookup, group, out);                                                                       \
    }

DEFINE_DECODE_GROUP(portable, )
#define FORM portable
#define TARGET
#define VECTOR_BYTES 16
#include "codec/vectors.h"
#include "codec/find_near.h"
#include "codec/vectors_end.h"
const ss_kernels ss_kernels_portable = {find_near_portable, decode_group_portable};

#if SS_SIMD_X86

DEFINE_DECODE_GROUP(avx2, SS_TARGET_AVX2)
#define FORM avx2
#define TARGET SS_TARGET_AVX2
#define VECTOR_BYTES 32
#include "codec/vectors.h"
#include "codec/find_near.h"
#include "codec/vectors_end.h"

const ss_kernels *ss_kernels_avx2(void)
{
    static const ss_kernels form = {find_near_avx2, decode_group_avx2};
    return ss_simd_best() >= SS_SIMD_AVX2 ? &form : NULL;
}

#else

const ss_kernels *ss_kernels_avx2(void)
{
    return NULL;
}

#endif

const ss_kernels *ss_kernels_best(void)
{
    const ss_kernels *fast = ss_kernels_avx2();
    return fast != NULL ? fast : &ss_kernels_portable;
}

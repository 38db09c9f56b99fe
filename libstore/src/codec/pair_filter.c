#include "codec/pair_filter.h"

#include <string.h>

#include "base/simd.h"

#define FORM portable
#define TARGET
#define VECTOR_BYTES 16
#include "codec/vectors.h"
#include "codec/near_pairs.h"
#include "codec/vectors_end.h"

ss_pair_filter ss_pair_filter_portable(void)
{
    return (ss_pair_filter){within_portable, between_portable};
}

#if SS_SIMD_X86

#include <immintrin.h>

#define FORM avx2
#define TARGET SS_TARGET_AVX2
#define VECTOR_BYTES 32
#include "codec/vectors.h"
#include "codec/near_pairs.h"
#include "codec/vectors_end.h"

ss_pair_filter ss_pair_filter_avx2(void)
{
    if (ss_simd_best() < SS_SIMD_AVX2)
        return (ss_pair_filter){NULL, NULL};
    return (ss_pair_filter){within_avx2, between_avx2};
}

#define FORM avx512
#define TARGET SS_TARGET_AVX512
#define VECTOR_BYTES 32
#define COUNT_ONES(x) ((words)_mm256_popcnt_epi32((__m256i)(x)))
#include "codec/vectors.h"
#include "codec/near_pairs.h"
#include "codec/vectors_end.h"

ss_pair_filter ss_pair_filter_avx512(void)
{
    if (ss_simd_best() < SS_SIMD_AVX512)
        return (ss_pair_filter){NULL, NULL};
    return (ss_pair_filter){within_avx512, between_avx512};
}

#else

ss_pair_filter ss_pair_filter_avx2(void)
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
    const ss_pair_filter forms[] = {ss_pair_filter_avx512(), ss_pair_filter_avx2(), ss_pair_filter_portable()};
    uint32_t best = 0;
    while (forms[best].within == NULL)
        best++;
    return forms[best];
}

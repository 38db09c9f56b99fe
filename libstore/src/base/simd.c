#include "base/simd.h"

#include <stdatomic.h>

static atomic_int limit = SS_SIMD_AVX512; /* atomic: a test that sets it too late gets the old or the new one */

#if SS_SIMD_X86

ss_simd_level ss_simd_cpu(void)
{
    if (!__builtin_cpu_supports("popcnt") || !__builtin_cpu_supports("bmi") || !__builtin_cpu_supports("bmi2") ||
        !__builtin_cpu_supports("avx2"))
        return SS_SIMD_NONE;
    const bool has_avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                            __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vpopcntdq");
    return has_avx512 ? SS_SIMD_AVX512 : SS_SIMD_AVX2;
}

bool ss_simd_is_pdep_fast(void)
{
    return !__builtin_cpu_is("znver1") && !__builtin_cpu_is("znver2");
}

#else

ss_simd_level ss_simd_cpu(void)
{
    return SS_SIMD_NONE;
}

bool ss_simd_is_pdep_fast(void)
{
    return false;
}

#endif

ss_simd_level ss_simd_best(void)
{
    ss_simd_level max = (ss_simd_level)atomic_load_explicit(&limit, memory_order_relaxed), has = ss_simd_cpu();
    return has < max ? has : max;
}

void ss_simd_limit(ss_simd_level level)
{
    atomic_store_explicit(&limit, level, memory_order_relaxed);
}

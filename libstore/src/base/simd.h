/*
 * simd.h - which vector instructions the library may use: what the processor has, and no more than a limit that tests
 * and benchmarks can set. The one place that asks the processor.
 */
#ifndef SS_SIMD_H
#define SS_SIMD_H

#include "base/common.h"

/* Whether this compiler can make the forms for x86-64, behind __attribute__((target)). */
#if defined(__x86_64__) && defined(__GNUC__)
#define SS_SIMD_X86 1
#else
#define SS_SIMD_X86 0
#endif

/* What a function is compiled for at the level SS_SIMD_AVX2. */
#define SS_TARGET_AVX2 __attribute__((target("avx2,bmi,bmi2,popcnt")))

/* And at the level SS_SIMD_AVX512, in vectors of 32 bytes. */
#define SS_TARGET_AVX512 __attribute__((target("avx2,bmi,bmi2,popcnt,avx512f,avx512vl,avx512vpopcntdq")))

/* A level means all levels below it too. Where a form needs an extension that is not named here, name it, and ask for it in
 * ss_simd_cpu(), at one of these levels or at a new one between them: all code that a level allows must run. */
typedef enum ss_simd_level {
    SS_SIMD_NONE,  /* portable C */
    SS_SIMD_AVX2,  /* AVX2, BMI, BMI2 and POPCNT: Haswell, Zen and later ones */
    SS_SIMD_AVX512 /* AVX-512 F, VL and VPOPCNTDQ: Ice Lake, Zen 4 and later ones */
} ss_simd_level;

/* What the processor and the compiler have. */
ss_simd_level ss_simd_cpu(void);

/* What may be used: ss_simd_cpu() or the limit, whichever is lower. */
ss_simd_level ss_simd_best(void);

/* Whether pdep and pext are quick. Zen and Zen 2 have them in microcode; other architectures have none. */
bool ss_simd_is_pdep_fast(void);

/*
 * Use nothing above `level` from now on; SS_SIMD_AVX512, as at the start, is no limit. For tests and benchmarks alone:
 * the library itself never calls it, and this limit is the only global state that it has. A store chooses its forms
 * while it is opened, a builder while it finishes: set the limit before, and not while another thread does either.
 */
void ss_simd_limit(ss_simd_level level);

#endif

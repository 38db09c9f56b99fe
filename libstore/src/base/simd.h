/*
 * simd.h - which vector instructions the library may use: those of the processor, up to a limit that tests and
 * benchmarks can set. No other file queries the processor.
 */
#ifndef SS_SIMD_H
#define SS_SIMD_H

#include "base/common.h"

/* Whether this compiler can compile for x86-64 extensions, behind __attribute__((target)). */
#if defined(__x86_64__) && defined(__GNUC__)
#define SS_SIMD_X86 1
#else
#define SS_SIMD_X86 0
#endif

/* Marks a function that is compiled for the level SS_SIMD_AVX2. */
#define SS_TARGET_AVX2 __attribute__((target("avx2,bmi,bmi2,popcnt")))

/* Marks a function that is compiled for the level SS_SIMD_AVX512, with vectors of 32 bytes. */
#define SS_TARGET_AVX512 __attribute__((target("avx2,bmi,bmi2,popcnt,avx512f,avx512dq,avx512vl,avx512vpopcntdq")))

/* A level includes all levels below it. Code that needs another extension must add it here and in ss_simd_cpu(), to a
 * level or as a new one: a processor of a level must run all code of that level. */
typedef enum ss_simd_level {
    SS_SIMD_NONE,  /* portable C */
    SS_SIMD_AVX2,  /* AVX2, BMI, BMI2 and POPCNT: Haswell, Zen and later ones */
    SS_SIMD_AVX512 /* AVX-512 F, DQ, VL and VPOPCNTDQ: Ice Lake, Zen 4 and later ones */
} ss_simd_level;

/* The highest level that both processor and compiler have. */
ss_simd_level ss_simd_cpu(void);

/* The level to use: ss_simd_cpu() or the limit, whichever is lower. */
ss_simd_level ss_simd_best(void);

/* Whether pdep and pext are fast. On Zen and Zen 2 they are microcode; other architectures lack them. */
bool ss_simd_is_pdep_fast(void);

/* Limit the level from now on; the initial SS_SIMD_AVX512 is no limit. Only for tests and benchmarks: the library never
 * calls it. Set it while no thread opens a store or finishes a build, since
 * these choose their code then. */
void ss_simd_limit(ss_simd_level level);

#endif

/*
 * simd_level.h - which vector instructions the library uses: a benchmark prints it, and can ask for less than there is.
 */
#ifndef BENCH_SIMD_LEVEL_H
#define BENCH_SIMD_LEVEL_H

#include <stdbool.h>

/* Use nothing above the level of that name: none, avx2 or avx512. False if there is no such level, or it cannot be set,
 * since the program links the shared library. Before any store is opened. */
bool bench_simd_limit(const char *name);

/* Limit the level to the environment's SSTORE_BENCH_SIMD, if it is set: for programs that scripts start. A wrong name
 * ends the program. */
void bench_simd_from_environment(void);

/* The level that is used, or "that of the shared library". */
const char *bench_simd_name(void);

#endif

#include "support/simd_level.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/simd.h"
#include "support/must.h"

/* Hidden in the shared library. NOLINTBEGIN(readability-redundant-declaration): here they are weak */
extern __typeof__(ss_simd_limit) ss_simd_limit __attribute__((weak));
extern __typeof__(ss_simd_best) ss_simd_best __attribute__((weak));
/* NOLINTEND(readability-redundant-declaration) */

static const char *const names[] = {[SS_SIMD_NONE] = "none", [SS_SIMD_AVX2] = "avx2", [SS_SIMD_AVX512] = "avx512"};

bool bench_simd_limit(const char *name)
{
    for (size_t i = 0; ss_simd_limit != NULL && i < sizeof names / sizeof *names; i++) {
        if (strcmp(names[i], name) != 0)
            continue;
        ss_simd_limit((ss_simd_level)i);
        return true;
    }
    return false;
}

void bench_simd_from_environment(void)
{
    const char *name = getenv("SSTORE_BENCH_SIMD");
    if (name != NULL && *name != '\0' && !bench_simd_limit(name))
        bench_fail("SSTORE_BENCH_SIMD: no level that this program can set");
}

const char *bench_simd_name(void)
{
    return ss_simd_best != NULL ? names[ss_simd_best()] : "that of the shared library";
}

#include "codec/gather_bits.h"

#include "base/simd.h"

void ss_gather_bits_portable(const uint64_t *values, size_t count, uint64_t mask, uint16_t *gathered)
{
    uint64_t runs[SS_MOST_GATHERED]; /* of neighbouring bits, with how far each moves */
    uint32_t shifts[SS_MOST_GATHERED], run_count = 0, taken = 0;
    assert(ss_popcount(mask) <= SS_MOST_GATHERED);
    while (mask != 0) {
        const uint64_t run = mask & ~(mask + (mask & -mask)); /* a carry clears the lowest run and goes behind it */
        shifts[run_count] = (uint32_t)__builtin_ctzll(run) - taken;
        runs[run_count++] = run;
        taken += ss_popcount(run);
        mask &= ~run;
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t bits = 0;
        for (uint32_t run = 0; run < run_count; run++)
            bits |= (values[i] & runs[run]) >> shifts[run];
        gathered[i] = (uint16_t)bits;
    }
}

#if SS_SIMD_X86

#include <immintrin.h>

__attribute__((target("bmi2"))) static void gather_bmi2(const uint64_t *values, size_t count, uint64_t mask,
                                                        uint16_t *gathered)
{
    for (size_t i = 0; i < count; i++)
        gathered[i] = (uint16_t)_pext_u64(values[i], mask);
}

ss_gather_bits_fn ss_gather_bits_bmi2(void)
{
    return ss_simd_best() >= SS_SIMD_AVX2 && ss_simd_is_pdep_fast() ? gather_bmi2 : NULL;
}

#else

ss_gather_bits_fn ss_gather_bits_bmi2(void)
{
    return NULL;
}

#endif

ss_gather_bits_fn ss_gather_bits_best(void)
{
    ss_gather_bits_fn fast = ss_gather_bits_bmi2();
    return fast != NULL ? fast : ss_gather_bits_portable;
}

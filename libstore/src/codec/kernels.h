/*
 * kernels.h - the inner loops of decoding and searching blocks, in C that compilers turn into vector instructions: compiled
 * for any processor, for those with AVX2 and BMI2, and for those with AVX-512. Tests hold the forms equal.
 */
#ifndef SS_KERNELS_H
#define SS_KERNELS_H

#include "base/common.h"
#include "codec/lookup.h"

/* A group to decode. */
typedef struct ss_coded_group {
    const uint8_t *block;
    uint32_t first;              /* fingerprint of the block, and so the first of its lower halves */
    uint32_t count;              /* of fingerprints, 1 to SS_GROUP_SIZE */
    uint32_t upper;              /* half of the first one */
    uint32_t code_bit, rest_bit; /* where its codes begin and its rests end */
} ss_coded_group;

typedef struct ss_kernels {
    /* Find the first group of `group` to `end` - 1 of whose lower halves any differs from `lower` in at most `distance` bits,
     * and set *near_out: bit i stands for the group's half i, which may lie behind the last fingerprint. `end` if there is
     * none. */
    uint32_t (*find_near)(const uint8_t *block, uint32_t group, uint32_t end, uint32_t lower, uint32_t distance,
                          uint64_t *near_out);

    /* Decode `group` to out[0 ..]. If `next` is not NULL, it is the group behind, which is decoded to out[SS_GROUP_SIZE ..], and
     * `group` is full. False if some bits are no code, if the bit that a code names is 1 before, or if a group's fingerprints do
     * not ascend strictly. May read 64 bits behind the codes, as many before rest_bit as rests can take, and up to 7 lower halves
     * behind the last. */
    bool (*decode)(const ss_lookup *lookup, const ss_coded_group *group, const ss_coded_group *next, uint64_t *out);
} ss_kernels;

/* The form for any processor. */
extern const ss_kernels ss_kernels_portable;

/* The forms with AVX2 and with AVX-512, each NULL if ss_simd_best() does not allow it. Where pdep is slow, the one with AVX2 decodes by
 * portable code. */
const ss_kernels *ss_kernels_avx2(void);
const ss_kernels *ss_kernels_avx512(void);

/* The fastest that ss_simd_best() allows. */
const ss_kernels *ss_kernels_best(void);

#endif

/*
 * kernels.h - the inner loops of decoding, searching and joining, in C that compilers turn into vector instructions: compiled for
 * any processor, for those with AVX2 and BMI2, and for those with AVX-512. Tests hold the forms equal.
 */
#ifndef SS_KERNELS_H
#define SS_KERNELS_H

#include "base/simd.h"
#include "codec/bits.h"

/* A group to decode. */
typedef struct ss_coded_group {
    const uint8_t *block;
    uint32_t first;              /* fingerprint of the block, and so the first of its lower halves */
    uint32_t count;              /* of fingerprints, 1 to SS_GROUP_SIZE */
    uint32_t upper;              /* half of the first one */
    uint32_t code_bit, suffix_bit; /* where its codes begin and its rests end */
} ss_coded_group;

#define SS_PAIR_LANES 8u
#define SS_PAIR_PADDING (2 * SS_PAIR_LANES) /* behind the last value that are read, whatever they are */
#define SS_MAX_GATHERED 16u

/* Up to this distance 32 bits of a fingerprint, its lower half or its fold, tell almost all that are not near. Those that have nothing
 * to do with each other differ in 16 of them on average, so that beyond it whole fingerprints are compared. */
#define SS_HALVES_TELL 8u

/* Values among which pairs are looked for. The fold of a value is the exclusive or of its halves: folds of two values differ in no more
 * bits than the values do, and those of values that have nothing to do with each other in as many as other numbers of 32 bits. */
typedef struct ss_folded {
    uint32_t *folds, *uppers; /* of each value, SS_PAIR_PADDING more behind the last */
} ss_folded;

static inline void ss_fold(const uint64_t *values, uint32_t count, ss_folded *folded)
{
    for (uint32_t i = 0; i < count; i++) {
        folded->uppers[i] = (uint32_t)(values[i] >> 32);
        folded->folds[i] = (uint32_t)values[i] ^ folded->uppers[i];
    }
}

typedef struct ss_kernels {
    /* Find the first group of `group` to `end` - 1 of whose lower halves any differs from `lower` in at most `distance` bits,
     * and set *near_out: bit i stands for the group's half i, which may lie behind the last fingerprint. `end` if there is
     * none. */
    uint32_t (*find_near)(const uint8_t *block, uint32_t group, uint32_t end, uint32_t lower, uint32_t distance,
                          uint64_t *near_out);

    /* Decode `group` to out[0 ..]. If `next` is not NULL, it is the group behind, which is decoded to out[SS_GROUP_SIZE ..], and
     * `group` is full. False if some bits are no code, if the bit that a code names is 1 before, or if a group's fingerprints do
     * not ascend strictly. May read 64 bits behind the codes, as many before suffix_bit as rests can take, and up to 7 lower halves
     * behind the last. */
    bool (*decode)(const ss_lookup *lookup, const ss_coded_group *group, const ss_coded_group *next, uint64_t *out);

    /* Find pairs within one set of values, of which eight are laid beside the same shifted by one, by two and so on, so each pair
     * comes up once: the pairs of the values begin + i and begin + i + shift, i < 8, 1 <= shift, begin + i + shift < end, that
     * differ in at most `distance` bits. For each shift that has any, hits[] gets shift << 8 | lanes, where bit i of `lanes` stands
     * for i. Ascending; hits[] has room for as many as values, which are at most 2^24. Returns how many they are. To have all
     * pairs, call it for begin = 0, 8, 16, ... */
    uint32_t (*pairs_within)(const ss_folded *values, uint32_t begin, uint32_t end, uint32_t distance, uint32_t *hits);

    /* Find pairs between two sets: of the values i < value_count (1 to 8), and the others j < count, that differ in at most
     * `distance` bits. For each i and each eight others in a row that have any, hits[] gets (j / 8 * 8 + i) << 8 | lanes, where
     * bit l of `lanes` stands for the other j / 8 * 8 + l. Ascending; hits[] has room for `count`, rounded up to eights, and that
     * is at most 2^24. Returns how many they are. Eight values are read. */
    uint32_t (*pairs_between)(const ss_folded *values, uint32_t value_count, const ss_folded *others, uint32_t count,
                              uint32_t distance, uint32_t *hits);

    /* Write the indices of those values[0 .. count-1] that differ from `query` in at most `distance` bits to hits[], ascending, and
     * return how many they are. hits[] has room for count. */
    uint32_t (*near_values)(const uint64_t *values, uint32_t count, uint64_t query, uint32_t distance, uint32_t *hits);

    /* For each value set gathered[i] to its bits under the mask, at most SS_MAX_GATHERED of them, moved together in their order: a
     * small number to deal the values by. */
    void (*gather_bits)(const uint64_t *values, size_t count, uint64_t mask, uint16_t *gathered);
} ss_kernels;

/* The form for a level, NULL if ss_simd_best() does not allow it. SS_SIMD_NONE is for any processor. Where pdep is slow, the one with
 * AVX2 decodes and gathers by portable code. */
const ss_kernels *ss_kernels_of(ss_simd_level level);

/* The fastest that ss_simd_best() allows. */
const ss_kernels *ss_kernels_best(void);

#endif

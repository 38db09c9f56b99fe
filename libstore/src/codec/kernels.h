/*
 * kernels.h - the inner loops of decoding, searching and joining, in C that compilers turn into vector instructions.
 * They are compiled for any processor, for processors with AVX2 and BMI2, and for those with AVX-512. Tests compare the
 * forms.
 */
#ifndef SS_KERNELS_H
#define SS_KERNELS_H

#include "base/simd.h"
#include "codec/bits.h"

/* A group to decode. */
typedef struct ss_coded_group {
    const uint8_t *block;
    uint32_t first;                /* index of its first fingerprint in the block */
    uint32_t count;                /* of fingerprints, 1 to SS_GROUP_SIZE */
    uint32_t upper;                /* half of the first one */
    uint32_t code_bit, suffix_bit; /* where its codes begin and its suffixes end */
} ss_coded_group;

#define SS_PAIR_LANES 8u
#define SS_PAIR_PADDING (2 * SS_PAIR_LANES) /* values after the last one that are read and ignored */
#define SS_MAX_GATHERED 16u

/* Up to this distance, 32 bits of a fingerprint, its lower half or its fold, exclude almost all that are not near.
 * Unrelated ones differ in 16 of them on average, so above it all 64 bits are compared. */
#define SS_HALVES_TELL 8u

/* Values that are searched for pairs. The fold of a value is the exclusive or of its halves. The folds of two values
 * differ in at most as many bits as the values, and the folds of unrelated values in as many as two random numbers of
 * 32 bits. */
typedef struct ss_folded {
    uint32_t *folds, *uppers; /* of each value, and SS_PAIR_PADDING more after the last */
} ss_folded;

static inline void ss_fold_values(const uint64_t *values, uint32_t count, ss_folded *folded)
{
    for (uint32_t i = 0; i < count; i++) {
        folded->uppers[i] = (uint32_t)(values[i] >> 32);
        folded->folds[i] = (uint32_t)values[i] ^ folded->uppers[i];
    }
}

typedef struct ss_kernels {
    /* Find the first of the groups `group` to `end` - 1 with a lower half that differs from `lower` in at most
     * `distance` bits, and set *near_out to a bit set of such halves, which may include some after the last
     * fingerprint. Returns `end` if there is none. */
    uint32_t (*find_near)(const uint8_t *block, uint32_t group, uint32_t end, uint32_t lower, uint32_t distance,
                          uint64_t *near_out);

    /* Decode `group` to out[0 ..]. If `next` is not NULL, it is the next group, which is decoded to out[SS_GROUP_SIZE
     * ..], and `group` is full. False if some bits are not a code, if the bit that a code names is already 1, or if a
     * group's fingerprints do not ascend strictly. May read 64 bits after the codes, the maximum size of suffixes
     * before suffix_bit, and up to 7 lower halves after the last. */
    bool (*decode)(const ss_lookup *lookup, const ss_coded_group *group, const ss_coded_group *next, uint64_t *out);

    /* Write the indices of the values[0 .. count-1] that differ from `query` in at most `distance` bits to hits[],
     * ascending. Returns their number. hits[] has room for `count`. */
    uint32_t (*near_values)(const uint64_t *values, uint32_t count, uint64_t query, uint32_t distance, uint32_t *hits);

    /* Write the indices of near rows in this way. Rows have `words` words and are one after the other. */
    uint32_t (*near_rows)(const uint64_t *rows, uint32_t count, uint32_t words, const uint64_t *query,
                          uint32_t distance, uint32_t *hits);
} ss_kernels;

/* As near_values, for fingerprints of 1 to SSTORE_MAX_WORDS words. */
static inline uint32_t ss_find_near(const ss_kernels *kernels, const uint64_t *rows, uint32_t count, uint32_t words,
                                    const uint64_t *query, uint32_t distance, uint32_t *hits)
{
    return words == 1 ? kernels->near_values(rows, count, *query, distance, hits)
                      : kernels->near_rows(rows, count, words, query, distance, hits);
}

/* Of joins. They are apart, so that a program that only queries links none of them. */
typedef struct ss_join_kernels {
    /* Find pairs within one set of values. Eight values are compared with the same shifted by one, by two and so on, so
     * each pair is met once: the pairs of the values begin + i and begin + i + shift, i < 8, 1 <= shift, begin + i +
     * shift < end, that differ in at most `distance` bits. For each shift with pairs, hits[] gets shift << 8 | lanes,
     * where bit i of `lanes` stands for i. Ascending; hits[] has room for the number of values, which is at most 2^24.
     * Returns the number of hits. To get all pairs, call it for begin = 0, 8, 16, ... */
    uint32_t (*pairs_within)(const ss_folded *values, uint32_t begin, uint32_t end, uint32_t distance, uint32_t *hits);

    /* Find pairs between two sets: of the values i < value_count (1 to 8) and the others j < count that differ in at
     * most `distance` bits. For each i and each eight others in a row with pairs, hits[] gets (j / 8 * 8 + i) << 8 |
     * lanes, where bit l of `lanes` stands for the other j / 8 * 8 + l. Ascending; hits[] has room for `count`, which
     * is at most 2^24, rounded up to a multiple of eight. Returns the number of hits. Eight values are read. */
    uint32_t (*pairs_between)(const ss_folded *values, uint32_t value_count, const ss_folded *others, uint32_t count,
                              uint32_t distance, uint32_t *hits);

    /* Set gathered[i] to the bits of values[i] under the mask, at most SS_MAX_GATHERED of them, moved together in their
     * order: a small number to partition the values by. */
    void (*gather_bits)(const uint64_t *values, size_t count, uint64_t mask, uint16_t *gathered);
} ss_join_kernels;

/* The form for a level; NULL if ss_simd_best() does not allow it. SS_SIMD_NONE is for any processor. If pdep is slow,
 * the form with AVX2 decodes and gathers by portable code. */
const ss_kernels *ss_kernels_of(ss_simd_level level);
const ss_join_kernels *ss_join_kernels_of(ss_simd_level level);

/* The fastest form that ss_simd_best() allows. */
const ss_kernels *ss_kernels_best(void);
const ss_join_kernels *ss_join_kernels_best(void);

#endif

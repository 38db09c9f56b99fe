/*
 * row_parts.h - how near fingerprints of several words are found without an index: the parts of words in which they are
 * equal, or nearly.
 *
 * Each word has a radius, as in radii.h: two fingerprints within k differ in at most `radii[word]` bits in some word.
 * The bits of that word are divided again into parts with radii rho, whose sum of (rho + 1) exceeds the word's radius.
 * So the two words differ in at most rho bits in some part. Fingerprints whose keys, the bits of a part, are that near
 * are compared by the whole word, and those whose words are near by all words.
 *
 * A part of many bits has few pairs to compare, but a word has room for few of them, and a large rho has many keys to
 * look up. The choice follows from the expected costs, which depend on how alike the words of the data are: the
 * distances between the words of a sample tell how often two of them agree in any number of bits.
 */
#ifndef SS_ROW_PARTS_H
#define SS_ROW_PARTS_H

#include "plan/radii.h"

#define SS_MAX_PART_RADIUS 2u
#define SS_MAX_PART_BITS 26u
#define SS_MAX_ROW_PARTS (SSTORE_MAX_WORDS * (SSTORE_MAX_BUILD_DISTANCE + 1))

/* Without bits all fingerprints have the same key, and are compared with each other; the radius is 0. */
typedef struct ss_row_part {
    uint32_t word, first_bit, bits;
    uint32_t rho;
} ss_row_part;

typedef struct ss_row_parts {
    int32_t radii[SSTORE_MAX_WORDS]; /* of the words; SS_NO_PROBE: it has no parts */
    uint32_t count;
    ss_row_part parts[SS_MAX_ROW_PARTS]; /* by word */
    double ns;                           /* expected, of one thread */
} ss_row_parts;

/* Of pairs of fingerprints, which share differs in how many bits of a word. */
typedef struct ss_word_distances {
    double shares[SS_WORD_BITS + 1];
} ss_word_distances;

/* Measure the distances of the words of a sample of `count` distinct fingerprints. Those that are near as a whole do
 * not count: connecting them is no lost work. Sets distances_out[0 .. words-1]. */
void ss_word_distances_measure(const uint64_t *sample, size_t count, uint32_t words, uint32_t distance,
                               ss_word_distances *distances_out);

/* Choose the parts with the smallest expected cost for this many fingerprints. A key has at most `max_bits` bits. The
 * distance is at most SSTORE_MAX_BUILD_DISTANCE * words. MEMORY. */
sstore_status ss_row_parts_choose(const ss_word_distances *distances, uint32_t words, uint32_t distance,
                                  double row_count, uint32_t max_bits, ss_row_parts *parts_out, sstore_error *error);

/* The key of a word whose part leads (ss_row_part_lead()). */
static inline uint64_t ss_row_part_key(const ss_row_part *part, uint64_t leading)
{
    return part->bits == 0 ? 0 : leading >> (SS_WORD_BITS - part->bits);
}

/* Rotate a word so that the bits of the part lead. */
static inline uint64_t ss_row_part_lead(const ss_row_part *part, uint64_t word)
{
    return part->first_bit == 0 ? word : word << part->first_bit | word >> (SS_WORD_BITS - part->first_bit);
}

#endif

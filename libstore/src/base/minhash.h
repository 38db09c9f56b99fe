/*
 * minhash.h - one-bit MinHash sketches of sets (format-spec/fingerprint.md, "MinHash"): if two sets have the Jaccard
 * similarity J, their sketches differ in about (1 - J) / 2 of the bits.
 *
 * The bits are those of minima, as in Li and König, "b-Bit Minwise Hashing" (WWW 2010). The minima are found as in
 * Dahlgaard, Knudsen and Thorup, "Fast Similarity Sketching" (FOCS 2017): in each round, every element falls into one
 * of as many bins as there are bits, and rounds go on until no bin is empty. So the time is that of the set and of
 * bits * ln(bits) elements, not of their product; and the distances vary less than those of independent minima.
 */
#ifndef SS_MINHASH_H
#define SS_MINHASH_H

#include "base/common.h"

#define SS_MINHASH_BITS 1024u /* at most */

/* Whether sketches have so many bits: a multiple of 64. */
static inline bool ss_minhash_has_bits(uint32_t bits)
{
    return bits > 0 && bits <= SS_MINHASH_BITS && bits % 64 == 0;
}

/*
 * The sketch of a set that is being made. Invariants: the bins have what round 0 puts into them; the elements are all
 * that were added, unless no bin is empty.
 */
typedef struct ss_minhash {
    uint32_t bits;
    bool is_complete; /* no bin is empty: elements are no longer kept */
    uint64_t *elements;
    size_t count, capacity;
    uint64_t bins[SS_MINHASH_BITS];
} ss_minhash;

/* Begin with the empty set. Before the first set, *self is zeroed; its memory serves for further sets until
 * ss_minhash_free(). */
void ss_minhash_begin(ss_minhash *self, uint32_t bits);

/* Add elements: hashes of features. What is added twice counts once. MEMORY. */
sstore_status ss_minhash_add(ss_minhash *self, const uint64_t *hashes, size_t count, sstore_error *error);

/* Add `times` occurrences of a feature, each as an element of its own. MEMORY. */
sstore_status ss_minhash_add_times(ss_minhash *self, uint64_t hash, uint64_t times, sstore_error *error);

/* Make the sketch: words_out gets bits / 64 words, of zeros if the set is empty. */
void ss_minhash_finish(ss_minhash *self, uint64_t *words_out);

void ss_minhash_free(ss_minhash *self);

#endif

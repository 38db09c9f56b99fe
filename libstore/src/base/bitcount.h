/*
 * bitcount.h - a positional population count: how many of the words added have a 1 at each of the 64 positions.
 *
 * The 64 counts are kept bit-sliced: bit p of planes[v] is the bit of value 2^v in the count of position p. Carry-save
 * adders reduce 16 words to one of weight 16 (after Klarqvist, Mula and Lemire, "Efficient computation of positional
 * population counts using SIMD instructions", 2021, in portable C); above that, every second carry into a plane makes
 * one into the next. So a word costs about 6 operations whatever the total, and an empty counter almost nothing.
 *
 * Invariants: planes[0 .. plane_count-1] are valid. A count is the sum of its planes, of the waiting carries (weight
 * 2^v where bit v of `waiting` is set) and of the buffer. Fewer than 2^63 words may be added.
 */
#ifndef SS_BITCOUNT_H
#define SS_BITCOUNT_H

#include "base/common.h"

#define SS_BIT_COUNTER_WORDS 16u

typedef struct ss_bit_counter {
    uint32_t used; /* words in buffer */
    uint32_t plane_count;
    uint64_t waiting; /* by bits: which of carries[] wait for a second carry */
    uint64_t planes[64];
    uint64_t carries[64];
    uint64_t buffer[SS_BIT_COUNTER_WORDS];
} ss_bit_counter;

void ss_bit_counter_init(ss_bit_counter *counter);

/* Count the full buffer and empty it. For ss_bit_counter_add() only. */
void ss_bit_counter_reduce(ss_bit_counter *counter);

static inline void ss_bit_counter_add(ss_bit_counter *counter, uint64_t word)
{
    counter->buffer[counter->used++] = word;
    if (SS_UNLIKELY(counter->used == SS_BIT_COUNTER_WORDS))
        ss_bit_counter_reduce(counter);
}

/* Count several words. This is faster than one by one, most of all with AVX2. */
void ss_bit_counter_add_many(ss_bit_counter *counter, const uint64_t *words, size_t count);

/* counts_out[i] becomes how many words have a 1 at position i, 0 being the most significant. More may be added. */
void ss_bit_counter_counts(ss_bit_counter *counter, uint64_t counts_out[64]);

/* A word with a 1 at each position whose count is above `threshold`. More may be added. */
uint64_t ss_bit_counter_above(ss_bit_counter *counter, uint64_t threshold);

#endif

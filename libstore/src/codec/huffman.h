/* huffman.h - a table's Huffman code, and the counts that it is made from. */
#ifndef SS_HUFFMAN_H
#define SS_HUFFMAN_H

#include "base/bitcount.h"
#include "base/common.h"
#include "codec/bits.h"
#include "codec/kernels.h"

/* ===== Huffman code ===== */

/*
 * The canonical, length-limited Huffman code over h, the position of the first bit in which the upper half of a
 * fingerprint differs from that of the one before: 0 to 31, or 32 where they are equal.
 *
 * One code serves one table. Only its lengths are stored; codes are assigned in the canonical order, shorter first and
 * equal lengths by h, and stand in the bit stream most significant bit first (so that they are reversed here, where the
 * stream is read from its least significant bit). Source: format-spec/block-codec.md; the paper, section 3.2.
 */

#define SS_SYMBOL_COUNT 33u

/* The h of two neighbours whose first difference, of all 64 bits, is that. */
static inline uint32_t ss_symbol_of(uint32_t first_difference)
{
    return first_difference < SS_SYMBOL_COUNT - 1 ? first_difference : SS_SYMBOL_COUNT - 1;
}

/* The bits to the right of bit h of an upper half. */
static inline uint32_t ss_suffix_bits(uint32_t h)
{
    return h < SS_SYMBOL_COUNT - 1 ? SS_SYMBOL_COUNT - 2 - h : 0;
}

typedef struct ss_code {
    const ss_kernels *kernels;        /* how to decode under this code; ss_kernels_best() unless a test says otherwise */
    uint8_t lengths[SS_SYMBOL_COUNT]; /* 0: h has no code */
    uint16_t codes[SS_SYMBOL_COUNT];  /* reversed */
    ss_lookup lookup[1u << SS_MAX_CODE_BITS];
} ss_code;

/* How often each symbol occurs, by how often each of the 64 bits is the first in which neighbours differ. */
void ss_symbol_counts(const uint64_t h_counts[SS_FINGERPRINT_BITS], uint64_t counts_out[SS_SYMBOL_COUNT]);

/* The lengths of an optimal code with none over SS_MAX_CODE_BITS: 0 where counts[h] is 0. One symbol alone gets 1. */
void ss_huffman_lengths(const uint64_t counts[SS_SYMBOL_COUNT], uint8_t lengths[SS_SYMBOL_COUNT]);

/* Whether `lengths` are a code: complete, or one symbol of length 1, or none at all. On false, *reason says why not. */
bool ss_huffman_valid(const uint8_t lengths[SS_SYMBOL_COUNT], const char **reason);

/* Make codes and look-up table from valid lengths. */
void ss_code_init(ss_code *code, const uint8_t lengths[SS_SYMBOL_COUNT]);

/* ===== counting a table ===== */

/*
 * How the neighbours of a table differ: what its code is made from, and the facts that its header
 * keeps. Counted piece by piece, side by side, and joined.
 */

typedef struct ss_table_counts {
    uint64_t count; /* fingerprints */
    uint64_t h_counts[SS_FINGERPRINT_BITS];
    ss_bit_counter gap_bits;
} ss_table_counts;

void ss_table_counts_init(ss_table_counts *counts);

/* Count ascending, distinct fingerprints and the neighbours among them. */
void ss_table_counts_add(ss_table_counts *counts, const uint64_t *values, size_t count);

/* Count a pair of neighbours of which each was added with others. */
void ss_table_counts_add_pair(ss_table_counts *counts, uint64_t lower, uint64_t upper);

/* What is known of a whole table: the sums over all its pieces. */
typedef struct ss_table_totals {
    uint64_t count;
    uint64_t h_counts[SS_FINGERPRINT_BITS];
    uint64_t gap_bit_counts[SS_FINGERPRINT_BITS];
} ss_table_totals;

/* Add what was counted to the facts, which begin zeroed. */
void ss_table_totals_add(ss_table_totals *metadata, ss_table_counts *counts);

#endif

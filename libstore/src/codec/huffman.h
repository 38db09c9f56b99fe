/*
 * huffman.h - a table's Huffman code, and the counts that it is built from.
 *
 * The code is canonical and length-limited. Its symbol is h, the position of the first bit in which the upper half of a
 * fingerprint differs from that of the one before: 0 to 31, or 32 if they are equal. One code serves one table. Only
 * the lengths are stored. Codes are assigned in the canonical order, shorter first and equal lengths by h. In the bit
 * stream they begin with their most significant bit; so they are reversed here, since the stream is read from its least
 * significant bit. Source: format-spec/block-codec.md; the paper, section 3.2.
 */
#ifndef SS_HUFFMAN_H
#define SS_HUFFMAN_H

#include <stdatomic.h>

#include "base/bitcount.h"
#include "base/common.h"
#include "codec/bits.h"
#include "codec/kernels.h"

#define SS_SYMBOL_COUNT 33u

/* The h of two neighbours with this first difference of all 64 bits. */
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
    const ss_kernels *kernels;        /* ss_kernels_best() except in tests */
    uint8_t lengths[SS_SYMBOL_COUNT]; /* 0: h has no code */
    uint16_t codes[SS_SYMBOL_COUNT];  /* reversed */
    atomic_bool can_decode;           /* the look-up table is filled */
    ss_lookup lookup[1u << SS_MAX_CODE_BITS];
} ss_code;

/* How often each symbol occurs, from the counts of the first bit in which neighbours differ. */
void ss_symbol_counts(const uint64_t h_counts[SS_FINGERPRINT_BITS], uint64_t counts_out[SS_SYMBOL_COUNT]);

/* The lengths of an optimal code, at most SS_MAX_CODE_BITS. 0 if counts[h] is 0. A single symbol gets 1. */
void ss_huffman_lengths(const uint64_t counts[SS_SYMBOL_COUNT], uint8_t lengths[SS_SYMBOL_COUNT]);

/* Whether the lengths make a complete code, or are one length of 1, or none. On false, *reason says why. */
bool ss_huffman_valid(const uint8_t lengths[SS_SYMBOL_COUNT], const char **reason);

/* Build codes from valid lengths: enough to encode. */
void ss_code_assign(ss_code *code, const uint8_t lengths[SS_SYMBOL_COUNT]);
/* Fill the look-up table, which takes a hundred times longer. One thread at a time; others may see can_decode. */
void ss_code_fill(ss_code *code);
/* Build codes from valid lengths and fill the look-up table: enough to encode and decode. */
void ss_code_init(ss_code *code, const uint8_t lengths[SS_SYMBOL_COUNT]);

/* ===== counting a table ===== */

/* How the neighbours of a piece of a table differ. Pieces are counted in parallel, and their counts added up. */
typedef struct ss_table_counts {
    uint64_t count; /* fingerprints */
    uint64_t h_counts[SS_FINGERPRINT_BITS];
    ss_bit_counter gap_bits;
} ss_table_counts;

void ss_table_counts_init(ss_table_counts *counts);

/* Count ascending, distinct fingerprints and the neighbours among them. */
void ss_table_counts_add(ss_table_counts *counts, const uint64_t *values, size_t count);

/* Count a pair of neighbours that were added with different calls. */
void ss_table_counts_add_pair(ss_table_counts *counts, uint64_t lower, uint64_t upper);

/* The totals over all pieces of a table. They begin zeroed. */
typedef struct ss_table_totals {
    uint64_t count;
    uint64_t h_counts[SS_FINGERPRINT_BITS];
    uint64_t gap_bit_counts[SS_FINGERPRINT_BITS];
} ss_table_totals;

void ss_table_totals_add(ss_table_totals *totals, ss_table_counts *counts);

#endif

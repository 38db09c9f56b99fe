/*
 * huffman.h - the canonical, length-limited Huffman code over h (0 to 63), the position of the first differing bit.
 *
 * One code serves one table. Only its lengths are stored; codes are assigned in the canonical order, shorter first and
 * equal lengths by h, and stand in the bit stream most significant bit first (so that they are reversed here, where the
 * stream is read from its least significant bit). Source: format-spec/block-codec.md; the paper, section 3.2.
 */
#ifndef SS_HUFFMAN_H
#define SS_HUFFMAN_H

#include "base/common.h"
#include "codec/lanes.h"

#define SS_SYMBOL_COUNT 64u    /* h is 0 to 63 */
#define SS_MAX_CODE_BITS 11u   /* one look-up decodes any code, and 16 KiB of look-up table stay in the L1 cache */
#define SS_LOOKUP_SYMBOLS 4u   /* symbols that one look-up yields at most */

/*
 * What the next 11 bits of the stream hold: all symbols that lie within them whole, at most four. Its lower half is made to be
 * added up, for up to SS_LOOKUPS_A_ROUND look-ups: bits 0-7 are the number of code bits, bits 8-15 that of symbols, bits 16-27
 * the rests' widths, bit 28 whether one is above SS_NARROW_REST_BITS. The upper half holds the symbols, a byte each. 0: no
 * code begins like this.
 */
typedef uint64_t ss_lookup;

typedef struct ss_code {
    ss_lanes_fn decode_lanes; /* how to decode under this code; ss_lanes_best() unless a test says otherwise */
    uint8_t lengths[SS_SYMBOL_COUNT]; /* 0: h has no code */
    uint16_t codes[SS_SYMBOL_COUNT];  /* reversed */
    ss_lookup lookup[1u << SS_MAX_CODE_BITS];
} ss_code;

/* Of an entry, or of a sum of entries' lower halves. */

static inline uint32_t ss_lookup_code_bits(uint32_t sum)
{
    return sum & 255u;
}

static inline uint32_t ss_lookup_symbols(uint32_t sum)
{
    return sum >> 8 & 255u;
}

static inline uint32_t ss_lookup_rest_bits(uint32_t sum)
{
    return sum >> 16 & 4095u;
}

static inline uint32_t ss_lookup_wide(uint32_t sum)
{
    return sum >> 28;
}

/* Four symbols, the first one lowest; those that the entry does not have are 0. */
static inline uint32_t ss_lookup_h(ss_lookup entry)
{
    return (uint32_t)(entry >> 32);
}

/* The lengths of an optimal code with none over SS_MAX_CODE_BITS: 0 where counts[h] is 0. One symbol alone gets 1. */
void ss_huffman_lengths(const uint64_t counts[SS_SYMBOL_COUNT], uint8_t lengths[SS_SYMBOL_COUNT]);

/* Whether `lengths` are a code: complete, or one symbol of length 1, or none at all. On false, *reason says why not. */
bool ss_huffman_valid(const uint8_t lengths[SS_SYMBOL_COUNT], const char **reason);

/* Make codes and look-up table from valid lengths. */
void ss_code_init(ss_code *code, const uint8_t lengths[SS_SYMBOL_COUNT]);

/* The bits of all symbols in `counts` under `lengths`, codes and rests. */
uint64_t ss_huffman_cost_bits(const uint64_t counts[SS_SYMBOL_COUNT], const uint8_t lengths[SS_SYMBOL_COUNT]);

#endif

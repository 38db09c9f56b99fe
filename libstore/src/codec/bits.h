/*
 * bits.h - bit fields in a block, the sizes of what it has, and the entries of a code's look-up table.
 *
 * Bit fields begin with the least significant bit: bit b of a block is bit b % 8 of byte b / 8. A block ends in an
 * 8-byte trailer (its checksum), so a 64-bit access that begins before the trailer stays in the block. The only bounds
 * rule is: a field must end at or before the trailer.
 */
#ifndef SS_BITS_H
#define SS_BITS_H

#include "base/bytes.h"
#include "base/common.h"

#define SS_GROUP_SIZE 64u  /* fingerprints, but for the last group */
#define SS_UPPER_BITS 32u  /* of a fingerprint, which are coded */
#define SS_COLUMN_BITS 32u /* of its lower half */
#define SS_LOWER_BYTES 4u

#define SS_PEEK_BITS 57u

/* At least SS_PEEK_BITS bits from bit position `at` on; those above are undefined. */
static inline uint64_t ss_bits_peek(const uint8_t *block, uint32_t at)
{
    return ss_load_le64(block + (at >> 3)) >> (at & 7);
}

/* The field of `width` (0 to 63) bits at `at`. */
static inline uint64_t ss_bits_get(const uint8_t *block, uint32_t at, uint32_t width)
{
    uint64_t bits = ss_bits_peek(block, at);
    if (SS_UNLIKELY((at & 7) + width > 64)) /* it reaches into a ninth byte */
        bits |= (uint64_t)block[(at >> 3) + 8] << (64 - (at & 7));
    return bits & ((UINT64_C(1) << width) - 1);
}

/* ----- look-up tables of codes ----- */

#define SS_MAX_CODE_BITS 11u  /* one look-up decodes any code, and a table of 16 KiB stays in the L1 cache */
#define SS_LOOKUP_SYMBOLS 4u  /* maximum number of symbols of one look-up */
#define SS_LOOKUPS_A_ROUND 5u /* this many look-ups of at most 11 bits need one load of 64 bits, at any bit position */

/*
 * All symbols, at most four, that lie completely within the next 11 bits of the stream. Bits 0-7 are the number of code
 * bits, bits 8-15 the number of symbols. The upper half holds the symbols, a byte each, the first one lowest. A symbol
 * is stored as its span, 32 - h, the number of bits from bit h on. 0: no code begins like this.
 */
typedef uint64_t ss_lookup;

static inline uint32_t ss_lookup_code_bits(ss_lookup entry)
{
    return entry & 255u;
}

static inline uint32_t ss_lookup_symbols(ss_lookup entry)
{
    return entry >> 8 & 255u;
}

static inline uint32_t ss_lookup_spans(ss_lookup entry)
{
    return (uint32_t)(entry >> 32);
}

#endif

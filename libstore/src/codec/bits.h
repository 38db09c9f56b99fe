/*
 * bits.h - bit fields in a block, least significant bit first: bit b of a block is bit b % 8 of byte b / 8.
 *
 * A block ends in an 8-byte trailer (its checksum), so that a 64-bit access that begins before the trailer never leaves
 * the block. That is the only bounds rule here: a field must end at or before the trailer.
 */
#ifndef SS_BITS_H
#define SS_BITS_H

#include "base/common.h"
#include "base/le.h"

#define SS_PEEK_BITS 57u

/* SS_PEEK_BITS or more bits from bit position `at` on; those above are undefined. */
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

#endif

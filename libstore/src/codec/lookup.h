/*
 * lookup.h - the entry of a code's look-up table: what some bits of the stream hold.
 */
#ifndef SS_LOOKUP_H
#define SS_LOOKUP_H

#include "base/common.h"

#define SS_MAX_CODE_BITS 11u /* one look-up decodes any code, and 16 KiB of look-up table stay in the L1 cache */
#define SS_LOOKUP_SYMBOLS 4u /* symbols that one look-up yields at most */

/* Codes are looked up in rounds: so many look-ups of at most 11 bits a load of 64 bits is enough for, wherever it begins. */
#define SS_LOOKUPS_A_ROUND 5u

/*
 * What the next 11 bits of the stream hold: all symbols that lie within them whole, at most four. Bits 0-7 are the number of
 * code bits, bits 8-15 that of symbols. The upper half holds the symbols, a byte each, the first one lowest: each as its span,
 * 32 - h, the number of bits from bit h on. 0: no code begins like this.
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

/*
 * lookup.h - the entry of a code's look-up table: what some bits of the stream hold.
 */
#ifndef SS_LOOKUP_H
#define SS_LOOKUP_H

#include "base/common.h"

#define SS_MAX_CODE_BITS 11u /* one look-up decodes any code, and 16 KiB of look-up table stay in the L1 cache */
#define SS_LOOKUP_SYMBOLS 4u /* symbols that one look-up yields at most */

/* Rests up to this width can be read with one 64-bit load each. Wider ones are rare: two fingerprints of a table that
 * differ in their first 6 bits. */
#define SS_NARROW_REST_BITS 57u

/* Codes are looked up in rounds: so many look-ups of at most 11 bits a load of 64 bits is enough for, wherever it begins. */
#define SS_LOOKUPS_A_ROUND 5u
#define SS_ROUND_BITS 55u

/*
 * What the next 11 bits of the stream hold: all symbols that lie within them whole, at most four. Its lower half is
 * made to be added up, for up to SS_LOOKUPS_A_ROUND look-ups: bits 0-7 are the number of code bits, bits 8-15 that of
 * symbols, bits 16-27 the rests' widths, bit 28 whether one is above SS_NARROW_REST_BITS. The upper half holds the
 * symbols, a byte each. 0: no code begins like this.
 */
typedef uint64_t ss_lookup;

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

#endif

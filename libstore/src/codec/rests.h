/*
 * rests.h - the second half of decoding a group: from the positions h of the first differing bits, which are known, and the
 * rests, to values. Portable, and with AVX-512 where the processor has it; tests hold the two equal.
 */
#ifndef SS_RESTS_H
#define SS_RESTS_H

#include "base/common.h"
#include "codec/bits.h"

/* Rests up to this width can be read with one 64-bit load each. Wider ones are rare: two fingerprints of a table that
 * differ in their first 6 bits. */
#define SS_NARROW_REST_BITS 57u

/* More of h[] that may be read behind the last. */
#define SS_RESTS_SLACK 8u

/* No rest may lie below this bit: the bytes before it are where a wide load may begin. */
#define SS_RESTS_LOWEST_BIT 512u

/*
 * Make out[0 .. count-1] from the fingerprint before them, their h (0 to 63) and their rests, which end at `end_bit`, the
 * first one highest. All rests must be SS_NARROW_REST_BITS wide at most and lie between SS_RESTS_LOWEST_BIT and the block's
 * trailer, and h[] must go on with seven 63s.
 */
typedef void (*ss_rests_fn)(const uint8_t *block, uint32_t end_bit, uint64_t before, const uint8_t *h, uint32_t count,
                            uint64_t *out);

void ss_rests_portable(const uint8_t *block, uint32_t end_bit, uint64_t before, const uint8_t *h, uint32_t count,
                       uint64_t *out);

/* The AVX-512 form, or NULL where ss_simd_best() does not allow it. */
ss_rests_fn ss_rests_avx512(void);

/* The fastest that ss_simd_best() allows. */
ss_rests_fn ss_rests_best(void);

#endif

/*
 * lane_codes.h - the first half of decoding groups side by side: their codes. Inlined into each form of ss_lanes_fn,
 * and so compiled for that form's processor.
 */
#ifndef SS_LANE_CODES_H
#define SS_LANE_CODES_H

#include "codec/bits.h"
#include "codec/lanes.h"

/* Room for what all rounds can yield, and a wide load. */
#define SS_LANE_CAPACITY (SS_LOOKUP_SYMBOLS * (SS_LANE_STEPS + SS_LOOKUPS_A_ROUND) + 8)

/* What decoding its codes says of a lane. */
typedef struct ss_lane_codes {
    uint8_t h[SS_LANE_CAPACITY];
    uint32_t rest_bits; /* of all h that were decoded, those beyond the lane's steps included */
    bool wide;          /* among them is one with a rest above SS_NARROW_REST_BITS */
} ss_lane_codes;

/*
 * Decode at least `steps` codes of each of `count` lanes. False if that takes more rounds than any codes would: some
 * bits are no code. `count` must be a constant, so that the loops over lanes are unrolled and their state stays in
 * registers.
 */
__attribute__((always_inline)) static inline bool ss_lane_codes_decode(const ss_lookup *lookup, const ss_lane *lanes,
                                                                       uint32_t count, uint32_t steps,
                                                                       ss_lane_codes *codes)
{
    uint32_t bit[SS_LANES] = {0}, done[SS_LANES] = {0}, rest_bits[SS_LANES] = {0}, wide[SS_LANES] = {0}, least = 0;
    for (uint32_t i = 0; i < count; i++)
        bit[i] = lanes[i].begin;
    for (uint32_t rounds = ss_lane_rounds(steps); least < steps; rounds--) {
        uint64_t bits[SS_LANES];
        uint32_t sums[SS_LANES] = {0};
        if (SS_UNLIKELY(rounds == 0))
            return false;
#pragma GCC unroll 4
        for (uint32_t i = 0; i < count; i++)
            bits[i] = ss_bits_peek(lanes[i].block, bit[i]);
#pragma GCC unroll 5
        for (uint32_t look = 0; look < SS_LOOKUPS_A_ROUND; look++) {
#pragma GCC unroll 4
            for (uint32_t i = 0; i < count; i++) {
                ss_lookup entry = lookup[bits[i] & ((1u << SS_MAX_CODE_BITS) - 1)];
                bits[i] >>= entry & 63;
                ss_store_le32(&codes[i].h[done[i] + ss_lookup_symbols(sums[i])], ss_lookup_h(entry));
                sums[i] += (uint32_t)entry;
            }
        }
#pragma GCC unroll 4
        for (uint32_t i = 0; i < count; i++) {
            bit[i] += ss_lookup_code_bits(sums[i]);
            done[i] += ss_lookup_symbols(sums[i]);
            rest_bits[i] += ss_lookup_rest_bits(sums[i]);
            wide[i] |= ss_lookup_wide(sums[i]);
        }
        least = done[0];
#pragma GCC unroll 4
        for (uint32_t i = 1; i < count; i++)
            least = done[i] < least ? done[i] : least;
    }
    for (uint32_t i = 0; i < count; i++) {
        codes[i].rest_bits = rest_bits[i];
        codes[i].wide = wide[i] != 0;
    }
    return true;
}

/* The same for a count that is no constant. */
__attribute__((always_inline)) static inline bool ss_lane_codes_decode_any(const ss_lookup *lookup,
                                                                           const ss_lane *lanes, uint32_t count,
                                                                           ss_lane_codes *codes)
{
    uint32_t steps = lanes[0].steps;
    for (uint32_t i = 1; i < count; i++)
        steps = lanes[i].steps > steps ? lanes[i].steps : steps;
    switch (count) {
    case 1: return ss_lane_codes_decode(lookup, lanes, 1, steps, codes);
    case 2: return ss_lane_codes_decode(lookup, lanes, 2, steps, codes);
    case 3: return ss_lane_codes_decode(lookup, lanes, 3, steps, codes);
    default: return ss_lane_codes_decode(lookup, lanes, 4, steps, codes);
    }
}

/* Whether the lane's rests lie within the block and can be read with wide loads. What was decoded beyond the lane's steps
 * counts too: that only makes it careful. */
static inline bool ss_lane_codes_plain(const ss_lane *lane, const ss_lane_codes *codes)
{
    return !codes->wide && codes->rest_bits <= lane->end;
}

/* Decode a lane's rests, its h being known. False if the values do not ascend strictly. */
typedef bool (*ss_lane_rests_fn)(const ss_lane *lane, const uint8_t *h);

/* Both halves, as ss_lanes_fn promises; `decode_rests` is a constant, and inlined. */
__attribute__((always_inline)) static inline uint32_t ss_lanes_decode(const ss_lookup *lookup, const ss_lane *lanes,
                                                                      uint32_t count, ss_lane_rests_fn decode_rests)
{
    ss_lane_codes codes[SS_LANES];
    uint32_t missed = 0;
    if (SS_UNLIKELY(!ss_lane_codes_decode_any(lookup, lanes, count, codes)))
        return (1u << count) - 1;
    for (uint32_t i = 0; i < count; i++) {
        if (SS_UNLIKELY(!ss_lane_codes_plain(&lanes[i], &codes[i]) || !decode_rests(&lanes[i], codes[i].h)))
            missed |= 1u << i;
    }
    return missed;
}

#endif

/*
 * lanes.h - decodes several groups of a table side by side. Portable, with BMI2, and with AVX-512 where the processor
 * has them; tests hold the three equal.
 *
 * Decoding a group has two halves: its codes give all h, then h and rests give the values. The first is a chain of
 * look-ups, each waiting for the one before, so that two or four groups' chains take little longer than one's. What
 * the chains yield too much, since they go on until the last group is done, is forgotten.
 */
#ifndef SS_LANES_H
#define SS_LANES_H

#include "codec/lookup.h"

/* So many groups are decoded side by side. */
#define SS_LANES 4u

/* More steps a group have to be decoded otherwise. */
#define SS_LANE_STEPS 127u

/* A group to decode, and where to. */
typedef struct ss_lane {
    const uint8_t *block;
    uint32_t begin, end; /* bits; where its codes begin and its rests end */
    uint32_t steps;      /* from one fingerprint to the next, 0 to SS_LANE_STEPS */
    uint64_t first;      /* the group's first fingerprint */
    uint64_t *out;       /* for steps + 1 fingerprints */
} ss_lane;

/*
 * Decode 1 to SS_LANES lanes under one code, by its look-up table. Returns a mask of those that were not decoded: they
 * are malformed, do not ascend strictly, or have what these functions leave to others, rests of more than
 * SS_NARROW_REST_BITS, or less before their end than the codes that are looked up too far ask for. Reads ss_lane_reach()
 * bits from each begin on, and the peek behind them.
 */
typedef uint32_t (*ss_lanes_fn)(const ss_lookup *lookup, const ss_lane *lanes, uint32_t count);

uint32_t ss_lanes_portable(const ss_lookup *lookup, const ss_lane *lanes, uint32_t count);

/* The forms with BMI2 alone, and with AVX-512 too, or NULL where ss_simd_best() does not allow it. */
ss_lanes_fn ss_lanes_bmi2(void);
ss_lanes_fn ss_lanes_avx512(void);

/* The fastest that ss_simd_best() allows. */
ss_lanes_fn ss_lanes_best(void);

/* The rounds that give `steps` codes whatever their lengths. */
static inline uint32_t ss_lane_rounds(uint32_t steps)
{
    return (steps + SS_LOOKUPS_A_ROUND - 1) / SS_LOOKUPS_A_ROUND;
}

/* The bits that so many steps' codes may take, and those behind them that are looked up with them. */
static inline uint32_t ss_lane_reach(uint32_t steps)
{
    return ss_lane_rounds(steps) * SS_ROUND_BITS;
}

#endif

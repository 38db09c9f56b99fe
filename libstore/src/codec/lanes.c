#include "codec/lanes.h"

#include "codec/lane_codes.h"

/*
 * All bits from h on are set to 1, then those behind h that the rest has as 0 are subtracted. So the chain from one value to
 * the next is an or and a subtraction.
 */
static void decode_rests(const ss_lane *lane, const uint8_t *h)
{
    uint64_t value = lane->first;
    uint32_t end = lane->end;
    lane->out[0] = value;
    for (uint32_t i = 0; i < lane->steps; i++) {
        uint32_t width = 63u ^ h[i];
        uint64_t low = ~(~UINT64_C(0) << width);
        end -= width;
        uint64_t zeros = ~ss_bits_peek(lane->block, end) & low;
        value = (value | (2 * low + 1)) - zeros;
        lane->out[i + 1] = value;
    }
}

uint32_t ss_lanes_portable(const ss_lookup *lookup, const ss_lane *lanes, uint32_t count)
{
    ss_lane_codes codes[SS_LANES];
    uint32_t missed = 0;
    if (SS_UNLIKELY(!ss_lane_codes_decode_any(lookup, lanes, count, codes)))
        return (1u << count) - 1;
    for (uint32_t i = 0; i < count; i++) {
        if (SS_LIKELY(ss_lane_codes_plain(&lanes[i], &codes[i])))
            decode_rests(&lanes[i], codes[i].h);
        else
            missed |= 1u << i;
    }
    return missed;
}

ss_lanes_fn ss_lanes_best(void)
{
    ss_lanes_fn fast = ss_lanes_avx512();
    return fast != NULL ? fast : ss_lanes_portable;
}

#include "codec/lanes.h"

#include "codec/lane_codes.h"

/*
 * All bits from h on are set to 1, then those behind h that the rest has as 0 are subtracted. So the chain from one
 * value to the next is an or and a subtraction.
 */
static bool decode_rests(const ss_lane *lane, const uint8_t *h)
{
    uint64_t value = lane->first, set_before = 0; /* bit 0: some bit h was 1 in the value before */
    uint32_t end = lane->end;
    lane->out[0] = value;
    for (uint32_t i = 0; i < lane->steps; i++) {
        uint32_t width = 63u ^ h[i];
        uint64_t low = ~(~UINT64_C(0) << width);
        end -= width;
        uint64_t zeros = ~ss_bits_peek(lane->block, end) & low;
        set_before |= value >> width;
        value = (value | (2 * low + 1)) - zeros;
        lane->out[i + 1] = value;
    }
    return (set_before & 1) == 0;
}

uint32_t ss_lanes_portable(const ss_lookup *lookup, const ss_lane *lanes, uint32_t count)
{
    return ss_lanes_decode(lookup, lanes, count, decode_rests);
}

ss_lanes_fn ss_lanes_best(void)
{
    ss_lanes_fn fast = ss_lanes_avx512();
    return fast != NULL ? fast : ss_lanes_portable;
}

#include "codec/lanes.h"

#include "base/simd.h"
#include "codec/lane_codes.h"

/* The values one by one. The chain from one to the next is an and with what lies before h, and an or. */
__attribute__((always_inline)) static inline bool decode_rests(const ss_lane *lane, const uint8_t *h)
{
    uint64_t value = lane->first, set_before = 0; /* each bit h that was 1 in the value before */
    uint32_t end = lane->end;
    lane->out[0] = value;
    for (uint32_t i = 0; i < lane->steps; i++) {
        uint32_t width = 63u ^ h[i];
        uint64_t bit = UINT64_C(1) << width, low = bit - 1;
        end -= width;
        uint64_t set = bit | (ss_bits_peek(lane->block, end) & low);
        set_before |= value & bit;
        value = (value & ~low) | set;
        lane->out[i + 1] = value;
    }
    return set_before == 0;
}

uint32_t ss_lanes_portable(const ss_lookup *lookup, const ss_lane *lanes, uint32_t count)
{
    return ss_lanes_decode(lookup, lanes, count, decode_rests);
}

#if SS_SIMD_X86

__attribute__((target("bmi2"))) static uint32_t decode_with_bmi2(const ss_lookup *lookup, const ss_lane *lanes,
                                                                 uint32_t count)
{
    return ss_lanes_decode(lookup, lanes, count, decode_rests);
}

ss_lanes_fn ss_lanes_bmi2(void)
{
    return ss_simd_best() >= SS_SIMD_AVX2 ? decode_with_bmi2 : NULL;
}

#else

ss_lanes_fn ss_lanes_bmi2(void)
{
    return NULL;
}

#endif

ss_lanes_fn ss_lanes_best(void)
{
    const ss_lanes_fn forms[] = {ss_lanes_avx512(), ss_lanes_bmi2()};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (forms[i] != NULL)
            return forms[i];
    return ss_lanes_portable;
}

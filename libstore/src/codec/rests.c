#include "codec/rests.h"

/*
 * All bits from h on are set to 1, then those behind h that the rest has as 0 are subtracted. So the chain from one value to
 * the next is an or and a subtraction.
 */
void ss_rests_portable(const uint8_t *block, uint32_t end_bit, uint64_t before, const uint8_t *h, uint32_t count,
                       uint64_t *out)
{
    uint64_t value = before;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t width = 63u ^ h[i];
        uint64_t low = ~(~UINT64_C(0) << width);
        end_bit -= width;
        uint64_t zeros = ~ss_bits_peek(block, end_bit) & low;
        value = (value | (2 * low + 1)) - zeros;
        out[i] = value;
    }
}

ss_rests_fn ss_rests_best(void)
{
    ss_rests_fn fast = ss_rests_avx512();
    return fast != NULL ? fast : ss_rests_portable;
}

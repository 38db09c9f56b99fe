/*
 * bitcount_lanes.h - adds many words to a counter, in one form: the function ADD_MANY for a processor of the kind
 * TARGET. bitcount.c includes it for each form. The compiler turns plain C into vector instructions; with AVX-512 a
 * carry-save adder is two of them.
 */

/* Add words, LANES * VECTORS at a time; returns how many. */
TARGET static size_t ADD_MANY(ss_bit_counter *counter, const uint64_t *words, size_t count)
{
    lanes planes[BUFFER_PLANES] = {{0}};
    size_t at = 0;
    for (; count - at >= LANES * VECTORS; at += LANES * VECTORS) {
        lanes in[VECTORS], twos[2] = {{0}}, fours[2] = {{0}}, eights[2] = {{0}}, carry;
        memcpy(in, words + at, sizeof in);
        for (size_t eight = 0; eight < 2; eight++) {
            for (size_t four = 0; four < 2; four++) {
                const lanes *from = in + 8 * eight + 4 * four;
                ADD_CARRY_SAVE(twos[0], planes[0], from[0], from[1]);
                ADD_CARRY_SAVE(twos[1], planes[0], from[2], from[3]);
                ADD_CARRY_SAVE(fours[four], planes[1], twos[0], twos[1]);
            }
            ADD_CARRY_SAVE(eights[eight], planes[2], fours[0], fours[1]);
        }
        ADD_CARRY_SAVE(carry, planes[3], eights[0], eights[1]);
        for (size_t lane = 0; lane < LANES; lane++)
            add_carry(counter, BUFFER_PLANES, carry[lane]);
    }
    for (uint32_t value = 0; value < BUFFER_PLANES; value++)
        for (size_t lane = 0; lane < LANES; lane++)
            add_low(counter, value, planes[value][lane]);
    return at;
}

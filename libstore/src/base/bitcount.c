#include "base/bitcount.h"

#include <string.h>

#define BUFFER_PLANES 4u /* that the words of a buffer are added to directly */

void ss_bit_counter_init(ss_bit_counter *counter)
{
    counter->used = 0;
    counter->plane_count = BUFFER_PLANES;
    counter->waiting = 0;
    memset(counter->planes, 0, BUFFER_PLANES * sizeof counter->planes[0]);
}

/* Add a and b to *plane at every position; returns the carries, which weigh twice as much. */
static inline uint64_t add_carry_save(uint64_t *plane, uint64_t a, uint64_t b)
{
    uint64_t half = *plane ^ a;
    uint64_t carry = (*plane & a) | (half & b);
    *plane = half ^ b;
    return carry;
}

/* Eight words into the three lowest planes; returns the carries, of weight 8. */
static inline uint64_t add_eight(uint64_t planes[3], const uint64_t words[8])
{
    uint64_t twos_a = add_carry_save(&planes[0], words[0], words[1]);
    uint64_t twos_b = add_carry_save(&planes[0], words[2], words[3]);
    uint64_t fours_a = add_carry_save(&planes[1], twos_a, twos_b);
    twos_a = add_carry_save(&planes[0], words[4], words[5]);
    twos_b = add_carry_save(&planes[0], words[6], words[7]);
    uint64_t fours_b = add_carry_save(&planes[1], twos_a, twos_b);
    return add_carry_save(&planes[2], fours_a, fours_b);
}

static uint64_t *plane_at(ss_bit_counter *counter, uint32_t value)
{
    assert(value < 64);
    if (value == counter->plane_count)
        counter->planes[counter->plane_count++] = 0;
    return &counter->planes[value];
}

void ss_bit_counter_reduce(ss_bit_counter *counter)
{
    uint64_t low[BUFFER_PLANES]; /* a copy, which can stay in registers */
    memcpy(low, counter->planes, sizeof low);
    uint64_t eights_a = add_eight(low, counter->buffer);
    uint64_t eights_b = add_eight(low, counter->buffer + 8);
    uint64_t carry = add_carry_save(&low[3], eights_a, eights_b);
    memcpy(counter->planes, low, sizeof low);
    counter->used = 0;
    uint32_t value = BUFFER_PLANES;
    for (; counter->waiting >> value & 1; value++) {
        carry = add_carry_save(plane_at(counter, value), counter->carries[value], carry);
        counter->waiting &= ~(UINT64_C(1) << value);
    }
    counter->carries[value] = carry;
    counter->waiting |= UINT64_C(1) << value;
}

/* Add the buffer and all waiting carries to the planes. */
static void settle(ss_bit_counter *counter)
{
    if (counter->used > 0) {
        memset(counter->buffer + counter->used, 0, (SS_BIT_COUNTER_WORDS - counter->used) * sizeof(uint64_t));
        ss_bit_counter_reduce(counter);
    }
    /* A carry from below may need a plane that is not there yet, which is then the next one. */
    uint64_t carry = 0;
    for (uint32_t value = BUFFER_PLANES; counter->waiting >> value != 0 || carry != 0; value++) {
        bool waits = counter->waiting >> value & 1;
        carry = add_carry_save(plane_at(counter, value), waits ? counter->carries[value] : 0, carry);
    }
    counter->waiting = 0;
}

void ss_bit_counter_counts(ss_bit_counter *counter, uint64_t counts_out[64])
{
    settle(counter);
    for (uint32_t i = 0; i < 64; i++) {
        counts_out[i] = 0;
        for (uint32_t value = 0; value < counter->plane_count; value++)
            counts_out[i] |= (counter->planes[value] >> (63 - i) & 1) << value;
    }
}

uint64_t ss_bit_counter_above(ss_bit_counter *counter, uint64_t threshold)
{
    settle(counter);
    if (counter->plane_count < 64 && threshold >> counter->plane_count != 0)
        return 0;
    /* From the highest value down: a count is above if it has a 1 where the threshold has a 0, and was equal before. */
    uint64_t above = 0, equal = ~UINT64_C(0);
    for (uint32_t value = counter->plane_count; value-- > 0;) {
        uint64_t bit = (threshold >> value & 1) != 0 ? ~UINT64_C(0) : 0;
        above |= equal & counter->planes[value] & ~bit;
        equal &= ~(counter->planes[value] ^ bit);
    }
    return above;
}

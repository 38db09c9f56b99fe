#include "base/bitcount.h"

#include <string.h>

#include "base/simd.h"

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

/* Add a word of weight 2^value, which is BUFFER_PLANES or more. */
static void add_carry(ss_bit_counter *counter, uint32_t value, uint64_t carry)
{
    for (; counter->waiting >> value & 1; value++) {
        carry = add_carry_save(plane_at(counter, value), counter->carries[value], carry);
        counter->waiting &= ~(UINT64_C(1) << value);
    }
    counter->carries[value] = carry;
    counter->waiting |= UINT64_C(1) << value;
}

/* Add 16 words. */
static void add_sixteen(ss_bit_counter *counter, const uint64_t *words)
{
    uint64_t low[BUFFER_PLANES]; /* a copy, which can stay in registers */
    memcpy(low, counter->planes, sizeof low);
    uint64_t eights_a = add_eight(low, words);
    uint64_t eights_b = add_eight(low, words + 8);
    uint64_t carry = add_carry_save(&low[3], eights_a, eights_b);
    memcpy(counter->planes, low, sizeof low);
    add_carry(counter, BUFFER_PLANES, carry);
}

void ss_bit_counter_reduce(ss_bit_counter *counter)
{
    add_sixteen(counter, counter->buffer);
    counter->used = 0;
}

#if SS_SIMD_X86

#define LANES 4u
#define VECTORS 16u /* that are reduced to one of weight 16 */
typedef uint64_t lanes __attribute__((vector_size(8 * LANES)));

/* Do in each lane what add_carry_save() does. */
#define ADD_CARRY_SAVE(carry, plane, a, b)                                                                             \
    do {                                                                                                               \
        const lanes half = (plane) ^ (a);                                                                              \
        carry = ((plane) & (a)) | (half & (b));                                                                        \
        plane = half ^ (b);                                                                                            \
    } while (0)

/* Add a word of weight 2^value, which is below BUFFER_PLANES. */
static void add_low(ss_bit_counter *counter, uint32_t value, uint64_t word)
{
    for (; value < BUFFER_PLANES && word != 0; value++) {
        const uint64_t carry = counter->planes[value] & word;
        counter->planes[value] ^= word;
        word = carry;
    }
    if (word != 0)
        add_carry(counter, value, word);
}

#define ADD_MANY add_many_avx2
#define TARGET SS_TARGET_AVX2
#include "base/bitcount_lanes.h"
#undef ADD_MANY
#undef TARGET
#define ADD_MANY add_many_avx512
#define TARGET SS_TARGET_AVX512
#include "base/bitcount_lanes.h"

#endif

void ss_bit_counter_add_many(ss_bit_counter *counter, const uint64_t *words, size_t count)
{
    size_t at = 0;
#if SS_SIMD_X86
    const ss_simd_level level = count >= LANES * VECTORS ? ss_simd_best() : SS_SIMD_NONE;
    if (level >= SS_SIMD_AVX2)
        at = (level >= SS_SIMD_AVX512 ? add_many_avx512 : add_many_avx2)(counter, words, count);
#endif
    if (counter->used == 0)
        for (; count - at >= SS_BIT_COUNTER_WORDS; at += SS_BIT_COUNTER_WORDS)
            add_sixteen(counter, words + at);
    for (; at < count; at++)
        ss_bit_counter_add(counter, words[at]);
}

/* Add the buffer and all waiting carries to the planes. */
static void add_waiting(ss_bit_counter *counter)
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

/* The bits of a byte as the lowest bits of eight bytes, in the same order. */
static inline uint64_t spread(uint64_t byte)
{
    return ((byte & 0x7f) * UINT64_C(0x0002040810204081) & UINT64_C(0x0101010101010101)) | (byte >> 7) << 56;
}

/* Eight positions and eight planes at a time: the planes' bits gather in bytes. */
void ss_bit_counter_counts(ss_bit_counter *counter, uint64_t counts_out[64])
{
    add_waiting(counter);
    memset(counts_out, 0, 64 * sizeof *counts_out);
    for (uint32_t first = 0; first < counter->plane_count; first += 8) {
        const uint32_t end = first + 8 < counter->plane_count ? first + 8 : counter->plane_count;
        for (uint32_t shift = 0; shift < 64; shift += 8) {
            uint64_t bytes = 0;
            for (uint32_t value = first; value < end; value++)
                bytes |= spread(counter->planes[value] >> shift & 0xff) << (value - first);
            for (uint32_t i = 0; i < 8; i++)
                counts_out[63 - shift - i] |= (bytes >> 8 * i & 0xff) << first;
        }
    }
}

uint64_t ss_bit_counter_above(ss_bit_counter *counter, uint64_t threshold)
{
    add_waiting(counter);
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

#include "codec/block.h"

bool ss_geometry_valid(ss_geometry geometry)
{
    uint32_t bytes = geometry.block_bytes;
    return bytes >= SS_BLOCK_MIN_BYTES && bytes <= SS_BLOCK_MAX_BYTES && (bytes & (bytes - 1)) == 0 &&
           geometry.restart_interval >= 1 && geometry.restart_interval <= SS_BLOCK_MAX_COUNT;
}

/* ----- how many fit ----- */

void ss_step_bits(const ss_code *code, const uint64_t *values, size_t count, uint8_t *bits_out)
{
    uint8_t bits_of[SS_SYMBOL_COUNT];
    for (uint32_t h = 0; h < SS_SYMBOL_COUNT; h++)
        bits_of[h] = (uint8_t)(code->lengths[h] + 63 - h);
    for (size_t i = 1; i < count; i++)
        bits_out[i] = bits_of[ss_first_difference(values[i - 1], values[i])];
}

/* The least shift that brings a distance from the block's first fingerprint into a key. */
static uint32_t shift_for(uint64_t distance)
{
    return distance <= UINT32_MAX ? 0 : SS_KEY_BITS - (uint32_t)__builtin_clzll(distance);
}

static uint32_t sum_bits(const uint8_t *step_bits, uint32_t count)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += step_bits[i];
    return sum;
}

/* How many of `count` steps take at most `room` bits together; *taken_out is what they take. */
static uint32_t fit_steps(const uint8_t *step_bits, uint32_t count, uint32_t room, uint32_t *taken_out)
{
    uint32_t fitting = count, taken = sum_bits(step_bits, count);
    while (taken > room)
        taken -= step_bits[--fitting];
    *taken_out = taken;
    return fitting;
}

uint32_t ss_block_fit(ss_geometry geometry, const uint64_t *values, const uint8_t *step_bits, size_t count)
{
    const uint32_t interval = geometry.restart_interval, end_bit = ss_block_end_bit(geometry);
    const uint32_t most = (uint32_t)ss_min_u64(count, SS_BLOCK_MAX_COUNT);
    uint32_t fitting = 0, taken = 0; /* bits of all steps so far */
    for (uint32_t groups = 1; fitting < most; groups++) {
        uint64_t key_shift = shift_for(values[fitting] - values[0]);
        uint64_t frame_bits = ss_block_first_group_bit(geometry, groups) + (groups - 1) * key_shift + taken;
        if (frame_bits > end_bit)
            break;
        uint32_t steps = most - fitting - 1, group_bits;
        if (steps > interval - 1)
            steps = interval - 1;
        uint32_t taking = fit_steps(step_bits + fitting + 1, steps, end_bit - (uint32_t)frame_bits, &group_bits);
        fitting += 1 + taking;
        taken += group_bits;
        if (taking < steps)
            break;
    }
    return fitting;
}

/* ----- writing ----- */

/* Fields written from the block's end towards its begin, the next one always right below the one before: so no byte is
 * read again, and what a store of 8 bytes spoils lies below, where the next ones go. */
typedef struct back_writer {
    uint8_t *at;    /* what is from here on stands */
    uint64_t bits;  /* the `count` highest go right below */
    uint32_t count; /* fewer than 8 after a flush */
} back_writer;

#define MOST_FIELD_BITS 56u /* of a field, or of several between two flushes */

static inline void put_back(back_writer *writer, uint64_t value, uint32_t width)
{
    writer->bits |= value << (63 - writer->count - width) << 1;
    writer->count += width;
}

static inline void flush_back(back_writer *writer)
{
    ss_store_le64(writer->at - 8, writer->bits);
    writer->at -= writer->count >> 3;
    writer->bits <<= writer->count & ~7u;
    writer->count &= 7;
}

/* A field of up to 63 bits. */
static inline void write_back(back_writer *writer, uint64_t value, uint32_t width)
{
    if (SS_UNLIKELY(width > MOST_FIELD_BITS)) {
        put_back(writer, value >> 32, width - 32);
        flush_back(writer);
        value &= UINT32_MAX;
        width = 32;
    }
    put_back(writer, value, width);
    flush_back(writer);
}

static void write_zeros(back_writer *writer, uint32_t width)
{
    for (; width > MOST_FIELD_BITS; width -= MOST_FIELD_BITS)
        write_back(writer, 0, MOST_FIELD_BITS);
    write_back(writer, 0, width);
}

/* The rests of the steps within values[0 .. count-1]. */
static void write_rests(back_writer *writer, const uint64_t *values, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        uint32_t width = 63 - ss_first_difference(values[i - 1], values[i]);
        write_back(writer, values[i] & ((UINT64_C(1) << width) - 1), width);
    }
}

static inline void put_code(back_writer *writer, const ss_code *code, const uint64_t *values, uint32_t step)
{
    uint32_t h = ss_first_difference(values[step - 1], values[step]);
    put_back(writer, code->codes[h], code->lengths[h]);
}

/* Their codes, which run forward: so the last one is written first. */
static void write_codes(back_writer *writer, const ss_code *code, const uint64_t *values, uint32_t count)
{
    uint32_t step = count - 1;
    for (; step >= 4; step -= 4) { /* four codes have at most 44 bits */
        put_code(writer, code, values, step);
        put_code(writer, code, values, step - 1);
        put_code(writer, code, values, step - 2);
        put_code(writer, code, values, step - 3);
        flush_back(writer);
    }
    for (; step > 0; step--)
        put_code(writer, code, values, step);
    flush_back(writer);
}

/* ----- blocks ----- */

/* The bits of the steps within a group. */
static uint32_t group_bits(const uint8_t *step_bits, uint32_t count, uint32_t interval, uint32_t group)
{
    uint32_t first = group * interval, left = count - first;
    return sum_bits(step_bits + first + 1, (left < interval ? left : interval) - 1);
}

/* Head, keys and slots. After the groups: what stands before group 0 was spoilt by writing it. */
static void write_frame(ss_geometry geometry, const uint64_t *values, const uint8_t *step_bits, uint32_t count,
                        uint32_t groups, uint32_t key_shift, uint8_t *to)
{
    const uint32_t interval = geometry.restart_interval, slot_bytes = ss_slot_bytes(geometry);
    uint8_t *keys = to + SS_BLOCK_HEAD_BYTES, *slots = keys + (size_t)(groups - 1) * SS_KEY_BYTES;
    uint32_t begin = ss_block_first_group_bit(geometry, groups) + group_bits(step_bits, count, interval, 0);
    ss_store_le16(to, (uint16_t)count);
    to[2] = (uint8_t)key_shift;
    to[3] = 0;
    ss_store_le64(to + 4, values[0]);
    for (uint32_t group = 1; group < groups; group++) {
        ss_store_le32(keys, (uint32_t)((values[(size_t)group * interval] - values[0]) >> key_shift));
        if (slot_bytes == 2)
            ss_store_le16(slots, (uint16_t)begin);
        else
            ss_store_le32(slots, begin);
        keys += SS_KEY_BYTES;
        slots += slot_bytes;
        begin += key_shift + group_bits(step_bits, count, interval, group);
    }
}

void ss_block_encode(ss_geometry geometry, const ss_code *code, const uint64_t *values, const uint8_t *step_bits,
                     uint32_t count, uint8_t *to)
{
    const uint32_t interval = geometry.restart_interval, groups = (count + interval - 1) / interval;
    const uint32_t key_shift = shift_for(values[(size_t)(groups - 1) * interval] - values[0]);
    const uint32_t begin = ss_block_first_group_bit(geometry, groups);
    back_writer writer = {.at = to + ss_block_end_bit(geometry) / 8};
    uint32_t zeros = ss_block_end_bit(geometry) - begin - (groups - 1) * key_shift;
    for (uint32_t group = 0; group < groups; group++)
        zeros -= group_bits(step_bits, count, interval, group);

    for (uint32_t group = groups; group-- > 0;) {
        const uint64_t *first = values + (size_t)group * interval;
        uint32_t size = group + 1 == groups ? count - group * interval : interval;
        if (group > 0)
            write_back(&writer, (first[0] - values[0]) & ss_low_mask(key_shift), key_shift);
        write_rests(&writer, first, size);
        write_zeros(&writer, zeros);
        zeros = 0; /* only the last group has some */
        write_codes(&writer, code, first, size);
    }
    assert(writer.at == to + begin / 8 && writer.count == 0);
    write_frame(geometry, values, step_bits, count, groups, key_shift, to);
}

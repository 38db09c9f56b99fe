#include "codec/block.h"

bool ss_block_bytes_valid(uint32_t block_bytes)
{
    return block_bytes >= SS_BLOCK_MIN_BYTES && block_bytes <= SS_BLOCK_MAX_BYTES &&
           (block_bytes & (block_bytes - 1)) == 0;
}

#define MAX_GROUPS (SS_BLOCK_MAX_BYTES / (SS_GROUP_SIZE * SS_LOWER_BYTES))

void ss_step_bits(const ss_code *code, const uint64_t *values, size_t count, uint8_t *bits_out)
{
    uint8_t bits_of[SS_FINGERPRINT_BITS];
    for (uint32_t i = 0; i < SS_FINGERPRINT_BITS; i++) {
        const uint32_t h = ss_symbol_of(i);
        bits_of[i] = (uint8_t)(code->lengths[h] + ss_suffix_bits(h));
    }
    for (size_t i = 1; i < count; i++)
        bits_out[i] = bits_of[ss_first_difference(values[i - 1], values[i])];
}

/* Adds eight bytes at a time, in four lanes of 16 bits: there are at most 63 bytes, each at most 42. */
static uint32_t sum_bits(const uint8_t *step_bits, uint32_t count)
{
    const uint64_t even = UINT64_C(0x00ff00ff00ff00ff);
    uint64_t sums = 0;
    uint32_t sum = 0, i = 0;
    for (; i + 8 <= count; i += 8) {
        const uint64_t eight = ss_load_le64(step_bits + i);
        sums += (eight & even) + (eight >> 8 & even);
    }
    for (; i < count; i++)
        sum += step_bits[i];
    return sum + (uint32_t)(sums * UINT64_C(0x0001000100010001) >> 48);
}

/* The sizes of a block's groups. */
typedef struct shape {
    uint32_t groups, key_shift;
    uint32_t bits[MAX_GROUPS]; /* of a group's steps */
} shape;

/* The smallest shift that brings an upper half's distance from the block's first into a key. */
static uint32_t shift_for(uint32_t distance)
{
    return distance >> SS_KEY_BITS == 0 ? 0 : SS_UPPER_BITS - SS_KEY_BITS - (uint32_t)__builtin_clz(distance);
}

static uint32_t group_bytes(const shape *self, uint32_t group)
{
    return (self->bits[group] + (group > 0 ? self->key_shift : 0) + 7) / 8;
}

static uint32_t frame_bytes(uint32_t groups)
{
    return (groups - 1) * SS_GROUP_FRAME_BYTES + SS_BLOCK_HEAD_BYTES + SS_BLOCK_TRAILER_BYTES;
}

/* Begin another group with values[first], which may lengthen the keys of all others. Returns the bytes of the block
 * except the steps and lower halves of this group. */
static uint32_t begin_group(shape *self, const uint64_t *values, uint32_t first)
{
    uint32_t bytes = frame_bytes(++self->groups) + first * SS_LOWER_BYTES;
    self->key_shift = shift_for(ss_upper(values[first]) - ss_upper(values[0]));
    for (uint32_t i = 0; i + 1 < self->groups; i++)
        bytes += group_bytes(self, i);
    return bytes;
}

uint32_t ss_block_fit(uint32_t block_bytes, const uint64_t *values, const uint8_t *step_bits, size_t count)
{
    const uint32_t max = (uint32_t)ss_min_u64(count, ss_block_capacity(block_bytes));
    shape made = {.groups = 0};
    for (uint32_t first = 0; first < max; first += SS_GROUP_SIZE) {
        const uint32_t others = begin_group(&made, values, first), group = made.groups - 1;
        uint32_t size = (uint32_t)ss_min_u64(max - first, SS_GROUP_SIZE);
        const uint32_t before = size;
        made.bits[group] = sum_bits(step_bits + first + 1, size - 1);
        while (size > 1 && others + size * SS_LOWER_BYTES + group_bytes(&made, group) > block_bytes)
            made.bits[group] -= step_bits[first + --size];
        if (others + size * SS_LOWER_BYTES + group_bytes(&made, group) > block_bytes)
            return first;
        if (size < before)
            return first + size;
    }
    return max;
}

/* ----- writing ----- */

/* Writes fields from the block's end towards its begin, each directly below the one before. So no byte is read again,
 * and a store of 8 bytes overwrites only bytes below, where the next fields go. */
typedef struct back_writer {
    uint8_t *at;    /* bytes from here on are final */
    uint64_t bits;  /* the `count` highest go directly below */
    uint32_t count; /* fewer than 8 after a flush */
} back_writer;

#define MAX_FIELD_BITS 56u /* between two flushes */

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

static inline void write_back(back_writer *writer, uint64_t value, uint32_t width)
{
    put_back(writer, value, width);
    flush_back(writer);
}

static void write_zeros(back_writer *writer, uint32_t width)
{
    for (; width > MAX_FIELD_BITS; width -= MAX_FIELD_BITS)
        write_back(writer, 0, MAX_FIELD_BITS);
    write_back(writer, 0, width);
}

static inline uint64_t suffix_of(uint64_t value, uint32_t width)
{
    return ss_upper(value) & ((UINT64_C(1) << width) - 1);
}

/* Write the suffixes of the steps within values[0 .. count-1], two at a time: the later one is lower. */
static void write_suffixes(back_writer *writer, const uint8_t *symbols, const uint64_t *values, uint32_t count)
{
    uint32_t i = 1;
    for (; i + 1 < count; i += 2) {
        const uint32_t width = ss_suffix_bits(symbols[i]), next_width = ss_suffix_bits(symbols[i + 1]);
        const uint64_t suffix = suffix_of(values[i], width), next = suffix_of(values[i + 1], next_width);
        if (SS_LIKELY(width + next_width <= MAX_FIELD_BITS)) {
            write_back(writer, suffix << next_width | next, width + next_width);
        } else {
            write_back(writer, suffix, width);
            write_back(writer, next, next_width);
        }
    }
    for (; i < count; i++)
        write_back(writer, suffix_of(values[i], ss_suffix_bits(symbols[i])), ss_suffix_bits(symbols[i]));
}

static inline void put_code(back_writer *writer, const ss_code *code, uint8_t h)
{
    put_back(writer, code->codes[h], code->lengths[h]);
}

/* Write their codes, which run forward, so the last one is written first. */
static void write_codes(back_writer *writer, const ss_code *code, const uint8_t *symbols, uint32_t count)
{
    uint32_t step = count - 1;
    for (; step >= 4; step -= 4) { /* four codes have at most 44 bits */
        put_code(writer, code, symbols[step]);
        put_code(writer, code, symbols[step - 1]);
        put_code(writer, code, symbols[step - 2]);
        put_code(writer, code, symbols[step - 3]);
        flush_back(writer);
    }
    for (; step > 0; step--)
        put_code(writer, code, symbols[step]);
    flush_back(writer);
}

/* Write a group of `bytes` bytes below the writer. The low bits of its distance end it. */
static void write_group(back_writer *writer, const ss_code *code, const uint64_t *values, uint32_t count,
                        uint32_t low_bits, uint32_t distance, uint32_t bytes, uint32_t step_bits)
{
    uint8_t symbols[SS_GROUP_SIZE];
    for (uint32_t i = 1; i < count; i++)
        symbols[i] = (uint8_t)ss_symbol_of(ss_first_difference(values[i - 1], values[i]));
    write_back(writer, distance & ss_low_mask(low_bits), low_bits);
    write_suffixes(writer, symbols, values, count);
    write_zeros(writer, 8 * bytes - low_bits - step_bits);
    write_codes(writer, code, symbols, count);
}

void ss_block_encode(uint32_t block_bytes, const ss_code *code, const uint64_t *values, const uint8_t *step_bits,
                     uint32_t count, uint8_t *to)
{
    shape made = {.groups = ss_group_count(count)};
    uint8_t *const head = to + block_bytes - SS_BLOCK_TRAILER_BYTES - SS_BLOCK_HEAD_BYTES;
    uint8_t *const keys = head - (size_t)(made.groups - 1) * 2, *const begins = keys - (size_t)(made.groups - 1) * 2;
    back_writer writer = {.at = begins};
    made.key_shift = shift_for(ss_upper(values[(size_t)(made.groups - 1) * SS_GROUP_SIZE]) - ss_upper(values[0]));
    uint32_t end = count * SS_LOWER_BYTES; /* of the last group but one */
    for (uint32_t group = 0; group < made.groups; group++) {
        const uint32_t first = group * SS_GROUP_SIZE, size = (uint32_t)ss_min_u64(count - first, SS_GROUP_SIZE);
        made.bits[group] = sum_bits(step_bits + first + 1, size - 1);
        if (group > 0)
            ss_store_le16(begins + (size_t)(group - 1) * 2, (uint16_t)end);
        if (group + 1 < made.groups)
            end += group_bytes(&made, group);
    }
    if (count == 1) { /* no steps, and a store of 8 bytes would begin before the block */
        memset(to, 0, (size_t)(begins - to));
        writer.at = to + SS_LOWER_BYTES;
    }
    for (uint32_t group = count > 1 ? made.groups : 0; group-- > 0;) {
        const uint64_t *first = values + (size_t)group * SS_GROUP_SIZE;
        const uint32_t distance = ss_upper(first[0]) - ss_upper(values[0]), low_bits = group > 0 ? made.key_shift : 0;
        const uint32_t bytes = group + 1 < made.groups ? group_bytes(&made, group) : (uint32_t)(begins - to) - end;
        if (group > 0)
            ss_store_le16(keys + (size_t)(group - 1) * 2, (uint16_t)(distance >> made.key_shift));
        write_group(&writer, code, first, (uint32_t)ss_min_u64(count - group * SS_GROUP_SIZE, SS_GROUP_SIZE), low_bits,
                    distance, bytes, made.bits[group]);
    }
    assert(writer.at == to + (size_t)count * SS_LOWER_BYTES && writer.count == 0);
    for (uint32_t i = 0; i < count; i++) /* after the groups, since the first one overwrote bytes before it */
        ss_store_le32(to + (size_t)i * SS_LOWER_BYTES, (uint32_t)values[i]);
    ss_store_le16(head, (uint16_t)count);
    head[2] = (uint8_t)made.key_shift;
    head[3] = 0;
    ss_store_le32(head + 4, ss_upper(values[0]));
}

#include "support/reference_block.h"

#include <string.h>

/* A block from its end: the trailer, the head, the keys, the begins. */
#define TRAILER_BYTES 8u
#define HEAD_BYTES 8u
#define HEAD_COUNT 0u
#define HEAD_SHIFT 2u
#define HEAD_ZERO 3u
#define HEAD_FIRST 4u

static uint64_t number_at(const uint8_t *from, size_t at, size_t width)
{
    uint64_t number = 0;
    for (size_t i = width; i-- > 0;)
        number = number << 8 | from[at + i];
    return number;
}

static size_t head_of(uint32_t block_bytes)
{
    return block_bytes - TRAILER_BYTES - HEAD_BYTES;
}

/* ----- codes ----- */

void reference_code_init(reference_code *code, const uint8_t lengths[REFERENCE_SYMBOLS])
{
    uint32_t used = 0;
    memset(code, 0, sizeof *code);
    for (uint32_t length = 1; length <= 11; length++)
        for (uint32_t h = 0; h < REFERENCE_SYMBOLS; h++)
            if (lengths[h] == length) {
                code->symbols[used++] = (uint8_t)h;
                code->counts[length]++;
            }
}

bool reference_is_code(const uint8_t lengths[REFERENCE_SYMBOLS])
{
    uint32_t used = 0, sum = 0;
    for (uint32_t h = 0; h < REFERENCE_SYMBOLS; h++) {
        if (lengths[h] > 11)
            return false;
        used += lengths[h] > 0;
        sum += lengths[h] > 0 ? 1u << (11 - lengths[h]) : 0;
    }
    return used == 0 || sum == 1u << 11 || (used == 1 && sum == 1u << 10);
}

uint64_t reference_bits(const uint8_t *block, uint32_t at, uint32_t width)
{
    uint64_t number = 0;
    for (uint32_t i = 0; i < width; i++)
        number |= (uint64_t)(block[(at + i) / 8] >> (at + i) % 8 & 1) << i;
    return number;
}

/* Codes of one length follow one another, from `first` on; the next length's first is twice the number behind the
 * last. */
uint32_t reference_symbol(const reference_code *code, const uint8_t *block, uint32_t *at)
{
    uint32_t seen = 0, first = 0, shorter = 0;
    for (uint32_t length = 1; length <= 11; length++) {
        seen = seen << 1 | (uint32_t)reference_bits(block, *at, 1);
        *at += 1;
        if (seen >= first && seen - first < code->counts[length])
            return code->symbols[shorter + seen - first];
        shorter += code->counts[length];
        first = (first + code->counts[length]) << 1;
    }
    return REFERENCE_NO_SYMBOL;
}

/* ----- frames ----- */

uint32_t reference_key_shift(uint32_t distance)
{
    uint32_t shift = 0;
    while (distance >> shift > 65535)
        shift++;
    return shift;
}

uint32_t reference_block_count(const uint8_t *block, uint32_t block_bytes)
{
    return (uint32_t)number_at(block, head_of(block_bytes) + HEAD_COUNT, 2);
}

uint32_t reference_block_groups(const uint8_t *block, uint32_t block_bytes)
{
    const uint32_t count = reference_block_count(block, block_bytes);
    return count / REFERENCE_GROUP + (count % REFERENCE_GROUP > 0);
}

uint32_t reference_block_key_shift(const uint8_t *block, uint32_t block_bytes)
{
    return block[head_of(block_bytes) + HEAD_SHIFT];
}

size_t reference_key_shift_offset(uint32_t block_bytes)
{
    return head_of(block_bytes) + HEAD_SHIFT;
}

/* Group 1 has neither the first key nor the last one, but the one that is as many places before the head as there are
 * groups from it on. */
size_t reference_key_offset(const uint8_t *block, uint32_t block_bytes, uint32_t group)
{
    return head_of(block_bytes) - 2 * (size_t)(reference_block_groups(block, block_bytes) - group);
}

size_t reference_begin_offset(const uint8_t *block, uint32_t block_bytes, uint32_t group)
{
    const size_t others = reference_block_groups(block, block_bytes) - 1;
    return reference_key_offset(block, block_bytes, group) - 2 * others;
}

uint32_t reference_key(const uint8_t *block, uint32_t block_bytes, uint32_t group)
{
    return (uint32_t)number_at(block, reference_key_offset(block, block_bytes, group), 2);
}

uint32_t reference_begin(const uint8_t *block, uint32_t block_bytes, uint32_t group)
{
    const uint32_t groups = reference_block_groups(block, block_bytes);
    if (group == 0)
        return 4 * reference_block_count(block, block_bytes);
    if (group == groups)
        return (uint32_t)head_of(block_bytes) - 4 * (groups - 1);
    return (uint32_t)number_at(block, reference_begin_offset(block, block_bytes, group), 2);
}

bool reference_block_opens(const uint8_t *block, uint32_t block_bytes)
{
    const uint32_t count = reference_block_count(block, block_bytes);
    if (count == 0 || block[head_of(block_bytes) + HEAD_ZERO] != 0 ||
        reference_block_key_shift(block, block_bytes) > 16)
        return false;
    return 4 * count + 4 * (reference_block_groups(block, block_bytes) - 1) <= head_of(block_bytes);
}

/* ----- reading ----- */

/* A group's codes and suffixes are between two positions; reading either moves them closer. */
typedef struct gap {
    uint32_t low, high; /* bits */
} gap;

/* Find a group's gap and its first upper half. Every begin must be between the adjacent ones, and the group's own low
 * bits within the group. */
static bool enter(const uint8_t *block, uint32_t block_bytes, uint32_t group, gap *self, uint32_t *upper)
{
    const uint32_t groups = reference_block_groups(block, block_bytes),
                   low_bits = reference_block_key_shift(block, block_bytes);
    const uint32_t begin = reference_begin(block, block_bytes, group),
                   end = reference_begin(block, block_bytes, group + 1);
    uint64_t value = number_at(block, head_of(block_bytes) + HEAD_FIRST, 4);
    *self = (gap){.low = 8 * begin, .high = 8 * end};
    if (begin < reference_begin(block, block_bytes, 0) || end < begin ||
        end > reference_begin(block, block_bytes, groups))
        return false;
    if (group > 0) {
        if (self->high - self->low < low_bits)
            return false;
        self->high -= low_bits;
        value += (uint64_t)reference_key(block, block_bytes, group) << low_bits;
        value += reference_bits(block, self->high, low_bits);
    }
    *upper = (uint32_t)value;
    return value <= UINT32_MAX;
}

static uint64_t lower_of(const uint8_t *block, uint32_t index)
{
    return number_at(block, 4 * (size_t)index, 4);
}

bool reference_block_group_first(const uint8_t *block, uint32_t block_bytes, uint32_t group, uint64_t *first)
{
    gap self;
    uint32_t upper;
    if (!enter(block, block_bytes, group, &self, &upper))
        return false;
    *first = (uint64_t)upper << 32 | lower_of(block, group * REFERENCE_GROUP);
    return true;
}

/* Read a code and its suffix, and compute the next upper half, in which the bit that the code names is 1. *is_strict
 * becomes false if it was so before, or if code and suffix are not between the others. */
static bool read_step(const uint8_t *block, uint32_t block_bytes, const reference_code *code, gap *self,
                      uint32_t *upper, bool *is_strict)
{
    if (self->low + 11 > 8 * block_bytes)
        return false;
    const uint32_t h = reference_symbol(code, block, &self->low);
    if (h == REFERENCE_NO_SYMBOL || (h < 32 && self->high < 31 - h))
        return false;
    for (uint32_t bit = h + 1; bit < 32; bit++) { /* from the highest one down, which stands last */
        const uint32_t mask = 1u << (31 - bit);
        self->high--;
        *upper = reference_bits(block, self->high, 1) != 0 ? *upper | mask : *upper & ~mask;
    }
    *is_strict &= self->low <= self->high;
    if (h == 32)
        return true;
    const uint32_t named = 1u << (31 - h);
    *is_strict &= (*upper & named) == 0;
    *upper |= named;
    return true;
}

static bool read_group(const uint8_t *block, uint32_t block_bytes, const reference_code *code, uint32_t group,
                       uint64_t *out, bool *is_strict)
{
    const uint32_t first = group * REFERENCE_GROUP, count = reference_block_count(block, block_bytes);
    uint32_t upper;
    gap self;
    if (!enter(block, block_bytes, group, &self, &upper))
        return false;
    for (uint32_t i = first; i < count && i < first + REFERENCE_GROUP; i++) {
        if (i > first && !read_step(block, block_bytes, code, &self, &upper, is_strict))
            return false;
        out[i - first] = (uint64_t)upper << 32 | lower_of(block, i);
    }
    return true;
}

static bool ascend(const uint64_t *values, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        if (values[i] <= values[i - 1])
            return false;
    return true;
}

bool reference_block_decode_group(const uint8_t *block, uint32_t block_bytes, const reference_code *code,
                                  uint32_t group, uint64_t *out)
{
    const uint32_t left = reference_block_count(block, block_bytes) - group * REFERENCE_GROUP;
    bool is_strict = true;
    return read_group(block, block_bytes, code, group, out, &is_strict) && is_strict &&
           ascend(out, left < REFERENCE_GROUP ? left : REFERENCE_GROUP);
}

bool reference_block_read(const uint8_t *block, uint32_t block_bytes, const reference_code *code, uint64_t *out,
                          bool *is_strict)
{
    *is_strict = true;
    for (uint32_t group = 0; group < reference_block_groups(block, block_bytes); group++)
        if (!read_group(block, block_bytes, code, group, out + (size_t)group * REFERENCE_GROUP, is_strict))
            return false;
    return true;
}

bool reference_block_decode(const uint8_t *block, uint32_t block_bytes, const reference_code *code, uint64_t *out)
{
    bool is_strict;
    return reference_block_read(block, block_bytes, code, out, &is_strict) && is_strict &&
           ascend(out, reference_block_count(block, block_bytes));
}

/* ----- writing ----- */

void reference_put_bits(uint8_t *block, uint32_t at, uint32_t width, uint64_t value)
{
    for (uint32_t i = 0; i < width; i++)
        block[(at + i) / 8] |= (uint8_t)((value >> i & 1) << (at + i) % 8);
}

static void put_number(uint8_t *to, size_t at, size_t width, uint64_t number)
{
    for (size_t i = 0; i < width; i++)
        to[at + i] = (uint8_t)(number >> (8 * i));
}

uint32_t reference_first_difference(uint64_t before, uint64_t value)
{
    uint32_t bit = 0;
    while (bit < 64 && (before >> (63 - bit) & 1) == (value >> (63 - bit) & 1))
        bit++;
    return bit;
}

uint32_t reference_step(uint64_t before, uint64_t value)
{
    uint32_t h = reference_first_difference(before, value);
    if (h >= 32)
        return 32;
    if (value > before)
        return h;
    while (h-- > 0)
        if ((value >> (63 - h) & 1) != 0)
            return h;
    return REFERENCE_NO_SYMBOL;
}

void reference_code_lengths(const uint64_t counts[REFERENCE_SYMBOLS], uint8_t lengths[REFERENCE_SYMBOLS])
{
    uint32_t used = 0, length = 0, seen = 0;
    for (uint32_t h = 0; h < REFERENCE_SYMBOLS; h++)
        used += counts[h] > 0;
    while (1u << length < used)
        length++;
    memset(lengths, 0, REFERENCE_SYMBOLS);
    for (uint32_t h = 0; h < REFERENCE_SYMBOLS; h++)
        if (counts[h] > 0) /* the first ones get the remaining codes */
            lengths[h] = (uint8_t)(used == 1 ? 1 : length - (seen++ < (1u << length) - used));
}

static uint32_t suffix_bits(uint32_t h)
{
    return h < 32 ? 31 - h : 0;
}

/* How far a group's first upper half is from the block's. */
static uint32_t distance_of(const uint64_t *values, uint32_t index)
{
    return (uint32_t)(values[index] >> 32) - (uint32_t)(values[0] >> 32);
}

/* The shift that the groups of values[0 .. count-1] need. */
static uint32_t shift_of(const uint64_t *values, uint32_t count)
{
    uint32_t shift = 0;
    for (uint32_t i = REFERENCE_GROUP; i < count; i += REFERENCE_GROUP) {
        const uint32_t needed = reference_key_shift(distance_of(values, i));
        shift = needed > shift ? needed : shift;
    }
    return shift;
}

/* The bytes of the group that begins with values[first], of values[0 .. count-1]. */
static uint32_t group_bytes(const uint8_t lengths[REFERENCE_SYMBOLS], const uint64_t *values, uint32_t count,
                            uint32_t first, uint32_t shift)
{
    uint32_t bits = first > 0 ? shift : 0;
    for (uint32_t i = first + 1; i < count && i < first + REFERENCE_GROUP; i++) {
        const uint32_t h = reference_step(values[i - 1], values[i]);
        bits += lengths[h] + suffix_bits(h);
    }
    return (bits + 7) / 8;
}

uint32_t reference_block_needs(const uint8_t lengths[REFERENCE_SYMBOLS], const uint64_t *values, uint32_t count)
{
    const uint32_t shift = shift_of(values, count);
    uint32_t bytes = 4 * count + HEAD_BYTES + TRAILER_BYTES;
    for (uint32_t first = 0; first < count; first += REFERENCE_GROUP)
        bytes += group_bytes(lengths, values, count, first, shift) + (first > 0 ? 4 : 0);
    return bytes;
}

uint32_t reference_block_fit(uint32_t block_bytes, const uint8_t lengths[REFERENCE_SYMBOLS], const uint64_t *values,
                             size_t count)
{
    uint32_t n = 1;
    for (; n < count; n++) {
        const bool continued = n % REFERENCE_GROUP != 0;
        if (continued && reference_step(values[n - 1], values[n]) == REFERENCE_NO_SYMBOL)
            break;
        if (reference_block_needs(lengths, values, n + 1) > block_bytes)
            break;
    }
    return n;
}

/* Write a symbol's code at *at, its highest bit first, and go behind it. */
static void put_code(uint8_t *block, const uint8_t lengths[REFERENCE_SYMBOLS], uint32_t symbol, uint32_t *at)
{
    uint32_t code = 0, length = 1;
    for (; length < lengths[symbol]; length++) {
        for (uint32_t h = 0; h < REFERENCE_SYMBOLS; h++)
            code += lengths[h] == length;
        code <<= 1;
    }
    for (uint32_t h = 0; h < symbol; h++)
        code += lengths[h] == length;
    for (uint32_t i = length; i-- > 0; *at += 1)
        reference_put_bits(block, *at, 1, code >> i & 1);
}

/* Write the steps of a group between two bits. */
static void put_steps(uint8_t *block, const uint8_t lengths[REFERENCE_SYMBOLS], const uint64_t *values, uint32_t count,
                      uint32_t at, uint32_t end)
{
    for (uint32_t i = 1; i < count; i++) {
        const uint32_t h = reference_step(values[i - 1], values[i]);
        put_code(block, lengths, h, &at);
        end -= suffix_bits(h);
        reference_put_bits(block, end, suffix_bits(h), values[i] >> 32);
    }
}

void reference_block_encode(uint8_t *block, uint32_t block_bytes, const uint8_t lengths[REFERENCE_SYMBOLS],
                            const uint64_t *values, uint32_t count)
{
    const uint32_t shift = shift_of(values, count);
    const size_t head = head_of(block_bytes);
    memset(block, 0, block_bytes);
    put_number(block, head + HEAD_COUNT, 2, count);
    put_number(block, head + HEAD_SHIFT, 1, shift);
    put_number(block, head + HEAD_FIRST, 4, values[0] >> 32);
    for (uint32_t i = 0; i < count; i++)
        put_number(block, 4 * (size_t)i, 4, values[i]);
    uint32_t begin = 4 * count;
    for (uint32_t first = 0, group = 0; first < count; first += REFERENCE_GROUP, group++) {
        const uint32_t size = count - first < REFERENCE_GROUP ? count - first : REFERENCE_GROUP;
        uint32_t end = 8 * (begin + group_bytes(lengths, values, count, first, shift));
        if (first + size == count)
            end = 8 * reference_begin(block, block_bytes, group + 1);
        if (group > 0) {
            const uint32_t distance = distance_of(values, first);
            put_number(block, reference_begin_offset(block, block_bytes, group), 2, begin);
            put_number(block, reference_key_offset(block, block_bytes, group), 2, distance >> shift);
            reference_put_bits(block, end - shift, shift, distance);
        }
        put_steps(block, lengths, values + first, size, 8 * begin, end - (group > 0 ? shift : 0));
        begin = end / 8;
    }
}

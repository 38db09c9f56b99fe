#include "support/slow_block.h"

#include <string.h>

#define HEAD_BYTES 12u
#define KEY_BYTES 4u
#define TRAILER_BYTES 8u

static uint32_t slot_bytes_of(uint32_t block_bytes)
{
    return block_bytes <= 8192 ? 2 : 4;
}

static uint64_t number_at(const uint8_t *from, size_t at, size_t width)
{
    uint64_t number = 0;
    for (size_t i = width; i-- > 0;)
        number = number << 8 | from[at + i];
    return number;
}

void slow_code_init(slow_code *code, const uint8_t lengths[64])
{
    uint32_t used = 0;
    memset(code, 0, sizeof *code);
    for (uint32_t length = 1; length <= 11; length++)
        for (uint32_t h = 0; h < 64; h++)
            if (lengths[h] == length) {
                code->symbols[used++] = (uint8_t)h;
                code->counts[length]++;
            }
}

uint64_t slow_bits(const uint8_t *block, uint32_t at, uint32_t width)
{
    uint64_t number = 0;
    for (uint32_t i = 0; i < width; i++)
        number |= (uint64_t)(block[(at + i) / 8] >> (at + i) % 8 & 1) << i;
    return number;
}

/* Codes of one length follow one another, from `first` on; the next length's first is twice the number behind the last. */
uint32_t slow_symbol(const slow_code *code, const uint8_t *block, uint32_t *at)
{
    uint32_t seen = 0, first = 0, shorter = 0;
    for (uint32_t length = 1; length <= 11; length++) {
        seen = seen << 1 | (uint32_t)slow_bits(block, *at, 1);
        *at += 1;
        if (seen >= first && seen - first < code->counts[length])
            return code->symbols[shorter + seen - first];
        shorter += code->counts[length];
        first = (first + code->counts[length]) << 1;
    }
    return SLOW_NO_SYMBOL;
}

uint64_t slow_successor(uint64_t value, uint32_t h, uint64_t rest)
{
    const uint32_t width = 63 - h;
    value = value >> width >> 1 << width << 1; /* h = 0: all bits go, in two steps */
    return value + (UINT64_C(1) << width) + rest;
}

uint32_t slow_key_shift(uint64_t distance)
{
    uint32_t shift = 0;
    while (distance >> shift >= UINT64_C(1) << 32)
        shift++;
    return shift;
}

uint32_t slow_block_count(const uint8_t *block)
{
    return (uint32_t)number_at(block, 0, 2);
}

uint32_t slow_block_groups(const uint8_t *block, uint32_t interval)
{
    return (slow_block_count(block) + interval - 1) / interval;
}

uint32_t slow_key(const uint8_t *block, uint32_t group)
{
    return (uint32_t)number_at(block, HEAD_BYTES + KEY_BYTES * (size_t)(group - 1), KEY_BYTES);
}

size_t slow_slot_offset(const uint8_t *block, uint32_t block_bytes, uint32_t interval, uint32_t group)
{
    const size_t keys = slow_block_groups(block, interval) - 1;
    return HEAD_BYTES + KEY_BYTES * keys + slot_bytes_of(block_bytes) * (size_t)(group - 1);
}

uint32_t slow_slot(const uint8_t *block, uint32_t block_bytes, uint32_t interval, uint32_t group)
{
    return (uint32_t)number_at(block, slow_slot_offset(block, block_bytes, interval, group),
                               slot_bytes_of(block_bytes));
}

/* Behind head, keys and slots. */
static uint32_t first_begin(const uint8_t *block, uint32_t block_bytes, uint32_t interval)
{
    const uint32_t others = slow_block_groups(block, interval) - 1;
    return 8 * (HEAD_BYTES + others * (KEY_BYTES + slot_bytes_of(block_bytes)));
}

bool slow_block_opens(const uint8_t *block, uint32_t block_bytes, uint32_t interval)
{
    const uint32_t count = slow_block_count(block), bits = 8 * (block_bytes - TRAILER_BYTES);
    return count > 0 && count <= bits && block[2] <= 32 && block[3] == 0 &&
           first_begin(block, block_bytes, interval) <= bits;
}

/* Find a group's bounds, *at to *end, and its first fingerprint. */
static bool enter(const uint8_t *block, uint32_t block_bytes, uint32_t interval, uint32_t group, uint32_t *at, uint32_t *end,
                  uint64_t *first)
{
    const uint32_t lowest = first_begin(block, block_bytes, interval), highest = 8 * (block_bytes - TRAILER_BYTES);
    const bool is_last = group + 1 == slow_block_groups(block, interval);
    const uint32_t low_bits = group == 0 ? 0 : block[2];
    *at = group == 0 ? lowest : slow_slot(block, block_bytes, interval, group);
    *end = is_last ? highest : slow_slot(block, block_bytes, interval, group + 1);
    if (*at < lowest || *end < *at || *end > highest || *end - *at < low_bits)
        return false;
    *end -= low_bits;
    *first = number_at(block, 4, 8);
    if (group > 0)
        *first += ((uint64_t)slow_key(block, group) << low_bits) + slow_bits(block, *end, low_bits);
    return true;
}

bool slow_block_group_first(const uint8_t *block, uint32_t block_bytes, uint32_t interval, uint32_t group, uint64_t *first)
{
    uint32_t at, end;
    return enter(block, block_bytes, interval, group, &at, &end, first);
}

bool slow_block_decode_group(const uint8_t *block, uint32_t block_bytes, uint32_t interval, const slow_code *code,
                             uint32_t group, uint64_t *out)
{
    uint32_t at, end;
    uint64_t value;
    if (!enter(block, block_bytes, interval, group, &at, &end, &value))
        return false;
    *out++ = value;
    const uint32_t left = slow_block_count(block) - group * interval;
    for (uint32_t i = 1; i < left && i < interval; i++) {
        const uint32_t h = slow_symbol(code, block, &at);
        if (h == SLOW_NO_SYMBOL || at > end || end - at < 63 - h || (value >> (63 - h) & 1) != 0)
            return false;
        end -= 63 - h;
        value = slow_successor(value, h, slow_bits(block, end, 63 - h));
        *out++ = value;
    }
    return true;
}

bool slow_block_decode(const uint8_t *block, uint32_t block_bytes, uint32_t interval, const slow_code *code,
                       uint64_t *out)
{
    for (uint32_t group = 0; group < slow_block_groups(block, interval); group++)
        if (!slow_block_decode_group(block, block_bytes, interval, code, group, out + (size_t)group * interval))
            return false;
    for (uint32_t i = 1; i < slow_block_count(block); i++)
        if (out[i] <= out[i - 1])
            return false;
    return true;
}

/* ----- writing ----- */

void slow_put_bits(uint8_t *block, uint32_t at, uint32_t width, uint64_t value)
{
    for (uint32_t i = 0; i < width; i++)
        block[(at + i) / 8] |= (uint8_t)((value >> i & 1) << (at + i) % 8);
}

static void put_number(uint8_t *to, size_t at, size_t width, uint64_t number)
{
    for (size_t i = 0; i < width; i++)
        to[at + i] = (uint8_t)(number >> (8 * i));
}

uint32_t slow_step(uint64_t before, uint64_t value)
{
    uint32_t h = before == value ? 64 : (uint32_t)__builtin_clzll(before ^ value);
    if (value > before)
        return h;
    while (h-- > 0)
        if ((value >> (63 - h) & 1) != 0)
            return h;
    return SLOW_NO_SYMBOL;
}

void slow_code_lengths(const uint64_t counts[64], uint8_t lengths[64])
{
    uint32_t used = 0, length = 0, seen = 0;
    for (uint32_t h = 0; h < 64; h++)
        used += counts[h] > 0;
    while (1u << length < used)
        length++;
    memset(lengths, 0, 64);
    for (uint32_t h = 0; h < 64; h++)
        if (counts[h] > 0) /* the first ones take what the longest codes leave */
            lengths[h] = (uint8_t)(used == 1 ? 1 : length - (seen++ < (1u << length) - used));
}

/* What follows the one before it takes: code and rest. */
static uint32_t step_bits(const uint8_t lengths[64], uint64_t before, uint64_t value)
{
    const uint32_t h = slow_step(before, value);
    return lengths[h] + 63 - h;
}

uint32_t slow_block_fit(uint32_t block_bytes, uint32_t interval, const uint8_t lengths[64], const uint64_t *values,
                        size_t count)
{
    const uint64_t room = 8 * (uint64_t)(block_bytes - TRAILER_BYTES);
    uint64_t steps = 0, groups = 1;
    uint32_t shift = 0, n = 1;
    for (; n < count && n < 65535; n++) {
        if (n % interval == 0) {
            const uint32_t needed = slow_key_shift(values[n] - values[0]);
            shift = needed > shift ? needed : shift;
            groups++;
        } else if (slow_step(values[n - 1], values[n]) == SLOW_NO_SYMBOL) {
            break;
        } else {
            steps += step_bits(lengths, values[n - 1], values[n]);
        }
        if (8 * (HEAD_BYTES + (groups - 1) * (KEY_BYTES + slot_bytes_of(block_bytes))) + shift * (groups - 1) + steps > room)
            break;
    }
    return n;
}

/* Write a symbol's code at *at, its highest bit first, and go behind it. */
static void put_code(uint8_t *block, const uint8_t lengths[64], uint32_t symbol, uint32_t *at)
{
    uint32_t code = 0, length = 1;
    for (; length < lengths[symbol]; length++) {
        for (uint32_t h = 0; h < 64; h++)
            code += lengths[h] == length;
        code <<= 1;
    }
    for (uint32_t h = 0; h < symbol; h++)
        code += lengths[h] == length;
    for (uint32_t i = length; i-- > 0; *at += 1)
        slow_put_bits(block, *at, 1, code >> i & 1);
}

/* Write a group between `at` and `end`; low_bits of the distance from the block's first value stand at the end. */
static void encode_group(uint8_t *block, const uint8_t lengths[64], const uint64_t *values, uint32_t count, uint32_t at,
                         uint32_t end, uint64_t distance, uint32_t low_bits)
{
    end -= low_bits;
    slow_put_bits(block, end, low_bits, distance);
    for (uint32_t i = 1; i < count; i++) {
        const uint32_t h = slow_step(values[i - 1], values[i]);
        put_code(block, lengths, h, &at);
        end -= 63 - h;
        slow_put_bits(block, end, 63 - h, values[i]);
    }
}

void slow_block_encode(uint8_t *block, uint32_t block_bytes, uint32_t interval, const uint8_t lengths[64],
                       const uint64_t *values, uint32_t count)
{
    uint32_t shift = 0;
    memset(block, 0, block_bytes);
    put_number(block, 0, 2, count);
    for (uint32_t i = interval; i < count; i += interval) {
        const uint32_t needed = slow_key_shift(values[i] - values[0]);
        shift = needed > shift ? needed : shift;
    }
    block[2] = (uint8_t)shift;
    put_number(block, 4, 8, values[0]);
    uint32_t at = first_begin(block, block_bytes, interval);
    for (uint32_t first = 0, group = 0; first < count; first += interval, group++) {
        const uint32_t size = count - first < interval ? count - first : interval;
        const uint64_t distance = values[first] - values[0];
        uint32_t end = at + (group > 0 ? shift : 0);
        for (uint32_t i = 1; i < size; i++)
            end += step_bits(lengths, values[first + i - 1], values[first + i]);
        if (group > 0) {
            put_number(block, HEAD_BYTES + KEY_BYTES * (size_t)(group - 1), KEY_BYTES, distance >> shift);
            put_number(block, slow_slot_offset(block, block_bytes, interval, group), slot_bytes_of(block_bytes), at);
        }
        if (first + size == count)
            end = 8 * (block_bytes - TRAILER_BYTES);
        encode_group(block, lengths, values + first, size, at, end, distance, group > 0 ? shift : 0);
        at = end;
    }
}

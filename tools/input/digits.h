/*
 * digits.h - reads numbers in text. digits_read_hex() and digits_read_decimal() read eight bytes at a time as the lanes
 * of a word, about five times as fast as digit by digit. They are portable: the lowest byte of a word is always the
 * first one of the text. They always may read DIGITS_READ_BYTES.
 */
#ifndef DIGITS_H
#define DIGITS_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define DIGITS_READ_BYTES 24
#define DIGITS_MAX_DECIMAL 20

#define DIGITS_LANES(byte) ((byte)*UINT64_C(0x0101010101010101))

static inline uint64_t digits_load(const char *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return le64toh(word);
}

/* The highest bit of every lane with a byte from `first` to `last`, both below 0x80. No lane carries over. */
static inline uint64_t digits_within(uint64_t word, uint8_t first, uint8_t last)
{
    uint64_t low = word & DIGITS_LANES(0x7fu);
    uint64_t not_below = low + DIGITS_LANES(0x80u - first), above = low + DIGITS_LANES(0x7fu - last);
    return not_below & ~above & ~word & DIGITS_LANES(0x80u);
}

static inline uint64_t digits_are_decimal(uint64_t word)
{
    return digits_within(word, '0', '9');
}

static inline uint64_t digits_are_hex(uint64_t word)
{
    /* 0x20 turns capitals into small letters, and no other byte into a letter. */
    return digits_are_decimal(word) | digits_within(word | DIGITS_LANES(0x20u), 'a', 'f');
}

/* The number of leading lanes whose highest bit is set. */
static inline size_t digits_leading(uint64_t highest_bits)
{
    uint64_t others = ~highest_bits & DIGITS_LANES(0x80u);
    return others == 0 ? 8 : (size_t)__builtin_ctzll(others) / 8;
}

/* Move the first `count` lanes, 1 to 8, to the end of the word. The lanes before them become 0, like the digit 0. */
static inline uint64_t digits_align(uint64_t word, size_t count)
{
    return word << (64 - 8 * count);
}

/* The value of eight hex digits. Neighbours are combined three times, until one number is left. */
static inline uint64_t digits_hex_value(uint64_t word)
{
    uint64_t letters = word >> 6 & DIGITS_LANES(1u);
    uint64_t value = (word & DIGITS_LANES(0x0fu)) + 9 * letters;
    value = (value << 4 | value >> 8) & 0x00ff00ff00ff00ff;
    value = (value << 8 | value >> 16) & 0x0000ffff0000ffff;
    return (value << 16 | value >> 32) & 0xffffffff;
}

static inline uint64_t digits_decimal_value(uint64_t word)
{
    uint64_t value = word & DIGITS_LANES(0x0fu);
    value = (value * 10 + (value >> 8)) & 0x00ff00ff00ff00ff;
    value = (value * 100 + (value >> 16)) & 0x0000ffff0000ffff;
    return (value * 10000 + (value >> 32)) & 0xffffffff;
}

/* Read the hex digits at the beginning of a text, in either case, 16 at most. Returns their number. */
static inline size_t digits_read_hex(const char *text, uint64_t *value_out)
{
    uint64_t first = digits_load(text), second = digits_load(text + 8);
    size_t count = digits_leading(digits_are_hex(first));
    if (count < 8) {
        *value_out = count == 0 ? 0 : digits_hex_value(digits_align(first, count));
        return count;
    }
    *value_out = digits_hex_value(first);
    size_t more = digits_leading(digits_are_hex(second));
    if (more > 0)
        *value_out = *value_out << 4 * more | digits_hex_value(digits_align(second, more));
    return 8 + more;
}

/* Append up to eight digits to a value. Returns 0 if the result exceeds 64 bits. */
static inline int digits_append_decimal(uint64_t *value, uint64_t word, size_t count)
{
    static const uint32_t powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
    return count == 0 || (!__builtin_mul_overflow(*value, powers[count], value) &&
                          !__builtin_add_overflow(*value, digits_decimal_value(digits_align(word, count)), value));
}

/*
 * Read the decimal digits at the beginning of a text. Returns their number, or 0 if there are more than
 * DIGITS_MAX_DECIMAL or their value exceeds 64 bits.
 */
static inline size_t digits_read_decimal(const char *text, uint64_t *value_out)
{
    size_t total = 0, count = 8;
    *value_out = 0;
    for (; count == 8 && total < DIGITS_READ_BYTES; total += count) {
        uint64_t word = digits_load(text + total);
        count = digits_leading(digits_are_decimal(word));
        if (!digits_append_decimal(value_out, word, count))
            return 0;
    }
    return total <= DIGITS_MAX_DECIMAL ? total : 0;
}

/* Read all decimal digits at the beginning of text[0, size), one by one. Returns their number. *value_out is valid if
 * *fits_out: the value fits into 64 bits. */
static inline size_t digits_read_any_decimal(const char *text, size_t size, uint64_t *value_out, bool *fits_out)
{
    size_t count = 0;
    *value_out = 0;
    for (*fits_out = true; count < size && text[count] >= '0' && text[count] <= '9'; count++) {
        if (__builtin_mul_overflow(*value_out, 10u, value_out) ||
            __builtin_add_overflow(*value_out, (uint64_t)(text[count] - '0'), value_out))
            *fits_out = false;
    }
    return count;
}

#endif

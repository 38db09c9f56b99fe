/*
 * digits.h - numbers in text. digits_read_hex() and digits_read_decimal() read eight bytes at a time as the lanes of
 * a word: some five times as fast as digit by digit. Portable: a word's lowest byte is always the first one of the
 * text. They may read DIGITS_READ_BYTES, whatever they find there.
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

/* The highest bit of every lane whose byte is `first` to `last`, both below 0x80. No lane carries into the next one. */
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
    /* 0x20 makes letters lower-case, and letters of nothing else. */
    return digits_are_decimal(word) | digits_within(word | DIGITS_LANES(0x20u), 'a', 'f');
}

/* How many lanes from the first one on have their highest bit set. */
static inline size_t digits_leading(uint64_t highest_bits)
{
    uint64_t others = ~highest_bits & DIGITS_LANES(0x80u);
    return others == 0 ? 8 : (size_t)__builtin_ctzll(others) / 8;
}

/* The first `count` lanes, 1 to 8, moved to the word's end; the lanes before them are 0 and count as the digit 0. */
static inline uint64_t digits_align(uint64_t word, size_t count)
{
    return word << (64 - 8 * count);
}

/* The value of eight hex digits: neighbours are put together three times, until one is left. */
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

/* Read the hex digits at the beginning of a text, of either case and at most 16. Returns how many there are. */
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

/* Put eight digits or fewer behind a value. Returns 0 if that is beyond 64 bits. */
static inline int digits_append_decimal(uint64_t *value, uint64_t word, size_t count)
{
    static const uint32_t powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
    return count == 0 || (!__builtin_mul_overflow(*value, powers[count], value) &&
                          !__builtin_add_overflow(*value, digits_decimal_value(digits_align(word, count)), value));
}

/*
 * Read the decimal digits at the beginning of a text, at most DIGITS_MAX_DECIMAL. Returns how many there are; 0 also if
 * there are more, or their value is beyond 64 bits.
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

/* Read all decimal digits that text[0, size) begins with, one by one. Returns how many there are. *fits_out: their
 * value is within 64 bits, and *value_out is it. */
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

/*
 * radix_form.c - writes fingerprints as text, and reads the forms that are no plain numbers.
 */
#include "output/radix_form.h"

#include <endian.h>
#include <string.h>

#define HEX_DIGITS 16u /* of a word */
#define DECIMAL_DIGITS 20u
#define BITS 64u

/* ----- plain numbers ----- */

/* Eight hex digits of the lower 32 bits, the most significant in the highest byte. All are computed at once as the
 * bytes of a word, several times faster than one by one. */
static uint64_t hex_digits(uint64_t value)
{
    uint64_t spread = (value & 0xffff0000) << 16 | (value & 0xffff);
    spread = (spread << 8 | spread) & 0x00ff00ff00ff00ff;
    spread = (spread << 4 | spread) & 0x0f0f0f0f0f0f0f0f;
    uint64_t letters = ((spread + 0x0606060606060606) >> 4) & 0x0101010101010101;
    return spread + 0x3030303030303030 + letters * ('a' - '0' - 10);
}

static char *put_hex(char *to, uint64_t value)
{
    uint64_t digits[2] = {htobe64(hex_digits(value >> 32)), htobe64(hex_digits(value & 0xffffffff))};
    memcpy(to, digits, sizeof digits);
    return to + sizeof digits;
}

char *output_hex_words(char *to, const uint64_t *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to = put_hex(to, words[i]);
    return to;
}

const char *output_hex_string(char to[17], uint64_t value)
{
    *put_hex(to, value) = '\0';
    return to;
}

char *output_decimal(char *to, uint64_t value)
{
    uint32_t count = 1;
    for (uint64_t power = 10; count < DECIMAL_DIGITS && value >= power; power *= 10)
        count++;
    for (uint32_t i = count; i-- > 0; value /= 10)
        to[i] = (char)('0' + value % 10);
    return to + count;
}

/* ----- numbers of several words ----- */

__extension__ typedef unsigned __int128 wide;

#define POWER_18 UINT64_C(1000000000000000000)

bool radix_multiply(uint64_t *words, uint32_t count, uint64_t factor, uint64_t term)
{
    for (uint32_t i = count; i-- > 0;) {
        const wide product = (wide)words[i] * factor + term;
        words[i] = (uint64_t)product;
        term = (uint64_t)(product >> 64);
    }
    return term == 0;
}

void radix_negate(uint64_t *words, uint32_t count)
{
    bool carry = true;
    for (uint32_t i = count; i-- > 0;) {
        words[i] = ~words[i] + carry;
        carry = carry && words[i] == 0;
    }
}

/* Divide the number, and return the remainder. */
static uint64_t divide(uint64_t *words, uint32_t count, uint64_t divisor)
{
    wide left = 0;
    for (uint32_t i = 0; i < count; i++) {
        left = left << 64 | words[i];
        words[i] = (uint64_t)(left / divisor);
        left %= divisor;
    }
    return (uint64_t)left;
}

/* ----- forms of fingerprints ----- */

static const char *const names[] = {
    [RADIX_HEX] = "hex", [RADIX_DEC] = "dec",       [RADIX_SIGNED] = "signed",    [RADIX_BASE64] = "base64",
    [RADIX_BIN] = "bin", [RADIX_BASE32] = "base32", [RADIX_SIGNED32] = "signed32"};

const char *radix_name(radix_form form)
{
    return names[form];
}

bool radix_of_name(const char *name, radix_form *form_out)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(name, names[i]) == 0) {
            *form_out = (radix_form)i;
            return true;
        }
    }
    return false;
}

/* RFC 4648, sections 4 and 6. The alphabet of section 5 differs from that of 4 in the last two characters. */
static const char base64_digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static const char base32_digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

unsigned radix_digit_bits(radix_form form)
{
    static const unsigned bits[] = {
        [RADIX_HEX] = 4, [RADIX_BIN] = 1, [RADIX_BASE32] = 5, [RADIX_BASE64] = 6, [RADIX_SIGNED32] = 0};
    return bits[form];
}

/* Of the bits of all words, and then zeros up to a whole digit. */
static char *put_base(radix_form form, char *to, const uint64_t *words, uint32_t count)
{
    const char *digits = form == RADIX_BASE64 ? base64_digits : base32_digits;
    const unsigned size = radix_digit_bits(form);
    unsigned left = 0, bits = 0; /* bits that are not written yet */
    for (size_t i = 0; i < 8 * (size_t)count; i++) {
        left = (left << 8 | (unsigned)(words[i / 8] >> (56 - 8 * (i % 8)) & 255)) & 0xffff;
        for (bits += 8; bits >= size; bits -= size)
            *to++ = digits[left >> (bits - size) & ((1u << size) - 1)];
    }
    if (bits > 0)
        *to++ = digits[left << (size - bits) & ((1u << size) - 1)];
    return to;
}

static char *put_bin(char *to, const uint64_t *words, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        for (unsigned j = 0; j < BITS; j++)
            *to++ = (char)('0' + (words[i] >> (BITS - 1 - j) & 1));
    return to;
}

/* The decimal digits of a number that is not negative. `words` become 0. */
static char *put_decimal(char *to, uint64_t *words, uint32_t count)
{
    enum { PIECE_DIGITS = 18 };
    char digits[20 * SSTORE_MAX_WORDS];
    size_t first = sizeof digits;
    while (count > 0 && words[0] == 0)
        words++, count--;
    while (count > 1 || (count == 1 && words[0] >= POWER_18)) {
        uint64_t piece = divide(words, count, POWER_18);
        for (size_t i = 0; i < PIECE_DIGITS; i++, piece /= 10)
            digits[--first] = (char)('0' + piece % 10);
        while (count > 0 && words[0] == 0)
            words++, count--;
    }
    to = output_decimal(to, count > 0 ? words[0] : 0);
    memcpy(to, digits + first, sizeof digits - first);
    return to + (sizeof digits - first);
}

static char *put_number(radix_form form, char *to, const uint64_t *words, uint32_t count)
{
    uint64_t magnitude[SSTORE_MAX_WORDS];
    memcpy(magnitude, words, count * sizeof *words);
    if (form == RADIX_SIGNED && words[0] >> 63 != 0) {
        *to++ = '-';
        radix_negate(magnitude, count);
    }
    return put_decimal(to, magnitude, count);
}

char *radix_put(radix_form form, char *to, const uint64_t *words, uint32_t count)
{
    switch (form) {
    case RADIX_DEC:
    case RADIX_SIGNED: return put_number(form, to, words, count);
    case RADIX_BASE32:
    case RADIX_BASE64: return put_base(form, to, words, count);
    case RADIX_BIN: return put_bin(to, words, count);
    case RADIX_SIGNED32:
    case RADIX_HEX: break;
    }
    return output_hex_words(to, words, count);
}

const char *radix_string(radix_form form, char to[RADIX_MAX_CHARACTERS + 1], const uint64_t *words, uint32_t count)
{
    *radix_put(form, to, words, count) = '\0';
    return to;
}

/* The value of a digit, or 64 for another byte. */
static unsigned digit_value(radix_form form, char digit)
{
    const char lower = (char)(digit | 0x20);
    const bool is_letter = lower >= 'a' && lower <= 'z', is_decimal = digit >= '0' && digit <= '9';
    if (form == RADIX_HEX && is_letter)
        return lower <= 'f' ? (unsigned)(lower - 'a') + 10 : 64;
    if (form == RADIX_HEX || form == RADIX_BIN)
        return is_decimal && (form == RADIX_HEX || digit <= '1') ? (unsigned)(digit - '0') : 64;
    if (form == RADIX_BASE32)
        return is_letter ? (unsigned)(lower - 'a') : digit >= '2' && digit <= '7' ? (unsigned)(digit - '2') + 26 : 64;
    if (digit == '-' || digit == '_')
        return digit == '-' ? 62 : 63;
    const char *found = memchr(base64_digits, digit, sizeof base64_digits - 1);
    return found != NULL ? (unsigned)(found - base64_digits) : 64;
}

void radix_put_bits(uint64_t *words, size_t at, unsigned size, uint64_t value)
{
    const size_t end = at % BITS + size;
    if (size == 0)
        return;
    if (end <= BITS) {
        words[at / BITS] |= value << (BITS - end);
        return;
    }
    words[at / BITS] |= value >> (end - BITS);
    words[at / BITS + 1] |= value << (2 * BITS - end);
}

bool radix_read_digits(radix_form form, const char *text, size_t count, size_t first_bit, size_t end_bit,
                       uint64_t *words)
{
    const unsigned size = radix_digit_bits(form);
    memset(words, 0, (end_bit + BITS - 1) / BITS * sizeof *words);
    for (size_t i = 0, at = first_bit; i < count; i++, at += size) {
        const unsigned value = digit_value(form, text[i]);
        const size_t over = at + size <= end_bit ? 0 : at >= end_bit ? size : at + size - end_bit;
        if (value > 63 || (value & ((1u << over) - 1)) != 0)
            return false;
        radix_put_bits(words, at, size - (unsigned)over, value >> over);
    }
    return true;
}

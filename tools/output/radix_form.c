/*
 * radix_form.c - writes fingerprints as text, and reads the forms that are no plain numbers.
 */
#include "output/radix_form.h"

#include <endian.h>
#include <string.h>

#define HEX_DIGITS 16u /* of a word */
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

char *output_hex(char *to, uint64_t value)
{
    uint64_t digits[2] = {htobe64(hex_digits(value >> 32)), htobe64(hex_digits(value & 0xffffffff))};
    memcpy(to, digits, sizeof digits);
    return to + sizeof digits;
}

char *output_hex_words(char *to, const uint64_t *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to = output_hex(to, words[i]);
    return to;
}

const char *output_hex_string(char to[17], uint64_t value)
{
    *output_hex(to, value) = '\0';
    return to;
}

char *output_decimal(char *to, uint64_t value)
{
    char digits[20];
    size_t first = sizeof digits;
    do {
        digits[--first] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    memcpy(to, digits + first, sizeof digits - first);
    return to + (sizeof digits - first);
}

/* ----- forms of fingerprints ----- */

/* RFC 4648, section 4. The alphabet of section 5 differs in the last two characters. */
static const char base64_digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* Of the bits of all words, and then zeros up to a whole digit. */
static char *put_base64(char *to, const uint64_t *words, uint32_t count)
{
    unsigned left = 0, bits = 0; /* bits that are not written yet */
    for (size_t i = 0; i < 8 * (size_t)count; i++) {
        left = left << 8 | (unsigned)(words[i / 8] >> (56 - 8 * (i % 8)) & 255);
        for (bits += 8; bits >= 6; bits -= 6)
            *to++ = base64_digits[left >> (bits - 6) & 63];
    }
    if (bits > 0)
        *to++ = base64_digits[left << (6 - bits) & 63];
    return to;
}

static char *put_bin(char *to, const uint64_t *words, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        for (unsigned j = 0; j < BITS; j++)
            *to++ = (char)('0' + (words[i] >> (BITS - 1 - j) & 1));
    return to;
}

static char *put_signed(char *to, uint64_t value)
{
    const bool negative = value >> 63 != 0;
    if (negative)
        *to++ = '-';
    return output_decimal(to, negative ? 0 - value : value);
}

bool radix_has_words(radix_form form, uint32_t words)
{
    return words == 1 || (form != RADIX_DEC && form != RADIX_SIGNED);
}

char *radix_put(radix_form form, char *to, const uint64_t *words, uint32_t count)
{
    switch (form) {
    case RADIX_DEC: return output_decimal(to, words[0]);
    case RADIX_SIGNED: return put_signed(to, words[0]);
    case RADIX_BASE64: return put_base64(to, words, count);
    case RADIX_BIN: return put_bin(to, words, count);
    case RADIX_HEX: break;
    }
    return output_hex_words(to, words, count);
}

const char *radix_string(radix_form form, char to[RADIX_MAX_CHARACTERS + 1], const uint64_t *words, uint32_t count)
{
    *radix_put(form, to, words, count) = '\0';
    return to;
}

/* The words of a text whose length is a multiple of `characters`, those of a word. */
static uint32_t count_words(size_t length, size_t characters)
{
    return length % characters == 0 && length / characters <= SSTORE_MAX_WORDS ? (uint32_t)(length / characters) : 0;
}

uint32_t radix_words(radix_form form, size_t length)
{
    if (form == RADIX_BIN)
        return count_words(length, BITS);
    if (form == RADIX_HEX)
        return length > 0 && length < HEX_DIGITS ? 1 : count_words(length, HEX_DIGITS);
    if (form != RADIX_BASE64)
        return 1;
    const uint32_t words = length <= RADIX_BASE64_PADDED(SSTORE_MAX_WORDS) ? (uint32_t)(3 * length / 32) : 0;
    return length == RADIX_BASE64_CHARACTERS(words) || length == RADIX_BASE64_PADDED(words) ? words : 0;
}

/* The value of a digit of either alphabet, or 64 for another byte. */
static unsigned base64_value(char digit)
{
    if (digit == '-' || digit == '_')
        return digit == '-' ? 62 : 63;
    const char *found = memchr(base64_digits, digit, sizeof base64_digits - 1);
    return found != NULL ? (unsigned)(found - base64_digits) : 64;
}

/* Leave out all of the '=' at the end, if they are as many as there must be. */
static size_t length_without_padding(const char *text, size_t length, uint32_t count)
{
    const size_t digits = RADIX_BASE64_CHARACTERS(count);
    for (size_t i = digits; i < length; i++)
        if (text[i] != '=')
            return length;
    return length == RADIX_BASE64_PADDED(count) ? digits : length;
}

bool radix_read_base64(const char *text, size_t length, uint64_t *words, uint32_t count)
{
    unsigned left = 0, bits = 0; /* bits of the digits so far that are in no byte yet */
    size_t bytes = 0;
    if (length_without_padding(text, length, count) != RADIX_BASE64_CHARACTERS(count))
        return false;
    memset(words, 0, count * sizeof *words);
    for (size_t i = 0; i < RADIX_BASE64_CHARACTERS(count); i++) {
        const unsigned digit = base64_value(text[i]);
        if (digit > 63)
            return false;
        left = left << 6 | digit;
        bits += 6;
        if (bits < 8)
            continue;
        bits -= 8;
        words[bytes / 8] = words[bytes / 8] << 8 | (left >> bits & 255);
        bytes++;
    }
    return (left & ((1u << bits) - 1)) == 0;
}

bool radix_read_bin(const char *text, size_t length, uint64_t *words, uint32_t count)
{
    if (length != (size_t)BITS * count)
        return false;
    memset(words, 0, count * sizeof *words);
    for (size_t i = 0; i < length; i++) {
        if (text[i] != '0' && text[i] != '1')
            return false;
        words[i / BITS] = words[i / BITS] << 1 | (uint64_t)(text[i] - '0');
    }
    return true;
}

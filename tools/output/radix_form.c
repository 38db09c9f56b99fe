/*
 * radix_form.c - writes fingerprints as text, and reads the forms that are no plain numbers.
 */
#include "output/radix_form.h"

#include <endian.h>
#include <string.h>

#define BASE64_CHARACTERS 11u /* 66 bits, of which the last two are 0 */
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

static char *put_base64(char *to, uint64_t value)
{
    for (unsigned i = 0; i + 1 < BASE64_CHARACTERS; i++)
        *to++ = base64_digits[value >> (58 - 6 * i) & 63];
    *to++ = base64_digits[(value & 15) << 2];
    return to;
}

static char *put_bin(char *to, uint64_t value)
{
    for (unsigned i = 0; i < BITS; i++)
        *to++ = (char)('0' + (value >> (BITS - 1 - i) & 1));
    return to;
}

static char *put_signed(char *to, uint64_t value)
{
    const bool negative = value >> 63 != 0;
    if (negative)
        *to++ = '-';
    return output_decimal(to, negative ? 0 - value : value);
}

char *radix_put(radix_form form, char *to, uint64_t value)
{
    switch (form) {
    case RADIX_DEC: return output_decimal(to, value);
    case RADIX_SIGNED: return put_signed(to, value);
    case RADIX_BASE64: return put_base64(to, value);
    case RADIX_BIN: return put_bin(to, value);
    case RADIX_HEX: break;
    }
    return output_hex(to, value);
}

/* The value of a digit of either alphabet, or 64 for another byte. */
static unsigned base64_value(char digit)
{
    if (digit == '-' || digit == '_')
        return digit == '-' ? 62 : 63;
    const char *found = memchr(base64_digits, digit, sizeof base64_digits - 1);
    return found != NULL ? (unsigned)(found - base64_digits) : 64;
}

bool radix_read_base64(const char *text, size_t length, uint64_t *value_out)
{
    if (length == BASE64_CHARACTERS + 1 && text[BASE64_CHARACTERS] == '=')
        length--;
    if (length != BASE64_CHARACTERS)
        return false;
    *value_out = 0;
    for (unsigned i = 0; i + 1 < BASE64_CHARACTERS; i++) {
        const unsigned digit = base64_value(text[i]);
        if (digit > 63)
            return false;
        *value_out = *value_out << 6 | digit;
    }
    const unsigned last = base64_value(text[BASE64_CHARACTERS - 1]);
    *value_out = *value_out << 4 | last >> 2;
    return last <= 63 && (last & 3) == 0;
}

bool radix_read_bin(const char *text, size_t length, uint64_t *value_out)
{
    *value_out = 0;
    for (size_t i = 0; i < length && length == BITS; i++) {
        if (text[i] != '0' && text[i] != '1')
            return false;
        *value_out = *value_out << 1 | (uint64_t)(text[i] - '0');
    }
    return length == BITS;
}

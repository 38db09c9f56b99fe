/*
 * input_value.c - reads fingerprints. A text in digits has a number of bits of its own. The fingerprint has this
 * number, or one that is known, if only leading zeros can be absent.
 */
#include "input/input_value.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "input/digits.h"
#include "input/value_digits.h"
#include "input/value_looks.h"

#define HEX_DIGITS 16u /* of a word */
#define WORD_BITS 64u
#define MAX_BITS (WORD_BITS * SSTORE_MAX_WORDS)

/* ----- digits ----- */

static size_t round_up(size_t bits)
{
    return (bits + WORD_BITS - 1) / WORD_BITS * WORD_BITS;
}

/* The bits of the fingerprint before --pad fills them up, or 0. */
static size_t find_bits(const line_format *format, const digits *found)
{
    if (format->pads)
        return format->bits > 0 ? format->bits : found->bits;
    if (format->words > 0)
        return WORD_BITS * format->words;
    if (found->form == RADIX_HEX && found->bits <= WORD_BITS)
        return WORD_BITS;
    return format->may_lack_zeros || found->bits % WORD_BITS == 0 ? round_up(found->bits) : 0;
}

/* Can the digits be a fingerprint of that many bits? */
static bool digits_fit(const line_format *format, const digits *found, size_t bits)
{
    const bool is_base = found->form == RADIX_BASE64 || found->form == RADIX_BASE32;
    if (found->bits == 0 || bits == 0 || bits > MAX_BITS)
        return false;
    if (found->bits >= bits) /* a last digit or byte may have more, or the zeros are written */
        return found->bits == bits ||
               (format->pads &&
                (found->bits == round_up(bits) || ((is_base || bits % 4 != 0) && found->bits <= (bits + 7) / 8 * 8)));
    if (is_base || found->is_whole)
        return false;
    if (found->form == RADIX_HEX && bits == WORD_BITS && !format->pads)
        return true;
    return format->may_lack_zeros && (found->is_number || found->bits % WORD_BITS != 0);
}

/* Read hex digits, all of one word or 16 of each. `text` may end right behind it. */
static bool read_hex_words(const char *text, size_t length, uint64_t *words_out, uint32_t words)
{
    for (uint32_t i = 0; i < words; i++) {
        char word[DIGITS_READ_BYTES] = {0};
        const size_t count = words == 1 ? length : HEX_DIGITS;
        memcpy(word, text + (size_t)HEX_DIGITS * i, count);
        if (digits_read_hex(word, &words_out[i]) != count)
            return false;
    }
    return true;
}

static bool is_zero(const uint64_t *words, uint32_t count)
{
    uint64_t set_bits = 0;
    for (uint32_t i = 0; i < count; i++)
        set_bits |= words[i];
    return set_bits == 0;
}

/* Are all hex digits 0 or 1? */
static bool has_only_bits(const uint64_t *words, uint32_t count)
{
    uint64_t set_bits = 0;
    for (uint32_t i = 0; i < count; i++)
        set_bits |= words[i];
    return (set_bits & ~UINT64_C(0x1111111111111111)) == 0;
}

static bool read_digits(const line_format *format, radix_form form, const char *text, size_t length,
                        line_record *record)
{
    char room[DIGITS_ROOM_BYTES];
    const digits found = digits_find(form, text, length, room);
    const size_t bits = find_bits(format, &found);
    const uint32_t words = (uint32_t)(round_up(bits) / WORD_BITS);
    if (!digits_fit(format, &found, bits) || (format->words > 0 && words != format->words))
        return false;
    const bool is_plain = form == RADIX_HEX && !format->pads && (words == 1 || found.bits == bits);
    if (is_plain ? !read_hex_words(found.text, found.count, record->fingerprint, words)
                 : !radix_read_digits(form, found.text, found.count, bits > found.bits ? bits - found.bits : 0,
                                      bits > found.bits       ? bits
                                      : found.bits - bits < 8 ? found.bits
                                                              : (bits + 7) / 8 * 8,
                                      record->fingerprint))
        return false;
    const bool zero = is_zero(record->fingerprint, words), wide_hex = form == RADIX_HEX && words > 1 && !format->pads;
    const bool only_bits = wide_hex && !found.is_number && !found.is_whole && has_only_bits(record->fingerprint, words);
    record->words = words;
    record->bits = format->pads ? (uint32_t)bits : WORD_BITS * words;
    record->kind = found.kind;
    record->missing_bits = zero || found.bits >= bits ? 0 : (uint32_t)(bits - found.bits);
    record->decides = !zero && !only_bits && (found.bits >= WORD_BITS || format->pads);
    record->may_be_bits = only_bits && !zero && (format->words == 0 || format->words_unsure);
    return true;
}

/* Hex digits in base64: no random bytes are digits alone. If the bytes themselves can be meant, they are. */
static bool read_hex_in_base64(const line_format *format, const char *text, size_t length, line_record *record)
{
    uint64_t words[2 * SSTORE_MAX_WORDS];
    char room[DIGITS_ROOM_BYTES], decoded[8 * 2 * SSTORE_MAX_WORDS];
    const digits found = digits_find(RADIX_BASE64, text, length, room);
    const size_t bytes = found.bits / 8, has = bytes / HEX_DIGITS;
    if (format->pads || bytes == 0 || bytes % HEX_DIGITS != 0 || has > SSTORE_MAX_WORDS ||
        (format->words != 0 && format->words != has) ||
        !radix_read_digits(RADIX_BASE64, found.text, found.count, 0, found.bits, words))
        return false;
    for (size_t i = 0; i < bytes; i++) {
        decoded[i] = (char)(unsigned char)(words[i / 8] >> (56 - 8 * (i % 8)) & 255);
        if (!digits_is_hex(decoded[i]))
            return false;
    }
    return read_digits(format, RADIX_HEX, decoded, bytes, record);
}

/* ----- numbers ----- */

/* Read decimal digits as a number of `count` words. */
static bool read_decimal(const char *text, size_t length, uint64_t *words, uint32_t count)
{
    memset(words, 0, count * sizeof *words);
    for (size_t i = 0; i < length; i++)
        if (text[i] < '0' || text[i] > '9')
            return false;
    while (length > 0) {
        uint64_t factor = 1, piece = 0;
        for (; length > 0 && factor < UINT64_C(1000000000000000000); length--, text++, factor *= 10)
            piece = 10 * piece + (uint64_t)(*text - '0');
        if (!radix_multiply(words, count, factor, piece))
            return false;
    }
    return true;
}

/* Make the two's complement of a magnitude, unless it has too many bits. */
static bool negate(uint64_t *words, uint32_t count)
{
    const bool fits = words[0] >> 63 == 0 || (words[0] << 1 == 0 && is_zero(words + 1, count - 1));
    radix_negate(words, count);
    return fits;
}

/* Move a number of `bits` bits to the front of its words, as --pad does with digits. False if it has more bits. */
static bool pad_number(uint64_t *number, uint32_t words, uint32_t bits)
{
    const uint32_t zeros = WORD_BITS * words - bits;
    if (zeros == 0)
        return true;
    if (number[0] >> (WORD_BITS - zeros) != 0)
        return false;
    for (uint32_t i = 0; i < words; i++)
        number[i] = number[i] << zeros | (i + 1 < words ? number[i + 1] >> (WORD_BITS - zeros) : 0);
    return true;
}

/* Read a decimal number. A negative one is two's complement: databases without unsigned types hold fingerprints so. */
static bool read_number(const line_format *format, const char *text, size_t length, line_record *record)
{
    uint64_t room[SSTORE_MAX_WORDS];
    const bool negative = length > 1 && text[0] == '-', has_sign = negative || (length > 1 && text[0] == '+');
    const uint32_t most = format->words > 0 ? format->words : SSTORE_MAX_WORDS;
    if (length == 0 || !read_decimal(text + has_sign, length - has_sign, room, most))
        return false;
    uint32_t first = 0;
    while (format->words == 0 && first < most - 1 && room[first] == 0)
        first++;
    record->words = most - first;
    record->bits = WORD_BITS * record->words;
    record->decides = room[first] >> 32 != 0; /* small numbers may be of any width */
    if (format->words == 0 && record->words > 1 && !record->decides)
        return false;
    memcpy(record->fingerprint, room + first, record->words * sizeof *room);
    if (format->pads && format->words > 0 && format->bits > 0) {
        record->bits = format->bits;
        return !negative && pad_number(record->fingerprint, record->words, format->bits);
    }
    return !negative || negate(record->fingerprint, record->words);
}

static bool fits_signed(uint64_t magnitude, bool negative, unsigned bits)
{
    return bits == WORD_BITS ? !negative || magnitude <= UINT64_C(1) << 63
           : negative        ? magnitude <= UINT64_C(1) << (bits - 1)
                             : magnitude >> bits == 0;
}

/* Two's complement in the lower bits of a word. */
static uint64_t place_signed(uint64_t magnitude, bool negative, unsigned bits)
{
    return negative ? (0 - magnitude) & (UINT64_MAX >> (WORD_BITS - bits)) : magnitude;
}

static bool read_signed32(const line_format *format, const char *text, size_t length, line_record *record)
{
    const bool negative = length > 1 && text[0] == '-';
    uint64_t magnitude;
    if (length == 0 || format->words > 1 || !read_decimal(text + negative, length - negative, &magnitude, 1) ||
        !fits_signed(magnitude, negative, 32))
        return false;
    record->words = 1;
    record->bits = WORD_BITS;
    record->fingerprint[0] = place_signed(magnitude, negative, 32);
    return true;
}

/* What hex() of Python makes of a negative number of 64 bits, such as -0x7b5281f52ec1e575. */
static bool read_negative_hex(const line_format *format, const char *text, size_t length, line_record *record)
{
    if (length < 4 || text[0] != '-' || text[1] != '0' || (text[2] | 0x20) != 'x' || format->pads ||
        !read_digits(format, RADIX_HEX, text + 1, length - 1, record) || record->words != 1)
        return false;
    record->missing_bits = 0;
    return negate(record->fingerprint, 1);
}

bool value_read(const line_format *format, const char *text, size_t length, line_record *record)
{
    record->kind = 0;
    record->missing_bits = 0;
    record->decides = record->may_be_bits = false;
    switch (format->radix) {
    case RADIX_DEC:
    case RADIX_SIGNED: return read_number(format, text, length, record);
    case RADIX_SIGNED32: return read_signed32(format, text, length, record);
    case RADIX_BASE64:
        if (value_is_tlsh(text, length))
            return false;
        if (read_hex_in_base64(format, text, length, record))
            return true;
        break;
    case RADIX_HEX:
        if (read_negative_hex(format, text, length, record))
            return true;
        break;
    case RADIX_BASE32:
    case RADIX_BIN: break;
    }
    return read_digits(format, format->radix, text, length, record);
}

/* ----- kinds ----- */

#define KIND_RECIPE "goimagehash "

const char *value_recipe(char kind, char to[VALUE_RECIPE_BYTES])
{
    (void)snprintf(to, VALUE_RECIPE_BYTES, KIND_RECIPE "%c:", kind);
    return to;
}

bool value_is_recipe(const char *recipe)
{
    return strncmp(recipe, KIND_RECIPE, strlen(KIND_RECIPE)) == 0;
}

/* ----- fingerprints of several columns ----- */

bool value_has_parts(radix_form form)
{
    return form == RADIX_HEX || radix_digit_bits(form) == 0;
}

bool value_parse_part(const line_format *format, const char *text, size_t length, value_part *part_out,
                      line_fault *fault)
{
    char room[DIGITS_ROOM_BYTES];
    const bool is_number = radix_digit_bits(format->radix) == 0;
    *part_out = (value_part){.negative = is_number && length > 1 && text[0] == '-'};
    if (is_number) {
        const size_t sign = part_out->negative;
        if (length == 0 || !read_decimal(text + sign, length - sign, &part_out->magnitude, 1))
            return line_fault_found(fault, "a column with a part of a fingerprint, a decimal number", text, length);
        part_out->is_wide = !fits_signed(part_out->magnitude, part_out->negative, 32);
        return true;
    }
    const digits found = digits_find(RADIX_HEX, text, length, room);
    part_out->is_wide = found.bits > 32;
    return (found.count > 0 && found.count <= HEX_DIGITS && found.kind == 0 &&
            read_hex_words(found.text, found.count, &part_out->magnitude, 1)) ||
           line_fault_found(fault, "a column with a part of a fingerprint, 1 to 16 hex digits", text, length);
}

/* The bits of each part; 0: the words cannot be divided. */
static unsigned part_bits(const line_format *format, const value_part *parts, size_t count)
{
    bool is_wide = false;
    assert(count > 0);
    for (size_t i = 0; i < count; i++)
        is_wide = is_wide || parts[i].is_wide;
    const size_t bits = format->words > 0 ? WORD_BITS * format->words / count : is_wide ? WORD_BITS : WORD_BITS / 2;
    const size_t total_bits = bits * count;
    return total_bits % WORD_BITS == 0 && total_bits <= MAX_BITS && bits > 0 && bits <= WORD_BITS &&
                   (format->words == 0 || total_bits == WORD_BITS * format->words)
               ? (unsigned)bits
               : 0;
}

bool value_join(const line_format *format, const value_part *parts, size_t count, line_record *record,
                line_fault *fault)
{
    const unsigned bits = part_bits(format, parts, count);
    uint64_t largest = 0;
    if (bits == 0)
        return line_fault_set(
            fault, "%zu columns are no equal parts of a fingerprint of a multiple of 64 bits; " LINE_SEE_BITS, count);
    memset(record->fingerprint, 0, sizeof record->fingerprint);
    for (size_t i = 0; i < count; i++) {
        const uint64_t value = place_signed(parts[i].magnitude, parts[i].negative, bits);
        if (!fits_signed(parts[i].magnitude, parts[i].negative, bits))
            return line_fault_set(fault,
                                  "expected a part of %u bits in each of %zu columns, found %s%" PRIu64
                                  "; " LINE_SEE_BITS,
                                  bits, count, parts[i].negative ? "-" : "", parts[i].magnitude);
        radix_put_bits(record->fingerprint, bits * i, bits, value);
        largest = parts[i].magnitude > largest ? parts[i].magnitude : largest;
    }
    record->words = (uint32_t)(bits * count / WORD_BITS);
    record->bits = WORD_BITS * record->words;
    record->decides = largest >> 16 != 0; /* smaller numbers may be of any width */
    return true;
}

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
#include "input/value_looks.h"

#define HEX_DIGITS 16u /* of a word */
#define WORD_BITS 64u
#define MAX_BITS (WORD_BITS * SSTORE_MAX_WORDS)
#define MAX_DIGITS MAX_BITS /* in binary */

/* ----- digits ----- */

/* The digits of a text, without what is around and between them. */
typedef struct digits {
    radix_form form;
    const char *text;
    size_t count;
    size_t bits;    /* of the fingerprint that they are, or 0 */
    bool is_number; /* marked as one, by 0x or 0b, so that leading zeros may be absent */
    bool is_whole;  /* marked as bytes or bits, so that none are absent */
    char kind;      /* the letter in front, such as of "p:84ad7e0ad13e1a8b"; or 0 */
} digits;

static bool is_hex(char byte)
{
    const char lower = (char)(byte | 0x20);
    return (byte >= '0' && byte <= '9') || (lower >= 'a' && lower <= 'f');
}

/* Take two bytes off the beginning, the second in either case. */
static bool take_prefix(digits *from, char first, char second)
{
    if (from->count <= 2 || from->text[0] != first || (from->text[1] | 0x20) != second)
        return false;
    from->text += 2;
    from->count -= 2;
    return true;
}

/* Take the quotes of a literal of SQL, such as X'84ad'. */
static bool take_quotes(digits *from, char letter)
{
    if (from->count < 4 || from->text[from->count - 1] != '\'' || (from->text[0] | 0x20) != letter ||
        from->text[1] != '\'')
        return false;
    from->text += 2;
    from->count -= 3;
    return true;
}

/* Take the mark of bytes in PostgreSQL, such as \x84ad, with another backslash as COPY writes it, or as a literal. */
static bool take_bytea(digits *from)
{
    digits rest = *from;
    if (rest.count > 3 && rest.text[0] == '\'' && rest.text[rest.count - 1] == '\'') {
        rest.text++;
        rest.count -= 2;
    } else {
        (void)take_quotes(&rest, 'e');
    }
    if (rest.count > 3 && rest.text[0] == '\\' && rest.text[1] == '\\') {
        rest.text++;
        rest.count--;
    }
    if (!take_prefix(&rest, '\\', 'x'))
        return false;
    *from = rest;
    return true;
}

/* Take the quotes of a string, and the braces of a UUID. */
static void take_pair(digits *from)
{
    const char first = from->text[0], last = from->count > 2 ? from->text[from->count - 1] : 0;
    if ((first != '\'' || last != '\'') && (first != '{' || last != '}' || from->count != 38))
        return;
    from->text++;
    from->count -= 2;
}

/* Take the end of a number of C or Java, such as of 0x84ULL. */
static void take_suffix(digits *from)
{
    while (from->count > 1 && strchr("uUlL", from->text[from->count - 1]) != NULL)
        from->count--;
}

/* Take the underscores between digits out. */
static void take_underscores(digits *from, char room[MAX_DIGITS])
{
    size_t count = 0;
    if (from->count > MAX_DIGITS || from->text[0] == '_' || memchr(from->text, '_', from->count) == NULL)
        return;
    for (size_t i = 0; i < from->count; i++)
        if (from->text[i] != '_')
            room[count++] = from->text[i];
    from->text = room;
    from->count = count;
}

/* The kind of a hash of goimagehash: by average, difference, perception or wavelets. */
static void take_kind(digits *from)
{
    if (from->count <= 2 || from->text[1] != ':' || memchr("adpw", from->text[0], 4) == NULL)
        return;
    from->kind = from->text[0];
    from->text += 2;
    from->count -= 2;
}

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

/* The lengths of a UUID's groups. */
static bool is_uuid(const char *text, size_t length)
{
    return length == 36 && text[8] == '-' && text[13] == '-' && text[18] == '-' && text[23] == '-';
}

/* Take groups of two, four or eight digits that colons or hyphens separate, or those of a UUID, out of the text. */
static bool take_groups(digits *from, char room[MAX_DIGITS])
{
    const char *mark = memchr(from->text, ':', from->count);
    if (mark == NULL)
        mark = memchr(from->text, '-', from->count);
    const size_t size = mark != NULL ? (size_t)(mark - from->text) : 0;
    const bool uuid = is_uuid(from->text, from->count);
    size_t count = 0;
    if (mark == NULL || (!uuid && size != 2 && size != 4 && size != 8) || from->count > MAX_DIGITS)
        return false;
    for (size_t i = 0; i < from->count; i++) {
        if (from->text[i] != *mark)
            room[count++] = from->text[i];
        if (!uuid && (from->text[i] == *mark) != (i % (size + 1) == size))
            return false;
    }
    if (!uuid && (from->count + 1) % (size + 1) != 0)
        return false;
    from->text = room;
    from->count = count;
    return true;
}

/* Take the '=' off the end, if they are as many as there must be. */
static void take_padding(digits *from)
{
    const size_t group = from->form == RADIX_BASE64 ? 4 : 8;
    size_t count = from->count;
    while (count > 0 && from->count - count < group && from->text[count - 1] == '=')
        count--;
    if (from->count % group == 0)
        from->count = count;
}

static digits find_digits(radix_form form, const char *text, size_t length, char room[MAX_DIGITS])
{
    digits found = {.form = form, .text = text, .count = length};
    const unsigned size = radix_digit_bits(form);
    if (form == RADIX_HEX) {
        found.is_whole = take_bytea(&found) || take_quotes(&found, 'x');
        if (!found.is_whole) {
            take_pair(&found);
            take_kind(&found);
            found.is_number = take_prefix(&found, '0', 'x');
            if (found.is_number)
                take_suffix(&found);
            take_underscores(&found, room);
            found.is_whole = take_groups(&found, room);
        }
    } else if (form == RADIX_BIN) {
        found.is_whole = take_quotes(&found, 'b');
        take_pair(&found);
        found.is_number = take_prefix(&found, '0', 'b');
        take_underscores(&found, room);
    } else {
        take_padding(&found);
    }
    found.bits = found.count <= MAX_DIGITS ? found.count * size : 0;
    if (form == RADIX_BASE64 || form == RADIX_BASE32) { /* of whole bytes, without more digits than they need */
        found.bits = found.bits / 8 * 8;
        found.bits = found.count == (found.bits + size - 1) / size ? found.bits : 0;
    }
    return found;
}

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
    return format->words_given || found->bits % WORD_BITS == 0 ? round_up(found->bits) : 0;
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
    return format->words_given && (found->is_number || found->bits % WORD_BITS != 0);
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
    uint64_t all = 0;
    for (uint32_t i = 0; i < count; i++)
        all |= words[i];
    return all == 0;
}

/* Are all hex digits 0 or 1? */
static bool has_only_bits(const uint64_t *words, uint32_t count)
{
    uint64_t all = 0;
    for (uint32_t i = 0; i < count; i++)
        all |= words[i];
    return (all & ~UINT64_C(0x1111111111111111)) == 0;
}

static bool read_digits(const line_format *format, radix_form form, const char *text, size_t length,
                        line_record *record)
{
    char room[MAX_DIGITS];
    const digits found = find_digits(form, text, length, room);
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
    char room[MAX_DIGITS], decoded[8 * 2 * SSTORE_MAX_WORDS];
    const digits found = find_digits(RADIX_BASE64, text, length, room);
    const size_t bytes = found.bits / 8, has = bytes / HEX_DIGITS;
    if (format->pads || bytes == 0 || bytes % HEX_DIGITS != 0 || has > SSTORE_MAX_WORDS ||
        (format->words != 0 && format->words != has) ||
        !radix_read_digits(RADIX_BASE64, found.text, found.count, 0, found.bits, words))
        return false;
    for (size_t i = 0; i < bytes; i++) {
        decoded[i] = (char)(unsigned char)(words[i / 8] >> (56 - 8 * (i % 8)) & 255);
        if (!is_hex(decoded[i]))
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

/* ----- faults ----- */

#define EXPECTED_BYTES 160

/* What a fingerprint of digits is, if its bits are known. */
static const char *describe_digits(radix_form form, size_t bits, char to[EXPECTED_BYTES])
{
    const unsigned size = radix_digit_bits(form);
    const char *name = form == RADIX_HEX ? "hex digits" : form == RADIX_BIN ? "digits 0 and 1" : NULL;
    if (name != NULL)
        (void)snprintf(to, EXPECTED_BYTES, "a fingerprint of %zu %s", (bits + size - 1) / size, name);
    else
        (void)snprintf(to, EXPECTED_BYTES, "a fingerprint of %zu bytes in %s (%zu characters)", bits / 8,
                       form == RADIX_BASE64 ? "base64" : "base32", (bits + size - 1) / size);
    return to;
}

/* What a fingerprint is. Where any width is right, the usual one is named. */
static const char *describe_fingerprint(const line_format *format, char to[EXPECTED_BYTES])
{
    const uint32_t words = format->words;
    if (format->radix == RADIX_SIGNED32)
        return "a decimal fingerprint of 32 bits, from -2147483648 to 4294967295";
    const bool is_number = radix_digit_bits(format->radix) == 0, is_padded = format->pads && format->bits > 0;
    if (is_number && (words > 1 || is_padded)) {
        (void)snprintf(to, EXPECTED_BYTES, "a decimal fingerprint of %" PRIu32 " bits%s",
                       is_padded ? format->bits : WORD_BITS * words, is_padded ? " that is not negative" : "");
        return to;
    }
    if (is_number)
        return words == 1 ? "a decimal fingerprint from -9223372036854775808 to 18446744073709551615"
                          : "a decimal fingerprint";
    if (is_padded)
        return describe_digits(format->radix, format->bits, to);
    if (format->radix == RADIX_HEX && (format->pads || words == 0))
        return format->pads ? "a fingerprint of hex digits"
                            : "a fingerprint of 1 to 16 hex digits, or of 16 for each 64 bits";
    if (format->radix == RADIX_HEX && words == 1)
        return "a fingerprint of 1 to 16 hex digits";
    if (format->radix == RADIX_BASE64 && words <= 1)
        return "a fingerprint of eight bytes in base64 (11 characters, or 12 with a closing '=')";
    return describe_digits(format->radix, WORD_BITS * (words > 0 ? words : 1), to);
}

/* Is the width that of other rows, and no option? */
static bool is_learned(const line_format *format)
{
    return format->words > 0 && !format->words_given && !format->pads;
}

#define SKIP_IT ": --skip-bad leaves this one out"

/* What shows the width. */
static const char *width_source_text(const line_format *format)
{
    return format->width_source != NULL ? format->width_source : "other rows";
}

/* The bits of a decimal number, in words; 0: it is none, or too large. */
static uint32_t find_number_bits(const line_format *format, const char *text, size_t length)
{
    line_record record;
    line_format any = *format;
    if (radix_digit_bits(any.radix) != 0 || any.radix == RADIX_SIGNED32)
        return 0;
    any.words = any.bits = 0;
    any.words_given = true;
    for (any.words = 1; any.words <= SSTORE_MAX_WORDS; any.words++)
        if (read_number(&any, text, length, &record))
            return WORD_BITS * any.words;
    return 0;
}

/* If the text is a fingerprint of another width, the hint says which. */
static bool find_width_hint(const line_format *format, const char *text, size_t length, char hint[EXPECTED_BYTES])
{
    line_record other;
    line_format any = *format;
    any.words = any.bits = 0;
    any.words_given = false;
    if (!value_read(&any, text, length, &other))
        return false;
    const bool is_number = radix_digit_bits(format->radix) == 0;
    const uint32_t expected = format->pads && format->bits > 0 ? format->bits
                              : format->words > 1              ? WORD_BITS * format->words
                                                               : WORD_BITS;
    if (format->radix == RADIX_SIGNED32 || (is_number && format->pads && text[0] == '-'))
        return false;
    if (is_learned(format)) {
        (void)snprintf(hint, EXPECTED_BYTES, "; it has %" PRIu32 " bits, and %s have %" PRIu32 SKIP_IT, other.bits,
                       width_source_text(format), expected);
        return true;
    }
    const char *verb = is_number ? "needs" : "seems to have";
    (void)snprintf(hint, EXPECTED_BYTES,
                   format->is_for_store ? "; it %s %" PRIu32 " bits, and the store has %" PRIu32
                                        : "; it %s %" PRIu32 " bits, not %" PRIu32 ": " LINE_SEE_BITS,
                   verb, other.bits, expected);
    return true;
}

/* Are there digits of the form alone? */
static bool has_digits_alone(const digits *found)
{
    uint64_t words[SSTORE_MAX_WORDS];
    const size_t piece = MAX_BITS / 8;
    bool right = found->count > 0;
    for (size_t at = 0; right && at < found->count; at += piece) {
        const size_t count = found->count - at < piece ? found->count - at : piece;
        right = radix_read_digits(found->form, found->text + at, count, 0, count * radix_digit_bits(found->form),
                                  words);
    }
    return right;
}

/* Digits alone, of which one is a letter: surely no decimal number. */
static bool is_surely_hex(const digits *found)
{
    bool has_letter = false;
    for (size_t i = 0; i < found->count; i++) {
        if (!is_hex(found->text[i]))
            return false;
        has_letter = has_letter || found->text[i] > '9';
    }
    return has_letter || found->is_whole;
}

/* If the text is digits, but not as many as are read, the hint says what reads them. */
static bool find_size_hint(const line_format *format, const char *text, size_t length, char hint[EXPECTED_BYTES])
{
    line_record other;
    line_format filled = *format, padded = *format;
    char room[MAX_DIGITS];
    if (radix_digit_bits(format->radix) == 0)
        return false;
    const digits found = find_digits(format->radix, text, length, room);
    const unsigned size = radix_digit_bits(format->radix);
    const bool is_hex_form = format->radix == RADIX_HEX;
    if (is_learned(format) && format->words == 1 && found.count * size > WORD_BITS && has_digits_alone(&found)) {
        (void)snprintf(hint, EXPECTED_BYTES, "; it has %zu bits, and %s have 64" SKIP_IT, found.count * size,
                       width_source_text(format));
        return true;
    }
    if (is_hex_form && (found.count * size <= WORD_BITS || !is_surely_hex(&found)) && !found.is_whole)
        return false;
    if (found.count * size > MAX_BITS + 6) {
        const size_t bits = found.count * size;
        (void)snprintf(hint, EXPECTED_BYTES, "; it has %zu bits, and fingerprints have at most %u",
                       size < 5 ? bits : bits / 8 * 8, MAX_BITS);
        return has_digits_alone(&found);
    }
    filled.words_given = true;
    padded.pads = true;
    padded.words = padded.bits = 0;
    if ((format->words > 1 || found.is_number || found.count % 2 != 0) && !format->words_given &&
        value_read(&filled, text, length, &other))
        (void)snprintf(hint, EXPECTED_BYTES,
                       "; if leading zeros are absent, --bits %" PRIu32 " of 'sstore build' reads it%s", other.bits,
                       format->words == 0 && !found.is_number ? ", otherwise --pad" : "");
    else if (!format->pads && value_read(&padded, text, length, &other))
        (void)snprintf(hint, EXPECTED_BYTES, "; --pad fills its %" PRIu32 " bits up with zeros at the end", other.bits);
    else
        return false;
    return true;
}

/* Are there letters of both cases? No program writes base32 so, but base64 always. */
static bool has_both_cases(const char *text, size_t length)
{
    bool has_upper = false, has_lower = false;
    for (size_t i = 0; i < length; i++) {
        has_upper = has_upper || (text[i] >= 'A' && text[i] <= 'Z');
        has_lower = has_lower || (text[i] >= 'a' && text[i] <= 'z');
    }
    return has_upper && has_lower;
}

/* If the text is a fingerprint in another form, the hint names the option for it. */
static const char *find_form_hint(const line_format *format, const char *text, size_t length)
{
    if (format->radix == RADIX_SIGNED32 && length == HEX_DIGITS && memcmp(text, "ffffffff", 8) == 0)
        return "; \"sed 's/ffffffff\\(........\\)/\\1/'\" takes the sign off hex, which is read without --radix";
    static const struct {
        radix_form form;
        size_t pads_from; /* characters: fewer are too often something else */
        const char *hint;
    } others[] = {/* strict ones first */
                  {RADIX_BIN, 32, "; --radix bin reads binary digits"},
                  {RADIX_SIGNED32, SIZE_MAX, "; --radix dec reads decimal fingerprints, signed32 those of 32 bits"},
                  {RADIX_DEC, SIZE_MAX, LINE_SEE_DECIMAL},
                  {RADIX_HEX, SIZE_MAX, "; --radix hex, the default, reads hex fingerprints"},
                  {RADIX_BASE32, SIZE_MAX, "; --radix base32 reads fingerprints in base32"},
                  {RADIX_BASE64, 22, "; --radix base64 reads fingerprints in base64"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        line_record ignored;
        line_format other = *format;
        other.radix = others[i].form;
        other.words_given = false;
        if (other.radix == format->radix || (other.radix == RADIX_SIGNED32 && text[0] != '-') ||
            (other.radix == RADIX_BASE32 && has_both_cases(text, length)))
            continue;
        bool right = value_read(&other, text, length, &ignored);
        other.pads = length >= others[i].pads_from;
        other.words = other.bits = 0;
        right = right || (other.pads && value_read(&other, text, length, &ignored));
        if (right)
            return others[i].hint;
    }
    return "";
}

bool value_is_wide_decimal(const char *text, size_t length)
{
    line_record record;
    const line_format decimal = {.radix = RADIX_DEC, .words = 1};
    return length > HEX_DIGITS && text[0] != '+' && read_number(&decimal, text, length, &record);
}

/* If the text is a decimal number of 64 bits with more digits than hex has, most rows can be decimal, although those
 * with few digits are read as hex. */
static bool find_decimal_hint(const line_format *format, const char *text, size_t length, char hint[EXPECTED_BYTES])
{
    const bool is_learned_word = is_learned(format) && format->words == 1;
    if (format->radix != RADIX_HEX || format->radix_given || (format->words > 0 && !is_learned_word) ||
        !value_is_wide_decimal(text, length))
        return false;
    (void)snprintf(hint, EXPECTED_BYTES, LINE_SEE_DECIMAL "%s",
                   is_learned_word ? "; if the others are hex, --skip-bad leaves this one out" : "");
    return true;
}

static bool has_bits_alone(const char *text, size_t length)
{
    size_t count = 0;
    while (count < length && (text[count] == '0' || text[count] == '1'))
        count++;
    return count == length;
}

/* If a decimal number has more bits than are read without an option, the hint names it. */
static bool find_number_hint(const line_format *format, const char *text, size_t length, char hint[EXPECTED_BYTES])
{
    line_format decimal = *format;
    const bool is_decimal = radix_digit_bits(format->radix) == 0;
    if (!is_decimal && (format->radix != RADIX_HEX || length <= HEX_DIGITS || has_bits_alone(text, length)))
        return false;
    decimal.radix = is_decimal ? format->radix : RADIX_DEC;
    const uint32_t bits = format->words == 0 ? find_number_bits(&decimal, text, length) : 0;
    if (bits <= WORD_BITS)
        return false;
    (void)snprintf(hint, EXPECTED_BYTES,
                   is_decimal ? "; --bits %" PRIu32 " of 'sstore build', or more, reads it"
                              : "; --radix dec --bits %" PRIu32 ", or more, reads decimal fingerprints",
                   bits);
    return true;
}

bool value_parse(const line_format *format, const char *text, size_t length, line_record *record, line_fault *fault)
{
    char expected[EXPECTED_BYTES], hint[EXPECTED_BYTES];
    if (value_read(format, text, length, record))
        return true;
    (void)line_fault_found(fault, describe_fingerprint(format, expected), text, length);
    const char *look = value_look(text, length);
    const bool is_hex = format->radix != RADIX_BIN &&
                        read_digits(format, RADIX_HEX, text, length, record); /* which looks like base64 */
    const bool is_sure = look == NULL && (find_decimal_hint(format, text, length, hint) ||
                                          find_width_hint(format, text, length, hint) ||
                                          (!is_hex && find_size_hint(format, text, length, hint)) ||
                                          find_number_hint(format, text, length, hint));
    line_fault_set_hint(fault, look != NULL ? look : is_sure ? hint : find_form_hint(format, text, length));
    fault->has_sure_hint = look != NULL || is_sure;
    return false;
}

/* ----- fingerprints of several columns ----- */

bool value_has_parts(radix_form form)
{
    return form == RADIX_HEX || radix_digit_bits(form) == 0;
}

bool value_parse_part(const line_format *format, const char *text, size_t length, value_part *part_out,
                      line_fault *fault)
{
    char room[MAX_DIGITS];
    const bool is_number = radix_digit_bits(format->radix) == 0;
    *part_out = (value_part){.negative = is_number && length > 1 && text[0] == '-'};
    if (is_number) {
        const size_t sign = part_out->negative;
        if (length == 0 || !read_decimal(text + sign, length - sign, &part_out->magnitude, 1))
            return line_fault_found(fault, "a column with a part of a fingerprint, a decimal number", text, length);
        part_out->is_wide = !fits_signed(part_out->magnitude, part_out->negative, 32);
        return true;
    }
    const digits found = find_digits(RADIX_HEX, text, length, room);
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
    const size_t all = bits * count;
    return all % WORD_BITS == 0 && all <= MAX_BITS && bits > 0 && bits <= WORD_BITS &&
                   (format->words == 0 || all == WORD_BITS * format->words)
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
        record->fingerprint[bits * i / WORD_BITS] |= value << (WORD_BITS - bits - bits * i % WORD_BITS);
        largest = parts[i].magnitude > largest ? parts[i].magnitude : largest;
    }
    record->words = (uint32_t)(bits * count / WORD_BITS);
    record->bits = WORD_BITS * record->words;
    record->decides = largest >> 16 != 0; /* smaller numbers may be of any width */
    return true;
}

/*
 * value_hint.c - what was expected where no fingerprint was found, and which option or command reads what is there.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "input/input_value.h"
#include "input/value_digits.h"
#include "input/value_looks.h"

#define HEX_DIGITS 16u /* of a word */
#define WORD_BITS 64u
#define MAX_BITS (WORD_BITS * SSTORE_MAX_WORDS)

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
    for (any.words = 1; any.words <= SSTORE_MAX_WORDS; any.words++)
        if (value_read(&any, text, length, &record))
            return WORD_BITS * any.words;
    return 0;
}

/* If the text is a fingerprint of another width, the hint says which. */
static bool find_width_hint(const line_format *format, const char *text, size_t length, char hint[EXPECTED_BYTES])
{
    line_record other;
    line_format any = *format;
    any.words = any.bits = 0;
    any.may_lack_zeros = false;
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
        if (!digits_is_hex(found->text[i]))
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
    char room[DIGITS_ROOM_BYTES];
    if (radix_digit_bits(format->radix) == 0)
        return false;
    const digits found = digits_find(format->radix, text, length, room);
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
    filled.may_lack_zeros = true;
    padded.pads = true;
    padded.words = padded.bits = 0;
    if ((format->words > 0 || found.is_number || found.count % 2 != 0) && !format->may_lack_zeros &&
        value_read(&filled, text, length, &other))
        (void)snprintf(hint, EXPECTED_BYTES, "; if leading zeros are absent, --bits %" PRIu32 " reads it%s", other.bits,
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
        other.may_lack_zeros = false;
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
    return length > HEX_DIGITS && text[0] != '+' && value_read(&decimal, text, length, &record);
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
    line_format hex = *format;
    hex.radix = RADIX_HEX;
    const bool is_hex = format->radix != RADIX_BIN && value_read(&hex, text, length, record); /* it looks like base64 */
    const bool is_sure = look == NULL && (find_decimal_hint(format, text, length, hint) ||
                                          find_width_hint(format, text, length, hint) ||
                                          (!is_hex && find_size_hint(format, text, length, hint)) ||
                                          find_number_hint(format, text, length, hint));
    line_fault_set_hint(fault, look != NULL ? look : is_sure ? hint : find_form_hint(format, text, length));
    fault->has_sure_hint = look != NULL || is_sure;
    return false;
}

bool value_parse_number(const line_format *format, const char *text, size_t length, line_record *record,
                        line_fault *fault)
{
    line_format decimal = *format;
    decimal.radix = format->radix == RADIX_SIGNED32 ? RADIX_SIGNED32 : RADIX_DEC;
    record->value = LINE_VALUE_NUMBER;
    return value_parse(&decimal, text, length, record, fault);
}

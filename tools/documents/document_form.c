#include "documents/document_form.h"

#include <string.h>

#include "input/input_hint.h"

#define LOOKED_AT 4096u
#define MANY_LINES 1000u
#define HEX_DIGITS 16u  /* of a fingerprint of 64 bits */
#define MIN_DECIMAL 15u /* fewer are rare among numbers of 64 bits */
#define MAX_DECIMAL 20u

const char *document_form_doubt(const char *bytes, size_t size)
{
    static const char utf16[] = "it seems to be UTF-16, not UTF-8: give --encoding UTF-16, UTF-16LE or UTF-16BE";
    size_t zeros[2] = {0};
    if (size >= 2 && (memcmp(bytes, "\xff\xfe", 2) == 0 || memcmp(bytes, "\xfe\xff", 2) == 0))
        return utf16;
    if (size > LOOKED_AT)
        size = LOOKED_AT;
    for (size_t i = 0; i < size; i++)
        zeros[i % 2] += bytes[i] == '\0';
    const char *other = input_hint_of_no_text(bytes, size, zeros[0] + zeros[1] > 0);
    if (zeros[0] + zeros[1] == 0 || other != NULL)
        return other;
    /* Most text has code points below 256 in every second byte. */
    const size_t more = zeros[0] > zeros[1] ? zeros[0] : zeros[1], fewer = zeros[0] + zeros[1] - more;
    return more > size / 8 && fewer < more / 8 ? utf16
                                               : "it has zero bytes, so it is no text; --binary takes it as it is";
}

/* The length of the blanks in front. */
static size_t count_blanks(const char *text, size_t length)
{
    size_t at = 0;
    while (at < length && (text[at] == ' ' || text[at] == '\t' || text[at] == '\r' || text[at] == '\n'))
        at++;
    return at;
}

bool document_form_begins_array(const char *line, size_t length)
{
    const size_t at = length > 0 ? 1 + count_blanks(line + 1, length - 1) : 0;
    return length > 0 && line[0] == '[' && (at == length || line[at] == '{');
}

bool document_form_is_object(const char *line, size_t length)
{
    while (length > 0 && count_blanks(line + length - 1, 1) > 0)
        length--;
    return length > 1 && line[0] == '{' && line[length - 1] == '}';
}

char document_form_delimiter(const char *text, size_t length)
{
    if (length == 0) /* then the text may be NULL */
        return ',';
    const char *end = memchr(text, '\n', length);
    const size_t header = end != NULL ? (size_t)(end - text) : length;
    return memchr(text, ';', header) != NULL && memchr(text, ',', header) == NULL ? ';' : ',';
}

bool document_form_has_objects(const char *text, size_t length)
{
    const char *end = memchr(text, '\n', length);
    if (document_form_begins_array(text, length))
        return true;
    return end != NULL && (size_t)(end - text) + 1 < length && text[0] == '{' && end[1] == '{' &&
           (end[-1] == '}' || (end[-1] == '\r' && end[-2] == '}'));
}

/* The length of the first characters that are of a set. */
static size_t span(const char *text, size_t length, const char *set)
{
    size_t at = 0;
    while (at < length && text[at] != '\0' && strchr(set, text[at]) != NULL)
        at++;
    return at;
}

bool document_form_is_fingerprint(const char *line, size_t length)
{
    static const char decimal[] = "0123456789", hex[] = "0123456789abcdefABCDEF";
    length -= length > 0 && line[length - 1] == '\r';
    const char *tab = memchr(line, '\t', length);
    const size_t digits = tab != NULL ? (size_t)(tab - line) : length, sign = digits > 0 && line[0] == '-';
    const bool is_hex = digits == HEX_DIGITS && span(line, digits, hex) == digits;
    const bool is_decimal = digits >= MIN_DECIMAL && digits <= MAX_DECIMAL &&
                            span(line + sign, digits - sign, decimal) == digits - sign;
    return (is_hex || is_decimal) &&
           (tab == NULL || span(tab + 1, length - digits - 1, decimal) == length - digits - 1);
}

bool document_form_begins_fingerprint(const char *line, size_t length)
{
    const char *tab = memchr(line, '\t', length);
    return document_form_is_fingerprint(line, tab != NULL ? (size_t)(tab - line) : length);
}

bool document_form_has_lines(const char *text, size_t length)
{
    const char *at = text, *end = text + length;
    for (size_t i = 0; i < MANY_LINES && at != NULL; i++) {
        at = memchr(at, '\n', (size_t)(end - at));
        at = at != NULL ? at + 1 : NULL;
    }
    return at != NULL;
}

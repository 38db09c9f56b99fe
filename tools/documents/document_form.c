#include "documents/document_form.h"

#include <string.h>

#include "input/input_hint.h"

#define LOOKED_AT 4096u
#define MANY_LINES 1000u

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

bool document_form_has_objects(const char *text, size_t length)
{
    const char *end = memchr(text, '\n', length);
    return end != NULL && (size_t)(end - text) + 1 < length && text[0] == '{' && end[1] == '{' &&
           (end[-1] == '}' || (end[-1] == '\r' && end[-2] == '}'));
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

#include "base/printable.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

/* Whether a character of `length` bytes, decoded as `point`, is printed as it is. Those from U+0080 to U+009F are
 * control characters, too: some terminals take U+009B for an escape and a bracket. */
static bool is_plain(const char *character, size_t length, uint32_t point)
{
    static const char replacement[] = "\xef\xbf\xbd"; /* which is also what decoding makes of bytes that are no UTF-8 */
    if (point == SS_REPLACEMENT_CHARACTER)
        return length == sizeof replacement - 1 && memcmp(character, replacement, length) == 0;
    return point >= ' ' && (point < 0x7f || point > 0x9f);
}

void ss_printable(const char *text, char *to, size_t size)
{
    enum { ESCAPE_BYTES = 4 };
    size_t left = strlen(text), room = size - 1;
    while (left > 0) {
        uint32_t point;
        const size_t length = ss_utf8_decode((const uint8_t *)text, left, &point);
        const bool plain = is_plain(text, length, point);
        const size_t needed = plain ? length : ESCAPE_BYTES * length;
        if (needed > room)
            break;
        if (plain)
            memcpy(to, text, length);
        for (size_t i = 0; !plain && i < length; i++)
            snprintf(to + ESCAPE_BYTES * i, ESCAPE_BYTES + 1, "\\x%02x", (unsigned char)text[i]);
        to += needed;
        room -= needed;
        text += length;
        left -= length;
    }
    *to = '\0';
}

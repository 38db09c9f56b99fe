#include "base/printable.h"

#include <string.h>

#include "base/utf8.h"

#define ESCAPE_BYTES 4u /* of one byte: \xNN */

/* Characters that a terminal obeys instead of showing them: controls (some terminals take U+009B for an escape and a bracket),
 * direction marks, which can make text appear in another order, and separators, which begin a line. And characters without
 * width, which nobody sees; those that join letters are part of some languages, and left. */
static const struct {
    uint32_t first, last;
} escaped[] = {
    {0x0000, 0x001f}, /* controls of ASCII */
    {0x007f, 0x009f}, /* delete, and the controls of ISO 8859 */
    {0x061c, 0x061c}, /* Arabic letter mark */
    {0x200b, 0x200b}, /* zero-width space */
    {0x200e, 0x200f}, /* left-to-right and right-to-left mark */
    {0x2028, 0x2029}, /* line and paragraph separator */
    {0x202a, 0x202e}, /* embeddings and overrides of direction */
    {0x2060, 0x2060}, /* word joiner */
    {0x2066, 0x2069}, /* isolates of direction */
    {0xfeff, 0xfeff}, /* byte order mark */
};

/* Whether a character of `length` bytes, decoded as `point`, is written as it is. */
static bool is_plain(const char *character, size_t length, uint32_t point)
{
    static const char replacement[] = "\xef\xbf\xbd"; /* which is also what decoding makes of bytes that are no UTF-8 */
    if (point == SS_REPLACEMENT_CHARACTER)
        return length == sizeof replacement - 1 && memcmp(character, replacement, length) == 0;
    for (size_t i = 0; i < sizeof escaped / sizeof *escaped; i++)
        if (point >= escaped[i].first && point <= escaped[i].last)
            return false;
    return true;
}

/* Write one character of `length` bytes, at most SS_UTF8_MAX_BYTES of them; returns how many bytes it takes. */
static size_t put_character(const char *character, size_t length, uint32_t point, bool double_backslashes, char *to)
{
    if (point == '\\' && double_backslashes) {
        memcpy(to, "\\\\", 2);
        return 2;
    }
    if (is_plain(character, length, point)) {
        memcpy(to, character, length);
        return length;
    }
    for (size_t i = 0; i < length; i++) {
        static const char digits[] = "0123456789abcdef";
        const uint8_t byte = (uint8_t)character[i];
        memcpy(to + ESCAPE_BYTES * i, (const char[]){'\\', 'x', digits[byte >> 4], digits[byte & 15]}, ESCAPE_BYTES);
    }
    return ESCAPE_BYTES * length;
}

size_t sstore_escape(const char *text, size_t length, int double_backslashes, char *buffer, size_t size)
{
    size_t whole = 0, used = 0;
    for (size_t at = 0; at < length;) {
        char written[ESCAPE_BYTES * SS_UTF8_MAX_BYTES];
        uint32_t point;
        const size_t taken = ss_utf8_decode((const uint8_t *)text + at, length - at, &point);
        const size_t count = put_character(text + at, taken, point, double_backslashes != 0, written);
        if (used == whole && used + count < size) { /* nothing was left out before */
            memcpy(buffer + used, written, count);
            used += count;
        }
        whole += count;
        at += taken;
    }
    if (size > 0)
        buffer[used] = '\0';
    return whole;
}

void ss_printable(const char *text, char *to, size_t size)
{
    (void)sstore_escape(text, strlen(text), 0, to, size);
}

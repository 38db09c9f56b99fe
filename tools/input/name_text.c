#include "input/name_text.h"

#include <string.h>

#include "sstore.h"

#define MAX_NAME "64 KiB" /* SSTORE_MAX_NAME_BYTES */

static bool is_name(const char *text, size_t length, line_fault *fault)
{
    if (length == 0)
        return line_fault_set(fault, "expected a name, found none");
    if (length > SSTORE_MAX_NAME_BYTES)
        return line_fault_set(fault, "expected a name of at most " MAX_NAME ", found one of %zu bytes", length);
    if (memchr(text, '\0', length) != NULL || memchr(text, '\n', length) != NULL)
        return line_fault_set(fault, "expected a name, found one with a zero byte or a newline");
    return true;
}

bool name_take(const char *text, size_t length, char *to, size_t *length_out, line_fault *fault)
{
    *length_out = length;
    if (!is_name(text, length, fault))
        return false;
    if (to != NULL)
        memcpy(to, text, length);
    return true;
}

static int hex_digit(char digit)
{
    static const char digits[] = "0123456789abcdef";
    const char *found = digit != '\0' ? strchr(digits, digit) : NULL;
    return found != NULL ? (int)(found - digits) : -1;
}

/* Decode what follows a backslash. Returns how many bytes that are, or 0. */
static size_t decode_escape(const char *at, size_t length, char *to)
{
    if (length >= 1 && at[0] == '\\') {
        *to = '\\';
        return 1;
    }
    if (length < 3 || at[0] != 'x')
        return 0;
    const int high = hex_digit(at[1]), low = hex_digit(at[2]);
    if (high < 0 || low < 0)
        return 0;
    *to = (char)((unsigned)high << 4 | (unsigned)low);
    return 3;
}

bool name_decode(const char *text, size_t length, char *to, size_t *length_out, line_fault *fault)
{
    char name[SSTORE_MAX_NAME_BYTES];
    size_t used = 0;
    if (length == 1 && text[0] == '-')
        return line_fault_set(fault, "expected a name, found '-', which stands for none; a name '-' is written \\x2d");
    if (memchr(text, '\\', length) == NULL)
        return name_take(text, length, to, length_out, fault);
    for (size_t i = 0, taken; i < length; i += taken + 1) {
        if (used == sizeof name)
            return line_fault_set(fault, "expected a name of at most " MAX_NAME ", found a longer one");
        name[used] = text[i];
        taken = text[i] == '\\' ? decode_escape(text + i + 1, length - i - 1, &name[used]) : 0;
        if (text[i] == '\\' && taken == 0) {
            (void)line_fault_found(fault, "\\\\ for a backslash in a name, or \\xNN for a byte", text + i, length - i);
            line_fault_set_hint(fault, "; \"sed 's/\\\\/&&/g'\" doubles backslashes");
            return false;
        }
        used++;
    }
    return name_take(name, used, to, length_out, fault);
}

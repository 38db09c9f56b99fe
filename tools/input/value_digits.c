/*
 * value_digits.c - finds digits: takes marks, quotes, groups and letters of programs off one after another.
 */
#include "input/value_digits.h"

#include <string.h>

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

/* Take the quotes of a string, or the braces of a UUID. */
static void take_enclosing(digits *from)
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
    while (from->count > 1 && memchr("uUlL", from->text[from->count - 1], 4) != NULL)
        from->count--;
}

/* Take the underscores between digits out. */
static void take_underscores(digits *from, char room[DIGITS_ROOM_BYTES])
{
    size_t count = 0;
    if (from->count > DIGITS_ROOM_BYTES || from->text[0] == '_' || memchr(from->text, '_', from->count) == NULL)
        return;
    for (size_t i = 0; i < from->count; i++)
        if (from->text[i] != '_')
            room[count++] = from->text[i];
    from->text = room;
    from->count = count;
}

/* Take the letter in front of a hash of goimagehash: by average, difference, perception or wavelets. */
static void take_kind(digits *from)
{
    if (from->count <= 2 || from->text[1] != ':' || memchr("adpw", from->text[0], 4) == NULL)
        return;
    from->kind = from->text[0];
    from->text += 2;
    from->count -= 2;
}

/* Are hyphens where they divide a UUID? */
static bool is_uuid(const char *text, size_t length)
{
    return length == 36 && text[8] == '-' && text[13] == '-' && text[18] == '-' && text[23] == '-';
}

/* Take groups of two, four or eight digits that colons or hyphens separate, or those of a UUID, out of the text. */
static bool take_groups(digits *from, char room[DIGITS_ROOM_BYTES])
{
    const char *mark = memchr(from->text, ':', from->count);
    if (mark == NULL)
        mark = memchr(from->text, '-', from->count);
    const size_t size = mark != NULL ? (size_t)(mark - from->text) : 0;
    const bool uuid = is_uuid(from->text, from->count);
    size_t count = 0;
    if (mark == NULL || (!uuid && size != 2 && size != 4 && size != 8) || from->count > DIGITS_ROOM_BYTES)
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

digits digits_find(radix_form form, const char *text, size_t length, char room[DIGITS_ROOM_BYTES])
{
    digits found = {.form = form, .text = text, .count = length};
    const unsigned size = radix_digit_bits(form);
    if (form == RADIX_HEX) {
        found.is_whole = take_bytea(&found) || take_quotes(&found, 'x');
        if (!found.is_whole) {
            take_enclosing(&found);
            take_kind(&found);
            found.is_number = take_prefix(&found, '0', 'x');
            if (found.is_number)
                take_suffix(&found);
            take_underscores(&found, room);
            found.is_whole = take_groups(&found, room);
        }
    } else if (form == RADIX_BIN) {
        found.is_whole = take_quotes(&found, 'b');
        take_enclosing(&found);
        found.is_number = take_prefix(&found, '0', 'b');
        take_underscores(&found, room);
    } else {
        take_padding(&found);
    }
    found.bits = found.count <= DIGITS_ROOM_BYTES ? found.count * size : 0;
    if (form == RADIX_BASE64 || form == RADIX_BASE32) { /* of whole bytes, without more digits than they need */
        found.bits = found.bits / 8 * 8;
        found.bits = found.count == (found.bits + size - 1) / size ? found.bits : 0;
    }
    return found;
}

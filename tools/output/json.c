#include "output/json.h"

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/json_read.h"

struct json_value {
    char *text; /* without a zero */
    size_t size, capacity;
    const char *key; /* of the next member; or NULL */
    bool failed;
};

/* Make room for more text. */
static bool reserve(json_value *to, size_t size)
{
    const size_t needed = to->size + size;
    if (needed <= to->capacity)
        return true;
    const size_t capacity = needed > 2 * to->capacity ? needed : 2 * to->capacity;
    char *grown = realloc(to->text, capacity);
    if (grown == NULL)
        return false;
    to->text = grown;
    to->capacity = capacity;
    return true;
}

static void append_bytes(json_value *to, const char *bytes, size_t size)
{
    to->failed = to->failed || !reserve(to, size);
    if (to->failed || size == 0)
        return;
    memcpy(to->text + to->size, bytes, size);
    to->size += size;
}

/* The escape of a byte, or 0 if it needs none. */
static size_t escape_of(char byte, char to[8])
{
    static const char letters[] = "\bb\ff\nn\rr\tt\"\"\\\\";
    for (const char *at = letters; *at != '\0'; at += 2)
        if (*at == byte) {
            to[0] = '\\';
            to[1] = at[1];
            return 2;
        }
    return (unsigned char)byte < ' ' ? (size_t)snprintf(to, 8, "\\u%04X", (unsigned)byte) : 0;
}

static void put_text(json_value *to, const char *text)
{
    char escape[8];
    const char *begin = text;
    to->failed |= !json_is_text(text);
    append_bytes(to, "\"", 1);
    for (; *text != '\0'; text++) {
        const size_t size = escape_of(*text, escape);
        if (size == 0)
            continue;
        append_bytes(to, begin, (size_t)(text - begin));
        append_bytes(to, escape, size);
        begin = text + 1;
    }
    append_bytes(to, begin, (size_t)(text - begin));
    append_bytes(to, "\"", 1);
}

/* Begin the next item or member. */
static void begin_part(json_value *to)
{
    const char last = to->size > 0 ? to->text[to->size - 1] : '[';
    if (last != '[' && last != '{')
        append_bytes(to, ",", 1);
    if (to->key != NULL) {
        put_text(to, to->key);
        append_bytes(to, ":", 1);
    }
    to->key = NULL;
}

static void put_part(json_value *to, const char *text)
{
    begin_part(to);
    append_bytes(to, text, strlen(text));
}

/* Six digits, and what tells it from a whole number. Exponents have neither '+' nor leading zeros. */
static void put_real(json_value *to, double value)
{
    char text[32];
    if (!isfinite(value)) {
        put_part(to, "null");
        return;
    }
    const int length = snprintf(text, sizeof text, "%.6g", value);
    char *exponent = strchr(text, 'e');
    if (exponent != NULL) {
        const long power = strtol(exponent + 1, NULL, 10);
        snprintf(exponent + 1, sizeof text - (size_t)(exponent + 1 - text), "%ld", power);
    } else if (strchr(text, '.') == NULL) {
        snprintf(text + length, sizeof text - (size_t)length, ".0");
    }
    put_part(to, text);
}

static void put_integer(json_value *to, long long value)
{
    char text[32];
    snprintf(text, sizeof text, "%lld", value);
    put_part(to, text);
}

/* A text or a value that is NULL. */
static void put_absent(json_value *to, char modifier)
{
    if (modifier == '?')
        put_part(to, "null");
    to->failed |= modifier != '?' && modifier != '*';
    to->key = NULL;
}

static void put_string(json_value *to, const char *text, char modifier)
{
    if (text == NULL) {
        put_absent(to, modifier);
        return;
    }
    begin_part(to);
    put_text(to, text);
}

static void put_value(json_value *to, json_value *value, char modifier)
{
    if (value == NULL) {
        put_absent(to, modifier);
        return;
    }
    begin_part(to);
    append_bytes(to, value->text, value->size);
    json_value_free(value);
}

/* Put what a letter of the format stands for. `next` is the byte behind it. */
static void put_next(json_value *to, char letter, char next, va_list *arguments)
{
    switch (letter) {
    case '{':
    case '[':
        begin_part(to);
        append_bytes(to, &letter, 1);
        break;
    case '}':
    case ']': append_bytes(to, &letter, 1); break;
    case 's':
        if (next == ':')
            to->key = va_arg(*arguments, const char *);
        else
            put_string(to, va_arg(*arguments, const char *), next);
        break;
    case 'o': put_value(to, va_arg(*arguments, json_value *), next); break;
    case 'I': put_integer(to, va_arg(*arguments, long long)); break;
    case 'i': put_integer(to, va_arg(*arguments, int)); break;
    case 'b': put_part(to, va_arg(*arguments, int) != 0 ? "true" : "false"); break;
    case 'f': put_real(to, va_arg(*arguments, double)); break;
    case 'n': put_part(to, "null"); break;
    default: break; /* what is between them */
    }
}

json_value *json_value_make(const char *format, ...)
{
    json_value *made = calloc(1, sizeof *made), value = {.failed = made == NULL};
    va_list arguments;
    va_start(arguments, format);
    for (const char *at = format; *at != '\0'; at++) /* also after a failure: it frees the values */
        put_next(&value, *at, at[1], &arguments);
    va_end(arguments);
    if (made != NULL)
        *made = value;
    if (!value.failed)
        return made;
    free(value.text);
    free(made);
    return NULL;
}

void json_value_append(json_value **list, json_value *item)
{
    json_value *to = *list;
    if (to == NULL || item == NULL) {
        json_value_free(item);
        json_value_free(to);
        *list = NULL;
        return;
    }
    to->size--; /* the bracket at the end */
    put_value(to, item, '\0');
    append_bytes(to, "]", 1);
    if (to->failed) {
        json_value_free(to);
        *list = NULL;
    }
}

char *json_value_text(json_value *value)
{
    if (value == NULL)
        return NULL;
    append_bytes(value, "", 1);
    char *text = value->failed ? NULL : value->text;
    if (value->failed)
        free(value->text);
    free(value);
    return text;
}

void json_value_free(json_value *value)
{
    if (value != NULL)
        free(value->text);
    free(value);
}

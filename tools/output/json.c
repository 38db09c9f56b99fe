/*
 * json.c - JSON values by jansson; without it, functions that return NULL.
 *
 * jansson's integers end at 2^63 - 1, and many programs write fingerprints and ids up to 2^64 - 1. So a copy of the
 * text is read, in which each integer of 19 digits or more is wrapped in an object, as its only member with an empty
 * key.
 */
#include "output/json.h"

#include <stddef.h>
#include <stdio.h>

#ifdef SSTORE_HAVE_JANSSON

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

bool json_is_available(void)
{
    return true;
}

json_value *json_value_make(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    json_t *made = json_vpack_ex(NULL, 0, format, arguments);
    va_end(arguments);
    return made;
}

void json_value_append(json_value **list, json_value *item)
{
    if (json_array_append_new(*list, item) == 0)
        return;
    json_decref(*list);
    *list = NULL;
}

char *json_value_text(json_value *value)
{
    char *text = value == NULL ? NULL : json_dumps(value, JSON_COMPACT | JSON_REAL_PRECISION(6));
    json_decref(value);
    return text;
}

/* ----- reading ----- */

#define WRAPPER_BEGIN "{\"\":\""
#define WRAPPER_END "\"}"
#define LONG_DIGITS 19u /* of 2^63 */

static const char *end_of_string(const char *at, const char *end)
{
    for (at++; at < end && *at != '"'; at++)
        if (*at == '\\' && at + 1 < end)
            at++;
    return at < end ? at + 1 : end;
}

static const char *end_of_number(const char *at, const char *end)
{
    while (at < end && memchr("0123456789+-.eE", *at, 15) != NULL)
        at++;
    return at;
}

/* Is this a JSON number without fraction and exponent, of many digits? */
static bool is_long_integer(const char *at, const char *end)
{
    at += *at == '-';
    if ((size_t)(end - at) < LONG_DIGITS || *at == '0')
        return false;
    while (at < end && *at >= '0' && *at <= '9')
        at++;
    return at == end;
}

static char *put_text(char *to, const char *text, size_t length)
{
    memcpy(to, text, length);
    return to + length;
}

/* Returns a copy to be freed, or NULL if there is no memory. */
static char *wrap_long_integers(const char *text, size_t length, size_t *length_out)
{
    /* A wrapper takes less than half of the digits in it. */
    char *copy = malloc(length + length / 2 + 1), *to = copy;
    const char *end = text + length;
    for (const char *at = text, *next; at < end && copy != NULL; at = next) {
        const bool is_number = *at == '-' || (*at >= '0' && *at <= '9');
        next = *at == '"' ? end_of_string(at, end) : is_number ? end_of_number(at, end) : at + 1;
        const bool wrap = is_number && is_long_integer(at, next);
        if (wrap)
            to = put_text(to, WRAPPER_BEGIN, sizeof WRAPPER_BEGIN - 1);
        to = put_text(to, at, (size_t)(next - at));
        if (wrap)
            to = put_text(to, WRAPPER_END, sizeof WRAPPER_END - 1);
    }
    *length_out = copy != NULL ? (size_t)(to - copy) : 0;
    return copy;
}

static void set_text(json_member *member, member_kind kind, const char *text, size_t length)
{
    member->kind = kind;
    member->text = text;
    member->length = length;
}

#define NO_VALUE (-1000)
#define MAX_PARTS 4u /* of more numbers it is not clear whether they are parts */

/* The number that an item of an array is: also of two hex digits; or NO_VALUE. */
static json_int_t item_value(const json_t *item)
{
    char *end;
    const char *digits = json_string_length(item) == 2 ? json_string_value(item) : "";
    const double real = json_real_value(item);
    const bool is_hex = isxdigit((unsigned char)digits[0]) && isxdigit((unsigned char)digits[1]);
    return json_is_boolean(item)                            ? json_is_true(item)
           : json_is_integer(item)                          ? json_integer_value(item)
           : json_is_real(item) && (real == 0 || real == 1) ? (json_int_t)real
           : is_hex                                         ? strtol(digits, &end, 16)
                                                            : NO_VALUE;
}

/* An array, perhaps of arrays of the same length, item by item. */
typedef struct item_list {
    const json_t *array;
    size_t each, count; /* each: in an inner array; 0: there are none */
} item_list;

static item_list list_items(const json_t *array)
{
    const size_t each = json_array_size(json_array_get(array, 0)), count = json_array_size(array);
    return (item_list){array, each, each > 0 ? each * count : count};
}

/* NULL: an inner array has another length. */
static const json_t *item_at(const item_list *list, size_t i)
{
    const json_t *inner = list->each > 0 ? json_array_get(list->array, i / list->each) : NULL;
    return list->each == 0                        ? json_array_get(list->array, i)
           : json_array_size(inner) == list->each ? json_array_get(inner, i % list->each)
                                                  : NULL;
}

/* The digits of an integer that was wrapped; or NULL. */
static const json_t *unwrapped(const json_t *value)
{
    const json_t *digits = json_object_size(value) == 1 ? json_object_get(value, "") : NULL;
    return json_is_string(digits) ? digits : NULL;
}

/* Few integers, as decimal numbers with commas between them. */
static bool set_parts(json_member *member, const json_t *array)
{
    size_t length = 0;
    for (size_t i = 0; i < json_array_size(array); i++) {
        const json_t *item = json_array_get(array, i), *wrapped = unwrapped(item);
        char number[32] = "";
        if (json_is_integer(item))
            snprintf(number, sizeof number, "%" PRId64, (int64_t)json_integer_value(item));
        const char *digits = wrapped != NULL ? json_string_value(wrapped) : number;
        const size_t size = strlen(digits) + (i > 0);
        if (digits[0] == '\0' || length + size >= sizeof member->room)
            return false;
        snprintf(member->room + length, sizeof member->room - length, "%s%s", i > 0 ? "," : "", digits);
        length += size;
    }
    set_text(member, MEMBER_PARTS, member->room, length);
    return true;
}

/* Signed bytes, such as of Java, are two's complement. */
static void set_array(json_member *member, const json_t *array)
{
    const item_list list = list_items(array);
    json_int_t least = 0, largest = 0;
    bool has_bits = list.each > 0, has_text = false, has_wrapped = false;
    uint8_t bits[MEMBER_MAX_BYTES];
    memset(bits, 0, sizeof bits);
    for (size_t i = 0; i < list.count; i++) {
        const json_t *item = item_at(&list, i);
        const json_int_t value = item_value(item);
        has_bits = has_bits || json_is_boolean(item) || json_is_real(item);
        has_text = has_text || json_is_string(item);
        has_wrapped = has_wrapped || unwrapped(item) != NULL;
        least = value < least ? value : least;
        largest = value > largest ? value : largest;
        if (i < sizeof member->room)
            member->room[i] = (char)(unsigned char)(value & 255);
        if (i < 8 * sizeof bits)
            bits[i / 8] |= (uint8_t)((value & 1) << (7 - i % 8));
    }
    const bool are_bits = least == 0 && largest <= 1 && !has_text;
    if (least < -128 || largest > (least < 0 ? 127 : 255) || (has_bits && (!are_bits || list.count % 64 != 0))) {
        const bool are_wide = least < INT16_MIN || largest > UINT16_MAX || has_wrapped;
        if (!are_wide || list.count > MAX_PARTS || !set_parts(member, array))
            set_text(member, MEMBER_OTHER, JSON_ARRAY_NAME, strlen(JSON_ARRAY_NAME));
        return;
    }
    if (are_bits)
        memcpy(member->room, bits, sizeof bits);
    set_text(member, are_bits ? MEMBER_BITS : MEMBER_BYTES, member->room, list.count);
}

static void set_member(json_member *member, json_t *value)
{
    static const char *const names[] = {
        [JSON_OBJECT] = "an object", [JSON_REAL] = JSON_REAL_NAME, [JSON_TRUE] = "true", [JSON_FALSE] = "false"};
    const json_t *wrapped = unwrapped(value);
    if (value == NULL || json_is_null(value))
        set_text(member, value == NULL ? MEMBER_ABSENT : MEMBER_NULL, "", 0);
    else if (json_is_string(value))
        set_text(member, MEMBER_STRING, json_string_value(value), json_string_length(value));
    else if (json_is_integer(value))
        set_text(member, MEMBER_INTEGER, member->room,
                 (size_t)snprintf(member->room, sizeof member->room, "%" PRId64, (int64_t)json_integer_value(value)));
    else if (json_is_array(value))
        set_array(member, value);
    else if (wrapped != NULL)
        set_text(member, MEMBER_INTEGER, json_string_value(wrapped), json_string_length(wrapped));
    else
        set_text(member, MEMBER_OTHER, names[json_typeof(value)], strlen(names[json_typeof(value)]));
}

/* The value of a key, or of a path of keys. */
static json_t *find_member(const json_t *object, const char *key)
{
    json_t *found = json_object_get(object, key);
    const char *dot = found == NULL ? strchr(key, '.') : NULL;
    if (dot == NULL)
        return found;
    char *first = strndup(key, (size_t)(dot - key));
    found = first != NULL ? json_object_get(object, first) : NULL;
    free(first);
    return found != NULL ? find_member(found, dot + 1) : NULL;
}

json_value *json_object_read(const char *text, size_t length, json_member *members, size_t count,
                             char reason[JSON_REASON_BYTES])
{
    json_error_t error = {.text = "out of memory"};
    size_t copy_length;
    char *copy = wrap_long_integers(text, length, &copy_length);
    json_t *object = copy != NULL ? json_loadb(copy, copy_length,
                                               JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL, &error)
                                  : NULL;
    free(copy);
    if (object != NULL && !json_is_object(object))
        snprintf(error.text, sizeof error.text, "the line is another JSON value");
    if (!json_is_object(object)) {
        snprintf(reason, JSON_REASON_BYTES, "%s", error.text);
        json_decref(object);
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        set_member(&members[i], find_member(object, members[i].key));
    return object;
}

void json_value_free(json_value *value)
{
    json_decref(value);
}

bool json_is_text(const char *text)
{
    json_t *string = json_string(text);
    json_decref(string);
    return string != NULL;
}

/* ----- reading any value ----- */

json_value *json_value_read(const char *text, size_t size, char reason[JSON_REASON_BYTES])
{
    json_error_t error;
    json_t *value = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
    size_t copy_size;
    char *copy = value == NULL ? wrap_long_integers(text, size, &copy_size) : NULL;
    if (copy != NULL)
        value = json_loadb(copy, copy_size, JSON_REJECT_DUPLICATES, &error);
    free(copy);
    if (value == NULL)
        snprintf(reason, JSON_REASON_BYTES, "line %d, column %d: %s", error.line, error.column, error.text);
    return value;
}

const json_value *json_value_member(const json_value *object, const char *key)
{
    return json_object_get(object, key);
}

const char *json_value_unknown_key(const json_value *object, const char *const *known)
{
    /* jansson's iterators take objects that are not const, but change nothing. */
    json_t *of = (json_t *)(uintptr_t)object;
    for (void *at = json_object_iter(of); at != NULL; at = json_object_iter_next(of, at)) {
        const char *const *name = known;
        while (*name != NULL && strcmp(*name, json_object_iter_key(at)) != 0)
            name++;
        if (*name == NULL)
            return json_object_iter_key(at);
    }
    return NULL;
}

bool json_value_is_list(const json_value *value)
{
    return json_is_array(value);
}

size_t json_value_count(const json_value *list)
{
    return json_array_size(list);
}

const json_value *json_value_item(const json_value *list, size_t index)
{
    return json_array_get(list, index);
}

const char *json_value_string(const json_value *value)
{
    return json_string_value(value);
}

typedef struct beginning {
    char *to;
    size_t size, used;
} beginning;

/* Returns -1 when it is full, which ends the dump. */
static int append_beginning(const char *text, size_t length, void *context)
{
    beginning *self = context;
    const size_t room = self->size - self->used, taken = length < room ? length : room;
    memcpy(self->to + self->used, text, taken);
    self->used += taken;
    return taken == length ? 0 : -1;
}

size_t json_value_begin(const json_value *value, char *to, size_t size)
{
    beginning self = {.to = to, .size = size};
    if (json_is_string(value))
        append_beginning(json_string_value(value), json_string_length(value), &self);
    else
        json_dump_callback(value, append_beginning, &self, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));
    return self.used;
}

bool json_value_truth(const json_value *value, bool *truth_out)
{
    *truth_out = json_is_true(value);
    return json_is_boolean(value);
}

bool json_value_whole(const json_value *value, uint64_t *number_out)
{
    const char *digits = json_string_value(unwrapped(value));
    char *end = NULL;
    errno = 0;
    *number_out = digits != NULL ? strtoull(digits, &end, 10) : (uint64_t)json_integer_value(value);
    if (digits != NULL)
        return digits[0] >= '0' && digits[0] <= '9' && *end == '\0' && errno == 0;
    return json_is_integer(value) && json_integer_value(value) >= 0;
}

#else

bool json_is_available(void)
{
    return false;
}

json_value *json_value_make(const char *format, ...)
{
    (void)format;
    return NULL;
}

void json_value_append(json_value **list, json_value *item)
{
    (void)list, (void)item;
}

char *json_value_text(json_value *value)
{
    (void)value;
    return NULL;
}

json_value *json_object_read(const char *text, size_t length, json_member *members, size_t count,
                             char reason[JSON_REASON_BYTES])
{
    (void)text, (void)length, (void)members, (void)count;
    reason[0] = '\0';
    return NULL;
}

void json_value_free(json_value *value)
{
    (void)value;
}

bool json_is_text(const char *text)
{
    (void)text;
    return false;
}

json_value *json_value_read(const char *text, size_t size, char reason[JSON_REASON_BYTES])
{
    (void)text, (void)size;
    snprintf(reason, JSON_REASON_BYTES, "this sstore was built without the jansson library");
    return NULL;
}

const json_value *json_value_member(const json_value *object, const char *key)
{
    (void)object, (void)key;
    return NULL;
}

const char *json_value_unknown_key(const json_value *object, const char *const *known)
{
    (void)object, (void)known;
    return NULL;
}

bool json_value_is_list(const json_value *value)
{
    (void)value;
    return false;
}

size_t json_value_count(const json_value *list)
{
    (void)list;
    return 0;
}

const json_value *json_value_item(const json_value *list, size_t index)
{
    (void)list, (void)index;
    return NULL;
}

const char *json_value_string(const json_value *value)
{
    (void)value;
    return NULL;
}

size_t json_value_begin(const json_value *value, char *to, size_t size)
{
    (void)value, (void)to, (void)size;
    return 0;
}

bool json_value_truth(const json_value *value, bool *truth_out)
{
    (void)value, (void)truth_out;
    return false;
}

bool json_value_whole(const json_value *value, uint64_t *number_out)
{
    (void)value, (void)number_out;
    return false;
}

#endif

#include "output/json_members.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ----- arrays ----- */

#define NO_VALUE (-1000)
#define MAX_PARTS 4u    /* of more numbers it is not clear whether they are parts */
#define LONG_DIGITS 19u /* of 2^63 */

static void set_text(json_member *member, member_kind kind, const char *text, size_t length)
{
    member->kind = kind;
    member->text = text;
    member->length = length;
}

/* What the items of an array, or of arrays in it, are. */
typedef struct array_items {
    json_member *member;
    size_t count;
    int64_t min, max;
    bool has_bits, has_text, has_long;
    uint8_t bits[MEMBER_MAX_BYTES];
} array_items;

static bool is_long(json_view integer)
{
    return integer.length - (*integer.text == '-') >= LONG_DIGITS;
}

static int64_t hex_value(json_view string)
{
    char digits[4], *end;
    if (json_view_text(string, digits, sizeof digits) != 2)
        return NO_VALUE;
    const long value = strtol(digits, &end, 16);
    return *end == '\0' && strchr(" +-", digits[0]) == NULL ? value : NO_VALUE;
}

/* Of a number that is not long. */
static int64_t integer_value(json_view integer)
{
    int64_t value = 0;
    for (size_t i = *integer.text == '-'; i < integer.length; i++)
        value = 10 * value + (integer.text[i] - '0');
    return *integer.text == '-' ? -value : value;
}

static int64_t real_value(json_view real)
{
    char text[64]; /* a string, which what is read is not */
    if (real.length >= sizeof text)
        return NO_VALUE;
    memcpy(text, real.text, real.length);
    text[real.length] = '\0';
    const double value = strtod(text, NULL);
    return value == 0 ? 0 : value == 1 ? 1 : NO_VALUE;
}

/* The number that an item of an array is: also of two hex digits; or NO_VALUE. */
static int64_t item_value(json_view item, json_kind kind)
{
    switch (kind) {
    case JSON_VIEW_FALSE: return 0;
    case JSON_VIEW_TRUE: return 1;
    case JSON_VIEW_INTEGER: return is_long(item) ? NO_VALUE : integer_value(item);
    case JSON_VIEW_REAL: return real_value(item);
    case JSON_VIEW_STRING: return hex_value(item);
    default: return NO_VALUE;
    }
}

static void add_item(array_items *self, json_view item)
{
    const json_kind kind = json_view_kind(item);
    const int64_t value = item_value(item, kind);
    const size_t i = self->count++;
    self->has_bits |= kind == JSON_VIEW_FALSE || kind == JSON_VIEW_TRUE || kind == JSON_VIEW_REAL;
    self->has_text |= kind == JSON_VIEW_STRING;
    self->has_long |= kind == JSON_VIEW_INTEGER && is_long(item);
    self->min = value < self->min ? value : self->min;
    self->max = value > self->max ? value : self->max;
    if (i < MEMBER_MAX_BYTES)
        self->member->room[i] = (char)(unsigned char)(value & 255);
    if (i < 8 * MEMBER_MAX_BYTES)
        self->bits[i / 8] |= (uint8_t)((value & 1) << (7 - i % 8));
}

/* Add the items; if the first one is an array that is not empty, those of arrays of the same length. */
static void add_items(array_items *self, json_view array)
{
    json_iterator items = json_iterate(array), inner;
    json_view item, part;
    size_t each = 0;
    while (json_next_item(&items, &item)) {
        const size_t count = json_view_count(item);
        each = self->count == 0 ? count : each;
        inner = json_iterate(item);
        if (each == 0 || count != each)
            add_item(self, item);
        for (size_t i = 0; each > 0 && count == each && json_next_item(&inner, &part); i++)
            add_item(self, part);
    }
    self->has_bits |= each > 0;
}

/* Few integers, as decimal numbers with commas between them. */
static bool set_parts(json_member *member, json_view array)
{
    json_iterator items = json_iterate(array);
    json_view item;
    size_t length = 0;
    while (json_next_item(&items, &item)) {
        const bool is_first = length == 0;
        if (json_view_kind(item) != JSON_VIEW_INTEGER || length + item.length + !is_first >= sizeof member->room)
            return false;
        length += (size_t)snprintf(member->room + length, sizeof member->room - length, "%s%.*s", is_first ? "" : ",",
                                   (int)item.length, item.text);
    }
    set_text(member, MEMBER_PARTS, member->room, length);
    return true;
}

/* Signed bytes, such as of Java, are two's complement. */
static void set_array(json_member *member, json_view array)
{
    array_items items = {.member = member};
    add_items(&items, array);
    const bool are_bits = items.min == 0 && items.max <= 1 && !items.has_text;
    if (items.min < -128 || items.max > (items.min < 0 ? 127 : 255) ||
        (items.has_bits && (!are_bits || items.count % 64 != 0))) {
        const bool are_wide = items.min < INT16_MIN || items.max > UINT16_MAX || items.has_long;
        if (!are_wide || items.count > MAX_PARTS || !set_parts(member, array))
            set_text(member, MEMBER_OTHER, JSON_ARRAY_NAME, strlen(JSON_ARRAY_NAME));
        return;
    }
    if (are_bits)
        memcpy(member->room, items.bits, sizeof items.bits);
    set_text(member, are_bits ? MEMBER_BITS : MEMBER_BYTES, member->room, items.count);
}

/* ----- members ----- */

static void set_other(json_member *member, const char *name)
{
    set_text(member, MEMBER_OTHER, name, strlen(name));
}

static void set_integer(json_member *member, json_view value)
{
    if (value.length == 2 && memcmp(value.text, "-0", 2) == 0)
        set_text(member, MEMBER_INTEGER, "0", 1);
    else
        set_text(member, MEMBER_INTEGER, value.text, value.length);
}

static void set_real(json_member *member, json_view value)
{
    set_other(member, JSON_REAL_NAME);
    (void)snprintf(member->room, sizeof member->room, "%.*s", (int)value.length, value.text);
}

static void set_member(json_member *member, json_view value)
{
    switch (json_view_kind(value)) {
    case JSON_VIEW_ABSENT: set_text(member, MEMBER_ABSENT, "", 0); break;
    case JSON_VIEW_NULL: set_text(member, MEMBER_NULL, "", 0); break;
    case JSON_VIEW_STRING: set_text(member, MEMBER_STRING, value.text + 1, value.length - 2); break;
    case JSON_VIEW_INTEGER: set_integer(member, value); break;
    case JSON_VIEW_REAL: set_real(member, value); break;
    case JSON_VIEW_FALSE: set_other(member, "false"); break;
    case JSON_VIEW_TRUE: set_other(member, "true"); break;
    case JSON_VIEW_OBJECT: set_other(member, "an object"); break;
    case JSON_VIEW_LIST: set_array(member, value); break;
    }
}

/* What is wanted of an object. */
typedef struct wanted_members {
    json_member *items;
    size_t count;
    const char *text;
    char *room;
} wanted_members;

static void set_found(const wanted_members *wanted, json_member *member, json_view value, bool has_escapes)
{
    set_member(member, value);
    if (member->kind != MEMBER_STRING || !has_escapes || wanted->room == NULL)
        return;
    char *const to = wanted->room + (member->text - wanted->text);
    member->length = json_decode(to, member->text, member->length);
    member->text = to;
}

static bool has_key(const json_part *part, const char *key)
{
    const size_t length = part->key.length - 2;
    if (part->key_has_escapes)
        return json_view_is(part->key, key, strlen(key));
    return strncmp(key, part->key.text + 1, length) == 0 && key[length] == '\0';
}

static bool take_member(void *context, const json_part *part, const char **fault_out)
{
    const wanted_members *wanted = context;
    for (size_t i = 0; i < wanted->count; i++) {
        json_member *const member = &wanted->items[i];
        if (!has_key(part, member->key))
            continue;
        if (member->kind != MEMBER_ABSENT) {
            *fault_out = "a key that is read occurs twice";
            return false;
        }
        set_found(wanted, member, part->value, part->value_has_escapes);
    }
    return true;
}

/* Find the value of a key of an object. False: the key occurs twice. */
static bool find_key(json_view object, const char *key, size_t length, json_view *value_out)
{
    json_iterator members = json_iterate(object);
    json_view name, value;
    size_t count = 0;
    *value_out = (json_view){NULL, 0};
    while (json_view_kind(object) == JSON_VIEW_OBJECT && json_next_member(&members, &name, &value))
        if (json_view_is(name, key, length)) {
            *value_out = value;
            count++;
        }
    return count < 2;
}

/* Find the value of a key with dots, which is not there as a whole: they separate keys of objects within objects. */
static bool find_path(json_view object, const char *key, json_view *value_out)
{
    const char *const dot = strchr(key, '.');
    *value_out = (json_view){NULL, 0};
    if (dot == NULL)
        return true;
    json_view inner;
    if (!find_key(object, key, (size_t)(dot - key), &inner) || !find_key(inner, dot + 1, strlen(dot + 1), value_out))
        return false;
    return value_out->text != NULL || find_path(inner, dot + 1, value_out);
}

static bool take_path(const wanted_members *wanted, json_view object, json_member *member)
{
    json_view value;
    if (!find_path(object, member->key, &value))
        return false;
    if (value.text != NULL)
        set_found(wanted, member, value, memchr(value.text, '\\', value.length) != NULL);
    return true;
}

bool json_members_read(const char *text, size_t length, json_member *members, size_t count, char *room,
                       char reason[JSON_REASON_BYTES])
{
    const wanted_members wanted = {members, count, text, room};
    json_view object;
    for (size_t i = 0; i < count; i++)
        set_text(&members[i], MEMBER_ABSENT, "", 0);
    if (!json_read_members(text, length, take_member, (void *)(uintptr_t)&wanted, &object, reason))
        return false;
    for (size_t i = 0; i < count; i++)
        if (members[i].kind == MEMBER_ABSENT && !take_path(&wanted, object, &members[i])) {
            snprintf(reason, JSON_REASON_BYTES, "a key that is read occurs twice");
            return false;
        }
    return true;
}

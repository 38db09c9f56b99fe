/*
 * json_read.c - a scanner of JSON. It checks the whole text, also the UTF-8 of strings; where a value was checked, the
 * same functions skip it.
 */
#include "output/json_read.h"

#include <endian.h>
#include <stdio.h>
#include <string.h>

/* A place in a text. `fault` is what is wrong there. */
typedef struct json_scan {
    const char *at, *end, *fault;
    uint32_t depth;
    bool has_escapes;         /* the last string that was taken has them */
    json_member_fn on_member; /* of the outermost object; or NULL */
    void *context;
} json_scan;

static bool fail(json_scan *self, const char *fault)
{
    self->fault = fault;
    return false;
}

static void take_space(json_scan *self)
{
    while (self->at < self->end && (*self->at == ' ' || *self->at == '\n' || *self->at == '\r' || *self->at == '\t'))
        self->at++;
}

/* Take a byte, and the white space behind it, if it comes next. */
static bool take_byte(json_scan *self, char byte)
{
    if (self->at == self->end || *self->at != byte)
        return false;
    self->at++;
    take_space(self);
    return true;
}

/* Take a word of a value. */
static bool take_word(json_scan *self, const char *word)
{
    const size_t length = strlen(word);
    if ((size_t)(self->end - self->at) < length || memcmp(self->at, word, length) != 0)
        return fail(self, "no value");
    self->at += length;
    return true;
}

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

static bool take_value(json_scan *self);

/* ----- strings ----- */

#define BYTES(x) (UINT64_C(0x0101010101010101) * (x))
#define HIGH_BITS BYTES(0x80u)

/* The high bit of each byte that is `value`; bytes behind the first one may have it wrongly, and those of 0x80 and more
 * have none. */
static uint64_t bytes_equal(uint64_t bytes, uint8_t value)
{
    bytes ^= BYTES(value);
    return (bytes - BYTES(1u)) & ~bytes & HIGH_BITS;
}

/* The place of the next byte that is a quote, a backslash, a control character or not ASCII. */
static const char *end_of_plain(const char *at, const char *end)
{
    uint64_t bytes;
    for (; (size_t)(end - at) >= sizeof bytes; at += sizeof bytes) {
        memcpy(&bytes, at, sizeof bytes);
        bytes = le64toh(bytes);
        const uint64_t controls = (bytes - BYTES(' ')) & ~bytes & HIGH_BITS;
        const uint64_t stops = controls | bytes_equal(bytes, '"') | bytes_equal(bytes, '\\') | (bytes & HIGH_BITS);
        if (stops != 0)
            return at + (unsigned)__builtin_ctzll(stops) / 8;
    }
    while (at < end && (unsigned char)*at >= ' ' && (unsigned char)*at < 0x80 && *at != '"' && *at != '\\')
        at++;
    return at;
}

static bool continues(const char *at, unsigned char low, unsigned char high)
{
    return (unsigned char)*at >= low && (unsigned char)*at <= high;
}

/* The bytes of the code point at `at`, which is not ASCII, or 0 if it is not well-formed (The Unicode Standard, table
 * 3-7). */
static size_t point_bytes(const char *at, const char *end)
{
    const unsigned char lead = (unsigned char)*at;
    const size_t bytes = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
    if (bytes == 0 || (size_t)(end - at) < bytes)
        return 0;
    const unsigned char low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    const unsigned char high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    bool well_formed = continues(at + 1, low, high);
    for (size_t i = 2; i < bytes; i++)
        well_formed = well_formed && continues(at + i, 0x80, 0xbf);
    return well_formed ? bytes : 0;
}

/* The value of four hexadecimal digits, or -1. */
static int32_t hex_value(const char *at, const char *end)
{
    int32_t value = 0;
    if (end - at < 4)
        return -1;
    for (size_t i = 0; i < 4; i++) {
        const char lower = (char)(at[i] | 0x20);
        if (!is_digit(at[i]) && (lower < 'a' || lower > 'f'))
            return -1;
        value = value << 4 | (is_digit(at[i]) ? at[i] - '0' : lower - 'a' + 10);
    }
    return value;
}

/* Decode the \uXXXX, or the pair of them, whose backslash is at `at`. Returns its bytes; 0 if it is malformed. */
static size_t unicode_escape(const char *at, const char *end, uint32_t *point_out)
{
    const int32_t first = hex_value(at + 2, end);
    if (first < 0 || (first & 0xfc00) == 0xdc00)
        return 0;
    *point_out = (uint32_t)first;
    if ((first & 0xfc00) != 0xd800)
        return 6;
    const int32_t second = end - at >= 12 && at[6] == '\\' && at[7] == 'u' ? hex_value(at + 8, end) : -1;
    if (second < 0 || (second & 0xfc00) != 0xdc00)
        return 0;
    *point_out = 0x10000 + (((uint32_t)first & 0x3ff) << 10 | ((uint32_t)second & 0x3ff));
    return 12;
}

/* What a backslash and this byte stand for, or 0. */
static char escaped_byte(char byte)
{
    switch (byte) {
    case 'n': return '\n';
    case 't': return '\t';
    case 'r': return '\r';
    case 'b': return '\b';
    case 'f': return '\f';
    case '"':
    case '\\':
    case '/': return byte;
    default: return 0;
    }
}

/* The bytes of the escape at `at`, or 0. */
static size_t escape_bytes(const char *at, const char *end)
{
    uint32_t unused;
    if (end - at < 2)
        return 0;
    return at[1] == 'u' ? unicode_escape(at, end, &unused) : escaped_byte(at[1]) != 0 ? 2 : 0;
}

/* What is wrong in a string at `at`. */
static const char *string_fault(const char *at, const char *end)
{
    return at == end                  ? "the string does not end"
           : *at == '\\'              ? "malformed escape or half of a surrogate pair"
           : (unsigned char)*at < ' ' ? "control character in a string"
                                      : "a string is not UTF-8";
}

/* Take a string, without white space behind it. */
static bool take_string(json_scan *self)
{
    const char *at = self->at, *const end = self->end;
    if (at == end || *at != '"')
        return fail(self, "no string");
    self->has_escapes = false;
    at++;
    for (size_t bytes; (at = end_of_plain(at, end)) < end && *at != '"'; at += bytes) {
        self->has_escapes |= *at == '\\';
        bytes = *at == '\\' ? escape_bytes(at, end) : (*at & 0x80) != 0 ? point_bytes(at, end) : 0;
        if (bytes == 0)
            return fail(self, string_fault(at, end));
    }
    if (at == end)
        return fail(self, string_fault(at, end));
    self->at = at + 1;
    return true;
}

static char *put_point(char *to, uint32_t point)
{
    if (point < 0x80) {
        *to++ = (char)point;
        return to;
    }
    const uint32_t tail = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
    *to++ = (char)(unsigned char)(0xff00u >> (tail + 1) | point >> 6 * tail); /* begins with a one for each byte */
    for (uint32_t i = tail; i-- > 0;)
        *to++ = (char)(unsigned char)(0x80 | (point >> 6 * i & 0x3f));
    return to;
}

/* The bytes of what a string that was checked has at `at`, decoded to `to`; sets how long it is there. */
static size_t decode_next(const char *at, const char *end, char to[4], size_t *length_out)
{
    uint32_t point = 0;
    *length_out = 1;
    to[0] = *at;
    if (*at != '\\')
        return 1;
    *length_out = 2;
    to[0] = escaped_byte(at[1]);
    if (at[1] != 'u')
        return 1;
    *length_out = unicode_escape(at, end, &point);
    return (size_t)(put_point(to, point) - to);
}

size_t json_decode(char *to, const char *content, size_t length)
{
    const char *at = content, *const end = content + length;
    char *const begin = to;
    for (size_t taken = 0; at < end; at += taken) {
        const char *const backslash = memchr(at, '\\', (size_t)(end - at)), *const next = backslash ? backslash : end;
        memmove(to, at, (size_t)(next - at));
        to += next - at;
        at = next;
        taken = 0;
        if (at < end)
            to += decode_next(at, end, to, &taken);
    }
    return (size_t)(to - begin);
}

/* ----- other values ----- */

static bool take_digits(json_scan *self)
{
    const char *const first = self->at;
    while (self->at < self->end && is_digit(*self->at))
        self->at++;
    return self->at > first || fail(self, "no digit");
}

static bool take_number(json_scan *self)
{
    self->at += *self->at == '-';
    const char *const first = self->at;
    if (!take_digits(self))
        return false;
    if (*first == '0' && self->at > first + 1)
        return fail(self, "a number begins with 0");
    if (self->at < self->end && *self->at == '.') {
        self->at++;
        if (!take_digits(self))
            return false;
    }
    if (self->at == self->end || (*self->at | 0x20) != 'e')
        return true;
    self->at++;
    if (self->at < self->end && (*self->at == '+' || *self->at == '-'))
        self->at++;
    return take_digits(self);
}

/* Take a key, in quotes, and the colon behind it. */
static bool take_key(json_scan *self, json_view *key_out)
{
    const char *const first = self->at;
    if (!take_string(self))
        return false;
    *key_out = (json_view){first, (size_t)(self->at - first)};
    take_space(self);
    return take_byte(self, ':') || fail(self, "no ':'");
}

static bool take_member(json_scan *self)
{
    json_part part;
    if (!take_key(self, &part.key))
        return false;
    part.key_has_escapes = self->has_escapes;
    const char *const first = self->at;
    if (!take_value(self))
        return false;
    if (self->depth != 1 || self->on_member == NULL)
        return true;
    part.value = (json_view){first, (size_t)(self->at - first)};
    part.value_has_escapes = self->has_escapes;
    return self->on_member(self->context, &part, &self->fault);
}

/* Take an object or a list. */
static bool take_container(json_scan *self)
{
    const bool is_object = *self->at == '{';
    const char last = is_object ? '}' : ']';
    if (self->depth == JSON_MAX_DEPTH)
        return fail(self, "nested too deep");
    self->depth++;
    self->at++;
    take_space(self);
    bool more = self->at == self->end || *self->at != last;
    while (more) {
        if (!(is_object ? take_member(self) : take_value(self)))
            return false;
        take_space(self);
        more = take_byte(self, ',');
    }
    if (self->at == self->end || *self->at != last)
        return fail(self, is_object ? "no ',' or '}'" : "no ',' or ']'");
    self->at++;
    self->depth--;
    return true;
}

/* Take any value, without white space behind it. */
static bool take_value(json_scan *self)
{
    const char first = self->at < self->end ? *self->at : '\0';
    switch (first) {
    case '"': return take_string(self);
    case '{':
    case '[': return take_container(self);
    case 't': return take_word(self, "true");
    case 'f': return take_word(self, "false");
    case 'n': return take_word(self, "null");
    default: return first == '-' || is_digit(first) ? take_number(self) : fail(self, "no value");
    }
}

/* ----- a whole text ----- */

#define SHOWN_BYTES 20

static void set_reason(const json_scan *at, char reason[JSON_REASON_BYTES])
{
    const size_t left = (size_t)(at->end - at->at);
    if (left == 0)
        snprintf(reason, JSON_REASON_BYTES, "%s at the end", at->fault);
    else
        snprintf(reason, JSON_REASON_BYTES, "%s near '%.*s'", at->fault, left < SHOWN_BYTES ? (int)left : SHOWN_BYTES,
                 at->at);
}

/* Take the value of a text, and see that nothing else is there. */
static bool take_text(json_scan *self, json_view *value_out)
{
    take_space(self);
    const char *const first = self->at;
    if (!take_value(self))
        return false;
    *value_out = (json_view){first, (size_t)(self->at - first)};
    take_space(self);
    return self->at == self->end || fail(self, "more text");
}

bool json_read(const char *text, size_t length, json_view *value_out, char reason[JSON_REASON_BYTES], size_t *line_out,
               size_t *column_out)
{
    json_scan scan = {.at = text, .end = text + length};
    if (take_text(&scan, value_out))
        return true;
    set_reason(&scan, reason);
    if (line_out == NULL)
        return false;
    const char *line = text;
    *line_out = 1;
    for (const char *at; (at = memchr(line, '\n', (size_t)(scan.at - line))) != NULL; line = at + 1)
        ++*line_out;
    *column_out = (size_t)(scan.at - line) + 1;
    return false;
}

bool json_read_members(const char *text, size_t length, json_member_fn on_member, void *context, json_view *object_out,
                       char reason[JSON_REASON_BYTES])
{
    json_scan scan = {.at = text, .end = text + length, .on_member = on_member, .context = context};
    take_space(&scan);
    const bool is_object = scan.at < scan.end && *scan.at == '{';
    if (!is_object)
        scan.on_member = NULL;
    if (take_text(&scan, object_out) && is_object)
        return true;
    if (scan.fault != NULL)
        set_reason(&scan, reason);
    else
        snprintf(reason, JSON_REASON_BYTES, "the line is another JSON value");
    return false;
}

/* ----- values ----- */

json_kind json_view_kind(json_view value)
{
    switch (value.length > 0 ? *value.text : '\0') {
    case '\0': return JSON_VIEW_ABSENT;
    case '"': return JSON_VIEW_STRING;
    case '{': return JSON_VIEW_OBJECT;
    case '[': return JSON_VIEW_LIST;
    case 't': return JSON_VIEW_TRUE;
    case 'f': return JSON_VIEW_FALSE;
    case 'n': return JSON_VIEW_NULL;
    default: break;
    }
    for (size_t i = 1; i < value.length; i++)
        if (value.text[i] == '.' || (value.text[i] | 0x20) == 'e')
            return JSON_VIEW_REAL;
    return JSON_VIEW_INTEGER;
}

json_iterator json_iterate(json_view value)
{
    const bool has_parts = value.length > 0 && (*value.text == '{' || *value.text == '[');
    return has_parts ? (json_iterator){value.text + 1, value.text + value.length - 1} : (json_iterator){NULL, NULL};
}

/* Take the next key, if `key_out` is not NULL, and the next value. */
static bool next_part(json_iterator *iterator, json_view *key_out, json_view *value_out)
{
    json_scan scan = {.at = iterator->at, .end = iterator->end};
    take_space(&scan);
    if (scan.at == scan.end || (key_out != NULL && !take_key(&scan, key_out)))
        return false;
    const char *const first = scan.at;
    if (!take_value(&scan))
        return false;
    *value_out = (json_view){first, (size_t)(scan.at - first)};
    take_space(&scan);
    (void)take_byte(&scan, ',');
    iterator->at = scan.at;
    return true;
}

bool json_next_item(json_iterator *iterator, json_view *item_out)
{
    return next_part(iterator, NULL, item_out);
}

bool json_next_member(json_iterator *iterator, json_view *key_out, json_view *value_out)
{
    return next_part(iterator, key_out, value_out);
}

size_t json_view_count(json_view list)
{
    json_iterator items = json_iterate(list);
    json_view item;
    size_t count = 0;
    while (json_view_kind(list) == JSON_VIEW_LIST && json_next_item(&items, &item))
        count++;
    return count;
}

json_view json_view_member(json_view object, const char *key)
{
    json_iterator members = json_iterate(object);
    json_view name, value;
    while (json_view_kind(object) == JSON_VIEW_OBJECT && json_next_member(&members, &name, &value))
        if (json_view_is(name, key, strlen(key)))
            return value;
    return (json_view){NULL, 0};
}

json_view json_view_members(json_view object, const char *const *keys, json_view *values)
{
    json_iterator members = json_iterate(object);
    json_view name, value;
    for (size_t i = 0; keys[i] != NULL; i++)
        values[i] = (json_view){NULL, 0};
    while (json_view_kind(object) == JSON_VIEW_OBJECT && json_next_member(&members, &name, &value)) {
        size_t i = 0;
        while (keys[i] != NULL && !json_view_is(name, keys[i], strlen(keys[i])))
            i++;
        if (keys[i] == NULL || values[i].text != NULL)
            return name;
        values[i] = value;
    }
    return (json_view){NULL, 0};
}

/* Decode as far as it fits. */
size_t json_view_text(json_view string, char *to, size_t size)
{
    size_t length = 0, taken = 0;
    char decoded[4];
    if (json_view_kind(string) == JSON_VIEW_STRING) {
        const char *const end = string.text + string.length - 1;
        for (const char *at = string.text + 1; at < end; at += taken) {
            const size_t bytes = decode_next(at, end, decoded, &taken);
            if (length + bytes >= size)
                break;
            memcpy(to + length, decoded, bytes);
            length += bytes;
        }
    }
    to[length] = '\0';
    return length;
}

bool json_view_is(json_view string, const char *text, size_t text_length)
{
    if (json_view_kind(string) != JSON_VIEW_STRING)
        return false;
    if (memchr(string.text, '\\', string.length) == NULL)
        return string.length == text_length + 2 && memcmp(string.text + 1, text, text_length) == 0;
    const char *const end = string.text + string.length - 1;
    size_t matched = 0, taken = 0;
    char decoded[4];
    for (const char *at = string.text + 1; at < end; at += taken) {
        const size_t bytes = decode_next(at, end, decoded, &taken);
        if (text_length - matched < bytes || memcmp(text + matched, decoded, bytes) != 0)
            return false;
        matched += bytes;
    }
    return matched == text_length;
}

bool json_view_whole(json_view value, uint64_t *number_out)
{
    *number_out = 0;
    if (json_view_kind(value) != JSON_VIEW_INTEGER || *value.text == '-')
        return false;
    for (size_t i = 0; i < value.length; i++) {
        const uint64_t digit = (uint64_t)(value.text[i] - '0');
        if (*number_out > (UINT64_MAX - digit) / 10)
            return false;
        *number_out = 10 * *number_out + digit;
    }
    return true;
}

bool json_is_text(const char *text)
{
    const char *const end = text + strlen(text);
    for (size_t bytes; text < end; text += bytes) {
        bytes = (*text & 0x80) != 0 ? point_bytes(text, end) : 1;
        if (bytes == 0)
            return false;
    }
    return true;
}

/* ----- keys for messages ----- */

#define KEY_SHOWN_BYTES 22

/* Find the next key of the object itself. False: there is none. `depth` is that of the place that was reached. */
static bool next_key(json_scan *scan, size_t *depth, json_view *key_out)
{
    bool is_key = *depth == 0;
    while (scan->at < scan->end) {
        const char *const first = scan->at, byte = *first;
        if (byte == '"' && !take_string(scan))
            return false;
        if (byte == '"')
            *key_out = (json_view){first + 1, (size_t)(scan->at - first) - 2};
        if (byte == '"' && is_key && *depth == 1)
            return true;
        is_key = (is_key && byte != '"') || (byte == ',' && *depth == 1);
        *depth += byte == '{' || byte == '[';
        *depth -= (byte == '}' || byte == ']') && *depth > 0;
        scan->at += byte != '"';
    }
    return false;
}

const char *json_first_keys(const char *text, size_t length, char to[JSON_KEYS_BYTES])
{
    json_scan scan = {.at = text, .end = text + length};
    size_t depth = 0, used = 0;
    json_view key;
    to[0] = '\0';
    for (unsigned i = 0; next_key(&scan, &depth, &key); i++) {
        const size_t shown = key.length < KEY_SHOWN_BYTES ? key.length : KEY_SHOWN_BYTES;
        const char *const comma = i > 0 ? ", " : "";
        if (i == JSON_KEYS_SHOWN) {
            (void)snprintf(to + used, JSON_KEYS_BYTES - used, ", ...");
            break;
        }
        used += (size_t)snprintf(to + used, JSON_KEYS_BYTES - used, "%s'%.*s%s'", comma, (int)shown, key.text,
                                 shown < key.length ? "..." : "");
    }
    return to;
}

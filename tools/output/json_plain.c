/*
 * json_plain.c - a scanner that accepts less than the parser, and only what that accepts: the whole text is checked,
 * with the UTF-8 of all strings, and the keys of all objects for repetitions.
 */
#include "output/json_plain.h"

#include <endian.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "output/json_scan.h"

#define MAX_DEPTH 16u
#define MAX_KEYS 64u         /* of an object and of those that it is in */
#define MAX_KEY_BYTES 1024u  /* so that comparing keys with each other takes little time */
#define MAX_WHOLE_DIGITS 18u /* of a number with a fraction or an exponent */
#define MAX_FRACTION_DIGITS 32u
#define MAX_EXPONENT_DIGITS 2u /* no number overflows */

typedef struct span {
    const char *text;
    size_t length;
} span;

typedef struct plain_reader {
    json_scan scan;
    json_member *members; /* that are wanted */
    size_t member_count;
    uint32_t escaped; /* by bits: which of them have escapes */
    span keys[MAX_KEYS];
    size_t key_count;
    uint32_t depth;
} plain_reader;

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

static bool take_value(plain_reader *self, json_member *wanted);

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

/* Decode the \uXXXX, or the pair of them, whose backslash is at `at`. Returns its bytes; 0 if it is malformed, or is
 * zero, which few texts contain. */
static size_t unicode_escape(const char *at, const char *end, uint32_t *point_out)
{
    const int32_t first = hex_value(at + 2, end);
    if (first <= 0 || (first & 0xfc00) == 0xdc00)
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

/* Take a string; *out is what is between the quotes. */
static bool take_string(json_scan *self, span *out, bool *has_escapes_out)
{
    const char *at = self->at, *const end = self->end;
    if (at == end || *at != '"')
        return false;
    const char *const first = ++at;
    *has_escapes_out = false;
    for (size_t bytes; (at = end_of_plain(at, end)) < end && *at != '"'; at += bytes) {
        *has_escapes_out |= *at == '\\';
        bytes = *at == '\\' ? escape_bytes(at, end) : (*at & 0x80) != 0 ? point_bytes(at, end) : 0;
        if (bytes == 0)
            return false;
    }
    if (at == end)
        return false;
    *out = (span){first, (size_t)(at - first)};
    self->at = at + 1;
    json_scan_space(self);
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

/* Decode a valid string to `to`, which may be where it is: no escape is shorter than what it stands for. Returns the
 * decoded length. */
static size_t decode_string(char *to, const char *text, size_t length)
{
    const char *at = text, *const end = text + length;
    char *const begin = to;
    while (at < end) {
        const char *const backslash = memchr(at, '\\', (size_t)(end - at)), *const next = backslash ? backslash : end;
        uint32_t point = 0;
        memmove(to, at, (size_t)(next - at));
        to += next - at;
        at = next;
        if (at < end && at[1] == 'u') {
            at += unicode_escape(at, end, &point);
            to = put_point(to, point);
        } else if (at < end) {
            *to++ = escaped_byte(at[1]);
            at += 2;
        }
    }
    return (size_t)(to - begin);
}

/* ----- other values ----- */

static void set_member(json_member *member, member_kind kind, const char *text, size_t length)
{
    if (member != NULL) {
        member->kind = kind;
        member->text = text;
        member->length = length;
    }
}

/* Take the fraction and the exponent of a number, or one of them. */
static bool take_real_part(json_scan *scan)
{
    if (scan->at < scan->end && *scan->at == '.') {
        scan->at++;
        const size_t digits = json_scan_digits(scan);
        if (digits == 0 || digits > MAX_FRACTION_DIGITS)
            return false;
    }
    if (scan->at < scan->end && (*scan->at == 'e' || *scan->at == 'E')) {
        scan->at++;
        if (scan->at < scan->end && (*scan->at == '+' || *scan->at == '-'))
            scan->at++;
        const size_t digits = json_scan_digits(scan);
        if (digits == 0 || digits > MAX_EXPONENT_DIGITS)
            return false;
    }
    return true;
}

/* Take a number; one with a fraction or an exponent only if it is not wanted. */
static bool take_number(json_scan *scan, json_member *wanted)
{
    const char *const first = scan->at;
    const bool is_negative = *first == '-';
    scan->at += is_negative;
    const size_t digits = json_scan_digits(scan);
    const bool is_zero = digits > 0 && first[is_negative] == '0';
    if (digits == 0 || (is_zero && digits > 1))
        return false;
    const char *const end = scan->at;
    if (!take_real_part(scan))
        return false;
    const bool is_real = scan->at != end;
    if ((is_real && digits > MAX_WHOLE_DIGITS) || (wanted != NULL && (is_real || (is_zero && is_negative))))
        return false; /* the parser gives -0 as 0 */
    set_member(wanted, MEMBER_INTEGER, first, (size_t)(end - first));
    json_scan_space(scan);
    return true;
}

static bool take_items(plain_reader *self)
{
    do
        if (!take_value(self, NULL))
            return false;
    while (json_scan_take(&self->scan, ','));
    return json_scan_take(&self->scan, ']');
}

/* Add a key of the object whose keys begin at `first`. False: it is there already, or there are too many. */
static bool add_key(plain_reader *self, size_t first, span key)
{
    if (self->key_count == MAX_KEYS || key.length > MAX_KEY_BYTES)
        return false;
    for (size_t i = first; i < self->key_count; i++)
        if (self->keys[i].length == key.length && memcmp(self->keys[i].text, key.text, key.length) == 0)
            return false;
    self->keys[self->key_count++] = key;
    return true;
}

/* The wanted member of the outermost object that has this key, or NULL. */
static json_member *find_member(const plain_reader *self, span key)
{
    for (size_t i = 0; i < self->member_count; i++)
        if (strncmp(self->members[i].key, key.text, key.length) == 0 && self->members[i].key[key.length] == '\0')
            return &self->members[i];
    return NULL;
}

static bool take_member(plain_reader *self, size_t first_key)
{
    span key;
    bool has_escapes;
    if (!take_string(&self->scan, &key, &has_escapes) || has_escapes || !add_key(self, first_key, key) ||
        !json_scan_take(&self->scan, ':'))
        return false;
    return take_value(self, self->depth == 1 ? find_member(self, key) : NULL);
}

static bool take_members(plain_reader *self)
{
    const size_t first_key = self->key_count;
    do
        if (!take_member(self, first_key))
            return false;
    while (json_scan_take(&self->scan, ','));
    self->key_count = first_key;
    return json_scan_take(&self->scan, '}');
}

/* Take an object or an array, which is not wanted, or is the outermost object. */
static bool take_container(plain_reader *self)
{
    const bool is_object = *self->scan.at == '{';
    if (self->depth == MAX_DEPTH)
        return false;
    self->depth++;
    json_scan_take(&self->scan, *self->scan.at);
    if (!json_scan_take(&self->scan, is_object ? '}' : ']') && !(is_object ? take_members(self) : take_items(self)))
        return false;
    self->depth--;
    return true;
}

static bool take_string_value(plain_reader *self, json_member *wanted)
{
    span string;
    bool has_escapes;
    if (!take_string(&self->scan, &string, &has_escapes))
        return false;
    if (wanted != NULL && has_escapes)
        self->escaped |= UINT32_C(1) << (wanted - self->members);
    set_member(wanted, MEMBER_STRING, string.text, string.length);
    return true;
}

/* Take any value that is not wanted, or one that may be. */
static bool take_value(plain_reader *self, json_member *wanted)
{
    json_scan *const scan = &self->scan;
    if (scan->at == scan->end)
        return false;
    if (*scan->at == '"')
        return take_string_value(self, wanted);
    if (*scan->at == '-' || is_digit(*scan->at))
        return take_number(scan, wanted);
    if (json_scan_take_text(scan, "null")) {
        set_member(wanted, MEMBER_NULL, "", 0);
        return true;
    }
    if (wanted != NULL)
        return false;
    if (*scan->at == '{' || *scan->at == '[')
        return take_container(self);
    return json_scan_take_text(scan, "true") || json_scan_take_text(scan, "false");
}

/* ----- the object ----- */

/* Has each wanted member been found, or is it certainly absent? A key with dots may name a member of an object within
 * the object, and of two wanted members with one key only the first is found. */
static bool knows_all(const plain_reader *self)
{
    for (size_t i = 0; i < self->member_count; i++) {
        if (self->members[i].kind == MEMBER_ABSENT && strchr(self->members[i].key, '.') != NULL)
            return false;
        for (size_t j = 0; j < i; j++)
            if (strcmp(self->members[i].key, self->members[j].key) == 0)
                return false;
    }
    return true;
}

bool json_plain_read(const char *text, size_t length, json_member *members, size_t count, char *room)
{
    plain_reader self; /* not zeroed: that would take longer than many a line */
    self.scan = (json_scan){text, text + length};
    self.members = members;
    self.member_count = count;
    self.escaped = 0;
    self.key_count = self.depth = 0;
    for (size_t i = 0; i < count; i++)
        set_member(&members[i], MEMBER_ABSENT, "", 0);
    json_scan_space(&self.scan);
    if (self.scan.at == self.scan.end || *self.scan.at != '{' || !take_container(&self) ||
        self.scan.at != self.scan.end || !knows_all(&self) || (self.escaped != 0 && room == NULL))
        return false;
    for (size_t i = 0; i < count && self.escaped != 0; i++) {
        char *const to = room + (members[i].text - text);
        if ((self.escaped >> i & 1) == 0)
            continue;
        members[i].length = decode_string(to, members[i].text, members[i].length);
        members[i].text = to;
    }
    return true;
}

/* ----- keys for messages ----- */

#define KEY_SHOWN_BYTES 22

/* Find the next key of the object itself. False: there is none. `depth` is that of the place that was reached. */
static bool next_key(json_scan *scan, size_t *depth, span *key_out)
{
    bool has_escapes, is_key = *depth == 0;
    while (scan->at < scan->end) {
        const char byte = *scan->at;
        if (byte == '"' && !take_string(scan, key_out, &has_escapes))
            return false;
        if (byte == '"' && is_key && *depth == 1)
            return true;
        is_key = (is_key && byte != '"') || (byte == ',' && *depth == 1);
        *depth += byte == '{' || byte == '[';
        *depth -= (byte == '}' || byte == ']') && *depth > 0;
        scan->at += byte != '"';
    }
    return false;
}

const char *json_plain_keys(const char *text, size_t length, char to[JSON_KEYS_BYTES])
{
    json_scan scan = {text, text + length};
    size_t depth = 0, used = 0;
    span key;
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

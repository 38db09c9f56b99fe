/*
 * json_read.h - reads JSON where it lies: a text is checked as a whole, and its values are parts of it. Nothing is
 * copied or allocated, so a hostile text takes no memory of its own. Values are nested at most JSON_MAX_DEPTH deep.
 *
 * A key may repeat, unless it is looked for.
 */
#ifndef JSON_READ_H
#define JSON_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JSON_MAX_DEPTH 512u
#define JSON_REASON_BYTES 224

/* A value of a text that was checked: its bytes, without white space around them. */
typedef struct json_view {
    const char *text; /* NULL: there is no such value */
    size_t length;
} json_view;

typedef enum json_kind {
    JSON_VIEW_ABSENT,
    JSON_VIEW_NULL,
    JSON_VIEW_FALSE,
    JSON_VIEW_TRUE,
    JSON_VIEW_INTEGER, /* a number without fraction and exponent, of any length */
    JSON_VIEW_REAL,
    JSON_VIEW_STRING,
    JSON_VIEW_LIST,
    JSON_VIEW_OBJECT
} json_kind;

/* Check a JSON text, and find its value. False: it is malformed, and the reason, which is not escaped, says why and
 * near what. If `line_out` is not NULL, it and `column_out` tell where, from 1 on. */
bool json_read(const char *text, size_t length, json_view *value_out, char reason[JSON_REASON_BYTES], size_t *line_out,
               size_t *column_out);

/* The functions below take values of any kind. */

json_kind json_view_kind(json_view value);

/* The value of a key of an object: the first one. */
json_view json_view_member(json_view object, const char *key);

/* Set the value of each of the keys, which NULL ends. Returns a key of the object, in quotes, that is none of them or
 * occurs twice: the values are then of no use. */
json_view json_view_members(json_view object, const char *const *keys, json_view *values);

/* Goes through the items of a list, or the members of an object. */
typedef struct json_iterator {
    const char *at, *end;
} json_iterator;

json_iterator json_iterate(json_view value);

/* Set the next item. False: there is none. */
bool json_next_item(json_iterator *iterator, json_view *item_out);

/* Set the next key, in quotes, and its value. */
bool json_next_member(json_iterator *iterator, json_view *key_out, json_view *value_out);

/* How many items a list has. */
size_t json_view_count(json_view list);

/* Is it a string of this text? */
bool json_view_is(json_view string, const char *text, size_t text_length);

/* Decode a string to `to`, as far as it fits, behind which there is a zero. Returns its length, which may be cut; of
 * any other value 0. */
size_t json_view_text(json_view string, char *to, size_t size);

/* Set a whole number from 0 to 2^64 - 1. False: the value is something else. */
bool json_view_whole(json_view value, uint64_t *number_out);

#define JSON_KEYS_BYTES 128
#define JSON_KEYS_SHOWN 4u

/* List the first keys of a JSON object, which may be malformed, for a message, as "'a', 'b', ...", as they are written
 * there. Long ones are cut. Returns `to`. */
const char *json_first_keys(const char *text, size_t length, char to[JSON_KEYS_BYTES]);

/* Can the text be part of a JSON text? It must be UTF-8. */
bool json_is_text(const char *text);

/* ----- for the reader of members (json_members.c) ----- */

/* A member of the outermost object. The key is in quotes; the value has escapes if it is a string with some. */
typedef struct json_part {
    json_view key, value;
    bool key_has_escapes, value_has_escapes;
} json_part;

/* Called for each of them while the object is checked. False: stop, `fault_out` says why. */
typedef bool (*json_member_fn)(void *context, const json_part *part, const char **fault_out);

/* Check a JSON text that is an object, and hand on its members. False: it is something else, and the reason says so. */
bool json_read_members(const char *text, size_t length, json_member_fn on_member, void *context, json_view *object_out,
                       char reason[JSON_REASON_BYTES]);

/* Decode the content of a string that was checked to `to`, which may be where it is: no escape is shorter than what it
 * stands for. Returns the decoded length. */
size_t json_decode(char *to, const char *content, size_t length);

#endif

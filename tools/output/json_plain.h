/*
 * json_plain.h - reads JSON objects of the usual forms without the parser, several times as fast: those whose wanted
 * members are strings, integers or null, with few keys, little nesting, and no rare form of number or escape.
 */
#ifndef JSON_PLAIN_H
#define JSON_PLAIN_H

#include "output/json.h"

/*
 * Set the members as json_object_read() does. Strings stay in the text; one with escapes is decoded to `room`, at the
 * same place as in the text. `room` has `length` bytes, or is the text itself, which then changes. It may be NULL if no
 * string may have escapes.
 *
 * False: the object is of another form, or malformed, and the text has not changed. The parser reads it then, or says
 * what is wrong.
 */
bool json_plain_read(const char *text, size_t length, json_member *members, size_t count, char *room);

#define JSON_KEYS_BYTES 128
#define JSON_KEYS_SHOWN 4u

/* List the first keys of a JSON object for a message, as "'a', 'b', ...", as they are written there. Long ones are cut.
 * Returns `to`. */
const char *json_plain_keys(const char *text, size_t length, char to[JSON_KEYS_BYTES]);

#endif

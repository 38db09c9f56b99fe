/*
 * json_writer.h - writes JSON for a page of HTML into a stream, piece by piece. Needs no library.
 *
 * Members of the outermost object, and objects in lists of it, begin new lines, so that people can read them.
 */
#ifndef JSON_WRITER_H
#define JSON_WRITER_H

#include <stdbool.h>
#include <stdio.h>

typedef struct json_writer {
    FILE *stream;
    unsigned depth;
    bool has_items; /* the open list or object is not empty: a comma comes next */
} json_writer;

/* In all of these, `key` is NULL for items of a list, and for the outermost value. Keys are literals. */

/* Begin an object or a list, with '{' or '['; and end it, with '}' or ']'. */
void json_begin(json_writer *writer, const char *key, char bracket);
void json_end(json_writer *writer, char bracket);

/* A number, exact up to 15 digits; null if it is not finite. */
void json_number(json_writer *writer, const char *key, double value);

void json_truth(json_writer *writer, const char *key, bool value);

/* Any text, without its zero. What sstore_escape() escapes becomes \xNN, and the output has neither '<' nor '&', so it
 * cannot leave a script of a page. */
void json_text(json_writer *writer, const char *key, const char *text);

#endif

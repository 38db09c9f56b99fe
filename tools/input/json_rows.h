/*
 * json_rows.h - makes lines of JSON whose objects do not stand in a line each: of an array of objects, and of objects
 * over several lines.
 */
#ifndef JSON_ROWS_H
#define JSON_ROWS_H

#include "input/input_source.h"

/* Zero at first; must stay in its place while the source is read. */
typedef struct json_rows {
    byte_stream from;
    bool is_array;   /* all objects are in one, separated by commas */
    bool has_ended;  /* the array has */
    bool needs_item; /* an item must follow: the last one has a comma behind it */
    bool has_item;   /* since the last comma */
    bool in_string, is_escaped;
    size_t depth; /* in the item */
} json_rows;

/* If the rest of the source is not an object in each line, let it be read as if it were: a line for each object, so
 * lines are numbered by objects. Returns an exit code. */
int json_rows_begin(json_rows *self, input_source *source);

#endif

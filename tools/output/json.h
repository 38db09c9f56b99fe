/*
 * json.h - makes JSON values, each of which is its text.
 */
#ifndef JSON_H
#define JSON_H

#include <stdbool.h>

typedef struct json_value json_value;

/*
 * Make a value from a format such as "{s:s, s:[I, f]}". The letters take arguments: s text, I a long long, i an int, b
 * an int as true or false, f a double (null if it is not finite), o a json_value, which then belongs to the result; n
 * takes none, and is null. Behind s or o, '*' leaves the member out if it is NULL, and behind s, '?' makes it null.
 * Returns NULL if there is no memory, if another s or o is NULL, or if a text is not UTF-8.
 */
json_value *json_value_make(const char *format, ...);

/* Append an item, which then belongs to the list. If that fails, *list is freed and becomes NULL, and further items are
 * only freed. */
void json_value_append(json_value **list, json_value *item);

/* Free the value, and return it as text in one line, to be freed with free(). NULL: out of memory. */
char *json_value_text(json_value *value);

void json_value_free(json_value *value);

#endif

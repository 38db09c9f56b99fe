/*
 * json.h - JSON values, by the jansson library if it is there.
 *
 * Without it json_is_available() is false, and there are no values: commands refuse their options for JSON then.
 */
#ifndef JSON_H
#define JSON_H

#include <stdbool.h>

typedef struct json_t json_value;

bool json_is_available(void);

/* Make a value as json_pack() of jansson does; 'I' takes a long long. NULL: out of memory. A value that contains NULL
 * becomes NULL. */
json_value *json_value_make(const char *format, ...);

/* Append an item, which is given up. If that fails, *list is freed and becomes NULL; then further items are only
 * freed. */
void json_value_append(json_value **list, json_value *item);

/* The value, which is given up, as text in one line, to be freed with free(). NULL: out of memory. */
char *json_value_text(json_value *value);

#endif

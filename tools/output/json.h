/*
 * json.h - JSON values, made by the jansson library if sstore was built with it.
 *
 * Without it json_is_available() is false, every value is NULL, and commands refuse their JSON options.
 */
#ifndef JSON_H
#define JSON_H

#include <stdbool.h>

typedef struct json_t json_value;

bool json_is_available(void);

/* Make a value as json_pack() of jansson does; 'I' takes a long long. Returns NULL if there is no memory, or if a value
 * in it is NULL. */
json_value *json_value_make(const char *format, ...);

/* Append an item, which then belongs to the list. If that fails, *list is freed and becomes NULL, and further items are
 * only freed. */
void json_value_append(json_value **list, json_value *item);

/* Free the value, and return it as text in one line, to be freed with free(). NULL: out of memory. */
char *json_value_text(json_value *value);

#endif

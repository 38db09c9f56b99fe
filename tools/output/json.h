/*
 * json.h - JSON values, made and read by the jansson library if sstore was built with it.
 *
 * Without it json_is_available() is false, every value is NULL, and commands refuse their JSON options.
 */
#ifndef JSON_H
#define JSON_H

#include <stdbool.h>
#include <stddef.h>

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

/* ----- reading ----- */

typedef enum member_kind {
    MEMBER_ABSENT,  /* there is no such key */
    MEMBER_NULL,    /* null */
    MEMBER_STRING,  /* the text is its content */
    MEMBER_INTEGER, /* the text is decimal, of any length */
    MEMBER_BYTES,   /* an array of numbers from 0 to 255; the text is these bytes */
    MEMBER_OTHER    /* the text says what it is */
} member_kind;

#define MEMBER_MAX_BYTES 24 /* of a longer array of bytes only the length is valid */

/* A key of an object, and its value. */
typedef struct json_member {
    const char *key;
    member_kind kind;
    const char *text; /* valid until the object is freed; may contain zeros */
    size_t length;
    char room[MEMBER_MAX_BYTES];
} json_member;

#define JSON_REASON_BYTES 160

/*
 * Read one JSON object and set the members with the given keys. Free the object with json_value_free(). NULL: the text
 * is no object, and the reason, which is not escaped, says why.
 */
json_value *json_object_read(const char *text, size_t length, json_member *members, size_t count,
                             char reason[JSON_REASON_BYTES]);

void json_value_free(json_value *value);

/* Can the text be part of a JSON text? It must be UTF-8. */
bool json_is_text(const char *text);

#endif

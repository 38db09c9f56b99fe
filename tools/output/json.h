/*
 * json.h - JSON values, made and read by the jansson library if sstore was built with it.
 *
 * Without it json_is_available() is false, every value is NULL, and commands refuse their JSON options.
 */
#ifndef JSON_H
#define JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
    MEMBER_ABSENT,  /* there is no such key; the text is empty */
    MEMBER_NULL,    /* null */
    MEMBER_STRING,  /* the text is its content */
    MEMBER_INTEGER, /* the text is decimal, of any length */
    MEMBER_BYTES,   /* an array of numbers from 0 to 255, or from -128 to 127, or of two hex digits; the text is these
                       bytes */
    MEMBER_BITS,    /* an array, perhaps of arrays, of numbers 0 and 1, or of booleans; the text is a byte for each
                       eight, the highest bit first */
    MEMBER_PARTS,   /* an array of up to four integers of more than 16 bits; the text is these, with commas between
                       them */
    MEMBER_OTHER    /* the text says what it is */
} member_kind;

#define JSON_ARRAY_NAME "an array of other values"
#define JSON_REAL_NAME "a number with a fraction or an exponent" /* the text of MEMBER_OTHER that is one */

#define MEMBER_MAX_BYTES 128 /* of a longer array only the length, of items, is valid */

/* A key of an object, and its value. If there is no such key, and it has dots, they separate the keys of objects within
 * objects: "page.text". */
typedef struct json_member {
    const char *key;
    member_kind kind;
    const char *text; /* valid until the object is freed; may contain zeros */
    size_t length;
    char room[MEMBER_MAX_BYTES];
} json_member;

#define JSON_REASON_BYTES 224

/*
 * Read one JSON object and set the members with the given keys. Free the object with json_value_free(). NULL: the text
 * is no object, and the reason, which is not escaped, says why.
 */
json_value *json_object_read(const char *text, size_t length, json_member *members, size_t count,
                             char reason[JSON_REASON_BYTES]);

/* Read a JSON text, to be freed with json_value_free(). NULL: it is malformed, and the reason, which is not escaped,
 * says why and where. */
json_value *json_value_read(const char *text, size_t size, char reason[JSON_REASON_BYTES]);

void json_value_free(json_value *value);

/* The functions below take values of any type, and NULL. The parts that they return belong to the value. */

/* The value of a key of an object, or NULL. */
const json_value *json_value_member(const json_value *object, const char *key);

/* A key of an object that is not in the list, which NULL ends; or NULL. */
const char *json_value_unknown_key(const json_value *object, const char *const *known);

bool json_value_is_list(const json_value *value);
size_t json_value_count(const json_value *list);
const json_value *json_value_item(const json_value *list, size_t index);

/* The text of a string, which has no zero in it; or NULL. */
const char *json_value_string(const json_value *value);

/* Write the beginning of a value: of a string its text, of any other value JSON. Returns how many bytes it wrote, which
 * may end within a character. */
size_t json_value_begin(const json_value *value, char *to, size_t size);

/* Set true or false. False: the value is something else. */
bool json_value_truth(const json_value *value, bool *truth_out);

/* Set a whole number from 0 to 2^64 - 1. False: the value is something else. */
bool json_value_whole(const json_value *value, uint64_t *number_out);

/* Can the text be part of a JSON text? It must be UTF-8. */
bool json_is_text(const char *text);

#endif

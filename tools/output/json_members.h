/*
 * json_members.h - members of a JSON object, as the inputs of the command have them: strings, integers, and arrays that
 * are bytes or bits.
 */
#ifndef JSON_MEMBERS_H
#define JSON_MEMBERS_H

#include <stdbool.h>
#include <stddef.h>

#include "output/json_read.h"

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
/* The text of MEMBER_OTHER that is one. The number is in `room`. */
#define JSON_REAL_NAME "a number with a fraction or an exponent"

#define MEMBER_MAX_BYTES 128 /* of a longer array only the length, of items, is valid */

/* A key of an object, and its value. If there is no such key, and it has dots, they separate the keys of objects within
 * objects: "page.text". */
typedef struct json_member {
    const char *key;
    member_kind kind;
    const char *text; /* a part of the text or of `room` below, or decoded; may contain zeros */
    size_t length;
    char room[MEMBER_MAX_BYTES];
} json_member;

/*
 * Read one JSON object and set the members with the given keys, of which each may be there once. A string with escapes
 * is decoded to `room`, at the same place as in the text; `room` has `length` bytes, or is NULL if the text has no
 * backslash. False: the text is no object, and the reason, which is not escaped, says why.
 */
bool json_members_read(const char *text, size_t length, json_member *members, size_t count, char *room,
                       char reason[JSON_REASON_BYTES]);

#endif

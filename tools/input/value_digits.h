/*
 * value_digits.h - the digits of a fingerprint, without the marks that programs write around and between them.
 */
#ifndef VALUE_DIGITS_H
#define VALUE_DIGITS_H

#include <stdbool.h>
#include <stddef.h>

#include "output/radix_form.h"
#include "sstore.h"

typedef struct digits {
    radix_form form;
    const char *text;
    size_t count;
    size_t bits;    /* of the fingerprint that they are, or 0 */
    bool is_number; /* marked as one, by 0x or 0b, so that leading zeros may be absent */
    bool is_whole;  /* marked as bytes or bits, so that none are absent */
    char kind;      /* the letter in front, such as of "p:84ad7e0ad13e1a8b"; or 0 */
} digits;

/* Find the digits of a text in this form. They stand in the text, or in `room`. What is no digit stays among them:
 * whoever reads them finds it. */
#define DIGITS_ROOM_BYTES (64u * SSTORE_MAX_WORDS) /* of the largest fingerprint in binary */
digits digits_find(radix_form form, const char *text, size_t length, char room[DIGITS_ROOM_BYTES]);

static inline bool digits_is_hex(char byte)
{
    const char lower = (char)(byte | 0x20);
    return (byte >= '0' && byte <= '9') || (lower >= 'a' && lower <= 'f');
}

#endif

/*
 * radix_form.h - numbers as text, and the forms of a fingerprint. The same names stand for them in input and output.
 */
#ifndef RADIX_FORM_H
#define RADIX_FORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum radix_form {
    RADIX_HEX,    /* 16 digits; input may have fewer */
    RADIX_DEC,    /* unsigned; input may also be signed */
    RADIX_SIGNED, /* two's complement; input may also be unsigned */
    RADIX_BASE64, /* of eight bytes, the most significant first: 11 characters; input may end with '=' */
    RADIX_BIN     /* 64 digits 0 and 1, the most significant first */
} radix_form;

#define RADIX_MAX_CHARACTERS 64

/* Write 16 lower-case hex digits. Returns a pointer behind them. */
char *output_hex(char *to, uint64_t value);

/* The same, and a zero. Returns `to`. */
const char *output_hex_string(char to[17], uint64_t value);

/* Write a decimal number, at most 20 digits. Returns a pointer behind it. */
char *output_decimal(char *to, uint64_t value);

/* Write a fingerprint, at most RADIX_MAX_CHARACTERS. Returns a pointer behind it. */
char *radix_put(radix_form form, char *to, uint64_t value);

/* Read all of text[0, length) in base64, of either alphabet, or as 64 binary digits. False: it is something else. */
bool radix_read_base64(const char *text, size_t length, uint64_t *value_out);
bool radix_read_bin(const char *text, size_t length, uint64_t *value_out);

#endif

/*
 * radix_form.h - numbers as text, and the forms of a fingerprint of any width. The same names stand for them in input
 * and output.
 */
#ifndef RADIX_FORM_H
#define RADIX_FORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sstore.h"

typedef enum radix_form {
    RADIX_HEX,     /* 16 digits a word; of one word, input may have fewer */
    RADIX_DEC,     /* unsigned; input may also be signed */
    RADIX_SIGNED,  /* two's complement; input may also be unsigned */
    RADIX_BASE64,  /* of the bytes, the most significant first: 11 characters for one word; input may end with '=' */
    RADIX_BIN,     /* 64 digits 0 and 1 a word, the most significant first */
    RADIX_BASE32,  /* of the bytes, as base64: 13 characters for one word */
    RADIX_SIGNED32 /* of input only: two's complement of 32 bits; input may also be unsigned */
} radix_form;

/* The name of a form, as options have it. */
const char *radix_name(radix_form form);
bool radix_of_name(const char *name, radix_form *form_out);

#define RADIX_MAX_CHARACTERS (64 * SSTORE_MAX_WORDS)

/* Write 16 lower-case hex digits for each word of a fingerprint. Returns a pointer behind them. */
char *output_hex_words(char *to, const uint64_t *words, size_t count);

/* One word, and a zero. Returns `to`. */
const char *output_hex_string(char to[17], uint64_t value);

/* Write a decimal number, at most 20 digits. Returns a pointer behind it. */
char *output_decimal(char *to, uint64_t value);

/* Numbers of several words, the most significant first. Multiply one, and add a term; false: it overflows. Or replace
 * it by its two's complement. */
bool radix_multiply(uint64_t *words, uint32_t count, uint64_t factor, uint64_t term);
void radix_negate(uint64_t *words, uint32_t count);

/* Put the lower `size` bits of a value at a place of such a number, which has zeros there. */
void radix_put_bits(uint64_t *words, size_t at, unsigned size, uint64_t value);

/* Write a fingerprint of `count` words, at most RADIX_MAX_CHARACTERS. Returns a pointer behind it. */
char *radix_put(radix_form form, char *to, const uint64_t *words, uint32_t count);

/* Write a fingerprint and a zero. Returns `to`. */
const char *radix_string(radix_form form, char to[RADIX_MAX_CHARACTERS + 1], const uint64_t *words, uint32_t count);

/* The bits of a digit: 4 of hex, 1 of bin, 5 and 6 of base32 and base64; 0 for decimal numbers. */
unsigned radix_digit_bits(radix_form form);

/*
 * Read all of text[0, count), digits of a form that has bits for each, either alphabet of base64, and letters in either
 * case in the other forms. Bit `first_bit` of the fingerprint is the highest one of the first digit. Bits before it,
 * and from `end_bit` on, become 0; those of the last digit from `end_bit` on must be 0. Writes whole words, up to that
 * of the last bit. False: it is something else.
 */
bool radix_read_digits(radix_form form, const char *text, size_t count, size_t first_bit, size_t end_bit,
                       uint64_t *words);

#endif

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
    RADIX_HEX,    /* 16 digits a word; of one word, input may have fewer */
    RADIX_DEC,    /* unsigned; input may also be signed. Of one word only, as the next one */
    RADIX_SIGNED, /* two's complement; input may also be unsigned */
    RADIX_BASE64, /* of the bytes, the most significant first: 11 characters for one word; input may end with '=' */
    RADIX_BIN     /* 64 digits 0 and 1 a word, the most significant first */
} radix_form;

#define RADIX_MAX_CHARACTERS (64 * SSTORE_MAX_WORDS)

/* Write 16 lower-case hex digits. Returns a pointer behind them. */
char *output_hex(char *to, uint64_t value);

/* Write 16 digits for each word of a fingerprint. Returns a pointer behind them. */
char *output_hex_words(char *to, const uint64_t *words, size_t count);

/* One word, and a zero. Returns `to`. */
const char *output_hex_string(char to[17], uint64_t value);

/* Write a decimal number, at most 20 digits. Returns a pointer behind it. */
char *output_decimal(char *to, uint64_t value);

/* Can fingerprints of so many words be written in this form? */
bool radix_has_words(radix_form form, uint32_t words);

/* Write a fingerprint of `count` words, at most RADIX_MAX_CHARACTERS. Returns a pointer behind it. */
char *radix_put(radix_form form, char *to, const uint64_t *words, uint32_t count);

/* The same, and a zero. Returns `to`. */
const char *radix_string(radix_form form, char to[RADIX_MAX_CHARACTERS + 1], const uint64_t *words, uint32_t count);

/* The number of words of a fingerprint whose text has `length` characters, or 0 if none has. A decimal number has one
 * word. */
uint32_t radix_words(radix_form form, size_t length);

/* Characters of a fingerprint of `count` words in base64, without and with '=' at its end. */
#define RADIX_BASE64_CHARACTERS(count) ((32 * (size_t)(count) + 2) / 3)
#define RADIX_BASE64_PADDED(count) ((8 * (size_t)(count) + 2) / 3 * 4)

/* Read all of text[0, length) as `count` words in base64, of either alphabet, or in binary digits. False: it is
 * something else. */
bool radix_read_base64(const char *text, size_t length, uint64_t *words, uint32_t count);
bool radix_read_bin(const char *text, size_t length, uint64_t *words, uint32_t count);

#endif

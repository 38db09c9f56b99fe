/*
 * input_doubt.h - signs that rows mean something else: decimal numbers read as hex, ids in the place of
 * fingerprints, text in base64, and so on. While an input is read, each sign is watched until a row speaks against it;
 * uniform data do so within a few rows. One thread at a time uses it.
 *
 * Each sign that stays has a likelihood below about 2^-16 in random fingerprints, also if they are sparse, or near
 * copies of a single one: input_doubt.c says for each how it is bounded.
 */
#ifndef INPUT_DOUBT_H
#define INPUT_DOUBT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "input/short_rows.h"
#include "sstore.h"

typedef enum input_sign {
    SIGN_BITS,         /* each byte is 0 or 1 */
    SIGN_TWO_VALUES,   /* each byte is 0 or 255, or 1 or -1 */
    SIGN_HALVES,       /* each part of 32 or 64 bits has only zeros in its upper half */
    SIGN_HEX_BYTES,    /* each byte is a hex digit in ASCII */
    SIGN_TEXT,         /* each byte is printable */
    SIGN_HEX_CHARS,    /* base64 that consists of hex digits */
    SIGN_BASE32,       /* base64 that consists of characters of base32 */
    SIGN_SWAPPED,      /* fingerprints that are small, of ids that are large */
    SIGN_NEAR_NUMBERS, /* the fingerprints are close to each other, or are times in order */
    SIGN_NO_LETTER,    /* hex without a letter */
    SIGN_32_BITS,      /* numbers of 32 bits, some negative */
    SIGN_ROUNDED,      /* large numbers, all rounded */
    SIGN_DOUBLES,      /* words that are doubles of large numbers */
    SIGN_ID_ORDER,     /* ids whose low bytes are all zero */
    SIGN_REPEATED_IDS, /* few ids of many rows */
    SIGN_SHORT,        /* rows with fewer digits than the others */
    SIGN_COUNT
} input_sign;

/* What some rows have in common: of all signs, then of single ones. */
typedef struct sign_watch {
    uint32_t against;         /* a bit for each sign that a row speaks against */
    uint32_t words, own_bits; /* of a fingerprint; own: before --pad */
    uint64_t count;           /* of rows */
    bool has_ids, is_text;
    radix_form radix;
    uint64_t evidence[SIGN_COUNT];        /* in hundredths of a bit */
    uint64_t previous[SSTORE_MAX_WORDS];  /* the last row */
    uint64_t seen_bits[SSTORE_MAX_WORDS]; /* that any row has */
    uint64_t previous_id;
    struct {
        uint64_t other_rows; /* with other bytes than 0 and 1 */
    } single_bits;
    struct {
        bool are_not_zero, are_not_one; /* the bytes beside 255 */
    } two_values;
    struct {
        bool are_not_16; /* the bits of each number */
    } halves;
    struct {
        uint64_t low, high;                  /* of the numbers */
        uint64_t low_six_bits;               /* a bit for each of their 64 values that a number has */
        uint64_t changed_rows, changed_bits; /* from a row to the next one */
        bool rises, falls;
    } near_numbers;
    struct {
        uint64_t negative_count;
        uint64_t seen_bits; /* that any number has; of a negative one, those that are 0 */
    } numbers_32;
    struct {
        uint64_t large_count; /* of numbers */
        uint64_t full_count;  /* of those that have the last bit that a double of this size can have */
    } rounded;
    struct {
        uint64_t small_ids;
        uint64_t changed_bits; /* of the fingerprints, from a row to the next one */
    } swapped;
    struct {
        uint64_t large_count; /* of doubles with one of the two largest exponents */
    } doubles;
    struct {
        uint64_t seen_bits; /* that any id has */
    } id_order;
    struct {
        uint64_t min, max, set[2]; /* set: a bit for each id */
        uint64_t row_count;        /* of those that differ from the one before */
        bool falls;                /* an id is smaller than the one before */
    } repeated_ids;
    short_rows short_rows; /* only of the input */
} sign_watch;

typedef struct input_doubt {
    bool strict;           /* option: a doubt is an error */
    bool is_of_field;      /* --fingerprint-field alone says where fingerprints are: there is no --columns */
    const char *name;      /* of the input */
    sign_watch input, all; /* rows of the input that is being read, and of all */
    char found[640];       /* the first doubt; empty: there is none */
} input_doubt;

/* The next rows are of this input. NULL is allowed, as for the other functions. */
void input_doubt_begin(input_doubt *self, const char *name);

void input_doubt_note(input_doubt *self, const doubt_rows *rows);

/* Something else about the rows is doubtful: it counts if it is the first. */
__attribute__((format(printf, 2, 3))) void input_doubt_say(input_doubt *self, const char *format, ...);

/* All inputs are read. Returns the first doubt: the sign, what it likely means and what to do; or NULL. */
const char *input_doubt_end(input_doubt *self);

/* The first sign of all rows so far, or SIGN_COUNT: for Python, which has texts of its own. */
input_sign input_doubt_sign(const input_doubt *self);

#endif

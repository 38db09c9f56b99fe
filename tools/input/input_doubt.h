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

#include "input/input_line.h"
#include "output/radix_form.h"
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
    SIGN_COUNTING,     /* the fingerprints are close to each other, or are times in order */
    SIGN_NO_LETTER,    /* hex without a letter */
    SIGN_32_BITS,      /* numbers of 32 bits, some negative */
    SIGN_ROUNDED,      /* large numbers, all rounded */
    SIGN_DOUBLES,      /* words that are doubles of large numbers */
    SIGN_ID_ORDER,     /* ids whose low bytes are all zero */
    SIGN_REPEATED_IDS, /* few ids of many rows */
    SIGN_SHORT,        /* rows with fewer digits than the others */
    SIGN_COUNT
} input_sign;

/* Rows, and how they were read. */
typedef struct doubt_rows {
    const uint64_t *fingerprints; /* `words` of each */
    const uint64_t *ids;          /* or NULL */
    size_t count;
    uint32_t words;
    uint32_t bits; /* before --pad filled them up; 0: 64 of each word */
    bool is_text;  /* of lines of text or JSON in this radix; otherwise of binary numbers */
    radix_form radix;
    bool radix_given;   /* then it is beyond doubt */
    line_shorts shorts; /* by lines of the input */
} doubt_rows;

#define DOUBT_FEW 16u

/* What some rows have in common. */
typedef struct sign_watch {
    uint32_t against;         /* a bit for each sign that a row speaks against */
    uint32_t words, own_bits; /* of a fingerprint; own: before --pad */
    uint64_t count;           /* of rows */
    bool has_ids, is_text;
    radix_form radix;
    uint64_t evidence[SIGN_COUNT];                               /* in hundredths of a bit */
    uint64_t previous[SSTORE_MAX_WORDS], bits[SSTORE_MAX_WORDS]; /* of the last row; that any row has */
    uint64_t previous_id;
    uint64_t other_rows;                 /* that have not only bytes 0 and 1 */
    uint64_t low, high, last_digits;     /* of the numbers; last: a bit for each remainder by 64 */
    uint64_t changed_rows, changed_bits; /* from a row to the next one */
    bool rises, falls;
    bool are_not_zero, are_not_one, are_not_16; /* bytes 0 and 1 beside 255; numbers of 16 bits */
    uint64_t negative_count, low_bits;          /* of 32-bit numbers */
    uint64_t large_count, full_count;           /* of large numbers; of those that have a double's last bit */
    uint64_t small_ids, id_bits, swapped_bits;  /* swapped: that changed, of small fingerprints */
    uint64_t large_doubles;
    uint64_t min_id, max_id, id_set[2], id_rows; /* the rows that differ from the one before */
    bool ids_fall;
    line_shorts shorts;
    size_t zero_digits, zero_bytes; /* full rows that begin with the digit 0, with a byte 0 */
    size_t full_rows;               /* that do not begin with a digit 0; decimal: with a byte 0 */
    uint64_t sampled_bits, sampled_ones;
    uint64_t few_low[DOUBT_FEW]; /* the last words of rows with many zeros in front */
    uint32_t few_zeros[DOUBT_FEW], few_count;
} sign_watch;

typedef struct input_doubt {
    bool strict;           /* option: a doubt is an error */
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

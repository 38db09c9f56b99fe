/*
 * doubt_rows.h - rows, and bits of their words, for the signs that rows mean something else. The evidence for a sign is
 * how unlikely it is in random rows, in hundredths of a bit: 100 for a chance of one half.
 */
#ifndef DOUBT_ROWS_H
#define DOUBT_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "input/input_line.h"
#include "output/radix_form.h"

#define ENOUGH 1600  /* evidence from which on a sign is shown: a chance of 2^-16 */
#define AGAINST (-1) /* instead of evidence: the rows do not have the sign */

/* Rows, and how they were read. */
typedef struct doubt_rows {
    const uint64_t *fingerprints; /* `words` of each */
    const uint64_t *ids;          /* or NULL */
    size_t count;
    uint32_t words;
    uint32_t bits; /* before --pad filled them up; 0: 64 of each word */
    bool is_text;  /* of lines of text or JSON in this radix; otherwise of binary numbers */
    radix_form radix;
    bool radix_given;   /* by an option: it is beyond doubt */
    line_shorts shorts; /* rows with too few digits, by lines of the input */
} doubt_rows;

static inline int count_bits(uint64_t word)
{
    return __builtin_popcountll(word);
}

static inline uint32_t bit_length(uint64_t word)
{
    return word != 0 ? 64 - (uint32_t)__builtin_clzll(word) : 0;
}

#endif

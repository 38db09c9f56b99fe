/*
 * short_rows.h - the sign that rows were cut short: they have fewer digits than the others. Also of decimal numbers,
 * whose digits tell nothing: some are much smaller than the others. One thread at a time uses it.
 */
#ifndef SHORT_ROWS_H
#define SHORT_ROWS_H

#include "input/doubt_rows.h"

#define SHORT_ROWS_KEPT 16u /* at most */

/* What is known of the rows of an input. Begins zeroed. */
typedef struct short_rows {
    uint32_t words;
    radix_form radix;
    uint64_t count;
    line_shorts shorts;
    size_t zero_digits, zero_bytes;       /* full rows that begin with the digit 0, with a byte 0 */
    size_t full_rows;                     /* that do not begin with a digit 0; decimal: with a byte 0 */
    uint64_t sampled_bits, sampled_ones;  /* of full rows and of those that are kept */
    uint64_t kept_low[SHORT_ROWS_KEPT];   /* the last words of rows with many zeros in front, */
    uint32_t kept_zeros[SHORT_ROWS_KEPT]; /* and how many zeros */
    uint32_t kept_count;
} short_rows;

void short_rows_note(short_rows *self, const doubt_rows *rows);

/* The evidence that rows were cut short, or AGAINST. */
int short_rows_evidence(const short_rows *self);

/* Write what seems to be wrong, and what to do. */
void short_rows_describe(const short_rows *self, char *to, size_t size);

#endif

/*
 * ascii.h - the fast way through ASCII: what fold.h and features.c do code point by code point, for 64 bytes at once.
 * The results are the same; a unit test holds the two ways against each other.
 */
#ifndef SS_ASCII_H
#define SS_ASCII_H

#include "text/shingle.h"

/* The most bytes that one call takes. */
#define SS_ASCII_CHUNK 2048u

/* The number of bytes below 0x80 at the start of `text`, at most SS_ASCII_CHUNK. */
size_t ss_ascii_span(const uint8_t *text, size_t size);

/*
 * Append the words of `size` <= SS_ASCII_CHUNK ASCII bytes, in lower case. *in_word tells whether the open unit is a
 * word that letters at the start continue; on return, whether the one at the end may go on. MEMORY.
 */
sstore_status ss_ascii_add_words(ss_shingles *words, const uint8_t *text, size_t size, bool *in_word,
                                 sstore_error *error);

/*
 * Append the characters of `size` <= SS_ASCII_CHUNK ASCII bytes, in lower case, with white space folded. *space_due
 * tells whether white space has been read that is to be written before the next character. MEMORY.
 */
sstore_status ss_ascii_add_chars(ss_shingles *chars, const uint8_t *text, size_t size, bool *space_due,
                                 sstore_error *error);

#endif

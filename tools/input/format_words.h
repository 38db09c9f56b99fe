/*
 * format_words.h - records of 64-bit words, or of smaller numbers, one after the other.
 */
#ifndef FORMAT_WORDS_H
#define FORMAT_WORDS_H

#include "input/input_formats.h"

typedef enum layout_part {
    PART_WORD, /* of 64 bits */
    PART_HALF, /* of 32 bits */
    PART_BYTE,
    PART_BIT /* in a byte */
} layout_part;

typedef struct word_layout {
    uint32_t words; /* of a fingerprint, the first of which comes first */
    bool big_endian;
    bool has_ids;     /* a word with the id follows the fingerprint */
    bool has_header;  /* of pairs: another one after it would be of another file */
    layout_part part; /* if these are smaller, there are no ids */
    uint32_t columns; /* parts of a fingerprint, if they are smaller */
} word_layout;

/* The bytes of a record. */
size_t word_layout_bytes(const word_layout *layout);

/* Read the rest of the source as words: exactly `count` records, or any number if it is UINT64_MAX. */
int word_layout_read(input_reader *reader, const word_layout *layout, uint64_t count);

/* Words from the offset `first` on. */
void word_layout_expect(const input_sample *from, size_t first, const word_layout *layout, input_expectation *expected);

/* Are all of these bytes 0 or 1? */
bool words_are_bits(const char *bytes, size_t size);

#endif

/*
 * format_words.h - records of 64-bit words, or of smaller numbers, one after the other.
 */
#ifndef FORMAT_WORDS_H
#define FORMAT_WORDS_H

#include "input/input_formats.h"

typedef enum layout_form {
    FORM_WORDS, /* of 64 bits; an id is also one */
    FORM_PARTS, /* smaller numbers: equal parts of a fingerprint, the highest first */
    FORM_BITS   /* a number for each bit */
} layout_form;

/* Records of `columns` numbers. */
typedef struct word_layout {
    uint32_t words; /* of a fingerprint, the first of which comes first */
    bool big_endian;
    bool has_ids;
    bool has_header; /* of pairs: another one after it would be of another file */
    layout_form form;
    uint32_t item_bytes;     /* of a number */
    uint64_t one;            /* the number 1, as it is stored; of bits */
    uint32_t columns, parts; /* numbers of a record, of its fingerprint */
    uint32_t fingerprint_at, id_at;
} word_layout;

/* Fingerprints of this many words, each perhaps with an id behind it. */
word_layout word_layout_make(uint32_t words, bool has_ids);

/* Place fingerprint and id as --columns says, which was given. The fingerprint may have any number of columns if
 * `words` is 0. False: it does not fit the columns. */
bool word_layout_choose(word_layout *layout, const line_format *lines, uint32_t words, line_fault *fault);

/* The bytes of a record. */
size_t word_layout_bytes(const word_layout *layout);

/* Read the rest of the source as words: exactly `count` records, or any number if it is UINT64_MAX. */
int word_layout_read(input_reader *reader, const word_layout *layout, uint64_t count);

/* Words from the offset `first` on. */
void word_layout_expect(const input_sample *from, size_t first, const word_layout *layout, input_expectation *expected);

/* Are all numbers of these bytes 0 or 1? */
bool word_layout_is_bits(const word_layout *layout, const char *bytes, size_t size);

#endif

/*
 * npy_header.h - the header of a NumPy array (.npy, versions 1.0, 2.0 and 3.0): which records the array has.
 */
#ifndef NPY_HEADER_H
#define NPY_HEADER_H

#include "input/format_words.h"

#define NPY_MAGIC "\x93NUMPY"
#define NPY_MAGIC_BYTES 6u

/* Magic, version and the header's length. In version 1.0 the length takes two bytes less, but the header follows. */
#define NPY_PREAMBLE_BYTES 12

/* What is known about an array of records. */
typedef struct npy_known {
    const line_format *lines;
    bool has_columns; /* --columns was given */
    uint32_t words;   /* of a fingerprint, or 0 */
} npy_known;

/* Check the magic and the version at the input's beginning, and set the length of the header after them. */
bool npy_preamble_parse(const uint8_t *bytes, size_t available, size_t *header_bytes_out, line_fault *fault);

/* Bytes before the header's text. */
size_t npy_preamble_bytes(const uint8_t *preamble);

/* Parse the header's text, behind which data begins; `available`: bytes of both. */
bool npy_header_parse(const char *text, size_t length, size_t available, const npy_known *known, uint64_t *count_out,
                      word_layout *layout_out, line_fault *fault);

#endif

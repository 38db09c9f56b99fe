/*
 * input_width.h - finds out from the first lines of an input how wide its fingerprints are, and whether they have ids.
 */
#ifndef INPUT_WIDTH_H
#define INPUT_WIDTH_H

#include "input/input_line.h"

typedef struct input_width {
    uint32_t bits; /* of a fingerprint before --pad fills them up; 0: no line is a record */
    bool is_sure;  /* a line decides it; otherwise they are all zeros or short, which have the width of the most */
    bool has_ids;  /* most lines have; if as many have none, the first one decides */
    char kind;     /* the same: the letter in front of fingerprints, or 0 */
} input_width;

/*
 * Ask all whole lines of the text, which begins an input, and also its last one if nothing follows. The width is the
 * one that most of those lines have that can have no other; so one wrong line among the first does not make all others
 * wrong. Columns that a comment states are used if `takes_columns`.
 */
input_width input_width_find(const line_format *format, line_parser parse, bool takes_columns, const char *text,
                             size_t size, bool at_end);

/* Take the columns that a comment of the input states. False: it is another comment, or *fault says what is wrong. */
bool input_take_columns(line_format *format, const char *line, size_t length, line_fault *fault);

#endif

/*
 * source_line.h - the lines of an input, one after the other.
 */
#ifndef SOURCE_LINE_H
#define SOURCE_LINE_H

#include "input_source.h"

/* A line of a source, without its newline; it lies in the source's buffer. Starts zeroed, but for the first. */
typedef struct source_line {
    bool any_length; /* it may be longer than INPUT_MOST_LINE_BYTES */
    const char *text;
    size_t length;
    size_t taken;    /* bytes to take off the source when the next line is asked for */
    uint64_t number; /* of this line in the source, from 1 */
} source_line;

/* Go on to the next line; the one before is gone. *found_out is false at the source's end. What was printed is flushed
 * before more is waited for. Returns an exit code. */
int source_line_next(input_source *source, source_line *line, bool *found_out);

#endif

/*
 * line_run.h - many lines at once, as long as they have one of the shapes that nearly all lines have. What is read is
 * what line_parse() reads; lines of any other shape, malformed ones among them, are left to it.
 */
#ifndef LINE_RUN_H
#define LINE_RUN_H

#include "input_line.h"

typedef struct line_run {
    size_t count; /* lines that were read */
    size_t bytes; /* that they take, with their line ends */
} line_run;

/*
 * Read lines from the beginning of text[0, size), the first `most` at most: into fingerprints[] and, where `with_ids`
 * says that every line has one, into ids[]. Ends before the first line that is of another shape, that has an id and
 * should not or the other way round, or that begins in the last bytes of the text.
 */
line_run line_run_parse(const line_format *format, bool with_ids, const char *text, size_t size, uint64_t *fingerprints,
                        uint64_t *ids, size_t most);

#endif

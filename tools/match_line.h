/*
 * match_line.h - the grammar of a line that tells of a match, as 'sstore query' and 'sstore scan' print it.
 */
#ifndef MATCH_LINE_H
#define MATCH_LINE_H

#include "input_line.h"
#include "sstore.h"

typedef struct match_line {
    sstore_scan_match match; /* the id is 0 without one */
    bool has_id;             /* else it is '-' */
} match_line;

/*
 * Read "query<TAB>fingerprint<TAB>distance<TAB>id" of `length` bytes without the line end. False: the line is
 * malformed, or the distance is not that of its fingerprints, and *fault says what was expected and what was found.
 */
bool match_line_parse(const char *text, size_t length, match_line *line_out, line_fault *fault);

#endif

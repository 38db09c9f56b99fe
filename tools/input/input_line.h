/*
 * input_line.h - the grammar of one line of text: of input, where it says which fields are the fingerprint and the
 * id; and of a match as it is printed.
 */
#ifndef INPUT_LINE_H
#define INPUT_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sstore.h"

#define LINE_MAX_COLUMNS 64

typedef enum line_column { LINE_COLUMN_FINGERPRINT, LINE_COLUMN_ID, LINE_COLUMN_SKIPPED } line_column;

/*
 * How lines are read. Fields are separated by a tab where the line has one, otherwise by runs of spaces. A skipped last
 * column takes all that is left of the line, or nothing.
 */
typedef struct line_format {
    line_column columns[LINE_MAX_COLUMNS];
    size_t column_count;
    bool id_may_be_missing; /* a line may end before its id column */
    bool decimal;           /* fingerprints are decimal, signed or unsigned; otherwise hex */
    bool ignore_ids;        /* the id column is skipped unread */
    bool are_ids;           /* what is read as fingerprints are ids, decimal and unsigned */
} line_format;

/* A fingerprint, then perhaps an id. */
#define LINE_FORMAT_INIT                                                                                               \
    {                                                                                                                  \
        {LINE_COLUMN_FINGERPRINT, LINE_COLUMN_ID}, 2, true, false, false, false                                        \
    }

typedef struct line_record {
    uint64_t fingerprint, id; /* id is 0 without one */
    bool has_id;
} line_record;

/* Why a line, or whatever else was read, is malformed. */
typedef struct line_fault {
    char reason[320];
} line_fault;

/* Set the reason as printf does. Returns false, for its caller to return. */
__attribute__((format(printf, 2, 3))) bool line_fault_set(line_fault *fault, const char *format, ...);

/*
 * Write "expected EXPECTED, found " and the beginning of what was found, in quotes and with whatever could upset a
 * terminal escaped. Returns false, for its caller to return.
 */
bool line_fault_found(line_fault *fault, const char *expected, const char *found, size_t length);

/* Set the columns from a list such as "id,-,fingerprint". Where ids are read, nothing else is, and the list needs no
 * fingerprint. False: the list is wrong, and *fault says why. */
bool line_format_set_columns(line_format *format, const char *list, line_fault *fault);

/*
 * Read a line of `length` bytes without its line end. They may be any bytes. False: the line is malformed, and *fault
 * says what was expected and what was found.
 */
bool line_parse(const line_format *format, const char *line, size_t length, line_record *record_out, line_fault *fault);

/* Read a fingerprint that stands alone. Returns as line_parse(). */
bool line_parse_fingerprint(bool decimal, const char *text, size_t length, uint64_t *fingerprint_out,
                            line_fault *fault);

typedef struct line_run {
    size_t count; /* lines that were read */
    size_t bytes; /* that they take, with their line ends */
} line_run;

/*
 * Read many lines at once, as long as they have one of the shapes that nearly all lines have. What is read is what
 * line_parse() reads; lines of any other shape, malformed ones among them, are left to it.
 *
 * Read lines from the beginning of text[0, size), `max_count` at most: into fingerprints[] and, where `with_ids`
 * says that every line has one, into ids[]. Ends before the first line that is of another shape, that has an id and
 * should not or the other way round, or that begins in the last bytes of the text.
 */
line_run line_run_parse(const line_format *format, bool with_ids, const char *text, size_t size, uint64_t *fingerprints,
                        uint64_t *ids, size_t max_count);

/* A match. */
typedef struct match_line {
    sstore_stream_match match; /* the id is 0 without one */
    bool has_id;             /* else it is '-' */
} match_line;

/*
 * Read "query<TAB>fingerprint<TAB>distance<TAB>id" of `length` bytes without the line end. False: the line is
 * malformed, or the distance is not that of its fingerprints, and *fault says what was expected and what was found.
 */
bool match_line_parse(const char *text, size_t length, match_line *line_out, line_fault *fault);

#endif

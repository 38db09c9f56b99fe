/*
 * input_line.h - the grammar of one line of text: of a record, whose fields may stand in any order, and of a match as
 * it is printed.
 */
#ifndef INPUT_LINE_H
#define INPUT_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "input/line_fault.h"
#include "input/line_format.h"

/* Fingerprints other than zero that have fewer digits than the others may have: leading zeros are absent. */
typedef struct line_shorts {
    size_t count;
    uint32_t any_missing; /* the or of the bits that each lacks: a multiple of 8 if all lack whole bytes */
    uint64_t first;       /* the number of its line or row */
} line_shorts;

/* `later` comes after what was noted so far, with numbers from `offset` on. */
static inline void line_shorts_add(line_shorts *self, const line_shorts *later, uint64_t offset)
{
    if (self->count == 0)
        self->first = later->first + offset;
    self->any_missing |= later->any_missing;
    self->count += later->count;
}

/* One more of them. */
static inline void line_shorts_note(line_shorts *self, uint32_t missing_bits, uint64_t number)
{
    line_shorts_add(self, &(line_shorts){1, missing_bits, number}, 0);
}

/* Set the columns from a list such as "id,-,fingerprint". With `are_ids`, only the id column is read, and the list
 * needs no fingerprint. False: the list is wrong, and *fault says why. */
bool line_format_set_columns(line_format *format, const char *list, line_fault *fault);

/* Reads a line, as line_parse() does. */
typedef bool (*line_parser)(const line_format *format, const char *line, size_t length, line_record *record_out,
                            line_fault *fault);

/*
 * Read a line of `length` bytes, any bytes, without its line end. False: the line is malformed, and *fault says what
 * was expected and what was found.
 */
bool line_parse(const line_format *format, const char *line, size_t length, line_record *record_out, line_fault *fault);

/* Read a fingerprint in hex digits that stands alone, of `bits` bits, behind which there may be zeros; 0: of any number
 * of words. Returns how many words it has; 0: the text is malformed, and *fault says what was expected and what was
 * found. */
uint32_t line_parse_hex(uint32_t bits, const char *text, size_t length, uint64_t *fingerprint_out, line_fault *fault);

/* Read a decimal id that stands alone. Returns as line_parse(). */
bool line_parse_id(const char *text, size_t length, uint64_t *id_out, line_fault *fault);

typedef struct line_run {
    size_t count;       /* number of lines read */
    size_t bytes;       /* their length with line ends */
    line_shorts shorts; /* among them, counted from 0 */
} line_run;

/*
 * Read up to `max_count` lines at the beginning of text[0, size), all of the shapes that nearly all lines have, with
 * the same result as line_parse(). Fills fingerprints[], of as many words as the format says, and, if `has_ids`,
 * ids[]; then every line must have an id, otherwise none. Ends before the first line that does not fit or is malformed,
 * or that begins in the last bytes of the text. If the format leaves the number of words open, no line is read.
 */
void line_run_parse(const line_format *format, bool has_ids, const char *text, size_t size, uint64_t *fingerprints,
                    uint64_t *ids, size_t max_count, line_run *run_out);

typedef struct match_line {
    uint64_t query[SSTORE_MAX_WORDS], fingerprint[SSTORE_MAX_WORDS];
    uint32_t words; /* of each */
    uint32_t distance;
    uint64_t id; /* 0 if there is none */
    bool has_id; /* otherwise the line has '-' */
} match_line;

/*
 * Read "query<TAB>fingerprint<TAB>distance<TAB>id" of `length` bytes without the line end. False: the line is malformed
 * or its distance is wrong, and *fault says what was expected and what was found.
 */
bool match_line_parse(const char *text, size_t length, match_line *line_out, line_fault *fault);

#endif

/*
 * input_line.h - the grammar of one line of text: of a record, whose fields may stand in any order, and of a match as
 * it is printed.
 */
#ifndef INPUT_LINE_H
#define INPUT_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "output/radix_form.h"
#include "sstore.h"

#define LINE_MAX_COLUMNS 64

typedef enum line_column { LINE_COLUMN_FINGERPRINT, LINE_COLUMN_ID, LINE_COLUMN_SKIPPED } line_column;

/*
 * How lines are read. Fields are separated by tabs if the line has any, otherwise by runs of spaces. A skipped last
 * column takes the whole rest of the line, even if it is empty.
 */
typedef struct line_format {
    line_column columns[LINE_MAX_COLUMNS];
    size_t column_count;
    bool id_may_be_missing; /* a line may end before its id column */
    radix_form radix;       /* of fingerprints */
    uint32_t words;         /* of a fingerprint; 0: any */
    bool ignore_ids;        /* the id column is skipped */
    bool are_ids;           /* the fingerprint column holds ids, decimal and unsigned */
    bool are_edges;         /* lines are two numbers, decimal and unsigned; the columns are the default ones */
    const char *fingerprint_key, *id_key; /* the keys of JSON objects */
    bool must_have_ids;                   /* without ids, lines would mean something else: no hint tells to skip them */
    bool pads;                /* fingerprints have any number of bits; zeros at the end fill their last word */
    uint32_t bits;            /* with `pads`: that all have; 0: any */
    bool words_given;         /* the words are known, but not by other lines: leading zeros may be absent */
    bool words_unsure;        /* the words are known by lines of zeros alone */
    bool radix_given;         /* otherwise lines of JSON must not leave it open */
    uint32_t part_count;      /* the columns of a fingerprint, each with an equal part of its bits */
    char kind;                /* the letter in front of the earlier fingerprints; or 0 */
    bool is_for_store;        /* a store decides how many bits fingerprints have */
    const char *width_source; /* what shows the words, for messages; NULL: other rows */
    bool takes_recipe;        /* an object may state its recipe, as the first one does */
} line_format;

/* A fingerprint, then optionally an id. */
#define LINE_FORMAT_INIT                                                                                               \
    {                                                                                                                  \
        {LINE_COLUMN_FINGERPRINT, LINE_COLUMN_ID}, 2, true, RADIX_HEX, 0, false, false, false, "fingerprint", "id",    \
            false, false, 0, false, false, false, 1, 0, false, NULL, true                                              \
    }

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

#define LINE_RECIPE_BYTES 512 /* longer ones are not stated */

typedef struct line_record {
    uint64_t fingerprint[SSTORE_MAX_WORDS]; /* or the first number of a line of numbers, one word */
    uint32_t words;                         /* of the fingerprint */
    uint32_t bits;                          /* of the fingerprint: before --pad filled them up */
    bool decides;                           /* if any width is right: no other width is possible */
    bool may_be_bits;      /* if any width is right: its hex digits are all 0 or 1, not all 0, so each may be a bit */
    char kind;             /* the letter in front of the fingerprint, such as of "p:84ad7e0ad13e1a8b"; or 0 */
    uint32_t missing_bits; /* those of digits that are absent in front, unless the fingerprint is zero */
    /* Of JSON: a number, or a string of digits that may be decimal as well as hex. */
    enum { LINE_VALUE_TEXT, LINE_VALUE_NUMBER, LINE_VALUE_DIGITS } value;
    bool has_id;
    uint64_t id;                    /* 0 if there is none */
    char recipe[LINE_RECIPE_BYTES]; /* that the line states, or "" */
} line_record;

/* Set all but the words of the fingerprint to what a line says that has none. */
static inline void line_record_clear(line_record *record)
{
    record->words = 1;
    record->bits = 64;
    record->decides = record->may_be_bits = record->has_id = false;
    record->kind = 0;
    record->missing_bits = 0;
    record->value = LINE_VALUE_TEXT;
    record->id = 0;
    record->recipe[0] = '\0';
}

/* May the fingerprint be an id that was read in its place? Few fingerprints are as small. */
static inline bool line_may_be_id(const line_record *record)
{
    return record->words == 1 && record->fingerprint[0] >> 48 == 0;
}

/* Why a line or another part of an input is malformed. */
typedef struct line_fault {
    char reason[400];
    size_t hint_at;     /* of a line: where a hint begins, or the end */
    bool has_sure_hint; /* which no guess should replace */
    bool is_null;       /* there is no value where a fingerprint should be */
} line_fault;

/* Set the reason as printf() does. Returns false, for the caller to return. */
__attribute__((format(printf, 2, 3))) bool line_fault_set(line_fault *fault, const char *format, ...);

/*
 * Set the reason to "expected EXPECTED, found " and the beginning of the text found, quoted and escaped for a terminal.
 * Returns false, for the caller to return.
 */
bool line_fault_found(line_fault *fault, const char *expected, const char *found, size_t length);

/* Let a hint follow the reason that was set, instead of the hint so far. */
void line_fault_set_hint(line_fault *fault, const char *hint);

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

#define LINE_SEE_SKIP_BAD "; --skip-bad leaves out rows without a fingerprint"
#define LINE_SEE_DECIMAL "; --radix dec reads decimal fingerprints"
#define LINE_SEE_NULL                                                                                                  \
    "; if the fields are id and fingerprint, --columns id,fingerprint --skip-bad reads the others (decimal ones with " \
    "--radix dec)"
#define LINE_SEE_BITS "see --bits of 'sstore build'"

/* Read a decimal id that stands alone. Returns as line_parse(). */
bool line_parse_id(const char *text, size_t length, uint64_t *id_out, line_fault *fault);

typedef struct line_run {
    size_t count;       /* number of lines read */
    size_t bytes;       /* their length with line ends */
    line_shorts shorts; /* among them, counted from 0 */
} line_run;

/*
 * Read up to `max_count` lines at the beginning of text[0, size), all of the shapes that nearly all lines have, with
 * the same result as line_parse(). Fills fingerprints[], of as many words as the format says, and, if `with_ids`,
 * ids[]; then every line must have an id, otherwise none. Ends before the first line that does not fit or is malformed,
 * or that begins in the last bytes of the text. If the format leaves the number of words open, no line is read.
 */
void line_run_parse(const line_format *format, bool with_ids, const char *text, size_t size, uint64_t *fingerprints,
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

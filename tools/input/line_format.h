/*
 * line_format.h - how lines are read, and what one says: what the grammars of lines and of values have in common.
 */
#ifndef LINE_FORMAT_H
#define LINE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "output/radix_form.h"
#include "sstore.h"

#define LINE_MAX_COLUMNS 64

typedef enum line_column { LINE_COLUMN_FINGERPRINT, LINE_COLUMN_ID, LINE_COLUMN_NAME, LINE_COLUMN_SKIPPED } line_column;

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
    bool words_given;         /* the words are known, but not by other lines */
    bool may_lack_zeros;      /* of more than 64 bits, and binary: an option says the words, so zeros in front may be
                                 absent */
    bool words_unsure;        /* the words are known by lines of zeros alone */
    bool radix_given;         /* otherwise lines of JSON must not leave it open */
    uint32_t part_count;      /* the columns of a fingerprint, each with an equal part of its bits */
    char kind;                /* the letter in front of the earlier fingerprints; or 0 */
    bool is_for_store;        /* a store decides how many bits fingerprints have */
    const char *width_source; /* what shows the words, for messages; NULL: other rows */
    bool takes_recipe;        /* an object may state its recipe, as the first one does */
    bool has_names;           /* records have names in the place of ids: see line_column_at() */
    bool are_names;           /* with `are_ids` and `has_names`: the fingerprint column holds names */
    bool has_name_column;     /* there is one in the list of columns */
    bool is_field;            /* of a document, without the options of inputs: no hint for an array names --pad */
    char *name_room;          /* takes the name of the last line: SSTORE_MAX_NAME_BYTES; NULL: names are only checked */
} line_format;

/* A fingerprint, then optionally an id. */
#define LINE_FORMAT_INIT                                                                                               \
    {                                                                                                                  \
        {LINE_COLUMN_FINGERPRINT, LINE_COLUMN_ID}, 2, true, RADIX_HEX, 0, false, false, false, "fingerprint", "id",    \
            false, false, 0, false, false, false, false, 1, 0, false, NULL, true, false, false, false, false, NULL     \
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
    bool has_id;                    /* or a name */
    uint64_t id;                    /* 0 if there is none */
    size_t name_length;             /* of the name in the format's room */
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
    record->id = record->name_length = 0;
    record->recipe[0] = '\0';
}

/* What a column is: with names, an id column holds them unless there is a name column. Without, that is skipped. */
static inline line_column line_column_at(const line_format *format, size_t index)
{
    const line_column column = format->columns[index];
    if (column == LINE_COLUMN_NAME && !format->has_names)
        return LINE_COLUMN_SKIPPED;
    if (column == LINE_COLUMN_ID && format->has_names && !format->are_names)
        return format->has_name_column ? LINE_COLUMN_SKIPPED : LINE_COLUMN_NAME;
    return column;
}

/* May the fingerprint be an id that was read in its place? Few fingerprints are as small. */
static inline bool line_may_be_id(const line_record *record)
{
    return record->words == 1 && record->fingerprint[0] >> 48 == 0;
}

#endif

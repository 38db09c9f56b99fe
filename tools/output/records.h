/*
 * records.h - prints all records of a store in the formats that inputs have, so that they can be read again.
 */
#ifndef RECORDS_H
#define RECORDS_H

#include "output/output.h"
#include "output/radix_form.h"

/* How text states how its records were made: in comment lines. */
#define RECORDS_RECIPE_COMMENT "# recipe: "
#define RECORDS_COLUMNS_COMMENT "# columns: " /* and a list as of --columns */

/* The key by which an object of JSON states how its fingerprint is written, if that is not hex. */
#define RECORDS_RADIX_KEY "radix"
#define RECORDS_RECIPE_KEY "fingerprint_recipe" /* of the first object: its recipe, and that of the others */

/* By which it states a name, beside the id; if that is not UTF-8, as sstore_escape() writes it. */
#define RECORDS_NAME_KEY "name"
#define RECORDS_ESCAPED_NAME_KEY "escaped_name"

/*
 * How words in pairs of fingerprint and id do: by a header as long as some pairs. It has a magic number of 8 bytes, in
 * the place of a fingerprint or of its first word; the length of the recipe, u32; the bits of a fingerprint, u32, of
 * which 0 stands for 64; the recipe; and zeros up to a whole pair.
 */
#define RECORDS_MAGIC "\x89sstore\n"
#define RECORDS_MAGIC_BYTES 8u
#define RECORDS_HEADER_BYTES 16u /* without the recipe */
#define RECORDS_MAX_RECIPE 4096u

/* Bytes of a pair whose fingerprint has this many words, and of a header whose recipe has `length` bytes. */
#define RECORDS_PAIR_BYTES(words) (8 * ((size_t)(words) + 1))
#define RECORDS_HEADER_LENGTH(words, length)                                                                           \
    ((RECORDS_HEADER_BYTES + (size_t)(length) + RECORDS_PAIR_BYTES(words) - 1) / RECORDS_PAIR_BYTES(words) *           \
     RECORDS_PAIR_BYTES(words))

typedef enum record_format {
    RECORDS_TEXT,     /* fields separated by tabs */
    RECORDS_JSONL,    /* an object per line */
    RECORDS_WORDS,    /* little-endian: .rec and .u64 */
    RECORDS_NPY,      /* a NumPy array of words */
    RECORDS_NPY_BYTES /* a NumPy array of the bytes of fingerprints, the most significant first */
} record_format;

typedef enum record_part { RECORD_FINGERPRINT, RECORD_ID } record_part;

/* How records are printed. */
typedef struct record_style {
    record_format format;
    uint32_t words;       /* of a fingerprint */
    radix_form radix;     /* of fingerprints in text and JSON */
    bool has_ids;         /* otherwise '-' or null stands for an id */
    stored_names *names;  /* that text has in the place of ids, and objects also; or NULL */
    record_part parts[2]; /* of a record, in the order of their output */
    size_t part_count;
    const char *keys[2]; /* of the parts in JSON */
    const char *columns; /* that a comment of text states; or NULL */
    const char *recipe;  /* that a comment, a header of pairs, or the next object states. NULL: none does, and pairs
                            have no header */
} record_style;

/* Print what comes before the records, of which there are `count`. Returns as the functions of output.h. */
bool records_begin(const record_style *style, uint64_t count);

/* Print a record. */
bool records_print(const record_style *style, const uint64_t *fingerprint, uint64_t id);

#endif

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

/* How pairs of words do: by a header as long as some pairs, of a magic number in the place of a fingerprint, the length
 * of the recipe in the place of an id, the recipe, and zeros. */
#define RECORDS_MAGIC "\x89sstore\n"
#define RECORDS_MAGIC_BYTES 8u
#define RECORDS_PAIR_BYTES 16u
#define RECORDS_MAX_RECIPE 4096u

typedef enum record_format {
    RECORDS_TEXT,     /* fields separated by tabs */
    RECORDS_JSONL,    /* an object per line */
    RECORDS_WORDS,    /* little-endian: .rec and .u64 */
    RECORDS_NPY,      /* a NumPy array of words */
    RECORDS_NPY_BYTES /* a NumPy array of eight bytes for each fingerprint, the most significant first */
} record_format;

typedef enum record_part { RECORD_FINGERPRINT, RECORD_ID } record_part;

/* How records are printed. */
typedef struct record_style {
    record_format format;
    radix_form radix;     /* of fingerprints in text and JSON */
    bool has_ids;         /* otherwise '-' or null stands for an id */
    record_part parts[2]; /* of a record, in the order of their output */
    size_t part_count;
    const char *keys[2]; /* of the parts in JSON */
    const char *recipe;  /* that a header of pairs states; NULL: there is no header */
} record_style;

/* Print what comes before the records, of which there are `count`. Returns as the functions of output.h. */
bool records_begin(const record_style *style, uint64_t count);

/* Print a record: a callback whose context is the style. */
int records_print(void *style, const sstore_record *record);

#endif

/* input_options.h - how an input is read, and what is known of its records. */
#ifndef INPUT_OPTIONS_H
#define INPUT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "input/bad_rows.h"
#include "input/decompress.h"
#include "input/input_doubt.h"
#include "input/input_line.h"

#define INPUT_BATCH_RECORDS 16384

typedef enum input_format {
    INPUT_AUTO, /* by the suffix: .u64, .rec, .npy, .jsonl, otherwise text */
    INPUT_TEXT,
    INPUT_U64, /* fingerprints: little-endian words, the first of a fingerprint first */
    INPUT_REC, /* pairs of fingerprint and id: the same, and then a word for the id; perhaps behind a header */
    INPUT_NPY,
    INPUT_JSONL, /* JSON Lines: an object per line */
    INPUT_FORMAT_COUNT
} input_format;

/* Takes the recipe of the records that follow, and may doubt it. Returns an exit code; other than 0 stops the reading.
 */
typedef int (*input_recipe_fn)(void *context, input_doubt *doubt, const char *path, const char *recipe);

typedef struct input_options {
    input_format format;
    compression compression;  /* COMPRESSION_AUTO: by the suffix; lines also by their first bytes */
    uint32_t max_window_bits; /* see unpacker_create() */
    const char *columns;      /* the list of --columns, or NULL: those of `lines` */
    line_format lines;
    size_t batch_records;      /* of one word, in a full batch: 1 to INPUT_BATCH_RECORDS. Of more words, fewer */
    bool ahead;                /* parse and unpack in another thread, ahead of the consumer */
    input_recipe_fn on_recipe; /* NULL: recipes are ignored */
    void *recipe_context;
    bad_rows bad;            /* its options; copies of these options use the same one: */
    bad_rows *bad_rows;      /* NULL: a bad row ends the reading */
    input_doubt own_doubt;   /* in the same way */
    input_doubt *doubt;      /* NULL: nothing is doubted */
    const char *radix_given; /* --radix as it is written, or NULL */
    uint32_t bits;           /* --bits: of a fingerprint, before --pad fills it up; 0: not given */
    bool interactive; /* the writer may wait for the answer to each record, so none is read before it is wanted */
} input_options;

#define INPUT_OPTIONS_INIT                                                                                             \
    {                                                                                                                  \
        INPUT_AUTO, COMPRESSION_AUTO, DECOMPRESS_MAX_WINDOW_BITS, NULL, LINE_FORMAT_INIT, INPUT_BATCH_RECORDS, true,   \
            NULL, NULL, BAD_ROWS_INIT, NULL, {.strict = false}, NULL, NULL, 0, false                                   \
    }

/* What the records of all inputs have in common, perhaps from the beginning. Otherwise the first records decide:
 * of lines as input_width_find() says. */
typedef enum input_ids { INPUT_IDS_UNKNOWN, INPUT_IDS_PRESENT, INPUT_IDS_ABSENT } input_ids;
typedef struct input_shape {
    input_ids ids;
    uint32_t words;           /* of a fingerprint; 0: unknown */
    const char *width_source; /* what shows the words, if that is no option and no store; for messages */
    uint32_t bits;            /* of a fingerprint before --pad fills them up; 0: unknown */
    uint64_t comment_count;
    uint64_t blank_count; /* of lines of text without a field before the last row of their input */
    bool has_kind; /* of text, the inputs show the kind of the fingerprints (see line_record), or that they have none */
    char kind;
} input_shape;

#define INPUT_SHAPE_INIT                                                                                               \
    {                                                                                                                  \
        INPUT_IDS_UNKNOWN, 0, NULL, 0, 0, 0, false, 0                                                                  \
    }

/* Do records with ids, or without, agree with the earlier ones, if there are any? */
bool input_ids_agree(input_ids *ids, bool has_ids);

/* An estimate of the contents of an input. */
typedef struct input_expectation {
    bool known;          /* false for pipes and compressed files */
    uint64_t count;      /* approximate number of records */
    uint64_t largest_id; /* of the first records; 0 without ids */
    uint32_t words;      /* of a fingerprint, or 0 */
    bool assumes_words;  /* the input does not show them */
} input_expectation;

/* The max_window_bits for a command that may take `memory_bytes` (0: no limit). */
uint32_t input_window_bits(uint64_t memory_bytes);

#endif

/*
 * input.h - reads fingerprints of any width, with or without ids, from files and stdin: text, JSON Lines, raw 64-bit
 * words or NumPy arrays, each also compressed.
 *
 * Functions return exit codes. They report a failure to stderr before they return, for a malformed line as
 * "sstore: FILE:LINE: reason".
 */
#ifndef INPUT_H
#define INPUT_H

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
    bool interactive; /* the writer may wait for the answer to each record, so none is read before it is wanted */
} input_options;

#define INPUT_OPTIONS_INIT                                                                                             \
    {                                                                                                                  \
        INPUT_AUTO, COMPRESSION_AUTO, DECOMPRESS_MAX_WINDOW_BITS, NULL, LINE_FORMAT_INIT, INPUT_BATCH_RECORDS, true,   \
            NULL, NULL, BAD_ROWS_INIT, NULL, {.strict = false}, NULL, NULL, false                                      \
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

/* Records, one fingerprint after the other. Ids that stand for fingerprints (see line_format) have one word. */
typedef struct record_batch {
    size_t count;
    uint32_t words; /* of a fingerprint; 0: there is no record yet */
    bool has_ids;
    bool has_rows;      /* without ids, `ids` has the numbers of the rows, from 0 over all inputs: some are skipped */
    const char *recipe; /* that the input states before these records; or NULL */
    uint64_t *fingerprints, *ids;
} record_batch;

/* The ids, or NULL if the records have none. */
static inline const uint64_t *record_batch_ids(const record_batch *batch)
{
    return batch->has_ids ? batch->ids : NULL;
}

/* How many records of so many words fill a batch with a capacity of `capacity` words. */
static inline size_t record_batch_records(size_t capacity, uint32_t words)
{
    return capacity > words ? capacity / words : 1;
}

/* Takes the next records. Returns an exit code; other than 0 stops the reading. */
typedef int (*input_batch_fn)(void *context, const record_batch *batch);

/* Make room for fingerprints of together `capacity` words, or for one fingerprint, and for their ids. Returns false if
 * there is no memory. Free it in any case. */
bool record_batch_init(record_batch *batch, size_t capacity);
void record_batch_free(record_batch *batch);

/* Append records, for which there is room. */
void record_batch_append(record_batch *batch, const record_batch *records);

/* The max_window_bits for a command that may take `memory_bytes` (0: no limit). */
uint32_t input_window_bits(uint64_t memory_bytes);

/*
 * Check cheaply that the inputs ("-": stdin) can be read, so that a wrong last name does not end hours of work. Pass
 * NULL for `options` if they are read as plain bytes.
 */
int input_check_all(char *const *paths, int count, const input_options *options);

/* An estimate of the contents of an input. */
typedef struct input_expectation {
    bool known;          /* false for pipes and compressed files */
    uint64_t count;      /* approximate number of records */
    uint64_t largest_id; /* of the first records; 0 without ids */
    uint32_t words;      /* of a fingerprint, or 0 */
    bool assumes_words;  /* the input does not show them */
} input_expectation;

/* Estimate from the file's size and its first records; `words`: of a fingerprint, or 0. */
input_expectation input_expect(const char *path, const input_options *options, uint32_t words);

/*
 * Read all records of `path` ("-": stdin) and hand them on in order, also those before a malformed one. Pass the same
 * *shape for all inputs. Another thread sets it before the first batch, so only batches say meanwhile what it is.
 */
int input_read(const char *path, const input_options *options, input_shape *shape, input_batch_fn on_batch,
               void *context);

/* Does the input consist of lines from stdin? Its writer may be waiting for the answer to each. */
bool input_is_interactive(const char *path, const input_options *options);

/* Read stdin and hand each record on as it comes. */
int input_read_interactive(const input_options *options, input_shape *shape, input_batch_fn on_record, void *context);

/* Read all fingerprints of `path` into memory. free() *fingerprints_out, also after a failure. */
int input_read_all(const char *path, const input_options *options, input_shape *shape, uint64_t **fingerprints_out,
                   size_t *count_out);

#endif

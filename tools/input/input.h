/*
 * input.h - reading fingerprints, with or without ids, from files and stdin: text, raw 64-bit words, NumPy arrays, each
 * of them also compressed.
 *
 * Functions return exit codes. A failure has been reported to stderr when they return, as "sstore: FILE:LINE: reason"
 * for a malformed line.
 */
#ifndef INPUT_H
#define INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "input/decompress.h"
#include "input/input_line.h"

#define INPUT_BATCH_RECORDS 16384

typedef enum input_format {
    INPUT_AUTO, /* by the name's suffix: .u64, .rec, .npy, else text */
    INPUT_TEXT,
    INPUT_U64, /* fingerprints, little-endian */
    INPUT_REC, /* pairs of fingerprint and id, little-endian */
    INPUT_NPY
} input_format;

typedef struct input_options {
    input_format format;
    compression compression;  /* COMPRESSION_AUTO: by the name's suffix; text also by what it begins with */
    uint32_t max_window_bits; /* unpacking may keep 2^bits bytes of what is unpacked, 10 to 27 */
    const char *columns;      /* what --columns lists, or NULL: as in `lines` */
    line_format lines;
    size_t batch_records; /* the most that a batch holds, 1 to INPUT_BATCH_RECORDS */
    bool ahead;           /* parse and unpack in another thread, ahead of the consumer; plain words are only copied */
} input_options;

#define INPUT_OPTIONS_INIT                                                                                             \
    {                                                                                                                  \
        INPUT_AUTO, COMPRESSION_AUTO, DECOMPRESS_MAX_WINDOW_BITS, NULL, LINE_FORMAT_INIT, INPUT_BATCH_RECORDS, true    \
    }

/* Whether records have ids is one answer for all the inputs of a store; the first record gives it. */
typedef enum input_ids { INPUT_IDS_UNKNOWN, INPUT_IDS_PRESENT, INPUT_IDS_ABSENT } input_ids;

/* Whether records with ids, or without, go together with those before, if there were any. */
bool input_ids_agree(input_ids *ids, bool has_ids);

/* Takes the next records; `ids` is NULL where they have none. Returns an exit code: other than 0 stops the reading. */
typedef int (*input_batch_fn)(void *context, const uint64_t *fingerprints, const uint64_t *ids, size_t count);

/* Records, one after the other. */
typedef struct record_batch {
    size_t count;
    bool has_ids;
    uint64_t *fingerprints, *ids;
} record_batch;

/* With room for `capacity` records. Returns false if there is no memory; to be freed in any case. */
bool record_batch_init(record_batch *batch, size_t capacity);
void record_batch_free(record_batch *batch);

/* Append records for which there is room, and whose ids may be NULL. */
void record_batch_append(record_batch *batch, const uint64_t *fingerprints, const uint64_t *ids, size_t count);

/* The window size that a decoder may use, as max_window_bits, in a command that may take `memory_bytes`. 0: no
 * limit. */
uint32_t input_window_bits(uint64_t memory_bytes);

/*
 * Check cheaply that the inputs ("-": stdin) can be read, so that hours of work do not end at a misspelt last name.
 * `options` is NULL for inputs that are read as plain bytes.
 */
int input_check_all(char *const *paths, int count, const input_options *options);

/* An estimate of what an input holds. */
typedef struct input_expectation {
    bool known;          /* false for pipes and compressed files */
    uint64_t count;      /* of records, about */
    uint64_t largest_id; /* of the first ones; 0 where they have none */
} input_expectation;

/* Estimate from the size of `path` and from its first records. */
input_expectation input_expect(const char *path, const input_options *options);

/*
 * Read all records of `path` ("-": stdin) and hand them on in order. *ids is carried from one input to the next.
 * Records before a malformed one are handed on.
 */
int input_read(const char *path, const input_options *options, input_ids *ids, input_batch_fn on_batch, void *context);

/* Whether the input is text from stdin: its writer may wait for the answer to each record. */
bool input_is_interactive(const char *path, const input_options *options);

/* Read it record by record, as they come. */
int input_read_interactive(const input_options *options, input_ids *ids, input_batch_fn on_record, void *context);

/* Read all fingerprints of `path` into memory; free(*fingerprints_out), also after a failure. */
int input_read_all(const char *path, const input_options *options, uint64_t **fingerprints_out, size_t *count_out);

#endif

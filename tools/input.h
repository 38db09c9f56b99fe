/*
 * input.h - reading fingerprints, with or without ids, from files and stdin: text, raw 64-bit words, NumPy arrays, each
 * of them also compressed.
 *
 * Functions return exit codes. A failure has been reported to stderr when they return, as "sstore: FILE:LINE: reason"
 * for a malformed line.
 */
#ifndef INPUT_H
#define INPUT_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compression.h"
#include "input_line.h"

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
    compression compression; /* COMPRESSION_AUTO: by the name's suffix; text also by what it begins with */
    uint32_t most_window_bits; /* unpacking may keep 2^bits bytes of what is unpacked, 10 to 27 */
    const char *columns; /* what --columns lists, or NULL: as in `lines` */
    line_format lines;
    size_t batch_records; /* the most that a batch holds, 1 to INPUT_BATCH_RECORDS */
    bool ahead;           /* what is not just copied is read by a thread of its own while those before are worked on */
} input_options;

#define INPUT_OPTIONS_INIT                                                                                             \
    {                                                                                                                  \
        INPUT_AUTO, COMPRESSION_AUTO, DECODER_MOST_WINDOW_BITS, NULL, LINE_FORMAT_INIT, INPUT_BATCH_RECORDS, true            \
    }

/* Whether records have ids is one answer for all the inputs of a store; the first record gives it. */
typedef enum input_ids { INPUT_IDS_UNKNOWN, INPUT_IDS_PRESENT, INPUT_IDS_ABSENT } input_ids;

/* Takes the next records; `ids` is NULL where they have none. Returns an exit code: other than 0 stops the reading. */
typedef int (*input_batch_fn)(void *context, const uint64_t *fingerprints, const uint64_t *ids, size_t count);

/* The parser of --format, --compression, --columns and --radix, for a command's argp as a child whose input is an
 * input_options. */
extern const struct argp input_argp;

/* The window of a decoder is memory, too: how many bits of it a command may use that is to take `memory_bytes` (0: it is
 * not said). */
uint32_t input_window_bits(uint64_t memory_bytes);

/*
 * Check cheaply that `path` ("-": stdin) can be read, so that hours of work do not end at a misspelt last name.
 * `options` is NULL for what is read as it is.
 */
int input_check(const char *path, const input_options *options);

/* What an input seems to hold. */
typedef struct input_expectation {
    bool known;          /* not of a pipe, nor of what is compressed */
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

/* Read all fingerprints of `path` into memory; free(*fingerprints_out), also after a failure. */
int input_read_all(const char *path, const input_options *options, uint64_t **fingerprints_out, size_t *count_out);

#endif

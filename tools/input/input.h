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

#include "input/input_options.h"
#include "input/record_batch.h"

/* Takes the next records. Returns an exit code; other than 0 stops the reading. */
typedef int (*input_batch_fn)(void *context, const record_batch *batch);

/*
 * Check cheaply that the inputs ("-": stdin) can be read, so that a wrong last name does not end hours of work. Pass
 * NULL for `options` if they are read as plain bytes.
 */
int input_check_all(char *const *paths, int count, const input_options *options);

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

/*
 * byte_stream.h - bytes that come one after the other: out of a file, or made from those of another stream.
 */
#ifndef BYTE_STREAM_H
#define BYTE_STREAM_H

#include <stddef.h>

#include "input_line.h"

typedef struct byte_stream {
    /*
     * Wait for bytes, and put at least one of them and at most `room` at `to`, or none at the stream's end. Returns an
     * exit code: EXIT_FAILED once *fault says why, or that of an interruption. After that it is not called again.
     */
    int (*read)(void *self, char *to, size_t room, size_t *got_out, line_fault *fault);
    void *self;
} byte_stream;

/* Set *fault as printf does. Returns EXIT_FAILED, for its caller to return. */
__attribute__((format(printf, 2, 3))) int byte_stream_fail(line_fault *fault, const char *format, ...);

#endif

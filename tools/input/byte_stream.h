/*
 * byte_stream.h - bytes that come one after the other: out of a file, or made from those of another stream, perhaps
 * by a thread of its own.
 */
#ifndef BYTE_STREAM_H
#define BYTE_STREAM_H

#include <stddef.h>

#include "input/input_line.h"

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

/*
 * A file or stdin, as read() gives its bytes: from a pipe or terminal what there is, so that a line can be answered
 * before the next one is written.
 */
typedef struct input_file {
    int fd;
    int stop_fd; /* readable once input_file_stop() was called; -1: it cannot be */
} input_file;

/* Open `path` ("-": stdin). Returns an exit code; a failure has been reported, and the file need not be closed. */
int input_file_open(input_file *file, const char *path);

/* Its bytes; good as long as the file is open and where it is. */
byte_stream input_file_bytes(input_file *file);

/* Make it possible to stop reading. Returns false if the system has no descriptor for it. */
bool input_file_allow_stop(input_file *file);

/* End a read that waits in another thread, and all further ones, as failures. */
void input_file_stop(const input_file *file);

void input_file_close(input_file *file);

/*
 * A stream that a thread of its own reads ahead: what takes long, such as unpacking, is done while what came before is
 * worked on.
 */
typedef struct bytes_ahead bytes_ahead;

/* Begin to read `from`, which belongs to the thread from now on. Returns NULL if the system does not have a thread or
 * memory for it: then `from` is as it was. */
bytes_ahead *bytes_ahead_create(byte_stream from);

byte_stream bytes_ahead_bytes(bytes_ahead *self);

/* End the thread. If it may wait for a file, call input_file_stop() first. NULL is allowed. */
void bytes_ahead_free(bytes_ahead *self);

#endif

/*
 * byte_stream.h - streams of bytes: those of a file, those that are computed from another stream, and those that
 * another thread reads ahead; and buffers of them.
 */
#ifndef BYTE_STREAM_H
#define BYTE_STREAM_H

#include <stddef.h>

#include "input/input_line.h"
#include "input/wake.h"

#define BYTE_STREAM_ROOM 64u

typedef struct byte_stream {
    /*
     * Wait for bytes, and write 1 to `room` of them to `to`, or none at the end of the stream. There is room for
     * BYTE_STREAM_ROOM at least, so for any character. Returns an exit code: EXIT_FAILED after setting *fault, or that
     * of an interruption. It is not called again after a failure.
     */
    int (*read)(void *self, char *to, size_t room, size_t *got_out, line_fault *fault);
    void *self;
} byte_stream;

/* Set *fault as printf() does. Returns EXIT_FAILED, for the caller to return. */
__attribute__((format(printf, 2, 3))) int byte_stream_fail(line_fault *fault, const char *format, ...);

/* Bytes of a stream that were read and not taken yet. */
typedef struct byte_buffer {
    byte_stream from;
    char *bytes;
    size_t capacity, begin, end; /* bytes[begin, end) are they */
    bool at_end;                 /* the stream has no more */
} byte_buffer;

/* Begin with bytes of the stream that were read before, and with room for `capacity` ones or more. Returns false if
 * there is no memory. Free `bytes` in any case. */
bool byte_buffer_init(byte_buffer *self, byte_stream from, const char *begin, size_t size, size_t capacity);

/* Wait for more bytes and append them, or set at_end. The buffer grows if it is full, and its bytes may move. Returns
 * as the stream does. */
int byte_buffer_fill(byte_buffer *self, line_fault *fault);

/* A file or stdin. A pipe or terminal gives the bytes that are there, so a line can be answered before the next one. */
typedef struct input_file {
    int fd;
    wake stop; /* by input_file_stop(); closed: cannot be stopped */
} input_file;

/* Is a regular file one of these inputs ("-": stdin)? Then it must not be written. */
bool input_file_is_among(const char *path, char *const *inputs, int count);

/* Open `path` ("-": stdin). Returns an exit code. After a failure, which has been reported, nothing is to be closed. */
int input_file_open(input_file *file, const char *path);

/* The stream of its bytes; valid until the file is closed or the struct moves. */
byte_stream input_file_bytes(input_file *file);

/* Make input_file_stop() possible. Returns false if the system has no descriptors for it. */
bool input_file_allow_stop(input_file *file);

/* Make the read that waits in another thread fail, and all further ones. */
void input_file_stop(const input_file *file);

void input_file_close(input_file *file);

/* A stream that another thread reads ahead, so that unpacking, for example, goes on while earlier bytes are used. */
typedef struct bytes_ahead bytes_ahead;

/* Begin to read `from`, which then belongs to the thread. Returns NULL, and leaves `from` alone, if the system does not
 * have a thread or memory for it. */
bytes_ahead *bytes_ahead_create(byte_stream from);

byte_stream bytes_ahead_bytes(bytes_ahead *self);

/* End the thread. If it may be waiting for a file, call input_file_stop() first. NULL is allowed. */
void bytes_ahead_free(bytes_ahead *self);

#endif

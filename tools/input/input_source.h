/*
 * input_source.h - the bytes of one input, read ahead in large pieces, and what is wrong with them.
 *
 * Functions return exit codes. After a failure of any but input_source_open() the source keeps the reason, which
 * input_source_report() prints: the records before it are handed on first, perhaps by another thread.
 */
#ifndef INPUT_SOURCE_H
#define INPUT_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "input/decompress.h"

typedef struct input_source {
    input_file file;
    uint32_t max_window_bits; /* of what is unpacked; see unpacker_create() */
    unpacker *unpacker;       /* NULL: the file's bytes are the source's */
    bytes_ahead *ahead;       /* of the unpacker; NULL: none */
    byte_stream bytes;        /* what the buffer is filled from */
    const char *name;         /* as messages call it; "-" is stdin */
    char *buffer;
    size_t capacity;
    size_t begin, end; /* buffer[begin, end) is read but not taken */
    uint64_t offset;   /* the place of buffer[begin] among all bytes, unpacked if they are packed */
    bool at_end;       /* nothing follows what is in the buffer */
    bool failed;
    line_fault fault; /* why, if it failed; then also ... */
    uint64_t line;    /* ... in which line, from 1, or 0 */
} input_source;

/* Open `path` ("-": stdin). A failure has been reported, and the source need not be closed. */
int input_source_open(input_source *source, const char *path);

/*
 * Unpack all bytes from now on, also those in the buffer, of which none has been taken. COMPRESSION_AUTO: if that is
 * what they look like. Without a need for it no bytes are waited for. A file that can be stopped is unpacked by a
 * thread of its own.
 */
int input_source_unpack(input_source *source, compression kind);

/*
 * Wait for more bytes and put them behind those in the buffer, which grows if it is full, or set at_end. What was
 * there may move. An interruption gives its own code.
 */
int input_source_fill(input_source *source);

/* Fill until at least `size` bytes are in the buffer or the input ends. Returns as input_source_fill(). */
int input_source_need(input_source *source, size_t size);

/* What messages call source->offset. */
static inline const char *input_source_offset_name(const input_source *source)
{
    return source->unpacker != NULL ? "unpacked offset" : "offset";
}

/* Take `size` bytes off the buffer's beginning. */
static inline void input_source_take(input_source *source, size_t size)
{
    source->begin += size;
    source->offset += size;
}

/* Keep why the input cannot be read on. Returns EXIT_FAILED, for its caller to return. */
__attribute__((format(printf, 2, 3))) int input_source_fail(input_source *source, const char *format, ...);

/* The same for the line with this number. */
int input_source_fail_line(input_source *source, uint64_t line, const char *reason);

/* A line of a source, without its newline; it lies in the source's buffer. Starts zeroed, but for the options. */
typedef struct source_line {
    bool any_length; /* option: longer lines than 16 MiB are not refused */
    bool flushes;    /* option: what was printed is flushed before more is waited for */
    const char *text;
    size_t length;
    size_t taken;    /* bytes to take off the source when the next line is asked for */
    uint64_t number; /* of this line in the source, from 1 */
} source_line;

/* Go on to the next line; the one before is gone. False: there is none, or it could not be read; *code_out is the exit
 * code. */
bool source_line_next(input_source *source, source_line *line, int *code_out);

/* Its length without the carriage return of a CRLF. */
static inline size_t source_line_length(const source_line *line)
{
    return line->length > 0 && line->text[line->length - 1] == '\r' ? line->length - 1 : line->length;
}

/* Print "sstore: FILE: reason" or "sstore: FILE:LINE: reason" to stderr, if the source has failed. */
void input_source_report(const input_source *source);

void input_source_close(input_source *source);

#endif

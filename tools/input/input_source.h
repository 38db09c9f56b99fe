/*
 * input_source.h - the bytes of one input, read in large pieces, and its lines.
 *
 * Functions return exit codes. After a failure, other than of input_source_open(), the source keeps the reason, and
 * input_source_report() prints it later: the records before the fault are handed on first, perhaps by another thread.
 */
#ifndef INPUT_SOURCE_H
#define INPUT_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "input/decompress.h"
#include "input/recode.h"

typedef struct input_source {
    input_file file;
    uint32_t max_window_bits; /* see unpacker_create() */
    unpacker *unpacker;       /* NULL: the input is not compressed */
    bytes_ahead *ahead;       /* reads the unpacker ahead; or NULL */
    recoder *recoder;         /* NULL: the text is UTF-8 */
    const char *name;         /* as messages show it; "-" is stdin */
    byte_buffer in;
    uint64_t offset;  /* of the first byte in the buffer, in the (unpacked) input */
    line_fault fault; /* why the input failed; an empty reason if it did not */
    uint64_t line;    /* the line with the fault, from 1; 0: the fault is in no line */
} input_source;

/* Open `path` ("-": stdin). After a failure, which has been reported, nothing is to be closed. */
int input_source_open(input_source *source, const char *path);

/*
 * Unpack the input from its beginning; no byte has been taken yet. COMPRESSION_AUTO: if it looks compressed; only then
 * does the call wait for bytes. A file that can be stopped is unpacked in a thread of its own.
 */
int input_source_unpack(input_source *source, compression kind);

/* Bring the text from that encoding into UTF-8; no byte has been taken yet. */
int input_source_recode(input_source *source, const char *encoding);

/* Read until at least `size` bytes are in the buffer, which may move, or the input ends. An interruption has an exit
 * code of its own. */
int input_source_need(input_source *source, size_t size);

/* The bytes in the buffer. */
static inline const char *input_source_text(const input_source *source)
{
    return source->in.bytes + source->in.begin;
}

static inline size_t input_source_size(const input_source *source)
{
    return source->in.end - source->in.begin;
}

/* Take `size` bytes off the buffer's beginning. */
static inline void input_source_take(input_source *source, size_t size)
{
    source->in.begin += size;
    source->offset += size;
}

/* Set the fault, of a line or of none (0). Returns EXIT_FAILED, for the caller to return. */
int input_source_fail(input_source *source, uint64_t line, const char *reason);

#define LINE_TOO_LONG "the line is longer than 16 MiB"

/* A line of a source, without its newline, in the source's buffer. Zero all but the options at first. */
typedef struct source_line {
    bool any_length; /* option: accept lines of more than 16 MiB */
    bool cuts;       /* option: of a longer one, give the beginning */
    bool flushes;    /* option: flush stdout before waiting for more input */
    bool has_quotes; /* option: a line feed between double quotes ends no line, as in CSV (RFC 4180) */
    bool is_cut;     /* it is such a beginning */
    const char *text;
    size_t length;
    size_t taken;    /* bytes to take off the source before the next line */
    uint64_t number; /* from 1; of the first one, if it has line feeds */
    uint64_t inner;  /* line feeds in it */
} source_line;

/* Go to the next line; the text of the previous one becomes invalid. False: there is none, or it cannot be read;
 * *code_out is the exit code. */
bool source_line_next(input_source *source, source_line *line, int *code_out);

/* The length without the carriage return of a CRLF. */
static inline size_t source_line_length(const source_line *line)
{
    return line->length > 0 && line->text[line->length - 1] == '\r' ? line->length - 1 : line->length;
}

/* Does the line say that what wrote the input failed? Then that is the source's fault. */
bool input_source_is_failure(input_source *source, const source_line *line);

/* Do the bytes left at the end of binary words say that the writer of the input failed? Then that is the source's
 * fault. */
bool input_source_rest_is_failure(input_source *source);

/* Has the line nothing but blanks? Such a line is no row. */
bool source_line_is_blank(const source_line *line);

/* If the source has failed, print "sstore: FILE: reason" or "sstore: FILE:LINE: reason" to stderr. */
void input_source_report(const input_source *source);

void input_source_close(input_source *source);

#endif

/*
 * input_source.c - the buffer of one input grows to hold the longest line. It is filled from the file, or from the
 * unpacker if the input is compressed.
 */
#include "input/input_source.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/input_hint.h"
#include "output/messages.h"
#include "output/output.h"

#define FIRST_CAPACITY ((size_t)1 << 18)

/* Longer lines are refused. Otherwise an input without line ends, or a small file that unpacks to one, would fill the
 * memory. */
#define MAX_LINE_BYTES ((size_t)1 << 24)

int input_source_open(input_source *source, const char *path)
{
    *source = (input_source){.name = path};
    int code = input_file_open(&source->file, path);
    if (code != EXIT_DONE)
        return code;
    if (byte_buffer_init(&source->in, input_file_bytes(&source->file), NULL, 0, FIRST_CAPACITY))
        return EXIT_DONE;
    message_print("%s: out of memory", path);
    input_source_close(source);
    return EXIT_FAILED;
}

/* Find out from the first bytes how the input is compressed, if it is. */
static int recognise(input_source *source, compression *kind_out)
{
    int code = EXIT_DONE;
    bool undecided = true;
    for (*kind_out = COMPRESSION_NONE; code == EXIT_DONE && undecided && *kind_out == COMPRESSION_NONE;) {
        const char *bytes = input_source_text(source);
        size_t size = input_source_size(source);
        undecided = false;
        for (compression kind = COMPRESSION_GZIP; kind <= COMPRESSION_ZSTD; kind++) {
            compression_match match = compression_begins(kind, bytes, size);
            *kind_out = match == COMPRESSION_YES ? kind : *kind_out;
            undecided = undecided || (match == COMPRESSION_PERHAPS && !source->in.at_end);
        }
        if (undecided)
            code = byte_buffer_fill(&source->in, &source->fault);
    }
    return code;
}

int input_source_unpack(input_source *source, compression kind)
{
    int code = kind == COMPRESSION_AUTO ? recognise(source, &kind) : EXIT_DONE;
    if (code != EXIT_DONE || kind == COMPRESSION_NONE)
        return code;
    code = unpacker_create(kind, source->max_window_bits, source->in.from, source->in.bytes, source->in.end,
                           &source->unpacker, &source->fault);
    if (code != EXIT_DONE)
        return code;
    source->in.from = unpacker_bytes(source->unpacker);
    if (source->file.stop.fd >= 0)
        source->ahead = bytes_ahead_create(source->in.from);
    if (source->ahead != NULL)
        source->in.from = bytes_ahead_bytes(source->ahead);
    source->in.end = 0;
    source->in.at_end = false;
    return EXIT_DONE;
}

int input_source_recode(input_source *source, const char *encoding)
{
    source->recoder = recoder_create(encoding, source->in.from, input_source_text(source), input_source_size(source));
    if (source->recoder == NULL)
        return input_source_fail(source, 0, "out of memory");
    source->in.from = recoder_bytes(source->recoder);
    source->in.begin = source->in.end = 0;
    source->in.at_end = false;
    return EXIT_DONE;
}

int input_source_need(input_source *source, size_t size)
{
    int code = EXIT_DONE;
    while (code == EXIT_DONE && input_source_size(source) < size && !source->in.at_end)
        code = byte_buffer_fill(&source->in, &source->fault);
    return code;
}

int input_source_fail(input_source *source, uint64_t line, const char *reason)
{
    source->line = line;
    return byte_stream_fail(&source->fault, "%s", reason);
}

/* Take the rest of a line that is too long. */
static int take_rest(input_source *source)
{
    int code = EXIT_DONE;
    const char *stop = NULL;
    while (code == EXIT_DONE && stop == NULL && !(source->in.at_end && source->in.begin == source->in.end)) {
        const char *text = input_source_text(source);
        const size_t available = input_source_size(source);
        stop = available > 0 ? memchr(text, '\n', available) : NULL;
        input_source_take(source, stop != NULL ? (size_t)(stop - text) + 1 : available);
        if (stop == NULL)
            code = byte_buffer_fill(&source->in, &source->fault);
    }
    return code;
}

/* A search for the end of a line. */
typedef struct line_search {
    size_t searched; /* of the bytes from the line's begin on */
    bool in_quotes;  /* behind these */
} line_search;

static bool has_odd_quotes(const char *text, size_t length)
{
    const char *const end = text + length;
    bool is_odd = false;
    while ((text = memchr(text, '"', (size_t)(end - text))) != NULL && ++text <= end)
        is_odd = !is_odd;
    return is_odd;
}

/* The line feed that ends the line, or NULL; it is not in the part that was searched before. */
static const char *find_end(source_line *line, const char *text, size_t available, line_search *search)
{
    while (search->searched < available) {
        const char *from = text + search->searched, *stop = memchr(from, '\n', available - search->searched);
        const size_t length = stop != NULL ? (size_t)(stop - from) : available - search->searched;
        search->in_quotes ^= line->has_quotes && has_odd_quotes(from, length);
        search->searched += length + (stop != NULL);
        if (stop != NULL && !search->in_quotes)
            return stop;
        line->inner += stop != NULL;
    }
    return NULL;
}

bool source_line_next(input_source *source, source_line *line, int *code_out)
{
    line_search search = {.searched = 0};
    input_source_take(source, line->taken);
    line->taken = 0;
    line->number += 1 + line->inner;
    line->inner = 0;
    *code_out = line->is_cut ? take_rest(source) : EXIT_DONE;
    line->is_cut = false;
    while (*code_out == EXIT_DONE) {
        const char *text = input_source_text(source);
        size_t available = input_source_size(source);
        const char *stop = find_end(line, text, available, &search);
        size_t length = stop != NULL ? (size_t)(stop - text) : available;
        const bool is_too_long = !line->any_length && length > MAX_LINE_BYTES;
        if (search.in_quotes && (is_too_long || source->in.at_end)) {
            *code_out = input_source_fail(source, line->number, "a double quote opens a field, and none closes it");
        } else if (is_too_long && !line->cuts) {
            *code_out = input_source_fail(source, line->number, LINE_TOO_LONG);
        } else if (stop != NULL || source->in.at_end || is_too_long) {
            line->is_cut = is_too_long;
            line->text = text;
            line->length = is_too_long ? MAX_LINE_BYTES : length;
            line->taken = is_too_long ? MAX_LINE_BYTES : length + (stop != NULL);
            return line->taken > 0;
        } else {
            /* The writer of the input may be waiting for answers in the buffer of stdout. */
            *code_out = line->flushes && !output_flush() ? EXIT_FAILED : byte_buffer_fill(&source->in, &source->fault);
        }
    }
    return false;
}

/* Do the bytes say that what wrote the input failed? A line comes without its newline. */
static bool is_failure(input_source *source, const char *text, size_t length, const char *mark, size_t mark_length,
                       uint64_t number)
{
    if (length != mark_length || memcmp(text, mark, length) != 0)
        return false;
    (void)input_source_fail(source, number,
                            "the command that wrote this input failed, so rows are missing; its "
                            "message says why");
    return true;
}

bool input_source_is_failure(input_source *source, const source_line *line)
{
    static const char mark[] = OUTPUT_FAILURE_LINE;
    return is_failure(source, line->text, source_line_length(line), mark, sizeof mark - 2, line->number);
}

bool input_source_rest_is_failure(input_source *source)
{
    static const char mark[] = OUTPUT_FAILURE_BYTES;
    return is_failure(source, input_source_text(source), input_source_size(source), mark, sizeof mark - 1, 0);
}

bool source_line_is_blank(const source_line *line)
{
    const size_t length = source_line_length(line);
    size_t at = line->number == 1 ? input_hint_bom_bytes(line->text, length) : 0;
    while (at < length && (line->text[at] == ' ' || line->text[at] == '\t'))
        at++;
    return at == length;
}

void input_source_report(const input_source *source)
{
    if (source->fault.reason[0] != '\0' && source->line > 0)
        message_print("%s:%" PRIu64 ": %s", source->name, source->line, source->fault.reason);
    else if (source->fault.reason[0] != '\0')
        message_print("%s: %s", source->name, source->fault.reason);
}

void input_source_close(input_source *source)
{
    input_file_stop(&source->file);
    bytes_ahead_free(source->ahead);
    recoder_free(source->recoder);
    unpacker_free(source->unpacker);
    input_file_close(&source->file);
    free(source->in.bytes);
    source->ahead = NULL;
    source->recoder = NULL;
    source->unpacker = NULL;
    source->in.bytes = NULL;
}

/*
 * json_rows.c - replaces bytes, each by one: the commas between objects by newlines, newlines within objects and what
 * is around all of them by spaces. The parser of a row finds what is wrong in it.
 */
#include "input/json_rows.h"

#include <string.h>

#include "input/input_hint.h"
#include "output/messages.h"

static bool is_space(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

/* A byte of an item, or around it. */
static char change_in_item(json_rows *self, char byte)
{
    self->depth += byte == '{' || byte == '[';
    if (self->depth > 0 && (byte == '}' || byte == ']')) {
        self->depth--;
        return byte;
    }
    self->in_string = byte == '"';
    if (byte == '\n')
        return self->depth > 0 || self->is_array ? ' ' : '\n';
    self->has_item = self->has_item || !is_space(byte);
    return byte;
}

static char change(json_rows *self, char byte)
{
    if (self->in_string) {
        self->in_string = self->is_escaped || byte != '"';
        self->is_escaped = !self->is_escaped && byte == '\\';
        return byte;
    }
    if (!self->is_array || self->depth > 0 || self->has_ended || (byte != ',' && byte != ']'))
        return change_in_item(self, byte);
    if (!self->has_item && (byte == ',' || self->needs_item)) { /* a row that cannot be read */
        self->has_ended = byte == ']';
        return byte;
    }
    self->has_item = false;
    self->needs_item = byte == ',';
    self->has_ended = byte == ']';
    return byte == ',' ? '\n' : ' ';
}

static void change_all(json_rows *self, char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = change(self, bytes[i]);
}

static int read_changed(void *context, char *to, size_t room, size_t *got_out, line_fault *fault)
{
    json_rows *self = context;
    const int code = self->from.read(self->from.self, to, room, got_out, fault);
    if (code == EXIT_DONE)
        change_all(self, to, *got_out);
    if (code == EXIT_DONE && *got_out == 0 && self->is_array && !self->has_ended)
        return byte_stream_fail(fault, "the file ends within its array of JSON");
    return code;
}

/* Find the first byte that is no space; the source's buffer has it then, unless there is none. */
static int find_begin(input_source *source, size_t *at_out)
{
    int code = input_source_need(source, INPUT_BOM_BYTES);
    size_t at = source->in.begin;
    if (code == EXIT_DONE)
        at += input_hint_bom_bytes(input_source_text(source), input_source_size(source));
    for (size_t taken = at - source->in.begin; code == EXIT_DONE; taken++) {
        code = input_source_need(source, taken + 1);
        at = source->in.begin + taken;
        if (code != EXIT_DONE || at == source->in.end || !is_space(source->in.bytes[at]))
            break;
    }
    *at_out = at;
    return code;
}

/* Is an object opened in a line of its own? */
static int is_open(input_source *source, size_t at, bool *open_out)
{
    int code = EXIT_DONE;
    *open_out = false;
    for (size_t taken = at - source->in.begin + 1; code == EXIT_DONE; taken++) {
        code = input_source_need(source, taken + 1);
        const size_t next = source->in.begin + taken;
        if (code != EXIT_DONE || next == source->in.end || !is_space(source->in.bytes[next]))
            break;
        *open_out = *open_out || source->in.bytes[next] == '\n';
    }
    return code;
}

int json_rows_begin(json_rows *self, input_source *source)
{
    size_t at = 0;
    bool open = false;
    int code = find_begin(source, &at);
    if (code != EXIT_DONE || at == source->in.end || (source->in.bytes[at] != '[' && source->in.bytes[at] != '{'))
        return code;
    self->is_array = source->in.bytes[at] == '[';
    if (!self->is_array) {
        const size_t taken = at - source->in.begin;
        code = is_open(source, at, &open);
        at = source->in.begin + taken;
    }
    if (code != EXIT_DONE || (!self->is_array && !open))
        return code;
    if (self->is_array)
        source->in.bytes[at++] = ' ';
    for (size_t i = source->in.begin; i < at; i++)
        source->in.bytes[i] = source->in.bytes[i] == '\n' ? ' ' : source->in.bytes[i];
    change_all(self, source->in.bytes + at, source->in.end - at);
    self->from = source->in.from;
    source->in.from = (byte_stream){read_changed, self};
    source->in.at_end = false;
    return EXIT_DONE;
}

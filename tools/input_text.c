/*
 * input_text.c - reading records from text, one a line.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "input_formats.h"
#include "line_run.h"

/*
 * Find the next line, reading on as far as needed, and set *length_out to its length without its line end, and
 * *taken_out to its length with it, which is 0 at the input's end. The line begins where the source's bytes do.
 */
static int find_line(input_source *source, uint64_t line_number, size_t *length_out, size_t *taken_out)
{
    size_t searched = 0;
    const char *stop = NULL;
    for (;;) {
        const char *line = source->buffer + source->begin;
        size_t available = source->end - source->begin;
        stop = memchr(line + searched, '\n', available - searched);
        size_t length = stop != NULL ? (size_t)(stop - line) : available;
        if (length > INPUT_MOST_LINE_BYTES)
            return input_source_fail_line(source, line_number, INPUT_LONG_LINE);
        if (stop != NULL || source->at_end) {
            *taken_out = length + (stop != NULL);
            *length_out = length > 0 && line[length - 1] == '\r' ? length - 1 : length;
            return EXIT_DONE;
        }
        searched = available;
        int code = input_source_fill(source);
        if (code != EXIT_DONE)
            return code;
    }
}

/* Hold a line against the lines before, all of which have ids or have none. */
static bool check_ids(input_reader *reader, const line_record *record, line_fault *fault)
{
    input_ids now = record->has_id ? INPUT_IDS_PRESENT : INPUT_IDS_ABSENT;
    if (*reader->ids == INPUT_IDS_UNKNOWN)
        *reader->ids = now;
    if (*reader->ids == now)
        return true;
    const char *reason = record->has_id ? "expected no id, as in the lines before, found one (--columns fingerprint,- skips ids)"
                                        : "expected an id, as in the lines before, found none (--columns fingerprint,- skips ids)";
    snprintf(fault->reason, sizeof fault->reason, "%s", reason);
    return false;
}

static int add_record(input_reader *reader, const line_record *record)
{
    input_batch *batch = reader->batch;
    batch->fingerprints[batch->count] = record->fingerprint;
    batch->ids[batch->count] = record->id;
    batch->count++;
    return batch->count < reader->options->batch_records ? EXIT_DONE : input_deliver(reader);
}

static int take_line(input_reader *reader, uint64_t line_number, size_t length)
{
    const char *line = reader->source.buffer + reader->source.begin;
    line_record record;
    line_fault fault;
    if (line_parse(&reader->options->lines, line, length, &record, &fault) && check_ids(reader, &record, &fault))
        return add_record(reader, &record);
    return input_source_fail_line(&reader->source, line_number, fault.reason);
}

/* Take lines of the common shapes for as long as they come: hundreds at a time, and without the general parser. */
static int take_runs(input_reader *reader, uint64_t *line_number)
{
    const line_format *format = &reader->options->lines;
    input_source *source = &reader->source;
    int code = EXIT_DONE;
    while (code == EXIT_DONE && *reader->ids != INPUT_IDS_UNKNOWN) {
        input_batch *batch = reader->batch;
        size_t room = reader->options->batch_records - batch->count;
        line_run run = line_run_parse(format, *reader->ids == INPUT_IDS_PRESENT, source->buffer + source->begin,
                                      source->end - source->begin, batch->fingerprints + batch->count,
                                      batch->ids + batch->count, room);
        if (run.count == 0)
            break;
        input_source_take(source, run.bytes);
        *line_number += run.count;
        batch->count += run.count;
        if (run.count == room)
            code = input_deliver(reader);
    }
    return code;
}

int input_read_text(input_reader *reader)
{
    for (uint64_t line_number = 1;; line_number++) {
        size_t length = 0, taken = 0;
        int code = take_runs(reader, &line_number);
        if (code == EXIT_DONE)
            code = find_line(&reader->source, line_number, &length, &taken);
        if (code != EXIT_DONE || taken == 0)
            return code;
        code = take_line(reader, line_number, length);
        if (code != EXIT_DONE)
            return code;
        input_source_take(&reader->source, taken);
    }
}

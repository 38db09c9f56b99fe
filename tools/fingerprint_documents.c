/*
 * fingerprint_documents.c - fingerprints of texts: a file or a line each.
 */
#include "fingerprint_documents.h"

#include <string.h>

#include "cmd.h"
#include "output.h"

int source_line_next(input_source *source, source_line *line, bool *found_out)
{
    input_source_take(source, line->taken);
    line->number++;
    size_t searched = 0;
    for (;;) {
        const char *text = source->buffer + source->begin;
        size_t available = source->end - source->begin;
        const char *stop = available > searched ? memchr(text + searched, '\n', available - searched) : NULL;
        if (stop != NULL || source->at_end) {
            line->text = text;
            line->length = stop != NULL ? (size_t)(stop - text) : available;
            line->taken = line->length + (stop != NULL);
            *found_out = line->taken > 0;
            return EXIT_DONE;
        }
        searched = available;
        /* Whoever waits for the answers to what was read should not wait for what is not written yet. */
        if (!output_flush())
            return EXIT_FAILED;
        int code = input_source_fill(source);
        if (code != EXIT_DONE)
            return code;
    }
}

int print_numbered(uint64_t fingerprint, uint64_t number)
{
    char line[48];
    char *end = output_hex(line, fingerprint);
    *end++ = '\t';
    end = output_decimal(end, number);
    *end++ = '\n';
    return output_bytes(line, (size_t)(end - line)) ? EXIT_DONE : EXIT_FAILED;
}

int fingerprint_file(input_source *source, const sstore_text_options *options)
{
    uint64_t fingerprint;
    sstore_error error;
    int code = input_source_need(source, SIZE_MAX);
    if (code != EXIT_DONE)
        return code;
    const char *text = source->buffer + source->begin;
    if (sstore_fingerprint_text(text, source->end - source->begin, options, &fingerprint, &error) != SSTORE_OK)
        return cmd_fail(&error);
    char digits[17];
    *output_hex(digits, fingerprint) = '\t';
    bool printed = output_bytes(digits, sizeof digits) && output_bytes(source->name, strlen(source->name)) &&
                   output_bytes("\n", 1);
    return printed ? EXIT_DONE : EXIT_FAILED;
}

int fingerprint_lines(input_source *source, const sstore_text_options *options, uint64_t *next_number)
{
    source_line line = {0};
    sstore_error error;
    for (;;) {
        bool found;
        uint64_t fingerprint;
        int code = source_line_next(source, &line, &found);
        if (code != EXIT_DONE || !found)
            return code;
        if (sstore_fingerprint_text(line.text, line.length, options, &fingerprint, &error) != SSTORE_OK)
            return cmd_fail(&error);
        code = print_numbered(fingerprint, (*next_number)++);
        if (code != EXIT_DONE)
            return code;
    }
}

/*
 * fingerprint_documents.c - fingerprints of texts: a file or a line each.
 */
#include "fingerprint_documents.h"

#include "cmd.h"
#include "output.h"

int print_numbered(input_source *source, uint64_t fingerprint, document_ids *ids)
{
    char line[48];
    if (ids->used_up)
        return input_source_fail(source, "there is no id left for the next document: the largest one, 18446744073709551615, "
                                         "is taken; give a lower --first-id");
    char *end = output_hex(line, fingerprint);
    *end++ = '\t';
    end = output_decimal(end, ids->next);
    ids->used_up = ids->next == UINT64_MAX;
    ids->next++;
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
    bool printed = output_bytes(digits, sizeof digits) && output_escaped(source->name, true) &&
                   output_bytes("\n", 1);
    return printed ? EXIT_DONE : EXIT_FAILED;
}

int fingerprint_lines(input_source *source, const sstore_text_options *options, document_ids *ids)
{
    source_line line = {.any_length = true}; /* a document */
    sstore_error error;
    for (;;) {
        bool found;
        uint64_t fingerprint;
        int code = source_line_next(source, &line, &found);
        if (code != EXIT_DONE || !found)
            return code;
        if (sstore_fingerprint_text(line.text, line.length, options, &fingerprint, &error) != SSTORE_OK)
            return cmd_fail(&error);
        code = print_numbered(source, fingerprint, ids);
        if (code != EXIT_DONE)
            return code;
    }
}

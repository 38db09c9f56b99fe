#include "source_line.h"

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
        if (!line->any_length && (stop != NULL ? (size_t)(stop - text) : available) > INPUT_MOST_LINE_BYTES)
            return input_source_fail_line(source, line->number, INPUT_LONG_LINE);
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

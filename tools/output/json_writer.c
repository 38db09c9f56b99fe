#include "output/json_writer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "output/messages.h"
#include "sstore.h"

static void begin_value(json_writer *writer, const char *key, bool is_object)
{
    if (writer->has_items)
        fputc(',', writer->stream);
    if (writer->depth == 1 || (writer->depth == 2 && is_object))
        fputc('\n', writer->stream);
    if (key != NULL)
        fprintf(writer->stream, "\"%s\":", key);
    writer->has_items = true;
}

void json_begin(json_writer *writer, const char *key, char bracket)
{
    begin_value(writer, key, bracket == '{');
    fputc(bracket, writer->stream);
    writer->depth++;
    writer->has_items = false;
}

void json_end(json_writer *writer, char bracket)
{
    fputc(bracket, writer->stream);
    writer->depth--;
    writer->has_items = true;
}

void json_number(json_writer *writer, const char *key, double value)
{
    begin_value(writer, key, false);
    if (isfinite(value))
        fprintf(writer->stream, "%.15g", value);
    else
        fputs("null", writer->stream);
}

void json_truth(json_writer *writer, const char *key, bool value)
{
    begin_value(writer, key, false);
    fputs(value ? "true" : "false", writer->stream);
}

void json_text(json_writer *writer, const char *key, const char *text)
{
    const size_t length = strlen(text), size = sstore_escape(text, length, false, NULL, 0) + 1;
    char *shown = allocate_or_exit(size, 1);
    (void)sstore_escape(text, length, false, shown, size);
    begin_value(writer, key, false);
    fputc('"', writer->stream);
    for (const char *at = shown; *at != '\0'; at++)
        if (strchr("\"\\<>&", *at) != NULL)
            fprintf(writer->stream, "\\u%04x", (unsigned)*at);
        else
            fputc(*at, writer->stream);
    fputc('"', writer->stream);
    free(shown);
}

/*
 * input_reader.c - the batch that a reader fills: handing it on, the numbers of its rows, and what holds for all of
 * them. A row is either good and in a batch, or refused.
 */
#include "input/input_reader.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Numbers of ids and edges may be anything. Numbers of JSON are decimal in any radix. */
static void doubt(input_reader *reader)
{
    const record_batch *batch = reader->batch;
    const line_format *lines = &reader->lines;
    if (!lines->are_ids && !lines->are_edges)
        input_doubt_note(reader->options->doubt, &(doubt_rows){.fingerprints = batch->fingerprints,
                                                               .ids = record_batch_ids(batch),
                                                               .count = batch->count,
                                                               .words = batch->words,
                                                               .bits = lines->pads ? lines->bits : 0,
                                                               .is_text = reader->has_lines,
                                                               .radix = reader->has_numbers ? RADIX_DEC : lines->radix,
                                                               .radix_given = lines->radix_given,
                                                               .shorts = reader->shorts});
    reader->shorts = (line_shorts){.count = 0};
}

/* If bad rows are skipped, give the rows of the batch their numbers. */
static void number_rows(input_reader *reader)
{
    bad_rows *bad = reader->options->bad_rows;
    if (!bad_rows_skip(bad))
        return;
    const uint64_t next = bad->good_count + bad->bad_count;
    for (size_t i = reader->numbered; i < reader->batch->count && reader->shape->ids != INPUT_IDS_PRESENT; i++)
        reader->batch->ids[i] = next + (i - reader->numbered);
    bad_rows_note_good(bad, reader->batch->count - reader->numbered);
    reader->numbered = reader->batch->count;
}

int input_deliver(input_reader *reader)
{
    if (reader->batch->count == 0 && reader->batch->recipe == NULL)
        return EXIT_DONE;
    number_rows(reader);
    reader->numbered = 0;
    const bool has_ids = reader->shape->ids == INPUT_IDS_PRESENT;
    reader->batch->has_names = reader->lines.are_names || (reader->lines.has_names && has_ids);
    reader->batch->has_ids = !reader->lines.has_names && has_ids;
    reader->batch->has_rows = !reader->batch->has_names && !reader->batch->has_ids &&
                              bad_rows_skip(reader->options->bad_rows);
    reader->batch->words = input_batch_words(reader);
    doubt(reader);
    return reader->hand_on(reader->context, &reader->batch);
}

int input_refuse(input_reader *reader, const bad_row *row)
{
    number_rows(reader);
    if (bad_rows_take(reader->options->bad_rows, row, &reader->source.fault)) {
        reader->source.fault.reason[0] = '\0';
        reader->source.line = 0;
        return EXIT_DONE;
    }
    return EXIT_FAILED;
}

int input_settle_words(input_reader *reader, uint32_t words, uint32_t own_bits)
{
    line_format *lines = &reader->lines;
    if (reader->shape->words == 0) {
        reader->shape->words = lines->words = words;
        reader->shape->width_source = "other rows";
    }
    if (lines->pads && lines->bits == 0)
        reader->shape->bits = lines->bits = own_bits;
    if (reader->shape->words == words)
        return EXIT_DONE;
    const char *width_source = reader->shape->width_source;
    return byte_stream_fail(&reader->source.fault,
                            "expected fingerprints of %" PRIu32 " bits%s%s%s, found %" PRIu32 " bits; " LINE_SEE_BITS,
                            64 * reader->shape->words, width_source != NULL ? ", as " : "",
                            width_source != NULL ? width_source : "", width_source != NULL ? " have" : "", 64 * words);
}

/* A copy of some bytes, as a string. */
static char *copy_text(const char *text, size_t length)
{
    char *copy = malloc(length + 1);
    if (copy == NULL)
        return NULL;
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

int input_take_recipe(input_reader *reader, const char *text, size_t length)
{
    const char *earlier = reader->recipe;
    if (earlier != NULL && (strlen(earlier) != length || memcmp(earlier, text, length) != 0))
        return byte_stream_fail(&reader->source.fault, "it states two recipes: '%s' and '%.*s'", earlier, (int)length,
                                text);
    if (earlier != NULL)
        return EXIT_DONE;
    reader->recipe = copy_text(text, length);
    if (reader->recipe == NULL)
        return input_source_fail(&reader->source, 0, "out of memory");
    reader->batch->recipe = reader->recipe;
    return input_deliver(reader);
}

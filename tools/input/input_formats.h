/*
 * input_formats.h - the interface between input.c and the readers of the input formats: the input being read and the
 * batch of records that they fill. Functions return exit codes.
 */
#ifndef INPUT_FORMATS_H
#define INPUT_FORMATS_H

#include "input/input.h"
#include "input/input_source.h"
#include "output/messages.h"

#define INPUT_SAMPLE_BYTES 65536u

typedef struct input_reader {
    input_source source;
    const char *path;
    input_format format; /* never INPUT_AUTO */
    const input_options *options;
    input_shape *shape;
    line_format lines;            /* of options, with the width of the shape, or what the input states */
    char *recipe;                 /* that the input states, or NULL */
    bool has_record;              /* a line was a record */
    bool has_numbers, has_digits; /* there were such values of JSON: see line_record */
    record_batch *batch; /* being filled; has room for options->batch_records, and is never left full. Its number of
                            words is set when it is delivered */
    /* Takes the batch and replaces it by an empty one. Returns an exit code; other than 0 stops the reading. */
    int (*hand_on)(void *context, record_batch **batch);
    void *context;
    line_shorts shorts; /* of the batch */
    size_t numbered;    /* rows of the batch that have their numbers, if bad ones are skipped */
} input_reader;

/* Hand the batch on if it is not empty. */
int input_deliver(input_reader *reader);

/* If bad rows are skipped, give the rows of the batch their numbers. */
void input_number_rows(input_reader *reader);

/* A row cannot be read, for the reason that is the source's fault. Returns EXIT_DONE if it is skipped. */
int input_refuse(input_reader *reader, const bad_row *row);

/* Set the number of words of the fingerprints that follow, or see that it is that of the earlier ones. */
int input_settle_words(input_reader *reader, uint32_t words);

/* The words of what a batch has in the place of a fingerprint. */
static inline uint32_t input_batch_words(const input_reader *reader)
{
    return reader->lines.are_ids || reader->lines.are_edges ? 1 : reader->shape->words;
}

/* How many records fill a batch. */
static inline size_t input_batch_room(const input_reader *reader)
{
    return record_batch_records(reader->options->batch_records, input_batch_words(reader));
}

/* The beginning of a file. */
typedef struct input_sample {
    char bytes[INPUT_SAMPLE_BYTES]; /* and a NUL after the last one */
    size_t size;
    uint64_t file_bytes;
} input_sample;

/* A format. A new one needs a value of input_format, a row of input_formats, and a name in `formats` of cmd.c. */
typedef struct input_format_row {
    const char *suffix; /* of file names; NULL: none */
    bool has_lines;     /* otherwise its first bytes may have any value */
    /* Read the rest of the source. The caller then delivers the last batch, even after a fault. */
    int (*read)(input_reader *reader);
    /* Set the count, the largest id and, if it is 0, the number of words, from a sample of a file that is not
     * compressed. */
    void (*expect)(const input_sample *from, const input_options *options, input_expectation *expected);
} input_format_row;

extern const input_format_row input_formats[INPUT_FORMAT_COUNT];

#endif

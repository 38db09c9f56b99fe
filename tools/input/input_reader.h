/*
 * input_reader.h - an input being read, and the batch of records that the readers of the formats fill. Functions return
 * exit codes.
 */
#ifndef INPUT_READER_H
#define INPUT_READER_H

#include "input/input_options.h"
#include "input/input_source.h"
#include "input/json_rows.h"
#include "input/record_batch.h"
#include "output/messages.h"

typedef struct input_reader {
    input_source source;
    json_rows rows; /* of JSON, if they are not lines */
    const char *path;
    bool has_lines; /* of text, by its format */
    const input_options *options;
    input_shape *shape;
    line_format lines;            /* of options, with the width of the shape, or what the input states */
    char *recipe;                 /* that the input states, or NULL */
    bool states_recipe;           /* so fingerprints need not say their kind */
    bool has_record;              /* a line was a record */
    const char *kind_source;      /* the lines that show the kind, or that there is none; or NULL */
    bool has_numbers, has_digits; /* there were such values of JSON: see line_record */
    record_batch *batch; /* being filled; has room for options->batch_records, and is never left full. Its number of
                            words is set when it is delivered */
    /* Takes the batch and replaces it by an empty one. Returns an exit code; other than 0 stops the reading. */
    int (*hand_on)(void *context, record_batch **batch);
    void *context;
    uint64_t blank_count; /* blank lines since the line `blank_from` */
    uint64_t blank_from;
    line_shorts shorts; /* of the batch */
    size_t numbered;    /* rows of the batch that have their numbers, if bad ones are skipped */
} input_reader;

/* Hand the batch on if it is not empty. */
int input_deliver(input_reader *reader);

/* A row cannot be read, for the reason that is the source's fault. Returns EXIT_DONE if it is skipped. */
int input_refuse(input_reader *reader, const bad_row *row);

/* Set the number of words of the fingerprints that follow, or see that it is that of the earlier ones. `own_bits`: of a
 * fingerprint, before --pad fills them up. */
int input_settle_words(input_reader *reader, uint32_t words, uint32_t own_bits);

/* Take the recipe that the input states: the only one, also of several files in a row. */
int input_take_recipe(input_reader *reader, const char *text, size_t length);

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

#endif

/*
 * input_formats.h - the interface between input.c and the readers of the input formats: the input being read and the
 * batch of records that they fill. Functions return exit codes.
 */
#ifndef INPUT_FORMATS_H
#define INPUT_FORMATS_H

#include "input/input.h"
#include "input/input_source.h"
#include "output/messages.h"

typedef struct input_reader {
    input_source source;
    const char *path;
    const input_options *options;
    input_ids *ids;
    record_batch *batch; /* being filled; has room for options->batch_records, and is never left full */
    /* Takes the batch and replaces it by an empty one. Returns an exit code; other than 0 stops the reading. */
    int (*hand_on)(void *context, record_batch **batch);
    void *context;
} input_reader;

/* Hand the batch on if it is not empty. */
int input_deliver(input_reader *reader);

/* Read the rest of the source in a format. The caller then delivers the last batch, even after a fault. */
int input_read_format(input_reader *reader, input_format format);

#endif

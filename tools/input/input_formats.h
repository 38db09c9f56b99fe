/*
 * input_formats.h - what the readers of the input formats share: the input being read and the batch of records that
 * they fill. Included by input.c and input_formats.c only. Functions return exit codes.
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
    record_batch *batch; /* that is being filled, with room for options->batch_records; never full */
    /* Takes the batch and puts an empty one in its place. Returns an exit code: other than 0 stops the reading. */
    int (*hand_on)(void *context, record_batch **batch);
    void *context;
} input_reader;

/* Hand the batch on, if there is anything in it. */
int input_deliver(input_reader *reader);

/* Read the rest of the source in a format. The caller hands on what is left in the batch, also after a failure of the
 * source. */
int input_read_format(input_reader *reader, input_format format);

#endif

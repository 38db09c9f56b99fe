/*
 * input_formats.h - what the readers of the input formats share: the input being read and the batch of records that
 * they fill. Included by input*.c only. Functions return exit codes.
 */
#ifndef INPUT_FORMATS_H
#define INPUT_FORMATS_H

#include "cmd.h"
#include "input.h"
#include "input_source.h"

typedef struct input_batch {
    size_t count;
    bool has_ids;
    uint64_t *fingerprints, *ids;
} input_batch;

/* With room for `capacity` records. Returns false if there is no memory; freed in any case. */
bool input_batch_init(input_batch *batch, size_t capacity);
void input_batch_free(input_batch *batch);

typedef struct input_reader {
    input_source source;
    const char *path;
    const input_options *options;
    input_ids *ids;
    input_batch *batch; /* that is being filled, with room for options->batch_records; never full */
    /* Takes the batch and puts an empty one in its place. Returns an exit code: other than 0 stops the reading. */
    int (*hand_on)(void *context, input_batch **batch);
    void *context;
} input_reader;

/* Hand the batch on, if there is anything in it. */
int input_deliver(input_reader *reader);

/* Read the source to its end, whatever its format. The records before a fault have been handed on. */
int input_read_source(input_reader *reader);

/* Read the rest of the source in a format. The caller hands on what is left in the batch, also after a failure of the
 * source. */
int input_read_text(input_reader *reader);
int input_read_npy(input_reader *reader);

/* How records lie in 64-bit words. */
typedef struct word_layout {
    bool big_endian;
    bool has_ids; /* a record is two words, its fingerprint and its id; otherwise one */
} word_layout;

/* Read the rest of the source as words: exactly `count` records, or any number if UINT64_MAX. */
int input_read_words(input_reader *reader, const word_layout *layout, uint64_t count);

/* Whoever takes the records, in the thread that input_read() was called in. */
typedef struct input_consumer {
    input_batch_fn on_batch;
    void *context;
    int code; /* what on_batch returned last */
} input_consumer;

/* Have the consumer take the batch, which is empty then. */
int input_consume(input_consumer *consumer, input_batch *batch);

/*
 * Do input_read_source() in a thread of its own, ahead of the consumer. Returns false if the system does not have what
 * that takes; then nothing has been read. Otherwise *code_out is how it ended.
 */
bool input_read_ahead(input_reader *reader, input_consumer *consumer, int *code_out);

/* How the input is compressed, as far as that is known before it is read: by its name or the option. */
compression input_choose_compression(const char *path, const input_options *options);

/* Its format. The suffix of a compression stands behind that of the format. */
input_format input_choose_format(const char *path, const input_options *options);

#endif

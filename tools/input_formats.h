/*
 * input_formats.h - what the readers of the input formats share: the input being read and its batch of records.
 * Included by input*.c only.
 */
#ifndef INPUT_FORMATS_H
#define INPUT_FORMATS_H

#include "cmd.h"
#include "input.h"
#include "input_source.h"

typedef struct input_reader {
    input_source source;
    const input_options *options;
    input_ids *ids;
    input_batch_fn on_batch;
    void *context;
    int consumer_code; /* what on_batch returned last */
    size_t count;      /* records in the batch */
    uint64_t fingerprints[INPUT_BATCH_RECORDS], batch_ids[INPUT_BATCH_RECORDS];
} input_reader;

/* Hand the batch on, if there is anything in it. */
int input_deliver(input_reader *reader);

/* Read the rest of the source; each returns an exit code. What is left in the batch then, also after a failure of the
 * source, their caller hands on. */
int input_read_text(input_reader *reader);
int input_read_npy(input_reader *reader);

/* How records lie in 64-bit words. */
typedef struct word_layout {
    bool big_endian;
    bool has_ids; /* a record is two words, its fingerprint and its id; otherwise one */
} word_layout;

/* Read the rest of the source as words: exactly `count` records, or any number if UINT64_MAX. */
int input_read_words(input_reader *reader, const word_layout *layout, uint64_t count);

#endif

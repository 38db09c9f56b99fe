/*
 * input.c - choosing the reader of an input, and handing its records on in batches.
 */
#include "input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd.h"
#include "input_formats.h"

#define LEAST_WINDOW_BITS 23u /* 8 MiB: what 'zstd -19' makes */

uint32_t input_window_bits(uint64_t memory_bytes)
{
    uint32_t bits = LEAST_WINDOW_BITS;
    while (bits < DECODER_MOST_WINDOW_BITS && (memory_bytes == 0 || memory_bytes >> (bits + 4) > 0))
        bits++; /* an eighth of the memory */
    return bits;
}

compression input_choose_compression(const char *path, const input_options *options)
{
    size_t stem_length;
    return options->compression != COMPRESSION_AUTO ? options->compression : compression_of_name(path, &stem_length);
}

input_format input_choose_format(const char *path, const input_options *options)
{
    size_t length;
    (void)compression_of_name(path, &length);
    if (options->format != INPUT_AUTO)
        return options->format;
    if (name_has_suffix(path, length, ".u64"))
        return INPUT_U64;
    if (name_has_suffix(path, length, ".rec"))
        return INPUT_REC;
    return name_has_suffix(path, length, ".npy") ? INPUT_NPY : INPUT_TEXT;
}

int input_check(const char *path, const input_options *options)
{
    struct stat info;
    compression kind = options != NULL ? input_choose_compression(path, options) : COMPRESSION_NONE;
    if (!compression_is_known(kind)) {
        cmd_complain("%s: cannot unpack %s data: this sstore was built without %s", path,
                     compression_describe(kind)->name, compression_describe(kind)->decoder->library);
        return EXIT_FAILED;
    }
    if (strcmp(path, "-") == 0)
        return EXIT_DONE;
    /* Not opened: a named pipe would see its only reader come and go. */
    if (stat(path, &info) != 0 || access(path, R_OK) != 0) {
        cmd_complain("%s: cannot open: %s", path, strerror(errno));
        return EXIT_FAILED;
    }
    if (S_ISDIR(info.st_mode)) {
        cmd_complain("%s: cannot read: it is a folder", path);
        return EXIT_FAILED;
    }
    return EXIT_DONE;
}

int input_deliver(input_reader *reader)
{
    if (reader->batch->count == 0)
        return EXIT_DONE;
    reader->batch->has_ids = *reader->ids == INPUT_IDS_PRESENT;
    return reader->hand_on(reader->context, &reader->batch);
}

static int read_format(input_reader *reader, input_format format)
{
    switch (format) {
    case INPUT_U64:
    case INPUT_REC:
        return input_read_words(reader, &(word_layout){.has_ids = format == INPUT_REC}, UINT64_MAX);
    case INPUT_NPY:
        return input_read_npy(reader);
    default:
        return input_read_text(reader);
    }
}

/* The same, once the format is known: no line begins as compressed data does, but numbers may. */
static compression settle_compression(const char *path, const input_options *options, input_format format)
{
    compression kind = input_choose_compression(path, options);
    return kind == COMPRESSION_AUTO && format != INPUT_TEXT ? COMPRESSION_NONE : kind;
}

int input_read_source(input_reader *reader)
{
    input_format format = input_choose_format(reader->path, reader->options);
    int code = input_source_unpack(&reader->source, settle_compression(reader->path, reader->options, format));
    if (code == EXIT_DONE)
        code = read_format(reader, format);
    int rest = code == EXIT_DONE || reader->source.failed ? input_deliver(reader) : EXIT_DONE;
    return code != EXIT_DONE ? code : rest;
}

/* ----- whoever takes the records ----- */

bool input_batch_init(input_batch *batch, size_t capacity)
{
    *batch = (input_batch){.fingerprints = calloc(capacity, sizeof *batch->fingerprints),
                           .ids = calloc(capacity, sizeof *batch->ids)};
    return batch->fingerprints != NULL && batch->ids != NULL;
}

void input_batch_free(input_batch *batch)
{
    free(batch->fingerprints);
    free(batch->ids);
}

int input_consume(input_consumer *consumer, input_batch *batch)
{
    const uint64_t *ids = batch->has_ids ? batch->ids : NULL;
    consumer->code = consumer->on_batch(consumer->context, batch->fingerprints, ids, batch->count);
    batch->count = 0;
    return consumer->code;
}

static int consume_here(void *consumer, input_batch **batch)
{
    return input_consume(consumer, *batch);
}

static int read_here(input_reader *reader, input_consumer *consumer)
{
    input_batch batch;
    reader->batch = &batch;
    reader->hand_on = consume_here;
    reader->context = consumer;
    int code = input_batch_init(&batch, reader->options->batch_records)
                   ? input_read_source(reader)
                   : input_source_fail(&reader->source, "out of memory");
    input_batch_free(&batch);
    return code;
}

/* Plain words are copied in less time than another thread's copies take to come over from its core. */
static bool is_worth_a_thread(const char *path, const input_options *options)
{
    input_format format = input_choose_format(path, options);
    return format == INPUT_TEXT || settle_compression(path, options, format) != COMPRESSION_NONE;
}

int input_read(const char *path, const input_options *options, input_ids *ids, input_batch_fn on_batch, void *context)
{
    input_consumer consumer = {.on_batch = on_batch, .context = context, .code = EXIT_DONE};
    input_reader reader = {.path = path, .options = options};
    reader.ids = ids;
    int code = input_source_open(&reader.source, path);
    if (code != EXIT_DONE)
        return code;
    reader.source.most_window_bits = options->most_window_bits;
    if (!options->ahead || !is_worth_a_thread(path, options) || !input_read_ahead(&reader, &consumer, &code))
        code = read_here(&reader, &consumer);
    if (consumer.code == EXIT_DONE)
        input_source_report(&reader.source);
    input_source_close(&reader.source);
    return consumer.code != EXIT_DONE ? consumer.code : code;
}

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

/* How the input is compressed, as far as that is known before it is read. */
static compression choose_compression(const char *path, const input_options *options)
{
    size_t stem_length;
    return options->compression != COMPRESSION_AUTO ? options->compression : compression_of_name(path, &stem_length);
}

/* The suffix of a compression stands behind that of the format. */
static input_format choose_format(const char *path, const input_options *options)
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
    compression kind = options != NULL ? choose_compression(path, options) : COMPRESSION_NONE;
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
    size_t count = reader->count;
    if (count == 0)
        return EXIT_DONE;
    reader->count = 0;
    const uint64_t *ids = *reader->ids == INPUT_IDS_PRESENT ? reader->batch_ids : NULL;
    reader->consumer_code = reader->on_batch(reader->context, reader->fingerprints, ids, count);
    return reader->consumer_code;
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

/* Read everything. The records before a fault are handed on before it is reported. */
static int read_source(input_reader *reader, const char *path)
{
    input_format format = choose_format(path, reader->options);
    compression kind = choose_compression(path, reader->options);
    /* No line begins as compressed data does, but numbers may. */
    if (kind == COMPRESSION_AUTO && format != INPUT_TEXT)
        kind = COMPRESSION_NONE;
    int code = input_source_unpack(&reader->source, kind);
    if (code == EXIT_DONE)
        code = read_format(reader, format);
    if (code == EXIT_DONE || reader->source.failed)
        (void)input_deliver(reader);
    if (reader->consumer_code != EXIT_DONE)
        return reader->consumer_code;
    input_source_report(&reader->source);
    return code;
}

int input_read(const char *path, const input_options *options, input_ids *ids, input_batch_fn on_batch, void *context)
{
    input_reader *reader = malloc(sizeof *reader);
    if (reader == NULL) {
        cmd_complain("%s: out of memory", path);
        return EXIT_FAILED;
    }
    reader->options = options;
    reader->ids = ids;
    reader->on_batch = on_batch;
    reader->context = context;
    reader->consumer_code = EXIT_DONE;
    reader->count = 0;
    int code = input_source_open(&reader->source, path);
    if (code == EXIT_DONE) {
        code = read_source(reader, path);
        input_source_close(&reader->source);
    }
    free(reader);
    return code;
}

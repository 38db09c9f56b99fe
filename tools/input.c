/*
 * input.c - choosing the reader of an input, and handing its records on in batches.
 */
#include "input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd.h"
#include "input_formats.h"

int input_check(const char *path)
{
    struct stat info;
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

/* In either case: other systems write names in capitals. */
static bool has_suffix(const char *path, const char *suffix)
{
    size_t length = strlen(path), suffix_length = strlen(suffix);
    return length > suffix_length && strcasecmp(path + length - suffix_length, suffix) == 0;
}

static input_format choose_format(const char *path, input_format asked)
{
    if (asked != INPUT_AUTO)
        return asked;
    if (has_suffix(path, ".u64"))
        return INPUT_U64;
    if (has_suffix(path, ".rec"))
        return INPUT_REC;
    return has_suffix(path, ".npy") ? INPUT_NPY : INPUT_TEXT;
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
static int read_source(input_reader *reader, input_format format)
{
    int code = read_format(reader, format);
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
        code = read_source(reader, choose_format(path, options->format));
        input_source_close(&reader->source);
    }
    free(reader);
    return code;
}

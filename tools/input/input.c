/*
 * input.c - chooses the reader of an input, hands its records on in batches, perhaps from a thread that reads ahead,
 * and estimates the contents of an input before it is read.
 */
#include "input/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "input/input_formats.h"
#include "input/input_hint.h"
#include "input/input_reader.h"
#include "output/records.h"

/* Batches that are read ahead: one to fill, one to take, and some because either side may be slower for a moment. */
#define BATCHES 4

/* ----- choosing ----- */

/* The compression by the option or the name; COMPRESSION_AUTO: only the first bytes can tell. */
static compression choose_compression(const char *path, const input_options *options)
{
    size_t stem_length;
    return options->compression != COMPRESSION_AUTO ? options->compression : compression_of_name(path, &stem_length);
}

/* The format. A suffix of a compression may follow that of the format. */
static input_format choose_format(const char *path, const input_options *options)
{
    size_t length;
    (void)compression_of_name(path, &length);
    if (options->format != INPUT_AUTO)
        return options->format;
    for (input_format format = INPUT_TEXT; format < INPUT_FORMAT_COUNT; format++)
        if (input_formats[format].suffix != NULL && name_has_suffix(path, length, input_formats[format].suffix))
            return format;
    return INPUT_TEXT;
}

static int check_options(const char *path, const input_options *options)
{
    struct stat info;
    line_fault fault;
    if (options != NULL && !compression_check(choose_compression(path, options), &fault))
        return message_print("%s: %s", path, fault.reason);
    if (options != NULL && choose_format(path, options) == INPUT_JSONL && options->lines.are_edges)
        return message_print("%s: expected edges as text or pairs of words, not as JSON Lines", path);
    if (strcmp(path, "-") == 0)
        return EXIT_DONE;
    /* Not by opening it: the writer of a named pipe would see its only reader come and go. */
    if (stat(path, &info) != 0 || access(path, R_OK) != 0)
        return errno == ENOENT && options != NULL && options->lines.are_names
                   ? message_print("%s: there is no such file; names come in files, a line each, or as in "
                                   "'echo NAME | sstore remove --names STORE -'",
                                   path)
               : errno == ENOENT && input_hint_is_number(path)
                   ? message_print("%s: there is no such file; records and ids come in files, or as in "
                                   "'echo 7 | sstore remove --ids STORE -'",
                                   path)
                   : message_errno(path, "cannot open");
    if (!S_ISDIR(info.st_mode))
        return EXIT_DONE;
    const int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    message_print("%s: cannot read: %s", path, input_hint_of_folder(folder));
    close(folder);
    return EXIT_FAILED;
}

int input_check_all(char *const *paths, int count, const input_options *options)
{
    int code = EXIT_DONE;
    for (int i = 0; i < count && code == EXIT_DONE; i++)
        code = check_options(paths[i], options);
    return code;
}

/* ----- reading ----- */

/* The compression for a known format: the first bytes of numbers cannot tell, since numbers may have any value. */
static compression settle_compression(const char *path, const input_options *options, input_format format)
{
    compression kind = choose_compression(path, options);
    return kind == COMPRESSION_AUTO && !input_formats[format].has_lines ? COMPRESSION_NONE : kind;
}

/* Where nothing tells the format, the header of pairs of words does: no text begins with its first byte. */
static int look_for_header(input_reader *reader, input_format *format)
{
    input_source *source = &reader->source;
    if (*format != INPUT_TEXT || reader->options->format != INPUT_AUTO)
        return EXIT_DONE;
    int code = input_source_need(source, 1);
    if (code == EXIT_DONE && source->in.begin < source->in.end &&
        source->in.bytes[source->in.begin] == RECORDS_MAGIC[0])
        code = input_source_need(source, RECORDS_MAGIC_BYTES);
    if (code == EXIT_DONE && input_source_size(source) >= RECORDS_MAGIC_BYTES &&
        memcmp(input_source_text(source), RECORDS_MAGIC, RECORDS_MAGIC_BYTES) == 0)
        *format = INPUT_REC;
    return code;
}

/* Read the source to its end and hand all records on, also those before a fault. */
static int read_source(input_reader *reader)
{
    input_format format = choose_format(reader->path, reader->options);
    int code = input_source_unpack(&reader->source, settle_compression(reader->path, reader->options, format));
    if (code == EXIT_DONE)
        code = look_for_header(reader, &format);
    reader->has_lines = input_formats[format].has_lines;
    input_doubt_begin(reader->options->doubt, reader->path);
    if (code == EXIT_DONE && reader->lines.has_names && !reader->has_lines)
        code = byte_stream_fail(&reader->source.fault, "expected names, which only text and JSON Lines have");
    if (code == EXIT_DONE)
        code = input_formats[format].read(reader);
    bool deliver = code == EXIT_DONE || reader->source.fault.reason[0] != '\0';
    int close_code = deliver ? input_deliver(reader) : EXIT_DONE;
    return code != EXIT_DONE ? code : close_code;
}

/* ----- taking the records ----- */

/* Takes the records in the thread that called input_read(). */
typedef struct consumer {
    input_batch_fn on_batch;
    void *context;
    const input_options *options;
    const char *path;
    int code; /* what they returned last */
} consumer;

/* Pass the batch to the consumer and empty it. */
static int consume(consumer *taker, record_batch *batch)
{
    if (batch->recipe != NULL && taker->options->on_recipe != NULL)
        taker->code = taker->options->on_recipe(taker->options->recipe_context, taker->options->doubt, taker->path,
                                                batch->recipe);
    if (taker->code == EXIT_DONE && batch->count > 0)
        taker->code = taker->on_batch(taker->context, batch);
    batch->count = 0;
    batch->recipe = NULL;
    return taker->code;
}

static int consume_here(void *taker, record_batch **batch)
{
    return consume(taker, *batch);
}

static int read_here(input_reader *reader, consumer *taker)
{
    record_batch batch;
    reader->batch = &batch;
    reader->hand_on = consume_here;
    reader->context = taker;
    int code = record_batch_init(&batch, reader->options->batch_records)
                   ? read_source(reader)
                   : input_source_fail(&reader->source, 0, "out of memory");
    record_batch_free(&batch);
    return code;
}

/* Reading in a thread of its own, ahead of the consumer. The source belongs to that thread until the thread ends; the
 * consumer may only stop it. */
typedef struct read_ahead {
    input_reader *reader;
    slot_queues batches;
    record_batch slots[BATCHES];
    int code; /* of the reading */
} read_ahead;

static int hand_over(void *context, record_batch **batch)
{
    read_ahead *ahead = context;
    queue_put(&ahead->batches.full, *batch);
    record_batch *next = queue_take(&ahead->batches.empty);
    if (next == NULL)
        return EXIT_FAILED;
    *batch = next;
    return EXIT_DONE;
}

static void *fill_batches(void *context)
{
    read_ahead *ahead = context;
    ahead->reader->batch = queue_take(&ahead->batches.empty);
    ahead->code = read_source(ahead->reader);
    queue_close(&ahead->batches.full);
    return NULL;
}

static int consume_all(read_ahead *ahead, consumer *taker)
{
    record_batch *batch;
    int code = EXIT_DONE;
    while (code == EXIT_DONE && (batch = queue_take(&ahead->batches.full)) != NULL) {
        code = consume(taker, batch);
        queue_put(&ahead->batches.empty, batch);
    }
    if (code != EXIT_DONE) {
        input_file_stop(&ahead->reader->source.file);
        queue_stop(&ahead->batches.empty);
    }
    return code;
}

/*
 * Call read_source() in a thread of its own, ahead of the consumer, and set *code_out. Returns false, and reads
 * nothing, if the system does not have the memory or thread for it.
 */
static bool read_ahead_of(input_reader *reader, consumer *taker, int *code_out)
{
    read_ahead ahead = {.reader = reader};
    bool enough = true;
    reader->hand_on = hand_over;
    reader->context = &ahead;
    for (size_t i = 0; i < BATCHES; i++)
        enough = record_batch_init(&ahead.slots[i], reader->options->batch_records) && enough;
    bool started = enough && input_file_allow_stop(&reader->source.file) &&
                   slot_queues_start(&ahead.batches, ahead.slots, BATCHES, sizeof *ahead.slots, fill_batches, &ahead);
    if (started) {
        int code = consume_all(&ahead, taker);
        slot_queues_join(&ahead.batches);
        *code_out = code != EXIT_DONE ? code : ahead.code;
    }
    for (size_t i = 0; i < BATCHES; i++)
        record_batch_free(&ahead.slots[i]);
    return started;
}

static void keep_kind(const input_reader *reader)
{
    if (reader->kind_source == NULL || reader->states_recipe)
        return;
    reader->shape->has_kind = true;
    reader->shape->kind = reader->lines.kind;
}

int input_read(const char *path, const input_options *options, input_shape *shape, input_batch_fn on_batch,
               void *context)
{
    const char *width_source = shape->width_source;
    consumer taker = {.on_batch = on_batch, .context = context, .options = options, .path = path};
    input_reader reader = {.path = path, .options = options, .lines = options->lines, .shape = shape};
    reader.lines.words = shape->words;
    reader.lines.kind = shape->kind;
    reader.kind_source = shape->has_kind ? "the earlier inputs" : NULL;
    if (shape->bits > 0)
        reader.lines.bits = shape->bits;
    reader.lines.words_given = options->lines.pads ? options->lines.bits > 0 : shape->words > 0 && width_source == NULL;
    reader.lines.width_source = width_source;
    int code = input_source_open(&reader.source, path);
    if (code != EXIT_DONE)
        return code;
    reader.source.max_window_bits = options->max_window_bits;
    if (options->lines.has_names)
        reader.lines.name_room = allocate_or_exit(SSTORE_MAX_NAME_BYTES, 1);
    /* Plain words are not worth a thread: copying them takes less time than bringing them over from another core. */
    const input_format format = choose_format(path, options);
    const bool plain = !input_formats[format].has_lines &&
                       settle_compression(path, options, format) == COMPRESSION_NONE;
    if (!options->ahead || plain || !read_ahead_of(&reader, &taker, &code))
        code = read_here(&reader, &taker);
    if (taker.code == EXIT_DONE)
        input_source_report(&reader.source);
    if (code == EXIT_DONE && taker.code == EXIT_DONE)
        code = bad_rows_end_input(options->bad_rows);
    keep_kind(&reader);
    if (width_source == NULL && shape->width_source != NULL)
        shape->width_source = "the earlier inputs";
    input_source_close(&reader.source);
    free(reader.recipe);
    free(reader.lines.name_room);
    return taker.code != EXIT_DONE ? taker.code : code;
}

bool input_is_interactive(const char *path, const input_options *options)
{
    return strcmp(path, "-") == 0 && input_formats[choose_format(path, options)].has_lines;
}

int input_read_interactive(const input_options *options, input_shape *shape, input_batch_fn on_record, void *context)
{
    input_options one_by_one = *options;
    one_by_one.batch_records = 1;
    one_by_one.ahead = false;
    if (options->bad_rows != NULL)
        options->bad_rows->reports_each = true;
    one_by_one.interactive = true;
    return input_read("-", &one_by_one, shape, on_record, context);
}

typedef struct all_fingerprints {
    const char *path;
    uint64_t *items;
    size_t count, capacity;
} all_fingerprints;

static int add_to_all(void *context, const record_batch *batch)
{
    all_fingerprints *to = context;
    const size_t words = batch->words;
    if (!grow(&to->items, &to->capacity, words * (to->count + batch->count), sizeof *to->items))
        return message_print("%s: out of memory; all its fingerprints are needed in memory at once", to->path);
    memcpy(to->items + words * to->count, batch->fingerprints, words * batch->count * sizeof *batch->fingerprints);
    to->count += batch->count;
    return EXIT_DONE;
}

int input_read_all(const char *path, const input_options *options, input_shape *shape, uint64_t **fingerprints_out,
                   size_t *count_out)
{
    all_fingerprints all = {.path = path};
    int code = input_read(path, options, shape, add_to_all, &all);
    *fingerprints_out = all.items;
    *count_out = all.count;
    return code;
}

/* ----- estimating ----- */

static bool take_sample(const char *path, input_sample *taken)
{
    struct stat info;
    /* Only a regular file is opened: the writer of a named pipe would see its only reader come and go. */
    if (strcmp(path, "-") == 0 || stat(path, &info) != 0 || !S_ISREG(info.st_mode))
        return false;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t got = pread(fd, taken->bytes, INPUT_SAMPLE_BYTES - 1, 0);
    close(fd);
    taken->size = got > 0 ? (size_t)got : 0;
    taken->bytes[taken->size] = '\0';
    taken->file_bytes = (uint64_t)info.st_size;
    return got >= 0;
}

input_expectation input_expect(const char *path, const input_options *options, uint32_t words)
{
    static input_sample taken;
    input_expectation expected = {.known = false, .words = words};
    compression kind = choose_compression(path, options);
    if (kind == COMPRESSION_GZIP || kind == COMPRESSION_ZSTD || !take_sample(path, &taken))
        return expected;
    expected.known = true;
    input_formats[choose_format(path, options)].expect(&taken, options, &expected);
    return expected;
}

/*
 * cmd_collect.c - sstore collect: sort the matches of several scans.
 */
#include <inttypes.h>
#include <string.h>

#include "commands/cmd.h"
#include "input/input_measure.h"
#include "input/input_source.h"
#include "sstore_stream.h"

#define BATCH_MATCHES 1024u
#define COLLECTING_PART 0.7 /* of the command, before the matches are printed, about */

typedef struct arguments {
    sstore_collection_options collection;
    bad_rows bad;
    header_mode header;
    progress_mode progress;
} arguments;

static const command_option options[] = {
    {"memory", 0, "SIZE", "memory limit of the process (default 1G; enforced from 64M up)", OPTION_SIZE,
     OPTION_FIELD(arguments, collection.memory_bytes), .common = true},
    {"tmp-dir", 0, "DIR",
     "folder for data that does not fit in memory (default: TMPDIR if it is set, otherwise the working folder)",
     OPTION_TEXT, OPTION_FIELD(arguments, collection.tmp_dir), .common = true},
    {0},
};
static const command_syntax syntax = {
    .options = options,
    .groups = (const option_group[]){BAD_ROW_OPTION_GROUP(offsetof(arguments, bad)),
                                     HEADER_OPTION_GROUP(offsetof(arguments, header)),
                                     PROGRESS_OPTION_GROUP(offsetof(arguments, progress)),
                                     {0}},
    .operands = "[FILE...]",
    .doc =
        "Read matches that 'sstore scan' or 'sstore query' printed, and print each once, ordered by query, distance, "
        "fingerprint and id. Without FILE, or with -, read standard input. FILEs may be compressed.",
    .examples = (const command_example[]){{"sort the matches of two scans",
                                           "sstore collect first.tsv second.tsv > matches.tsv"},
                                          {0}},
};

/* ----- reading ----- */

typedef struct match_reader {
    sstore_collection_options options;
    sstore_collection *collection; /* NULL before the first match, which tells the width of all fingerprints */
    uint32_t words;                /* of a fingerprint; 0 before the first match */
    input_ids ids;                 /* of all matches, by the first one */
    sstore_stream_match batch[BATCH_MATCHES];
    uint64_t fingerprints[BATCH_MATCHES][2][SSTORE_MAX_WORDS]; /* query and fingerprint of each match of the batch */
    size_t count;
    uint64_t added;
    bad_rows *bad;
} match_reader;

/* Begin a collection of matches of this many words. */
static int begin_collection(match_reader *reader, uint32_t words)
{
    sstore_error error;
    reader->words = words;
    reader->options.fingerprint_bits = 64 * words;
    return message_status(sstore_collection_create(&reader->options, &reader->collection, &error), &error);
}

static int add_batch(match_reader *reader)
{
    sstore_error error;
    size_t count = reader->count;
    reader->count = 0;
    reader->added += count;
    progress_show_reading(reader->added, 0, COLLECTING_PART);
    return message_status(sstore_collection_add(reader->collection, reader->batch, count, &error), &error);
}

static int add_match(match_reader *reader, const match_line *line)
{
    uint64_t(*words)[SSTORE_MAX_WORDS] = reader->fingerprints[reader->count];
    memcpy(words[0], line->query, line->words * sizeof *line->query);
    memcpy(words[1], line->fingerprint, line->words * sizeof *line->fingerprint);
    reader->batch[reader->count++] =
        (sstore_stream_match){.query = words[0], .fingerprint = words[1], .id = line->id, .distance = line->distance};
    return reader->count < BATCH_MATCHES ? EXIT_DONE : add_batch(reader);
}

/* Does the match agree with those before it? */
static bool check_match(match_reader *reader, const match_line *line, line_fault *fault)
{
    if (line->words != reader->words)
        return line_fault_set(fault,
                              "expected fingerprints of %" PRIu32 " bits, as in the lines before, found %" PRIu32,
                              64 * reader->words, 64 * line->words);
    /* All lines have ids or none has: '-' has no place in the order of ids. */
    return input_ids_agree(&reader->ids, line->has_id) ||
           line_fault_set(fault, line->has_id ? "expected '-' for the id, as in the lines before, found an id"
                                              : "expected an id, as in the lines before, found '-'");
}

static int refuse_line(match_reader *reader, input_source *source, const source_line *line, line_fault *fault)
{
    const bad_row row = {.input = source->name,
                         .number = line->number,
                         .text = line->text,
                         .length = source_line_length(line),
                         .count = 1};
    return bad_rows_take(reader->bad, &row, fault) ? EXIT_DONE : input_source_fail(source, line->number, fault->reason);
}

static int take_line(match_reader *reader, input_source *source, const source_line *line)
{
    match_line parsed;
    line_fault fault;
    if (source_line_is_blank(line))
        return EXIT_DONE;
    if (line->is_cut)
        (void)line_fault_set(&fault, LINE_TOO_LONG);
    if (line->is_cut || !match_line_parse(line->text, source_line_length(line), &parsed, &fault))
        return refuse_line(reader, source, line, &fault);
    if (reader->words == 0) {
        const int code = begin_collection(reader, parsed.words);
        if (code != EXIT_DONE)
            return code;
    }
    if (!check_match(reader, &parsed, &fault))
        return refuse_line(reader, source, line, &fault);
    bad_rows_note_good(reader->bad, 1);
    return add_match(reader, &parsed);
}

static int read_input(match_reader *reader, const char *path, uint64_t memory_bytes)
{
    input_source source;
    source_line line = {.flushes = true, .cuts = bad_rows_skip(reader->bad)};
    size_t stem;
    int code = input_source_open(&source, path);
    if (code != EXIT_DONE)
        return code;
    source.max_window_bits = input_window_bits(memory_bytes);
    (void)input_file_allow_stop(&source.file); /* so that another thread unpacks it ahead */
    code = input_source_unpack(&source, compression_of_name(path, &stem));
    while (code == EXIT_DONE && source_line_next(&source, &line, &code))
        code = take_line(reader, &source, &line);
    if (code == EXIT_DONE && reader->count > 0)
        code = add_batch(reader);
    input_source_report(&source);
    input_source_close(&source);
    return code == EXIT_DONE ? bad_rows_end_input(reader->bad) : code;
}

/* ----- printing ----- */

typedef struct match_printer {
    output_style style;
    uint64_t printed, added; /* added: with repetitions */
} match_printer;

static int print_match(void *context, const sstore_stream_match *match)
{
    match_printer *self = context;
    if (self->printed++ % BATCH_MATCHES == 0)
        progress_show("printing", self->printed, self->added, (double)self->printed / (double)self->added);
    return output_scan_match(&self->style, match);
}

int cmd_collect(int argc, char **argv)
{
    arguments args = {.collection = SSTORE_COLLECTION_OPTIONS_INIT, .bad = BAD_ROWS_INIT};
    const input_options any_compression = INPUT_OPTIONS_INIT;
    static match_reader reader; /* large */
    match_printer printer = {.style = {.has_ids = true, .words = 1}};
    sstore_error error;
    const operands inputs = operands_as_inputs(command_line_parse(&syntax, argc, argv, &args));
    reader.options = args.collection;
    reader.bad = &args.bad;
    int code = input_check_all(inputs.items, inputs.count, &any_compression);
    if (code == EXIT_DONE)
        code = bad_rows_open(&args.bad, inputs.items, inputs.count);
    progress_begin(args.progress);
    input_measure_begin(inputs.items, inputs.count);
    for (int i = 0; i < inputs.count && code == EXIT_DONE; i++)
        code = read_input(&reader, inputs.items[i], args.collection.memory_bytes);
    code = bad_rows_end(&args.bad, code);
    if (code == EXIT_DONE && reader.collection == NULL)
        code = begin_collection(&reader, 1);
    printer.style.words = reader.words;
    printer.style.has_ids = reader.ids == INPUT_IDS_PRESENT;
    printer.added = reader.added;
    if (code == EXIT_DONE)
        output_head(&printer.style, args.header, MATCH_COLUMNS);
    progress_after_reading(COLLECTING_PART, 1);
    if (code == EXIT_DONE)
        code = message_status(sstore_collection_report(reader.collection, print_match, &printer, &error), &error);
    progress_end();
    sstore_collection_free(reader.collection);
    reader.bad = NULL; /* it is of this call, and the reader is static */
    return code;
}

/*
 * cmd_collect.c - sstore collect: put the matches of several scans in order.
 */
#include "commands/cmd.h"
#include "input/input_source.h"

#define BATCH_MATCHES 1024u

static const command_option options[] = {
    {"memory", 0, "SIZE", "what it may take, all in all (default 1G; kept to from 64M on)", OPTION_SIZE,
     OPTION_FIELD(sstore_collection_options, memory_bytes)},
    {"tmp-dir", 0, "DIR", "where to keep what does not fit in memory (default: TMPDIR, or the working folder)",
     OPTION_TEXT, OPTION_FIELD(sstore_collection_options, tmp_dir)},
    {0},
};
static const command_syntax syntax = {
    .options = options,
    .operands = "[FILE...]",
    .doc = "Print the lines of all FILEs, which 'sstore scan' or 'sstore query' printed, ascending by query, "
           "distance, fingerprint and id, and each once; - or no FILE is stdin. FILEs may be compressed."
           "\vSizes take the suffixes K, M, G and T, powers of 1024.",
};

/* ----- reading ----- */

typedef struct match_reader {
    sstore_collection *collection;
    input_ids ids; /* of all matches, as the first one has it */
    sstore_stream_match batch[BATCH_MATCHES];
    size_t count;
} match_reader;

static int add_batch(match_reader *reader)
{
    sstore_error error;
    size_t count = reader->count;
    reader->count = 0;
    return message_status(sstore_collection_add(reader->collection, reader->batch, count, &error), &error);
}

static int take_line(match_reader *reader, input_source *source, const source_line *line)
{
    match_line parsed;
    line_fault fault;
    if (!match_line_parse(line->text, source_line_length(line), &parsed, &fault))
        return input_source_fail_line(source, line->number, fault.reason);
    /* All lines have ids or none has: '-' has no place among ids. */
    if (!input_ids_agree(&reader->ids, parsed.has_id))
        return input_source_fail_line(source, line->number,
                                      parsed.has_id ? "expected '-' for the id, as in the lines before, found an id"
                                                    : "expected an id, as in the lines before, found '-'");
    reader->batch[reader->count++] = parsed.match;
    return reader->count < BATCH_MATCHES ? EXIT_DONE : add_batch(reader);
}

static int read_source(match_reader *reader, input_source *source)
{
    source_line line = {.flushes = true};
    size_t stem;
    int code = input_source_unpack(source, compression_of_name(source->name, &stem));
    while (code == EXIT_DONE && source_line_next(source, &line, &code))
        code = take_line(reader, source, &line);
    return code == EXIT_DONE ? add_batch(reader) : code;
}

static int read_input(match_reader *reader, const char *path, uint64_t memory_bytes)
{
    input_source source;
    int code = input_source_open(&source, path);
    if (code != EXIT_DONE)
        return code;
    source.max_window_bits = input_window_bits(memory_bytes);
    (void)input_file_allow_stop(&source.file); /* so that it is unpacked ahead, by another thread */
    code = read_source(reader, &source);
    input_source_report(&source);
    input_source_close(&source);
    return code;
}

/* ----- printing ----- */

static int print_matches(const match_reader *reader)
{
    output_style style = {.has_ids = reader->ids == INPUT_IDS_PRESENT};
    sstore_error error;
    return message_status(sstore_collection_report(reader->collection, output_scan_match, &style, &error), &error);
}

int cmd_collect(int argc, char **argv)
{
    sstore_collection_options collection = SSTORE_COLLECTION_OPTIONS_INIT;
    const input_options any_compression = INPUT_OPTIONS_INIT;
    match_reader reader = {.ids = INPUT_IDS_UNKNOWN};
    sstore_error error;
    const operands inputs = operands_as_inputs(command_line_parse(&syntax, argc, argv, &collection));
    int code = input_check_all(inputs.items, inputs.count, &any_compression);
    if (code == EXIT_DONE)
        code = message_status(sstore_collection_create(&collection, &reader.collection, &error), &error);
    for (int i = 0; i < inputs.count && code == EXIT_DONE; i++)
        code = read_input(&reader, inputs.items[i], collection.memory_bytes);
    if (code == EXIT_DONE)
        code = print_matches(&reader);
    sstore_collection_free(reader.collection);
    return code;
}

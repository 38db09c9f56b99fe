/*
 * cmd_collect.c - sstore collect: put the matches of several scans in order.
 */
#include "arguments.h"
#include "cmd.h"
#include "input.h"
#include "match_line.h"
#include "output.h"
#include "source_line.h"

#define BATCH_MATCHES 1024u

enum { KEY_MEMORY = 0x200, KEY_TMP_DIR };

typedef struct collect_arguments {
    char **inputs; /* of argv; argp has put them together at its end */
    int input_count;
    sstore_collection_options collection;
} collect_arguments;

static const struct argp_option options[] = {{"memory", KEY_MEMORY, "SIZE", 0,
                                              "what it may take, all in all (default 1G; kept to from 64M on)", 0},
                                             {"tmp-dir", KEY_TMP_DIR, "DIR", 0,
                                              "where to keep what does not fit in memory (default: TMPDIR, or the "
                                              "working folder)",
                                              0},
                                             {0}};

static error_t parse_option(int key, char *argument, collect_arguments *arguments)
{
    switch (key) {
    case KEY_MEMORY: arguments->collection.memory_bytes = argument_size("--memory", argument); return 0;
    case KEY_TMP_DIR: arguments->collection.tmp_dir = argument; return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    collect_arguments *arguments = state->input;
    switch (key) {
    case ARGP_KEY_ARGS:
        arguments->inputs = state->argv + state->next;
        arguments->input_count = state->argc - state->next;
        return 0;
    case ARGP_KEY_END: cmd_settle_inputs(&arguments->inputs, &arguments->input_count); return 0;
    default: return parse_option(key, argument, arguments);
    }
}

static const struct argp_child children[] = {CMD_COMMON_CHILD, {0}};
static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "[FILE...]",
    .doc = "Print the lines of all FILEs, which 'sstore scan' or 'sstore query' printed, ascending by query, distance, "
           "fingerprint and id, and each once; - or no FILE is stdin. FILEs may be compressed."
           "\vSizes take the suffixes K, M, G and T, powers of 1024.",
    .children = children,
};

/* ----- reading ----- */

typedef struct match_reader {
    sstore_collection *collection;
    input_ids ids; /* of all matches, as the first one has it */
    sstore_scan_match batch[BATCH_MATCHES];
    size_t count;
} match_reader;

static int add_batch(match_reader *reader)
{
    sstore_error error;
    size_t count = reader->count;
    reader->count = 0;
    if (sstore_collection_add(reader->collection, reader->batch, count, &error) == SSTORE_OK)
        return EXIT_DONE;
    return cmd_fail(&error);
}

/* Hold a line against the lines before, all of which have ids or have none: '-' has no place among ids. */
static const char *check_id(match_reader *reader, const match_line *line)
{
    input_ids now = line->has_id ? INPUT_IDS_PRESENT : INPUT_IDS_ABSENT;
    if (reader->ids == INPUT_IDS_UNKNOWN)
        reader->ids = now;
    if (reader->ids == now)
        return NULL;
    return line->has_id ? "expected '-' for the id, as in the lines before, found an id"
                        : "expected an id, as in the lines before, found '-'";
}

static int take_line(match_reader *reader, input_source *source, const source_line *line)
{
    match_line parsed;
    line_fault fault;
    const size_t length = line->length > 0 && line->text[line->length - 1] == '\r' ? line->length - 1 : line->length;
    if (!match_line_parse(line->text, length, &parsed, &fault))
        return input_source_fail_line(source, line->number, fault.reason);
    const char *reason = check_id(reader, &parsed);
    if (reason != NULL)
        return input_source_fail_line(source, line->number, reason);
    reader->batch[reader->count++] = parsed.match;
    return reader->count < BATCH_MATCHES ? EXIT_DONE : add_batch(reader);
}

static int read_source(match_reader *reader, input_source *source)
{
    source_line line = {0};
    bool found = true;
    size_t stem;
    int code = input_source_unpack(source, compression_of_name(source->name, &stem));
    while (code == EXIT_DONE && found) {
        code = source_line_next(source, &line, &found);
        if (code == EXIT_DONE && found)
            code = take_line(reader, source, &line);
    }
    return code == EXIT_DONE ? add_batch(reader) : code;
}

static int read_input(match_reader *reader, const char *path, uint64_t memory_bytes)
{
    input_source source;
    int code = input_source_open(&source, path);
    if (code != EXIT_DONE)
        return code;
    source.most_window_bits = input_window_bits(memory_bytes);
    (void)input_file_allow_stop(&source.file); /* so that it is unpacked ahead, by another thread */
    code = read_source(reader, &source);
    input_source_report(&source);
    input_source_close(&source);
    return code;
}

/* ----- printing ----- */

static int print_match(void *style, const sstore_scan_match *match)
{
    return !output_scan_match(style, match);
}

static int print_matches(const match_reader *reader)
{
    output_style style = {.has_ids = reader->ids == INPUT_IDS_PRESENT};
    sstore_error error;
    sstore_status status = sstore_collection_report(reader->collection, print_match, &style, &error);
    if (status == SSTORE_OK)
        return EXIT_DONE;
    return status == SSTORE_STOPPED ? EXIT_FAILED : cmd_fail(&error);
}

int cmd_collect(int argc, char **argv)
{
    collect_arguments arguments = {.collection = SSTORE_COLLECTION_OPTIONS_INIT};
    const input_options any_compression = INPUT_OPTIONS_INIT;
    match_reader reader = {.ids = INPUT_IDS_UNKNOWN};
    sstore_error error;
    cmd_parse(&argp, argc, argv, &arguments);
    int code = EXIT_DONE;
    for (int i = 0; i < arguments.input_count && code == EXIT_DONE; i++)
        code = input_check(arguments.inputs[i], &any_compression);
    if (code == EXIT_DONE && sstore_collection_create(&arguments.collection, &reader.collection, &error) != SSTORE_OK)
        code = cmd_fail(&error);
    for (int i = 0; i < arguments.input_count && code == EXIT_DONE; i++)
        code = read_input(&reader, arguments.inputs[i], arguments.collection.memory_bytes);
    if (code == EXIT_DONE)
        code = print_matches(&reader);
    sstore_collection_free(reader.collection);
    return code;
}

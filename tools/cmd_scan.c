/*
 * cmd_scan.c - sstore scan: find the fingerprints near given ones in files, without a store.
 */
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "cmd.h"
#include "input.h"
#include "scan_stream.h"

enum { KEY_QUERIES = 0x200, KEY_NO_IDS, KEY_THREADS };

typedef struct scan_arguments {
    const char *queries;
    char **inputs; /* of argv; argp has put them together at its end */
    int input_count;
    uint32_t distance, threads;
    input_options format;
} scan_arguments;

static const struct argp_option options[] = {
    {"queries", KEY_QUERIES, "BATCH", 0, "read the queries from BATCH, which is needed; - is stdin", 0},
    {"distance", 'k', "D", 0, "find what lies within D bits, 0 to 16 (default 3)", 0},
    {"no-ids", KEY_NO_IDS, NULL, 0, "ignore the ids in FILEs, and print - for each", 0},
    {"threads", KEY_THREADS, "N", 0, "scan on N threads (default: all processors); 1: also read on no other", 0},
    {0}};

static error_t parse_option(int key, char *argument, scan_arguments *arguments)
{
    switch (key) {
    case KEY_QUERIES: arguments->queries = argument; return 0;
    case 'k': arguments->distance = (uint32_t)argument_number("-k", argument, 0, SSTORE_MAX_BUILD_DISTANCE); return 0;
    case KEY_NO_IDS: arguments->format.lines.ignore_ids = true; return 0;
    case KEY_THREADS: arguments->threads = (uint32_t)argument_number("--threads", argument, 0, 1024); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static void check_arguments(scan_arguments *arguments)
{
    if (arguments->queries == NULL)
        cmd_usage_error("expected --queries BATCH");
    cmd_settle_inputs(&arguments->inputs, &arguments->input_count);
    for (int i = 0; i < arguments->input_count; i++)
        if (strcmp(arguments->queries, "-") == 0 && strcmp(arguments->inputs[i], "-") == 0)
            cmd_usage_error("--queries: standard input is scanned, so BATCH must be a file");
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    scan_arguments *arguments = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &arguments->format; return 0;
    case ARGP_KEY_ARGS:
        arguments->inputs = state->argv + state->next;
        arguments->input_count = state->argc - state->next;
        return 0;
    case ARGP_KEY_END: check_arguments(arguments); return 0;
    default: return parse_option(key, argument, arguments);
    }
}

static const struct argp_child children[] = {{&input_argp, 0, NULL, 0}, CMD_COMMON_CHILD, {0}};
static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "--queries BATCH [FILE...]",
    .doc =
        "Print every record of the FILEs, which 'sstore build' could read, within a distance of a query in BATCH, "
        "as lines of query, fingerprint, distance and id in any order; - or no FILE is stdin. 'sstore collect' puts "
        "the lines of several scans in order. BATCH is held in memory, its format chosen by its name; --radix is for "
        "both, the other options below for the FILEs.",
    .children = children,
};

/* ----- the queries ----- */

static int open_scan(const scan_arguments *arguments, sstore_scan **scan_out)
{
    uint64_t *queries;
    size_t count;
    input_options format = INPUT_OPTIONS_INIT;
    sstore_error error;
    format.lines.decimal = arguments->format.lines.decimal;
    format.lines.ignore_ids = true;
    format.ahead = arguments->format.ahead;
    int code = input_read_all(arguments->queries, &format, &queries, &count);
    if (code == EXIT_DONE && sstore_scan_create(queries, count, arguments->distance, arguments->threads, scan_out,
                                                &error) != SSTORE_OK)
        code = cmd_fail(&error);
    free(queries);
    return code;
}

/* ----- the files ----- */

/* The ids of all FILEs are present or absent, so that the matches can be collected. */
typedef struct scan_input {
    scan_stream stream;
    bool ignore_ids;
} scan_input;

static int add_records(void *context, const uint64_t *fingerprints, const uint64_t *ids, size_t count)
{
    scan_input *self = context;
    return scan_stream_add(&self->stream, fingerprints, self->ignore_ids ? NULL : ids, count);
}

static int scan_inputs(const scan_arguments *arguments, sstore_scan *scan)
{
    scan_input self = {.ignore_ids = arguments->format.lines.ignore_ids};
    input_ids ids = INPUT_IDS_UNKNOWN;
    int code = scan_stream_open(&self.stream, scan, arguments->threads != 1);
    for (int i = 0; i < arguments->input_count && code == EXIT_DONE; i++) {
        code = input_read(arguments->inputs[i], &arguments->format, &ids, add_records, &self);
        if (self.ignore_ids)
            ids = INPUT_IDS_UNKNOWN; /* a format that holds them may follow one that does not */
    }
    /* The records before a malformed one are scanned. */
    int rest = scan_stream_close(&self.stream);
    return code != EXIT_DONE ? code : rest;
}

int cmd_scan(int argc, char **argv)
{
    scan_arguments arguments = {.distance = 3, .format = INPUT_OPTIONS_INIT};
    sstore_scan *scan = NULL;
    cmd_parse(&argp, argc, argv, &arguments);
    arguments.format.ahead = arguments.threads != 1;
    int code = EXIT_DONE;
    for (int i = 0; i < arguments.input_count && code == EXIT_DONE; i++)
        code = input_check(arguments.inputs[i], &arguments.format);
    if (code == EXIT_DONE)
        code = open_scan(&arguments, &scan);
    if (code == EXIT_DONE)
        code = scan_inputs(&arguments, scan);
    sstore_scan_free(scan);
    return code;
}

/*
 * cmd_query.c - sstore query: find the stored fingerprints near given ones.
 */
#include <string.h>

#include "arguments.h"
#include "cmd.h"
#include "query_explain.h"
#include "query_feed.h"

enum { KEY_INPUT = 0x200, KEY_JSON, KEY_COUNT, KEY_NEAREST, KEY_LIMIT, KEY_THREADS, KEY_IO, KEY_RECIPE, KEY_EXPLAIN };

typedef struct query_arguments {
    const char *store;
    const char *input; /* of --input */
    char **operands;   /* of argv; argp has put them together at its end */
    int operand_count;
    bool explain;
    query_options query;
    input_options format;
} query_arguments;

static const struct argp_option options[] = {
    {"distance", 'k', "D", 0, "find what lies within D bits, 0 to 64 (default: the store's distance)", 0},
    {"nearest", KEY_NEAREST, NULL, 0, "only the matches at the smallest distance; without -k up to 64", 0},
    {"input", KEY_INPUT, "FILE", 0, "read the queries from FILE, in the formats of 'sstore build'", 0},
    {"count", KEY_COUNT, NULL, 0, "print the number of matches of each query", 0},
    {"limit", KEY_LIMIT, "N", 0, "at most the first N matches of each query", 0},
    {"json", KEY_JSON, NULL, 0, "print one JSON object a line", 0},
    {"threads", KEY_THREADS, "N", 0, "answer operands and --input on N threads (default: all processors)", 0},
    {"io", KEY_IO, "MODE", 0, "how blocks are read: mmap, pread, memory or auto (the default): mmap if the store fits into half of the memory, else pread", 0},
    {"explain", KEY_EXPLAIN, NULL, 0, "print what one query was expected to read and what it read, not its matches", 0},
    {"recipe", KEY_RECIPE, "TEXT", 0, "fail unless the store's fingerprints were made by this recipe", 0},
    {0}};

static sstore_io parse_io(const char *text)
{
    static const char *const names[] = {"auto", "mmap", "pread", "memory", NULL};
    static const sstore_io values[] = {SSTORE_IO_AUTO, SSTORE_IO_MMAP, SSTORE_IO_PREAD, SSTORE_IO_MEMORY};
    return values[argument_choice("--io", text, names, "'auto', 'mmap', 'pread' or 'memory'")];
}

static error_t parse_option(int key, char *argument, query_arguments *arguments)
{
    query_options *query = &arguments->query;
    switch (key) {
    case 'k':
        query->distance = (uint32_t)argument_number("-k", argument, 0, SSTORE_MAX_DISTANCE);
        query->has_distance = true;
        return 0;
    case KEY_NEAREST:
        query->nearest = true;
        return 0;
    case KEY_INPUT:
        arguments->input = argument;
        return 0;
    case KEY_COUNT:
        query->count = true;
        return 0;
    case KEY_LIMIT:
        query->limit = argument_number("--limit", argument, 1, UINT64_MAX);
        return 0;
    case KEY_JSON:
        query->json = true;
        return 0;
    case KEY_THREADS:
        query->threads = (uint32_t)argument_number("--threads", argument, 0, 1024);
        return 0;
    case KEY_IO:
        query->open.io = parse_io(argument);
        return 0;
    case KEY_RECIPE:
        query->open.recipe = argument;
        return 0;
    case KEY_EXPLAIN:
        arguments->explain = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static bool reads_stdin(const query_arguments *arguments)
{
    return arguments->input == NULL && (arguments->operand_count == 0 ||
                                        (arguments->operand_count == 1 && strcmp(arguments->operands[0], "-") == 0));
}

static void check_operands(const query_arguments *arguments)
{
    uint64_t fingerprint;
    line_fault fault;
    for (int i = 0; i < arguments->operand_count; i++) {
        const char *text = arguments->operands[i];
        if (strcmp(text, "-") == 0)
            cmd_usage_error("expected either FINGERPRINT operands or '-', found both");
        if (!line_parse_fingerprint(arguments->format.lines.decimal, text, strlen(text), &fingerprint, &fault))
            cmd_usage_error("%s", fault.reason);
    }
}

static void check_explain(const query_arguments *arguments)
{
    const query_options *query = &arguments->query;
    if (arguments->input != NULL || arguments->operand_count != 1 || reads_stdin(arguments))
        cmd_usage_error("--explain: expected one FINGERPRINT");
    if (query->nearest || query->count || query->json || query->limit != UINT64_MAX)
        cmd_usage_error("--explain: expected neither --nearest, --count, --limit nor --json with it");
}

static void check_arguments(const query_arguments *arguments)
{
    if (arguments->store == NULL)
        cmd_usage_error("expected a STORE");
    if (arguments->input != NULL && arguments->operand_count > 0)
        cmd_usage_error("expected either FINGERPRINT operands or --input, found both");
    if (!reads_stdin(arguments))
        check_operands(arguments);
    if (arguments->explain)
        check_explain(arguments);
    if (arguments->query.json && !output_has_json())
        cmd_usage_error("--json: this sstore was built without the jansson library");
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    query_arguments *arguments = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->format;
        return 0;
    case ARGP_KEY_ARGS:
        arguments->store = state->argv[state->next];
        arguments->operands = state->argv + state->next + 1;
        arguments->operand_count = state->argc - state->next - 1;
        return 0;
    case ARGP_KEY_END:
        check_arguments(arguments);
        return 0;
    default:
        return parse_option(key, argument, arguments);
    }
}

static const struct argp_child children[] = {{&input_argp, 0, NULL, 0}, CMD_COMMON_CHILD, {0}};
static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "STORE [FINGERPRINT...]",
    .doc = "Print every record of STORE within a distance of each FINGERPRINT, as lines of query, fingerprint, "
           "distance and id, in the order of the queries, then of distance, fingerprint and id. Without FINGERPRINT, "
           "or with -, queries are read from stdin, and each is answered before the next is read.",
    .children = children,
};

/* Which has been checked to be one. */
static int explain_operand(query_session *session, const query_arguments *arguments)
{
    uint64_t query = 0;
    line_fault fault;
    const char *text = arguments->operands[0];
    line_parse_fingerprint(arguments->format.lines.decimal, text, strlen(text), &query, &fault);
    return query_explain(session, query);
}

int cmd_query(int argc, char **argv)
{
    query_arguments arguments = {.query = QUERY_OPTIONS_INIT, .format = INPUT_OPTIONS_INIT};
    cmd_parse(&argp, argc, argv, &arguments);
    arguments.format.lines.ignore_ids = true;
    arguments.format.ahead = arguments.query.threads != 1;
    query_session session;
    int code = query_session_open(&session, arguments.store, &arguments.query);
    if (code == EXIT_DONE && arguments.explain)
        code = explain_operand(&session, &arguments);
    else if (code == EXIT_DONE && arguments.input != NULL)
        code = query_feed_file(&session, arguments.input, &arguments.format);
    else if (code == EXIT_DONE && reads_stdin(&arguments))
        code = query_feed_stdin(&session, &arguments.format);
    else if (code == EXIT_DONE)
        code = query_feed_operands(&session, arguments.operands, (size_t)arguments.operand_count, &arguments.format);
    query_session_close(&session);
    return code;
}

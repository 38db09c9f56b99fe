/*
 * cmd_build.c - sstore build: make a store from fingerprints.
 */
#include <string.h>

#include "arguments.h"
#include "build_store.h"
#include "cmd.h"
#include "progress.h"

enum {
    KEY_PLAN = 0x200,
    KEY_BLOCK_SIZE,
    KEY_MEMORY,
    KEY_THREADS,
    KEY_TMP_DIR,
    KEY_RECIPE,
    KEY_NO_IDS,
    KEY_FORCE,
    KEY_QUIET
};

typedef struct build_arguments {
    const char *store;
    char **inputs; /* of argv; argp has put them together at its end */
    int input_count;
    bool quiet;
    sstore_build_options build;
    input_options input;
} build_arguments;

static const struct argp_option options[] = {
    {"distance", 'k', "K", 0, "the distance to build for, 0 to 16 (default 3)", 0},
    {"plan", KEY_PLAN, "PLAN", 0, "auto (the default), 20, 16, 10, 4, 3, 2, 1, BcC (5c2) or bits:radius,...", 0},
    {"block-size", KEY_BLOCK_SIZE, "SIZE", 0, "a power of two from 256 to 64K (default 4K)", 0},
    {"memory", KEY_MEMORY, "SIZE", 0, "what sorting may take, at least 1M (default 1G)", 0},
    {"threads", KEY_THREADS, "N", 0, "work on N threads (default: all processors); 1: also read on no other", 0},
    {"tmp-dir", KEY_TMP_DIR, "DIR", 0, "where to keep what does not fit in memory (default: in STORE)", 0},
    {"recipe", KEY_RECIPE, "TEXT", 0, "how the fingerprints were made; kept in the store", 0},
    {"no-ids", KEY_NO_IDS, NULL, 0, "make a store without ids; those in the input are ignored", 0},
    {"force", KEY_FORCE, NULL, 0, "replace STORE if it exists, once the new one is complete", 0},
    {"quiet", KEY_QUIET, NULL, 0, "print nothing but errors", 0},
    {0}};

static error_t parse_option(int key, char *argument, build_arguments *arguments)
{
    sstore_build_options *build = &arguments->build;
    switch (key) {
    case 'k':
        build->distance = (uint32_t)argument_number("-k", argument, 0, SSTORE_MAX_BUILD_DISTANCE);
        return 0;
    case KEY_PLAN:
        build->plan = argument;
        return 0;
    case KEY_BLOCK_SIZE:
        build->block_bytes = argument_block_size("--block-size", argument);
        return 0;
    case KEY_MEMORY:
        build->memory_bytes = argument_size("--memory", argument);
        return 0;
    case KEY_THREADS:
        build->threads = (uint32_t)argument_number("--threads", argument, 0, 1024);
        return 0;
    case KEY_TMP_DIR:
        build->tmp_dir = argument;
        return 0;
    case KEY_RECIPE:
        build->recipe = argument;
        return 0;
    case KEY_NO_IDS:
        build->without_ids = 1;
        arguments->input.lines.ignore_ids = true;
        return 0;
    case KEY_FORCE:
        build->replace = 1;
        return 0;
    case KEY_QUIET:
        arguments->quiet = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void check_arguments(build_arguments *arguments)
{
    static char *standard_input[] = {"-"};
    int standard_inputs = 0;
    if (arguments->store == NULL)
        cmd_usage_error("expected a STORE");
    for (int i = 0; i < arguments->input_count; i++)
        standard_inputs += strcmp(arguments->inputs[i], "-") == 0;
    if (standard_inputs > 1)
        cmd_usage_error("expected '-', standard input, once, found it %d times", standard_inputs);
    if (arguments->input_count > 0)
        return;
    arguments->inputs = standard_input;
    arguments->input_count = 1;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    build_arguments *arguments = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->input;
        return 0;
    case ARGP_KEY_ARGS:
        arguments->store = state->argv[state->next];
        arguments->inputs = state->argv + state->next + 1;
        arguments->input_count = state->argc - state->next - 1;
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
    .args_doc = "STORE [INPUT...]",
    .doc = "Make STORE, a folder, from the fingerprints in all INPUTs; - or no INPUT is stdin. Text holds one record a "
           "line: a fingerprint of 1 to 16 hex digits, then perhaps a decimal id. Without ids a record's id is its "
           "number over all inputs, from 0. A malformed line ends the build, and nothing is left behind."
           "\vSizes take the suffixes K, M, G and T, powers of 1024.",
    .children = children,
};

int cmd_build(int argc, char **argv)
{
    build_arguments arguments = {.build = SSTORE_BUILD_OPTIONS_INIT, .input = INPUT_OPTIONS_INIT};
    cmd_parse(&argp, argc, argv, &arguments);
    int code = EXIT_DONE;
    for (int i = 0; i < arguments.input_count && code == EXIT_DONE; i++)
        code = input_check(arguments.inputs[i], &arguments.input);
    if (code != EXIT_DONE)
        return code;
    arguments.input.ahead = arguments.build.threads != 1;
    if (!arguments.quiet)
        progress_begin();
    code = build_store(arguments.store, &arguments.build, arguments.inputs, (size_t)arguments.input_count,
                       &arguments.input);
    return code != EXIT_DONE || arguments.quiet ? code : build_summary(arguments.store);
}

/*
 * cmd_build.c - sstore build: make a store from fingerprints.
 */
#include "arguments.h"
#include "build_store.h"
#include "cmd.h"

enum { KEY_RECIPE = 0x200, KEY_NO_IDS, KEY_FIRST_ORDINAL };

typedef struct arguments {
    cmd_store_and_inputs operands;
    build_arguments build;
    input_options input;
} arguments;

static const struct argp_option options[] = {
    {"distance", 'k', "K", 0, "the distance to build for, 0 to 16 (default 3)", 0},
    {"recipe", KEY_RECIPE, "TEXT", 0, "how the fingerprints were made; kept in the store", 0},
    {"no-ids", KEY_NO_IDS, NULL, 0, "make a store without ids; those in the input are ignored", 0},
    {"first-ordinal", KEY_FIRST_ORDINAL, "N", 0, "the id of the first record, if the input has none (default 0)", 0},
    {0}};

static error_t parse_option(int key, char *argument, arguments *all)
{
    sstore_build_options *build = &all->build.options;
    switch (key) {
    case 'k':
        build->distance = (uint32_t)argument_number("-k", argument, 0, SSTORE_MAX_BUILD_DISTANCE);
        return 0;
    case KEY_RECIPE:
        build->recipe = argument;
        return 0;
    case KEY_NO_IDS:
        build->without_ids = 1;
        all->input.lines.ignore_ids = true;
        return 0;
    case KEY_FIRST_ORDINAL:
        build->first_ordinal = argument_number("--first-ordinal", argument, 0, UINT64_MAX);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void check_arguments(arguments *all)
{
    if (all->operands.store == NULL)
        cmd_usage_error("expected a STORE");
    cmd_settle_inputs(&all->operands.inputs, &all->operands.input_count);
    if (all->build.options.without_ids != 0 && all->build.options.first_ordinal != 0)
        cmd_usage_error("--first-ordinal is of no use with --no-ids");
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    arguments *all = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &all->build;
        state->child_inputs[1] = &all->input;
        return 0;
    case ARGP_KEY_ARGS:
        all->operands = cmd_take_operands(state);
        return 0;
    case ARGP_KEY_END:
        check_arguments(all);
        return 0;
    default:
        return parse_option(key, argument, all);
    }
}

static const struct argp_child children[] = {{&build_argp, 0, NULL, 0}, {&input_argp, 0, NULL, 0}, CMD_COMMON_CHILD, {0}};
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
    arguments all = {.build = BUILD_ARGUMENTS_INIT, .input = INPUT_OPTIONS_INIT};
    cmd_parse(&argp, argc, argv, &all);
    int code = EXIT_DONE;
    for (int i = 0; i < all.operands.input_count && code == EXIT_DONE; i++)
        code = input_check(all.operands.inputs[i], &all.input);
    if (code != EXIT_DONE)
        return code;
    all.input.ahead = all.build.options.threads != 1;
    return build_store(all.operands.store, &all.build, all.operands.inputs, (size_t)all.operands.input_count, &all.input);
}

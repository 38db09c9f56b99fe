/*
 * cmd_build.c - sstore build: make a store from fingerprints.
 */
#include "arguments.h"
#include "build_store.h"

enum { KEY_RECIPE = 0x200, KEY_NO_IDS, KEY_FIRST_ORDINAL };

static const struct argp_option options[] = {
    {"distance", 'k', "K", 0, "the distance to build for, 0 to 16 (default 3)", 0},
    {"recipe", KEY_RECIPE, "TEXT", 0, "how the fingerprints were made; kept in the store", 0},
    {"no-ids", KEY_NO_IDS, NULL, 0, "make a store without ids; those in the input are ignored", 0},
    {"first-ordinal", KEY_FIRST_ORDINAL, "N", 0, "the id of the first record, if the input has none (default 0)", 0},
    {0}};

static error_t parse_option(int key, char *argument, store_arguments *all)
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

static error_t parse(int key, char *argument, struct argp_state *state)
{
    store_arguments *all = state->input;
    const sstore_build_options *build = &all->build.options;
    if (key == ARGP_KEY_END && build->without_ids != 0 && build->first_ordinal != 0)
        cmd_usage_error("--first-ordinal is of no use with --no-ids");
    error_t known = parse_option(key, argument, all);
    return known == ARGP_ERR_UNKNOWN ? store_arguments_parse(key, state, all) : known;
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
    store_arguments all = STORE_ARGUMENTS_INIT;
    cmd_parse(&argp, argc, argv, &all);
    return build_store(STORE_BUILD, &all);
}

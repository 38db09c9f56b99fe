/*
 * cmd_shard.c - sstore shard: split a store by ranges of the fingerprints' hash.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "arguments.h"
#include "build_arguments.h"
#include "cmd.h"

#define MAX_SHARDS 65536u

enum { KEY_COUNT = 0x200, KEY_ONLY };

typedef struct arguments {
    build_arguments build;
    char *input;
    const char *prefix;
    uint32_t count, only; /* only: UINT32_MAX, or the one shard to make */
} arguments;

static const struct argp_option options[] = {
    {"count", KEY_COUNT, "N", 0, "how many shards there are, 1 to 65536", 0},
    {"only", KEY_ONLY, "I", 0, "make shard I, from 0, alone: others can be made elsewhere", 0},
    {0}};

static void take_operand(arguments *all, char *argument)
{
    if (all->input == NULL)
        all->input = argument;
    else if (all->prefix == NULL)
        all->prefix = argument;
    else
        cmd_usage_error("'%s' is one operand too many: expected STORE and PREFIX", argument);
}

static void check_arguments(const arguments *all)
{
    if (all->prefix == NULL)
        cmd_usage_error("expected the STORE to split, and a PREFIX for the names of its shards");
    if (all->count == 0)
        cmd_usage_error("expected --count, the number of shards");
    if (all->only != UINT32_MAX && all->only >= all->count)
        cmd_usage_error("--only: there is no shard %" PRIu32 " of %" PRIu32 "; the first one is 0", all->only, all->count);
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    arguments *all = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &all->build;
        return 0;
    case KEY_COUNT:
        all->count = (uint32_t)argument_number("--count", argument, 1, MAX_SHARDS);
        return 0;
    case KEY_ONLY:
        all->only = (uint32_t)argument_number("--only", argument, 0, MAX_SHARDS - 1);
        return 0;
    case ARGP_KEY_ARG:
        take_operand(all, argument);
        return 0;
    case ARGP_KEY_END:
        check_arguments(all);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&build_argp, 0, NULL, 0}, CMD_COMMON_CHILD, {0}};
static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "STORE PREFIX",
    .doc = "Split STORE into --count stores PREFIX-00000-of-0000N and so on, by ranges of the fingerprints' hash. Each record "
           "is in one of them; fingerprints near each other are in different ones, so a query has to ask all.",
    .children = children,
};

static int make_shard(arguments *all, uint32_t shard)
{
    char *path, *inputs[] = {all->input};
    sstore_error error;
    if (asprintf(&path, "%s-%05" PRIu32 "-of-%05" PRIu32, all->prefix, shard, all->count) < 0) {
        cmd_complain("out of memory");
        return EXIT_FAILED;
    }
    int code = build_arguments_check_stores(&all->build, path, inputs, 1);
    if (code != EXIT_DONE) {
        free(path);
        return code;
    }
    build_arguments_begin(&all->build);
    sstore_status status = sstore_shard(path, all->input, shard, all->count, &all->build.options, &error);
    code = build_arguments_end(&all->build, path, status, &error);
    free(path);
    return code;
}

int cmd_shard(int argc, char **argv)
{
    arguments all = {.build = BUILD_ARGUMENTS_INIT, .only = UINT32_MAX};
    cmd_parse(&argp, argc, argv, &all);
    if (all.only != UINT32_MAX)
        return make_shard(&all, all.only);
    int code = EXIT_DONE;
    for (uint32_t i = 0; i < all.count && code == EXIT_DONE; i++)
        code = make_shard(&all, i);
    return code;
}

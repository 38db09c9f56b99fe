/*
 * cmd_merge.c - sstore merge and shard: make new stores from existing ones.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "commands/cmd.h"

/* ----- sstore merge ----- */

static const command_option merge_options[] = {
    {"raise-ids", 0, NULL, "raise the ids of each INPUT above those before it: all may begin with 0", OPTION_FLAG,
     OPTION_FIELD(task_arguments, options.raise_ids), .common = true},
    {0},
};
static const command_syntax merge_syntax = {
    .options = merge_options,
    .groups = (const option_group[]){BUILD_OPTION_GROUPS(0), THREAD_OPTION_GROUP(0), {0}},
    .operands = "STORE INPUT...",
    .doc = "Make STORE from all records of the INPUT stores. All must have the same distance and recipe, and either "
           "all or none must have ids; their plans may differ. A record that several INPUTs have is kept once. So if "
           "ids were assigned, the INPUTs must have been built with different --first-id, or be merged with "
           "--raise-ids.",
    .examples = (const command_example[]){{"merge the parts that two machines built",
                                           "sstore merge all.store part-1.store part-2.store"},
                                          {0}},
};

int cmd_merge(int argc, char **argv)
{
    task_arguments task = TASK_ARGUMENTS_INIT;
    sstore_error error;
    operands given = command_line_parse(&merge_syntax, argc, argv, &task);
    if (given.count < 2)
        message_usage_error("expected a STORE to make and the INPUT stores to merge");
    const char *path = operands_take_store(&given);
    int code = task_check_stores(&task, path, &given);
    if (code != EXIT_DONE)
        return code;
    task_begin(&task);
    sstore_status status = sstore_merge(path, (const char *const *)given.items, (size_t)given.count, &task.options,
                                        NULL, &error);
    return task_end_build(&task, path, status, &error);
}

/* ----- sstore shard ----- */

#define MAX_SHARDS 65536u

typedef struct shard_arguments {
    task_arguments task;
    operands input; /* the store to split */
    const char *prefix;
    uint32_t count, only; /* only: the one shard to make, or UINT32_MAX */
} shard_arguments;

static const command_option shard_options[] = {
    {"count", 0, "N", "the number of shards, 1 to 65536 (required)", OPTION_NUMBER,
     OPTION_FIELD(shard_arguments, count), .min = 1, .max = MAX_SHARDS, .common = true},
    {"only", 0, "I", "make only shard I, counted from 0", OPTION_NUMBER, OPTION_FIELD(shard_arguments, only),
     .max = MAX_SHARDS - 1, .common = true},
    {0},
};
static const command_syntax shard_syntax = {
    .options = shard_options,
    .groups = (const option_group[]){BUILD_OPTION_GROUPS(offsetof(shard_arguments, task)),
                                     THREAD_OPTION_GROUP(offsetof(shard_arguments, task)),
                                     {0}},
    .operands = "--count=N STORE PREFIX",
    .doc =
        "Split STORE into N stores, PREFIX-00000-of-0000N and so on, by ranges of the fingerprints' hash. Each record "
        "is in exactly one of them. Near fingerprints may be in different shards, so query all of them.",
    .examples = (const command_example[]){{"split a store into four", "sstore shard --count 4 pages.store shard"}, {0}},
};

static int make_shard(shard_arguments *args, uint32_t shard)
{
    char *path;
    sstore_error error;
    if (asprintf(&path, "%s-%05" PRIu32 "-of-%05" PRIu32, args->prefix, shard, args->count) < 0)
        return message_print("out of memory");
    int code = task_check_stores(&args->task, path, &args->input);
    if (code == EXIT_DONE) {
        task_begin(&args->task);
        args->task.options.shard = shard;
        args->task.options.shard_count = args->count;
        sstore_status status = sstore_merge(path, (const char *const *)args->input.items, 1, &args->task.options, NULL,
                                            &error);
        code = task_end_build(&args->task, path, status, &error);
    }
    free(path);
    return code;
}

int cmd_shard(int argc, char **argv)
{
    shard_arguments args = {.task = TASK_ARGUMENTS_INIT, .only = UINT32_MAX};
    const operands given = command_line_parse(&shard_syntax, argc, argv, &args);
    operands_check(given, 2, "a STORE to split and a PREFIX for the names of the shards");
    if (args.count == 0)
        message_usage_error("expected --count, the number of shards");
    if (args.only != UINT32_MAX && args.only >= args.count)
        message_usage_error("--only: expected a number from 0 to %" PRIu32 ", found %" PRIu32, args.count - 1,
                            args.only);
    args.input = (operands){given.items, 1};
    args.prefix = given.items[1];
    if (args.only != UINT32_MAX)
        return make_shard(&args, args.only);
    int code = EXIT_DONE;
    for (uint32_t i = 0; i < args.count && code == EXIT_DONE; i++) {
        task_begin(&args.task);
        progress_part((double)i / args.count, (double)(i + 1) / args.count);
        code = make_shard(&args, i);
    }
    return code;
}

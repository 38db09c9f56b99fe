/*
 * cmd_maintain.c - sstore compact, reindex and verify: maintenance of a store.
 */
#include <inttypes.h>
#include <string.h>

#include "commands/cmd.h"
#include "input/interrupt.h"

typedef struct arguments {
    task_arguments task;
    bool tiered, all;
} arguments;

/* ----- sstore compact ----- */

static const command_option compact_options[] = {
    {"tiered", 0, NULL,
     "merge the newest segments only; stop at a segment more than four times their total size; needs at least four",
     OPTION_FLAG, OPTION_FIELD(arguments, tiered), .common = true},
    {"id-index", 0, NULL, "add an index of the ids, as of 'sstore build'", OPTION_FLAG,
     OPTION_FIELD(arguments, task.options.id_index), .common = true},
    {0},
};
static const command_syntax compact_syntax = {
    .options = compact_options,
    .groups = (const option_group[]){SEGMENT_OPTION_GROUPS(offsetof(arguments, task)),
                                     THREAD_OPTION_GROUP(offsetof(arguments, task)),
                                     {0}},
    .operands = "STORE",
    .doc = "Merge all segments of STORE into one, without removed records. Other processes can read the store "
           "meanwhile. The disk needs room for the new segment in addition to the old ones. A store of one "
           "segment is rewritten only with --plan, --block-size or --id-index.",
    .examples = (const command_example[]){{"merge the segments of many additions", "sstore compact pages.store"}, {0}},
};

int cmd_compact(int argc, char **argv)
{
    arguments args = {.task = TASK_ARGUMENTS_INIT};
    sstore_change change = {.struct_size = sizeof change};
    sstore_error error;
    const char *path = operands_only_store(command_line_parse(&compact_syntax, argc, argv, &args));
    if (args.tiered && args.task.options.id_index)
        message_usage_error("--id-index cannot be combined with --tiered: all segments must have an index");
    task_begin(&args.task);
    sstore_status status = sstore_compact(path, args.tiered ? SSTORE_COMPACTION_TIERS : SSTORE_COMPACTION_ALL,
                                          &args.task.options, &change, &error);
    int code = task_end_write(&args.task, path, status, &error);
    if (code != EXIT_DONE || args.task.quiet)
        return code;
    if (change.segment_count == change.segment_count_before && change.total_bytes == change.total_bytes_before)
        message_print("%s: nothing to compact; records %" PRIu64 ", segments %" PRIu32 ", bytes %" PRIu64, path,
                      change.record_count, change.segment_count, change.total_bytes);
    else
        message_print("%s: records %" PRIu64 ", segments %" PRIu32 ", bytes %" PRIu64 "; before: segments %" PRIu32
                      ", bytes %" PRIu64,
                      path, change.record_count, change.segment_count, change.total_bytes, change.segment_count_before,
                      change.total_bytes_before);
    return code;
}

/* ----- sstore reindex ----- */

static const command_option reindex_options[] = {
    {"all", 0, NULL, "rebuild all directories, also intact ones", OPTION_FLAG, OPTION_FIELD(arguments, all),
     .common = true},
    {0},
};
static const command_syntax reindex_syntax = {
    .options = reindex_options,
    .groups = (const option_group[]){WAIT_OPTION_GROUP(offsetof(arguments, task)),
                                     RUN_OPTION_GROUPS(offsetof(arguments, task)),
                                     {0}},
    .operands = "STORE",
    .doc =
        "Rebuild each directory (directory.mdb) of STORE that is lost, damaged or from another kind of machine, from "
        "the tables and ids. These are not changed. If one of them is damaged, the command names it and changes "
        "nothing. Other processes can read the store meanwhile.",
    .examples = (const command_example[]){{"rebuild what is lost, and check the store",
                                           "sstore reindex pages.store && sstore verify pages.store"},
                                          {0}},
};

int cmd_reindex(int argc, char **argv)
{
    arguments args = {.task = TASK_ARGUMENTS_INIT};
    sstore_reindex_options how = SSTORE_REINDEX_OPTIONS_INIT;
    uint32_t made_count = 0;
    sstore_error error;
    const char *path = operands_only_store(command_line_parse(&reindex_syntax, argc, argv, &args));
    task_begin(&args.task);
    how.all = args.all;
    how.wait_ms = args.task.options.wait_ms;
    how.on_progress = args.task.options.on_progress;
    how.progress_context = args.task.options.progress_context;
    sstore_status status = sstore_reindex(path, &how, &made_count, &error);
    int code = task_end(path, "nothing was changed", status, &error);
    if (code != EXIT_DONE || args.task.quiet)
        return code;
    if (made_count == 0)
        message_print("%s: all directories are intact; nothing was changed", path);
    else
        message_print("%s: directories rebuilt %" PRIu32, path, made_count);
    return code;
}

/* ----- sstore verify ----- */

#define SHOWN_PROBLEMS 100u

static const command_option verify_options[] = {
    {"all", 0, NULL, "print all problems, not only the first 100", OPTION_FLAG, OPTION_FIELD(arguments, all)},
    {0},
};
static const command_syntax verify_syntax = {
    .options = verify_options,
    .groups = (const option_group[]){RUN_OPTION_GROUPS(offsetof(arguments, task)), {0}},
    .operands = "STORE",
    .doc = "Read and decode everything in STORE, and check that its tables, ids and directory agree. Each problem "
           "is printed to standard error. The exit status is 3 if the store is damaged.",
    .examples = (const command_example[]){{"check a store, and say so if it must be restored",
                                           "sstore verify pages.store || echo 'restore pages.store'"},
                                          {0}},
};

/* The problems found so far. */
typedef struct findings {
    uint64_t count, max_shown;
    sstore_error first;
} findings;

static int print_problem(void *context, const sstore_error *problem)
{
    findings *self = context;
    if (self->count++ == 0)
        self->first = *problem;
    if (self->count <= self->max_shown && !interrupted()) /* nobody may read it */
        message_problem(problem);
    return 0;
}

static int print_ok(const char *path)
{
    sstore_statistics metadata;
    int code = store_read_metadata(path, &metadata);
    if (code != EXIT_DONE)
        return code;
    output_text("ok: ");
    output_escaped(path, strlen(path), false);
    if (metadata.segment_count != 1)
        output_text(": records %" PRIu64 ", segments %" PRIu32 ", bytes %" PRIu64 "\n", metadata.record_count,
                    metadata.segment_count, metadata.total_bytes);
    else
        output_text(": records %" PRIu64 ", distinct %" PRIu64 ", tables %" PRIu32 ", bytes %" PRIu64 "\n",
                    metadata.record_count, metadata.distinct_count, metadata.table_count, metadata.total_bytes);
    return EXIT_DONE;
}

int cmd_verify(int argc, char **argv)
{
    arguments args = {.task = TASK_ARGUMENTS_INIT};
    sstore_verify_options options = SSTORE_VERIFY_OPTIONS_INIT;
    findings found = {.count = 0};
    sstore_error error;
    const char *path = operands_only_store(command_line_parse(&verify_syntax, argc, argv, &args));
    found.max_shown = args.all ? UINT64_MAX : SHOWN_PROBLEMS;
    task_begin_reading(&args.task);
    options.on_progress = args.task.options.on_progress;
    const sstore_status status = sstore_verify(path, &options, print_problem, &found, &error);
    if (status == SSTORE_STOPPED)
        return task_end(path, "not everything was checked", status, &error);
    progress_end();
    if (status == SSTORE_OK)
        return args.task.quiet ? EXIT_DONE : print_ok(path);
    const bool is_damaged = status == SSTORE_ERROR_DAMAGED;
    /* The error repeats a printed problem, or is the reason why the search ended. */
    if (found.count == 0 || (!is_damaged && strcmp(error.message, found.first.message) != 0))
        return message_error(&error);
    if (found.count > found.max_shown)
        message_print("%s: %" PRIu64 " more problems are not shown; --all prints them", path,
                      found.count - found.max_shown);
    message_print("%s: %s: %" PRIu64 " problem%s found%s", path, is_damaged ? "damaged" : "not completely readable",
                  found.count, found.count == 1 ? "" : "s",
                  is_damaged
                      ? "; where no line above names a remedy, restore the file from a copy, or build the store again"
                      : "");
    return is_damaged ? EXIT_DAMAGED : EXIT_FAILED;
}

/*
 * cmd_compact.c - sstore compact: make one segment of many.
 */
#include <inttypes.h>

#include "build_arguments.h"
#include "cmd.h"

enum { KEY_TIERED = 0x200 };

typedef struct arguments {
    const char *store;
    build_arguments build;
    sstore_compaction which;
} arguments;

static const struct argp_option options[] = {
    {"tiered", KEY_TIERED, NULL, 0, "only the newest segments, while the next older one is at most four times as large as "
                                    "they are together, and if they are four or more", 0},
    {0}};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    arguments *all = state->input;
    if (key == ARGP_KEY_INIT)
        state->child_inputs[0] = &all->build;
    else if (key == KEY_TIERED)
        all->which = SSTORE_COMPACT_TIERS;
    else
        return cmd_parse_store(key, argument, &all->store);
    return 0;
}

static const struct argp_child children[] = {{&segment_argp, 0, NULL, 0}, CMD_COMMON_CHILD, {0}};
static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "STORE",
    .doc = "Make one segment of all segments of STORE, without what was removed. Readers go on meanwhile. The disk needs room "
           "for the new segment beside the old ones. A store of one segment is made anew only with --plan or --block-size."
           "\vSizes take the suffixes K, M, G and T, powers of 1024.",
    .children = children,
};

int cmd_compact(int argc, char **argv)
{
    arguments all = {.build = BUILD_ARGUMENTS_INIT, .which = SSTORE_COMPACT_ALL};
    sstore_change change = {.struct_size = sizeof change};
    sstore_error error;
    cmd_parse(&argp, argc, argv, &all);
    build_arguments_begin(&all.build);
    all.build.options.change = &change;
    sstore_status status = sstore_compact(all.store, all.which, &all.build.options, &error);
    int code = build_arguments_check(all.store, status, &error);
    if (code == EXIT_DONE && !all.build.quiet &&
        change.segment_count == change.segment_count_before && change.total_bytes == change.total_bytes_before)
        cmd_complain("%s: there is nothing to compact; records %" PRIu64 ", segments %" PRIu32 ", bytes %" PRIu64, all.store,
                     change.record_count, change.segment_count, change.total_bytes);
    else if (code == EXIT_DONE && !all.build.quiet)
        cmd_complain("%s: records %" PRIu64 ", segments %" PRIu32 ", bytes %" PRIu64 "; before: segments %" PRIu32
                     ", bytes %" PRIu64, all.store, change.record_count, change.segment_count, change.total_bytes,
                     change.segment_count_before, change.total_bytes_before);
    return code;
}

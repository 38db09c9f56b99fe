/*
 * cmd_reindex.c - sstore reindex: make lost or damaged directories again.
 */
#include <inttypes.h>

#include "build_arguments.h"
#include "cmd.h"

enum { KEY_ALL = 0x200 };

typedef struct arguments {
    const char *store;
    build_arguments build;
    bool all;
} arguments;

static const struct argp_option options[] = {
    {"all", KEY_ALL, NULL, 0, "make all directories again, also those that can be used", 0}, {0}};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    arguments *all = state->input;
    if (key == ARGP_KEY_INIT)
        state->child_inputs[0] = &all->build;
    else if (key == KEY_ALL)
        all->all = true;
    else
        return cmd_parse_store(key, argument, &all->store);
    return 0;
}

static const struct argp_child children[] = {{&run_argp, 0, NULL, 0}, CMD_COMMON_CHILD, {0}};
static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "STORE",
    .doc = "Make the directories (directory.mdb) of STORE again that are lost or damaged, or that another kind of "
           "machine wrote, from its tables and ids, so that it answers again. These stay as they are; where one of them "
           "is damaged, it is named, and nothing is changed. Readers go on meanwhile.",
    .children = children,
};

int cmd_reindex(int argc, char **argv)
{
    arguments all = {.build = BUILD_ARGUMENTS_INIT};
    sstore_reindex_options how = SSTORE_REINDEX_OPTIONS_INIT;
    uint32_t made_count = 0;
    sstore_error error;
    cmd_parse(&argp, argc, argv, &all);
    build_arguments_begin(&all.build);
    how.all = all.all;
    how.on_progress = all.build.options.on_progress;
    how.progress_context = all.build.options.progress_context;
    how.made_count = &made_count;
    sstore_status status = sstore_reindex(all.store, &how, &error);
    int code = build_arguments_check(all.store, status, &error);
    if (code != EXIT_DONE || all.build.quiet)
        return code;
    if (made_count == 0)
        cmd_complain("%s: all directories can be used; nothing was changed", all.store);
    else
        cmd_complain("%s: directories made again %" PRIu32, all.store, made_count);
    return code;
}

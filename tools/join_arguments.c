#include "join_arguments.h"

#include "arguments.h"
#include "cmd.h"
#include "interrupt.h"

enum { KEY_JSON = 0x500 };

static const struct argp_option options[] = {
    {"distance", 'k', "D", 0, "near is what lies within D bits, 0 to 16 (default: the distance of the store)", 0},
    {"json", KEY_JSON, NULL, 0, "print JSON objects, one a line", 0},
    {0}};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    join_arguments *arguments = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->task;
        return 0;
    case 'k':
        arguments->distance = (uint32_t)argument_number("-k", argument, 0, SSTORE_MAX_BUILD_DISTANCE);
        return 0;
    case KEY_JSON:
        if (!output_has_json())
            cmd_usage_error("--json: this sstore was built without the jansson library");
        arguments->json = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&task_argp, 0, NULL, 0}, {0}};
const struct argp join_argp = {.options = options, .parser = parse, .children = children};

int join_open(const char *path, const join_arguments *arguments, sstore **store_out, output_style *style_out)
{
    sstore_statistics facts = {.struct_size = sizeof facts};
    sstore_error error;
    if (sstore_open(path, NULL, store_out, &error) != SSTORE_OK || sstore_stat(*store_out, &facts, &error) != SSTORE_OK)
        return cmd_fail(&error);
    *style_out = (output_style){.json = arguments->json, .has_ids = facts.has_ids != 0};
    return EXIT_DONE;
}

sstore_join_options join_begin(join_arguments *arguments)
{
    sstore_join_options taken = SSTORE_JOIN_OPTIONS_INIT;
    build_arguments_begin_reading(&arguments->task);
    const sstore_build_options *task = &arguments->task.options;
    taken.distance = arguments->distance;
    taken.threads = task->threads;
    taken.memory_bytes = task->memory_bytes;
    taken.tmp_dir = task->tmp_dir;
    taken.on_progress = task->on_progress;
    return taken;
}

int join_end(const char *path, sstore_status status, const sstore_error *error)
{
    /* What is printed stops the join when it cannot be written, which is told at the end of the process. */
    if (status == SSTORE_STOPPED && !interrupted())
        return EXIT_FAILED;
    return build_arguments_check(path, status, error);
}

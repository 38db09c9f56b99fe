/*
 * cmd_merge.c - sstore merge: join stores into one.
 */
#include "build_arguments.h"
#include "cmd.h"

typedef struct arguments {
    build_arguments build;
    cmd_store_and_inputs operands;
} arguments;

static error_t parse(int key, char *argument, struct argp_state *state)
{
    arguments *all = state->input;
    (void)argument;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &all->build;
        return 0;
    case ARGP_KEY_ARGS:
        all->operands = cmd_take_operands(state);
        return 0;
    case ARGP_KEY_END:
        if (all->operands.input_count == 0)
            cmd_usage_error("expected a STORE and the INPUT stores to merge into it");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&build_argp, 0, NULL, 0}, CMD_COMMON_CHILD, {0}};
static const struct argp argp = {
    .parser = parse,
    .args_doc = "STORE INPUT...",
    .doc = "Make STORE of all records of the INPUT stores. They must be for the same distance, with ids or without, and of "
           "the same recipe; their plans may differ. Records that are in several INPUTs are kept once, so parts whose ids "
           "are ordinals must have been built with different --first-ordinal.",
    .children = children,
};

int cmd_merge(int argc, char **argv)
{
    arguments all = {.build = BUILD_ARGUMENTS_INIT};
    sstore_error error;
    cmd_parse(&argp, argc, argv, &all);
    const cmd_store_and_inputs *operands = &all.operands;
    int code = build_arguments_check_stores(&all.build, operands->store, operands->inputs, (size_t)operands->input_count);
    if (code != EXIT_DONE)
        return code;
    build_arguments_begin(&all.build);
    sstore_status status = sstore_merge(operands->store, (const char *const *)operands->inputs,
                                        (size_t)operands->input_count, &all.build.options, &error);
    return build_arguments_end(&all.build, operands->store, status, &error);
}

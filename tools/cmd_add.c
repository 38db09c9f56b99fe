/*
 * cmd_add.c - sstore add: add records to a store.
 */
#include "build_store.h"
#include "cmd.h"

typedef struct arguments {
    cmd_store_and_inputs operands;
    build_arguments build;
    input_options input;
} arguments;

static error_t parse(int key, char *argument, struct argp_state *state)
{
    arguments *all = state->input;
    (void)argument;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &all->build;
        state->child_inputs[1] = &all->input;
        return 0;
    case ARGP_KEY_ARGS:
        all->operands = cmd_take_operands(state);
        return 0;
    case ARGP_KEY_END:
        cmd_check_inputs(&all->operands);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {
    {&segment_argp, 0, NULL, 0}, {&input_argp, 0, NULL, 0}, CMD_COMMON_CHILD, {0}};
static const struct argp argp = {
    .parser = parse,
    .args_doc = "STORE [INPUT...]",
    .doc = "Add the records in all INPUTs, as 'sstore build' reads them, to STORE; - or no INPUT is stdin. They become a "
           "segment of their own, which readers see at once and as a whole when all is done. Records that STORE has "
           "already are not added again. Without ids, a record's id is the store's next ordinal. 'sstore compact' makes "
           "one segment of many, which queries take less time for."
           "\vSizes take the suffixes K, M, G and T, powers of 1024.",
    .children = children,
};

int cmd_add(int argc, char **argv)
{
    arguments all = {.build = BUILD_ARGUMENTS_INIT, .input = INPUT_OPTIONS_INIT};
    cmd_parse(&argp, argc, argv, &all);
    return build_store(STORE_ADD, all.operands.store, &all.build, all.operands.inputs,
                       (size_t)all.operands.input_count, &all.input);
}

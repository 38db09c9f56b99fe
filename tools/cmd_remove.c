/*
 * cmd_remove.c - sstore remove: take records out of a store.
 */
#include "build_store.h"
#include "cmd.h"

enum { KEY_IDS = 0x200 };

typedef struct arguments {
    cmd_store_and_inputs operands;
    build_arguments build;
    input_options input;
    bool ids;
} arguments;

static const struct argp_option options[] = {
    {"ids", KEY_IDS, NULL, 0, "the first column is of ids, decimal: remove all records with one of them", 0}, {0}};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    arguments *all = state->input;
    (void)argument;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &all->build;
        state->child_inputs[1] = &all->input;
        return 0;
    case KEY_IDS:
        all->ids = true;
        all->input.lines.decimal = true;
        all->input.lines.ignore_ids = true;
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
    {&work_argp, 0, NULL, 0}, {&input_argp, 0, NULL, 0}, CMD_COMMON_CHILD, {0}};
static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "STORE [INPUT...]",
    .doc = "Take the records in all INPUTs, as 'sstore build' reads them, out of STORE; - or no INPUT is stdin. A "
           "fingerprint without an id stands for all its records. What STORE does not have is ignored. Readers see the "
           "removal at once and as a whole when all is done; the room is free after 'sstore compact'."
           "\vSizes take the suffixes K, M, G and T, powers of 1024.",
    .children = children,
};

int cmd_remove(int argc, char **argv)
{
    arguments all = {.build = BUILD_ARGUMENTS_INIT, .input = INPUT_OPTIONS_INIT};
    cmd_parse(&argp, argc, argv, &all);
    return build_store(all.ids ? STORE_REMOVE_IDS : STORE_REMOVE, all.operands.store, &all.build, all.operands.inputs,
                       (size_t)all.operands.input_count, &all.input);
}

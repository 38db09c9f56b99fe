/*
 * cmd_remove.c - sstore remove: take records out of a store.
 */
#include "build_store.h"

enum { KEY_IDS = 0x200 };

typedef struct arguments {
    store_arguments store;
    bool ids;
} arguments;

static const struct argp_option options[] = {
    {"ids", KEY_IDS, NULL, 0, "the input is of ids, in text the first column, decimal: remove all records with one of them", 0}, {0}};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    arguments *all = state->input;
    (void)argument;
    if (key != KEY_IDS)
        return store_arguments_parse(key, state, &all->store);
    all->ids = true;
    all->store.input.lines.are_ids = true;
    all->store.input.lines.ignore_ids = true;
    return 0;
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
    arguments all = {.store = STORE_ARGUMENTS_INIT};
    cmd_parse(&argp, argc, argv, &all);
    return build_store(all.ids ? STORE_REMOVE_IDS : STORE_REMOVE, &all.store);
}

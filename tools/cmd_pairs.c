/*
 * cmd_pairs.c - sstore pairs: all pairs of records of a store that are near each other.
 */
#include "cmd.h"
#include "join_arguments.h"

typedef struct arguments {
    const char *store;
    join_arguments join;
} arguments;

static error_t parse(int key, char *argument, struct argp_state *state)
{
    arguments *all = state->input;
    if (key != ARGP_KEY_INIT)
        return cmd_parse_store(key, argument, &all->store);
    state->child_inputs[0] = &all->join;
    return 0;
}

static const struct argp_child children[] = {{&join_argp, 0, NULL, 0}, CMD_COMMON_CHILD, {0}};
static const struct argp argp = {
    .parser = parse,
    .args_doc = "STORE",
    .doc = "Print every pair of records of STORE within the distance once, the lower one first, as lines of fingerprint, id, "
           "fingerprint, id and distance. Records with equal fingerprints are pairs, too."
           "\vSizes take the suffixes K, M, G and T, powers of 1024.",
    .children = children,
};

static int print_pair(void *context, const sstore_pair *pair)
{
    const output_style *style = context;
    return !output_pair(style, style, pair);
}

int cmd_pairs(int argc, char **argv)
{
    arguments all = {.join = JOIN_ARGUMENTS_INIT};
    output_style style;
    sstore *store = NULL;
    sstore_error error;
    cmd_parse(&argp, argc, argv, &all);
    int code = join_open(all.store, &all.join, &store, &style);
    if (code == EXIT_DONE) {
        const sstore_join_options options = join_begin(&all.join);
        sstore_status status = sstore_pairs(store, &options, print_pair, &style, &error);
        code = join_end(all.store, status, &error);
    }
    sstore_close(store);
    return code;
}

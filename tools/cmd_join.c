/*
 * cmd_join.c - sstore join: all pairs of a record of one store and one of another that are near each other.
 */
#include "cmd.h"
#include "join_arguments.h"

typedef struct arguments {
    const char *left, *right;
    join_arguments join;
} arguments;

static error_t parse(int key, char *argument, struct argp_state *state)
{
    arguments *all = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &all->join;
        return 0;
    case ARGP_KEY_ARG:
        if (all->right != NULL)
            cmd_usage_error("'%s' is one operand too many: expected two stores, A and B", argument);
        *(all->left == NULL ? &all->left : &all->right) = argument;
        return 0;
    case ARGP_KEY_END:
        if (all->right == NULL)
            cmd_usage_error("expected two stores, A and B");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&join_argp, 0, NULL, 0}, CMD_COMMON_CHILD, {0}};
static const struct argp argp = {
    .parser = parse,
    .args_doc = "A B",
    .doc = "Print every pair of a record of store A and one of store B within the distance once, as lines of fingerprint and "
           "id in A, fingerprint and id in B, and distance. The stores must be of the same recipe. Without -k the distance is "
           "the smaller one of those that the stores were built for."
           "\vSizes take the suffixes K, M, G and T, powers of 1024.",
    .children = children,
};

typedef struct both_styles {
    output_style left, right;
} both_styles;

static int print_pair(void *context, const sstore_pair *pair)
{
    const both_styles *styles = context;
    return !output_pair(&styles->left, &styles->right, pair);
}

int cmd_join(int argc, char **argv)
{
    arguments all = {.join = JOIN_ARGUMENTS_INIT};
    both_styles styles;
    sstore *left = NULL, *right = NULL;
    sstore_error error;
    cmd_parse(&argp, argc, argv, &all);
    int code = join_open(all.left, &all.join, &left, &styles.left);
    if (code == EXIT_DONE)
        code = join_open(all.right, &all.join, &right, &styles.right);
    if (code == EXIT_DONE) {
        const sstore_join_options options = join_begin(&all.join);
        sstore_status status = sstore_join(left, right, &options, print_pair, &styles, &error);
        code = join_end(all.left, status, &error);
    }
    sstore_close(left);
    sstore_close(right);
    return code;
}

/*
 * cmd_verify.c - sstore verify: read and check everything in a store.
 */
#include <inttypes.h>

#include "cmd.h"
#include "output.h"

static error_t parse(int key, char *argument, struct argp_state *state)
{
    return cmd_parse_store(key, argument, state->input);
}

static const struct argp_child children[] = {CMD_COMMON_CHILD, {0}};
static const struct argp argp = {
    .parser = parse,
    .args_doc = "STORE",
    .doc = "Read and decode everything in STORE, and hold its tables, ids and directory against each other. Each "
           "damage is printed to stderr; if there is any, the exit status is 3.",
    .children = children,
};

static int print_problem(void *context, const sstore_error *problem)
{
    uint64_t *problem_count = context;
    (*problem_count)++;
    cmd_complain("%s", problem->message);
    return 0;
}

static int print_ok(const char *path)
{
    sstore_statistics facts;
    int code = cmd_read_facts(path, &facts);
    if (code == EXIT_DONE && facts.segment_count != 1)
        output_text("ok: %s: records %" PRIu64 ", segments %" PRIu32 ", bytes %" PRIu64 "\n", path, facts.record_count,
                    facts.segment_count, facts.total_bytes);
    else if (code == EXIT_DONE)
        output_text("ok: %s: records %" PRIu64 ", distinct %" PRIu64 ", tables %" PRIu32 ", bytes %" PRIu64 "\n", path,
                    facts.record_count, facts.distinct_count, facts.table_count, facts.total_bytes);
    return code;
}

int cmd_verify(int argc, char **argv)
{
    const char *path = NULL;
    cmd_parse(&argp, argc, argv, &path);
    uint64_t problem_count = 0;
    sstore_error error;
    sstore_status status = sstore_verify(path, print_problem, &problem_count, &error);
    if (status == SSTORE_OK)
        return print_ok(path);
    /* The error repeats the first problem. */
    if (problem_count == 0 || status != SSTORE_ERROR_DAMAGED)
        return cmd_fail(&error);
    cmd_complain("%s: damaged: %" PRIu64 " problem%s found", path, problem_count, problem_count == 1 ? "" : "s");
    return EXIT_DAMAGED;
}

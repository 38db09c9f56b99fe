/*
 * cmd_verify.c - sstore verify: read and check everything in a store.
 */
#include <inttypes.h>
#include <string.h>

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

/* What was found so far. */
typedef struct findings {
    uint64_t count;
    sstore_error first;
} findings;

static int print_problem(void *context, const sstore_error *problem)
{
    findings *self = context;
    if (self->count++ == 0)
        self->first = *problem;
    cmd_complain("%s", problem->message);
    return 0;
}

static int print_ok(const char *path)
{
    sstore_statistics facts;
    int code = cmd_read_facts(path, &facts);
    if (code != EXIT_DONE)
        return code;
    output_text("ok: ");
    output_escaped(path, false);
    if (facts.segment_count != 1)
        output_text(": records %" PRIu64 ", segments %" PRIu32 ", bytes %" PRIu64 "\n", facts.record_count,
                    facts.segment_count, facts.total_bytes);
    else
        output_text(": records %" PRIu64 ", distinct %" PRIu64 ", tables %" PRIu32 ", bytes %" PRIu64 "\n",
                    facts.record_count, facts.distinct_count, facts.table_count, facts.total_bytes);
    return EXIT_DONE;
}

int cmd_verify(int argc, char **argv)
{
    const char *path = NULL;
    cmd_parse(&argp, argc, argv, &path);
    findings found = {.count = 0};
    sstore_error error;
    const sstore_status status = sstore_verify(path, print_problem, &found, &error);
    if (status == SSTORE_OK)
        return print_ok(path);
    const bool is_damaged = status == SSTORE_ERROR_DAMAGED;
    /* The error repeats a problem, or tells what ended the search for them. */
    if (found.count == 0 || (!is_damaged && strcmp(error.message, found.first.message) != 0))
        return cmd_fail(&error);
    cmd_complain("%s: %s: %" PRIu64 " problem%s found", path, is_damaged ? "damaged" : "cannot be read whole", found.count,
                 found.count == 1 ? "" : "s");
    return is_damaged ? EXIT_DAMAGED : EXIT_FAILED;
}

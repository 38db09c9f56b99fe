/*
 * cmd_dump.c - sstore dump: print all records of a store, in order.
 */
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
    .doc = "Print all records of STORE as lines of fingerprint and id, ascending. 'sstore build' reads them, and with "
           "the same options makes the same store of them.",
    .children = children,
};

static int print_record(void *context, const sstore_record *record)
{
    const bool *has_ids = context;
    return !output_record(*has_ids, record);
}

static int dump(const sstore *store)
{
    sstore_error error;
    sstore_cursor *cursor = NULL;
    sstore_statistics facts = {.struct_size = sizeof facts};
    if (sstore_stat(store, &facts, &error) != SSTORE_OK || sstore_cursor_create(store, &cursor, &error) != SSTORE_OK)
        return cmd_fail(&error);
    bool has_ids = facts.has_ids != 0;
    sstore_status status = sstore_each_record(cursor, print_record, &has_ids, &error);
    sstore_cursor_free(cursor);
    if (status == SSTORE_OK)
        return EXIT_DONE;
    return status == SSTORE_STOPPED ? EXIT_FAILED : cmd_fail(&error);
}

int cmd_dump(int argc, char **argv)
{
    const char *path = NULL;
    cmd_parse(&argp, argc, argv, &path);
    sstore *store;
    sstore_error error;
    if (sstore_open(path, NULL, &store, &error) != SSTORE_OK)
        return cmd_fail(&error);
    int code = dump(store);
    sstore_close(store);
    return code;
}

/*
 * cmd_dump.c - sstore dump: print all records of a store, in order.
 */
#include "arguments.h"
#include "cmd.h"
#include "output.h"

enum { KEY_FORMAT = 0x200 };

typedef enum dump_format { DUMP_TEXT, DUMP_REC, DUMP_U64 } dump_format;

typedef struct dump_arguments {
    const char *store;
    dump_format format;
} dump_arguments;

static const struct argp_option options[] = {
    {"format", KEY_FORMAT, "FORMAT", 0, "text (the default); rec, binary with ids; or u64, binary without", 0}, {0}};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    static const char *const names[] = {"text", "rec", "u64", NULL};
    dump_arguments *arguments = state->input;
    if (key != KEY_FORMAT)
        return cmd_parse_store(key, argument, &arguments->store);
    arguments->format = (dump_format)argument_choice("--format", argument, names, "'text', 'rec' or 'u64'");
    return 0;
}

static const struct argp_child children[] = {CMD_COMMON_CHILD, {0}};
static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "STORE",
    .doc = "Print all records of STORE as lines of fingerprint and id, ascending. 'sstore build' reads them, in any "
           "format, and with the same options makes the same store of them.",
    .children = children,
};

static int print_with_id(void *context, const sstore_record *record)
{
    (void)context;
    return !output_record(true, record);
}

static int print_without_id(void *context, const sstore_record *record)
{
    (void)context;
    return !output_record(false, record);
}

static int print_pair(void *context, const sstore_record *record)
{
    (void)context;
    return !output_words((const uint64_t[]){record->fingerprint, record->id}, 2);
}

static int print_word(void *context, const sstore_record *record)
{
    (void)context;
    return !output_words(&record->fingerprint, 1);
}

/* What prints a record. NULL: the store does not have what the format holds, which has been reported. */
static sstore_record_fn choose_printer(const dump_arguments *arguments, bool has_ids)
{
    switch (arguments->format) {
    case DUMP_U64: return print_word;
    case DUMP_TEXT: return has_ids ? print_with_id : print_without_id;
    case DUMP_REC: break;
    }
    if (!has_ids)
        cmd_complain("%s: --format rec: the store has no ids; --format u64 prints its fingerprints", arguments->store);
    return has_ids ? print_pair : NULL;
}

static int dump(const sstore *store, const dump_arguments *arguments)
{
    sstore_error error;
    sstore_cursor *cursor = NULL;
    sstore_statistics facts = {.struct_size = sizeof facts};
    if (sstore_stat(store, &facts, &error) != SSTORE_OK)
        return cmd_fail(&error);
    sstore_record_fn print = choose_printer(arguments, facts.has_ids != 0);
    if (print == NULL)
        return EXIT_USAGE;
    if (sstore_cursor_create(store, &cursor, &error) != SSTORE_OK)
        return cmd_fail(&error);
    sstore_status status = sstore_each_record(cursor, print, NULL, &error);
    sstore_cursor_free(cursor);
    if (status == SSTORE_OK)
        return EXIT_DONE;
    return status == SSTORE_STOPPED ? EXIT_FAILED : cmd_fail(&error);
}

int cmd_dump(int argc, char **argv)
{
    dump_arguments arguments = {.format = DUMP_TEXT};
    cmd_parse(&argp, argc, argv, &arguments);
    sstore *store;
    sstore_error error;
    if (sstore_open(arguments.store, NULL, &store, &error) != SSTORE_OK)
        return cmd_fail(&error);
    int code = dump(store, &arguments);
    sstore_close(store);
    return code;
}

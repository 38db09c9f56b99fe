/*
 * cmd_dump.c - sstore dump: print all records of a store, in order.
 */
#include "commands/cmd.h"

typedef enum dump_format { DUMP_TEXT, DUMP_REC, DUMP_U64 } dump_format;

typedef struct arguments {
    dump_format format;
} arguments;

static const option_choice formats[] = {{"text", DUMP_TEXT}, {"rec", DUMP_REC}, {"u64", DUMP_U64}, {0}};
static const command_option options[] = {
    {"format", 0, "FORMAT", "text (default), rec (binary, with ids) or u64 (binary, without ids)", OPTION_CHOICE,
     OPTION_FIELD(arguments, format), .choices = formats},
    {0},
};
static const command_syntax syntax = {
    .options = options,
    .operands = "STORE",
    .doc = "Print all records of STORE in ascending order, as lines of fingerprint and id. 'sstore build' reads every "
           "format. text and rec keep the ids; u64 drops them.",
};

/* How records are printed. */
typedef struct printer {
    dump_format format;
    bool has_ids;
} printer;

static int print_record(void *context, const sstore_record *record)
{
    const printer *how = context;
    const uint64_t words[] = {record->fingerprint, record->id};
    if (how->format == DUMP_TEXT)
        return !output_record(how->has_ids, record);
    return !output_words(words, how->format == DUMP_REC ? 2 : 1);
}

int cmd_dump(int argc, char **argv)
{
    arguments all = {.format = DUMP_TEXT};
    sstore *store;
    sstore_statistics metadata;
    sstore_error error;
    const char *path = operands_only_store(command_line_parse(&syntax, argc, argv, &all));
    int code = store_open(path, NULL, &store, &metadata);
    printer how = {.format = all.format, .has_ids = metadata.has_ids};
    if (code == EXIT_DONE && how.format == DUMP_REC && !how.has_ids) {
        message_print("%s: the store has no ids, so --format rec is not possible; use --format u64", path);
        code = EXIT_USAGE;
    }
    if (code == EXIT_DONE)
        code = message_status(sstore_each_record(store, print_record, &how, &error), &error);
    sstore_close(store);
    return code;
}

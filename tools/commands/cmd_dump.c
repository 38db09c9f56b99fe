/*
 * cmd_dump.c - sstore dump: print all records of a store, in order, in the formats of inputs.
 */
#include "commands/cmd.h"

#include <string.h>

#include "input/padding.h"
#include "output/records.h"

typedef enum dump_format { DUMP_TEXT, DUMP_JSONL, DUMP_REC, DUMP_U64, DUMP_NPY, DUMP_NPY_BYTES } dump_format;
typedef enum dump_columns { COLUMNS_BY_FORMAT, FINGERPRINT_ID, ID_FINGERPRINT, ONLY_FINGERPRINT } dump_columns;

typedef struct arguments {
    dump_format format;
    dump_columns columns;
    radix_form radix;
    const char *fingerprint_key, *id_key;
    const char *radix_given;
    bool no_comments;
    header_mode header;
    progress_mode progress;
} arguments;

static const option_choice format_choices[] = {{"text", DUMP_TEXT},
                                               {"jsonl", DUMP_JSONL},
                                               {"rec", DUMP_REC},
                                               {"u64", DUMP_U64},
                                               {"npy", DUMP_NPY},
                                               {"npy-bytes", DUMP_NPY_BYTES},
                                               {0}};
static const option_choice column_choices[] = {{"fingerprint,id", FINGERPRINT_ID},
                                               {"id,fingerprint", ID_FINGERPRINT},
                                               {"fingerprint", ONLY_FINGERPRINT},
                                               {0}};
static const command_option options[] = {
    {"format", 0, "FORMAT",
     "text (default), jsonl, rec (binary, with ids), u64 (binary, without ids), npy, or npy-bytes (as in faiss)",
     OPTION_CHOICE, OPTION_FIELD(arguments, format), .choices = format_choices, .common = true},
    {"columns", 0, "LIST", "fingerprint,id (default), id,fingerprint or fingerprint", OPTION_CHOICE,
     OPTION_FIELD(arguments, columns), .choices = column_choices, .common = true},
    {"radix", 0, "RADIX", "fingerprints in text are hex (default), dec, signed, base64, base32 or bin", OPTION_CHOICE,
     OPTION_FIELD(arguments, radix), .choices = output_radix_choices, .given = offsetof(arguments, radix_given),
     .common = true},
    {"fingerprint-field", 0, "KEY", "the key of a fingerprint in jsonl (default fingerprint)", OPTION_TEXT,
     OPTION_FIELD(arguments, fingerprint_key)},
    {"no-comments", 0, NULL, "leave out the recipe, which text states in a comment, and jsonl in the first object",
     OPTION_FLAG, OPTION_FIELD(arguments, no_comments)},
    {"id-field", 0, "KEY", "the key of an id in jsonl (default id)", OPTION_TEXT, OPTION_FIELD(arguments, id_key)},
    {0},
};
static const command_syntax syntax = {
    .options = options,
    .groups = (const option_group[]){HEADER_OPTION_GROUP(offsetof(arguments, header)),
                                     PROGRESS_OPTION_GROUP(offsetof(arguments, progress)),
                                     {0}},
    .operands = "STORE",
    .doc = "Print all records of STORE in ascending order, as lines of fingerprint and id, or name if the store has "
           "names. 'sstore build' reads every format. u64, npy-bytes and --columns fingerprint drop the ids, and only "
           "text and jsonl have names.",
    .examples = (const command_example[]){{"print all records", "sstore dump pages.store > pages.tsv"}, {0}},
};

/* What each format has. */
static const struct {
    const char *name;
    record_format format;
    dump_columns columns;     /* by default */
    bool has_lines;           /* takes --radix, and has a sign for a missing id */
    bool has_choice;          /* of columns */
    const char *failure_mark; /* an array says how many rows it has */
} formats[] = {
    [DUMP_TEXT] = {"text", RECORDS_TEXT, FINGERPRINT_ID, true, true, OUTPUT_FAILURE_LINE},
    [DUMP_JSONL] = {"jsonl", RECORDS_JSONL, FINGERPRINT_ID, true, true, OUTPUT_FAILURE_LINE},
    [DUMP_REC] = {"rec", RECORDS_WORDS, FINGERPRINT_ID, false, false, OUTPUT_FAILURE_BYTES},
    [DUMP_U64] = {"u64", RECORDS_WORDS, ONLY_FINGERPRINT, false, false, OUTPUT_FAILURE_BYTES},
    [DUMP_NPY] = {"npy", RECORDS_NPY, FINGERPRINT_ID, false, true, NULL},
    [DUMP_NPY_BYTES] = {"npy-bytes", RECORDS_NPY_BYTES, ONLY_FINGERPRINT, false, false, NULL},
};

static void check_arguments(const arguments *args)
{
    const char *name = formats[args->format].name;
    if (args->columns != COLUMNS_BY_FORMAT && !formats[args->format].has_choice)
        message_usage_error("--columns has no effect with --format %s: leave one of them out", name);
    if (args->columns == ID_FINGERPRINT && args->format == DUMP_NPY)
        message_usage_error("--columns id,fingerprint: an array of records begins with the fingerprints");
    if (args->radix_given != NULL && !formats[args->format].has_lines)
        message_usage_error("%s has no effect with --format %s: leave one of them out", args->radix_given, name);
    if (args->header == HEADER_ALWAYS && args->format != DUMP_TEXT)
        message_usage_error("--header always has no effect with --format %s: leave one of them out", name);
    check_json_keys(args->fingerprint_key, args->id_key);
    if (!formats[args->format].has_lines && output_is_terminal())
        message_usage_error("--format %s is binary: write it to a file, not to a terminal", name);
}

/* Choose what to print of each record. Returns an exit code. */
static int choose_parts(const char *path, const arguments *args, record_style *style)
{
    const bool can_lack_ids = formats[args->format].has_lines;
    dump_columns columns = args->columns != COLUMNS_BY_FORMAT ? args->columns : formats[args->format].columns;
    if (columns != ONLY_FINGERPRINT && !style->has_ids && !can_lack_ids) {
        if (args->format != DUMP_NPY || args->columns != COLUMNS_BY_FORMAT) {
            message_print("%s: the store has no ids, so --format %s is not possible; use %s", path,
                          formats[args->format].name,
                          args->format == DUMP_NPY ? "--columns fingerprint" : "--format u64");
            return EXIT_USAGE;
        }
        columns = ONLY_FINGERPRINT;
    }
    const bool id_first = columns == ID_FINGERPRINT;
    style->part_count = columns == ONLY_FINGERPRINT ? 1 : 2;
    style->parts[id_first] = RECORD_FINGERPRINT;
    style->keys[id_first] = args->fingerprint_key;
    style->parts[!id_first] = RECORD_ID;
    style->keys[!id_first] = args->id_key;
    if (style->names != NULL && style->part_count == 2 && !args->no_comments)
        style->columns = id_first ? "name,fingerprint" : "fingerprint,name";
    return EXIT_DONE;
}

/* Let the records state the store's recipe, if their format can. Pairs do if the store is of --pad: otherwise most
 * readers could not read them. */
static void choose_recipe(const char *path, const arguments *args, const sstore *store, record_style *style)
{
    const char *recipe = sstore_recipe(store);
    const bool is_padded = padding_own_bits(recipe, style->words) != 64 * style->words;
    const bool states = !args->no_comments && recipe[0] != '\0' &&
                        (formats[args->format].has_lines || (args->format == DUMP_REC && is_padded));
    if (states && args->format == DUMP_JSONL && (strlen(recipe) >= LINE_RECIPE_BYTES || !json_is_text(recipe)))
        message_print("warning: %s: the lines do not state the recipe, which is %s; --format text does", path,
                      json_is_text(recipe) ? "too long for them" : "not UTF-8");
    else if (states)
        style->recipe = recipe;
    else if (args->format == DUMP_REC && style->words > 1)
        style->recipe = ""; /* the pairs of wider fingerprints say how wide they are */
}

/* Head lines of text. */
static void print_head(const arguments *args, const record_style *style)
{
    output_style lines = {.words = style->words, .radix = style->radix, .names = style->names};
    if (style->format == RECORDS_TEXT)
        output_head(&lines, args->header,
                    style->part_count == 1                  ? "fingerprint"
                    : style->parts[0] == RECORD_FINGERPRINT ? "fingerprint\tid"
                                                            : "id\tfingerprint");
}

#define PIECE_RECORDS ((size_t)4096)

/* Print all records, piece by piece. */
static int print_records(const sstore *store, record_style *style, uint64_t total)
{
    static uint64_t fingerprints[PIECE_RECORDS * SSTORE_MAX_WORDS], ids[PIECE_RECORDS];
    const sstore_columns columns = {.struct_size = sizeof columns, .fingerprint = fingerprints, .id = ids};
    sstore_iterator *records;
    sstore_error error;
    size_t count = 1;
    uint64_t printed = 0;
    sstore_status status = sstore_iterate_records(store, &records, &error);
    while (status == SSTORE_OK && count > 0) {
        status = sstore_iterator_next(records, &columns, PIECE_RECORDS, &count, &error);
        stored_names_expect(style->names, ids, count);
        for (size_t i = 0; i < count && status != SSTORE_STOPPED; i++) {
            if (!records_print(style, fingerprints + style->words * i, ids[i]))
                status = SSTORE_STOPPED;
            style->recipe = NULL; /* the first record has it */
        }
        printed += count;
        if (count > 0)
            progress_show("printing", printed, total, (double)printed / (double)total);
    }
    sstore_iterator_free(records);
    return message_status(status, &error);
}

int cmd_dump(int argc, char **argv)
{
    arguments args = {.fingerprint_key = "fingerprint", .id_key = "id"};
    sstore *store;
    sstore_statistics metadata;
    output_set_failure_mark(OUTPUT_FAILURE_LINE);
    const char *path = operands_only_store(command_line_parse(&syntax, argc, argv, &args));
    output_set_failure_mark(formats[args.format].failure_mark);
    check_arguments(&args);
    int code = store_open(path, NULL, &store, &metadata);
    record_style style = {.format = formats[args.format].format,
                          .words = metadata.fingerprint_bits / 64,
                          .radix = args.radix,
                          .has_ids = metadata.has_ids};
    stored_names names = {.code = EXIT_DONE};
    if (code == EXIT_DONE && formats[args.format].has_lines)
        code = stored_names_open(&names, store, path, args.format == DUMP_JSONL, &style.names);
    if (code == EXIT_DONE)
        choose_recipe(path, &args, store, &style);
    if (code == EXIT_DONE)
        code = choose_parts(path, &args, &style);
    if (code == EXIT_DONE && !records_begin(&style, metadata.record_count))
        code = EXIT_FAILED;
    progress_begin(args.progress);
    if (code == EXIT_DONE)
        print_head(&args, &style);
    if (code == EXIT_DONE)
        code = stored_names_exit_code(&names, print_records(store, &style, metadata.record_count));
    progress_end();
    stored_names_close(&names);
    sstore_close(store);
    return code;
}

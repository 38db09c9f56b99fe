/*
 * cmd.c - operands, options and steps that several commands share; cmd.h describes them.
 */
#include "commands/cmd.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "input/input_measure.h"
#include "input/input_value.h"
#include "input/interrupt.h"
#include "input/padding.h"

/* ----- operands ----- */

void operands_check(operands given, int count, const char *expected)
{
    if (given.count > count)
        message_usage_error("unexpected operand '%s': expected only %s", given.items[count], expected);
    if (given.count < count)
        message_usage_error("expected %s", expected);
}

const char *operands_only_store(operands given)
{
    operands_check(given, 1, "a STORE");
    return operands_take_store(&given);
}

const char *operands_take_store(operands *list)
{
    if (list->count == 0 || list->items[0][0] == '\0')
        message_usage_error("expected a STORE");
    list->count--;
    return *list->items++;
}

operands operands_as_inputs(operands given)
{
    static char *standard_input[] = {"-"};
    int standard_inputs = 0;
    for (int i = 0; i < given.count; i++)
        standard_inputs += strcmp(given.items[i], "-") == 0;
    if (standard_inputs > 1)
        message_usage_error("expected '-', standard input, only once, found it %d times", standard_inputs);
    return given.count > 0 ? given : (operands){standard_input, 1};
}

/* Several words, or one of letters that are not hex. */
static bool looks_like_text(const char *operand)
{
    return strchr(operand, ' ') != NULL ||
           (strpbrk(operand, "0123456789/.-_") == NULL && operand[strspn(operand, "abcdefABCDEF")] != '\0');
}

const char *operand_hint(const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0)
        return looks_like_text(path)
                   ? "; if this is text, 'echo TEXT | sstore fingerprint --lines | sstore query STORE -' "
                     "looks for it"
                   : "";
    return S_ISDIR(info.st_mode) ? "; the STORE is the first operand" : "; --input reads fingerprints from a file";
}

const char *id_operand_hint(const char *operand)
{
    struct stat info;
    if (strcmp(operand, "-") == 0)
        return "; --input - reads ids from standard input";
    if (stat(operand, &info) != 0)
        return "; --name takes names";
    return S_ISDIR(info.st_mode) ? "; the STORE is the first operand" : "; --input reads ids from a file";
}

/* ----- stores ----- */

int store_open(const char *path, const sstore_open_options *options, sstore **store_out,
               sstore_statistics *metadata_out)
{
    sstore_error error;
    *store_out = NULL;
    *metadata_out = (sstore_statistics){.struct_size = sizeof *metadata_out};
    if (sstore_open(path, options, store_out, &error) != SSTORE_OK ||
        sstore_stat(*store_out, metadata_out, &error) != SSTORE_OK)
        return message_error(&error);
    return EXIT_DONE;
}

int store_read_metadata(const char *path, sstore_statistics *metadata_out)
{
    sstore *store;
    int code = store_open(path, NULL, &store, metadata_out);
    sstore_close(store);
    return code;
}

void store_tell_reading_all(const char *path, const sstore_statistics *metadata)
{
    if (metadata->has_ids && !metadata->has_id_index)
        message_print(
            "%s: the store has no id index, so all its records are read; 'sstore compact --id-index' adds one", path);
}

const char *store_padded_recipe(uint32_t bits, const char *recipe, char to[STORE_PADDED_RECIPE_BYTES])
{
    const char *rest;
    (void)padding_of_recipe(recipe, &rest);
    (void)snprintf(to, STORE_PADDED_RECIPE_BYTES, "%" PRIu32 PADDED_RECIPE "%s%s", bits, rest[0] != '\0' ? "; " : "",
                   rest);
    return to;
}

void store_expect_padding(const char *recipe, line_format *lines, input_shape *shape)
{
    const uint32_t bits = padding_own_bits(recipe, shape->words);
    lines->is_for_store = true;
    if (bits == 64 * shape->words)
        return;
    lines->pads = true;
    shape->bits = bits;
}

int store_check_bits(const char *path, const sstore_statistics *metadata, const input_options *input)
{
    const uint32_t bits = padding_own_bits(metadata->recipe, metadata->fingerprint_bits / 64);
    if (input->bits == 0 || input->bits == bits)
        return EXIT_DONE;
    message_print("--bits: fingerprints of %s have %" PRIu32 " bits, not %" PRIu32, path, bits, input->bits);
    return EXIT_USAGE;
}

int store_check_recipe(const char *path, input_doubt *doubt, const char *input, const char *recipe)
{
    sstore_statistics metadata;
    char shown[sizeof metadata.recipe]; /* as the metadata shows recipes */
    const char *own, *stated;
    const int code = store_read_metadata(path, &metadata);
    if (code != EXIT_DONE)
        return code;
    (void)sstore_escape(recipe, strlen(recipe), false, shown, sizeof shown);
    (void)padding_of_recipe(metadata.recipe, &own);
    (void)padding_of_recipe(shown, &stated);
    if (own[0] == '\0' && metadata.record_count > 0 && value_is_recipe(stated))
        input_doubt_say(doubt,
                        "%s: the fingerprints are of the kind '%s', but the store %s does not say its own, so they may "
                        "be of another one; if not, dump it and build it with --recipe '%s'",
                        input, stated, path, stated);
    if (own[0] == '\0' || strcmp(stated, own) == 0)
        return EXIT_DONE;
    return message_print("%s: the input was made by the recipe '%s', but the store %s by '%s'", input, stated, path,
                         own);
}

static int check_recipe(void *store, input_doubt *doubt, const char *input, const char *recipe)
{
    return store_check_recipe(store, doubt, input, recipe);
}

void store_expect_recipe(input_options *options, const char *path)
{
    options->on_recipe = check_recipe;
    options->recipe_context = (void *)(uintptr_t)path;
}

const option_choice io_modes[] = {
    {"auto", SSTORE_IO_AUTO}, {"mmap", SSTORE_IO_MMAP}, {"pread", SSTORE_IO_PREAD}, {"memory", SSTORE_IO_MEMORY}, {0}};

/* ----- options of input ----- */

static const option_choice formats[] = {{"auto", INPUT_AUTO},
                                        {"text", INPUT_TEXT},
                                        {"u64", INPUT_U64},
                                        {"rec", INPUT_REC},
                                        {"npy", INPUT_NPY},
                                        {"jsonl", INPUT_JSONL},
                                        {0}};
static const option_choice compressions[] = {{"auto", COMPRESSION_AUTO},
                                             {"none", COMPRESSION_NONE},
                                             {"gzip", COMPRESSION_GZIP},
                                             {"zstd", COMPRESSION_ZSTD},
                                             {0}};
#define RADIX_CHOICES                                                                                                  \
    {"hex", RADIX_HEX}, {"dec", RADIX_DEC}, {"signed", RADIX_SIGNED}, {"base64", RADIX_BASE64},                        \
        {"base32", RADIX_BASE32},                                                                                      \
    {                                                                                                                  \
        "bin", RADIX_BIN                                                                                               \
    }
const option_choice radix_choices[] = {RADIX_CHOICES, {"signed32", RADIX_SIGNED32}, {0}};
const option_choice output_radix_choices[] = {RADIX_CHOICES, {0}};

const command_option input_option_table[] = {
    {"format", 0, "FORMAT", "auto (default: by suffix, otherwise text), text, u64, rec, npy or jsonl", OPTION_CHOICE,
     OPTION_FIELD(input_options, format), .choices = formats, .common = true},
    {"compression", 0, "KIND", "auto (default: by suffix; lines also by their first bytes), none, gzip or zstd",
     OPTION_CHOICE, OPTION_FIELD(input_options, compression), .choices = compressions},
    {"columns", 0, "LIST", "the fields of a line: fingerprint, id, name, or - to skip one (default fingerprint,id)",
     OPTION_TEXT, OPTION_FIELD(input_options, columns), .common = true},
    {"radix", 0, "RADIX",
     "fingerprints in text are hex (default), dec or signed (either reads both), base64, base32, bin or signed32 (of "
     "32 bits)",
     OPTION_CHOICE, OPTION_FIELD(input_options, lines.radix), .choices = radix_choices,
     .given = offsetof(input_options, radix_given)},
    {"bits", 0, "N",
     "fingerprints have N bits, a multiple of 64 up to 1024 (default: as the input or the store shows, "
     "otherwise 64)",
     OPTION_NUMBER, OPTION_FIELD(input_options, bits), .min = 1, .max = 64 * SSTORE_MAX_WORDS},
    {"pad", 0, NULL, "fill fingerprints up to a multiple of 64 bits, with zeros at the end", OPTION_FLAG,
     OPTION_FIELD(input_options, lines.pads)},
    {"fingerprint-field", 0, "KEY", "the key of a fingerprint in JSON Lines (default fingerprint)", OPTION_TEXT,
     OPTION_FIELD(input_options, lines.fingerprint_key)},
    {"id-field", 0, "KEY", "the key of an id, or of a name, in JSON Lines (default id; with names: name, else id)",
     OPTION_TEXT, OPTION_FIELD(input_options, lines.id_key)},
    {"strict", 0, NULL, "fail if rows seem to mean something else (default: only warn)", OPTION_FLAG,
     OPTION_FIELD(input_options, own_doubt.strict)},
    {0},
};

void check_json_keys(const char *fingerprint_key, const char *id_key)
{
    if (!json_is_text(fingerprint_key))
        message_usage_error("--fingerprint-field: expected UTF-8, found '%s'", fingerprint_key);
    if (!json_is_text(id_key))
        message_usage_error("--id-field: expected UTF-8, found '%s'", id_key);
    if (strcmp(fingerprint_key, id_key) == 0)
        message_usage_error("--fingerprint-field and --id-field: expected two keys, found '%s' twice", id_key);
}

uint32_t words_option(const input_options *input)
{
    return (input->bits + 63) / 64;
}

int check_build_distance(uint32_t distance, uint32_t words)
{
    if (distance <= SSTORE_MAX_BUILD_DISTANCE * words)
        return EXIT_DONE;
    message_print("--distance: expected at most %" PRIu32 " for fingerprints of %" PRIu32 " bits, found %" PRIu32,
                  SSTORE_MAX_BUILD_DISTANCE * words, 64 * words, distance);
    return EXIT_USAGE;
}

void check_input_options(void *part)
{
    input_options *input = part;
    line_fault fault;
    if (!compression_check(input->compression, &fault))
        message_usage_error("--compression: %s", fault.reason);
    check_json_keys(input->lines.fingerprint_key, input->lines.id_key);
    if (input->bits % 64 != 0 && !input->lines.pads)
        message_usage_error("--bits: expected a multiple of 64 up to %u, or --pad, found %" PRIu32,
                            64 * SSTORE_MAX_WORDS, input->bits);
    input->lines.bits = input->lines.pads ? input->bits : 0;
    input->lines.may_lack_zeros = input->bits > 0;
    input->bad_rows = &input->bad;
    input->doubt = &input->own_doubt;
    /* Only after all options are parsed: --ids changes the meaning of the list. */
    if (input->columns != NULL && !line_format_set_columns(&input->lines, input->columns, &fault))
        message_usage_error("--columns: %s", fault.reason);
    if (input->lines.part_count > 1 && !value_has_parts(input->lines.radix))
        message_usage_error("--columns: fingerprints in several columns are hex or decimal, not %s",
                            radix_name(input->lines.radix));
    input->lines.radix_given = input->radix_given != NULL;
}

/* ----- options of bad rows ----- */

const command_option bad_row_options[] = {
    {"skip-bad", 0, "FILE", "leave out unreadable rows, and keep them in FILE", OPTION_TEXT,
     OPTION_FIELD(bad_rows, path), .value_is_optional = true},
    {"max-bad", 0, "N", "as --skip-bad, but fail if more than N rows cannot be read", OPTION_NUMBER,
     OPTION_FIELD(bad_rows, max), .max = UINT64_MAX},
    {0},
};

void check_bad_row_options(void *part)
{
    const bad_rows *bad = part;
    if (bad->path != NULL && strcmp(bad->path, "-") == 0)
        message_usage_error("--skip-bad: expected the name of a file, found '-'");
}

/* ----- results ----- */

static const option_choice header_modes[] = {{"auto", HEADER_AUTO},
                                             {"always", HEADER_ALWAYS},
                                             {"never", HEADER_NEVER},
                                             {0}};

const command_option header_options[] = {
    {"header", 0, "WHEN", "print column names: auto (default: on a terminal), always or never", OPTION_CHOICE,
     .bytes = sizeof(header_mode), .choices = header_modes},
    {0},
};

/* ----- the end of inputs ----- */

int end_inputs(const input_options *input, bool quiet, int code)
{
    const bad_rows *bad = input->bad_rows;
    code = bad_rows_end(input->bad_rows, code);
    const char *doubt = input_doubt_end(input->doubt);
    if (doubt == NULL && bad->bad_count > bad->good_count)
        doubt =
            "more rows were skipped than read: they seem to be of another form; see --format, --columns and --radix";
    if (code != EXIT_DONE || doubt == NULL)
        return code;
    if (input->doubt->strict)
        return message_print("%s (--strict makes this an error)", doubt);
    if (!quiet)
        message_print("warning: %s", doubt);
    return EXIT_DONE;
}

/* ----- progress ----- */

static const option_choice progress_modes[] = {{"auto", PROGRESS_AUTO},
                                               {"json", PROGRESS_JSON},
                                               {"none", PROGRESS_NONE},
                                               {0}};

const command_option progress_options[] = {
    {"progress", 0, "HOW", "auto (default: on a terminal), json (objects on stderr) or none", OPTION_CHOICE,
     .bytes = sizeof(progress_mode), .choices = progress_modes},
    {0},
};

void progress_show_reading(uint64_t count, uint64_t expected_count, double part)
{
    progress_part(0, part);
    progress_show("reading", count, expected_count, input_measure_fraction());
}

void progress_after_reading(double part, double end)
{
    progress_part(input_measure_fraction() >= 0 ? part : 0, end);
}

/* ----- options of long tasks ----- */

const command_option run_options[] = {
    {"quiet", 0, NULL, "print only errors", OPTION_FLAG, OPTION_FIELD(task_arguments, quiet)},
    {0},
};

const command_option thread_options[] = {
    {"threads", 0, "N", "use N threads (default: all processors)", OPTION_NUMBER,
     OPTION_FIELD(task_arguments, options.threads), .max = 1024, .common = true},
    {0},
};

const command_option input_thread_options[] = {
    {"threads", 0, "N", "use N threads (default: all processors); 1: also read input on the same thread", OPTION_NUMBER,
     OPTION_FIELD(task_arguments, options.threads), .max = 1024},
    {0},
};

const command_option wait_options[] = {
    {"wait", 0, "SECONDS",
     "wait until no other process writes to the store, at most SECONDS (default: do not wait; without SECONDS: no "
     "limit)",
     OPTION_SECONDS, OPTION_FIELD(task_arguments, options.wait_ms), .value_is_optional = true},
    {0},
};

const command_option write_options[] = {
    {"memory", 0, "SIZE", "memory limit of the process (default 1G; enforced from 64M up)", OPTION_SIZE,
     OPTION_FIELD(task_arguments, options.memory_bytes)},
    {"tmp-dir", 0, "DIR", "folder for data that does not fit in memory (default: inside the store that is written)",
     OPTION_TEXT, OPTION_FIELD(task_arguments, options.tmp_dir)},
    {"ignore-free-space", 0, NULL, "start even if the disk seems too full", OPTION_FLAG,
     OPTION_FIELD(task_arguments, options.ignore_free_space)},
    {0},
};

const command_option change_options[] = {
    {"no-compact", 0, NULL, "write the change as a segment of its own; do not merge it with others", OPTION_FLAG,
     OPTION_FIELD(task_arguments, options.no_compact)},
    {0},
};

const command_option segment_options[] = {
    {"plan", 0, "PLAN", "the tables, as in 'sstore build' (default: as for the store if it was given, otherwise auto)",
     OPTION_TEXT, OPTION_FIELD(task_arguments, options.plan)},
    {"block-size", 0, "SIZE", "bytes of a block, a power of two from 256 to 64K (default: the store's)", OPTION_SIZE,
     OPTION_FIELD(task_arguments, options.block_bytes)},
    {0},
};

const command_option build_options[] = {
    {"plan", 0, "PLAN", "the tables: auto (default), 20, 16, 10, 4, 3, 2, 1, BcC, BcC/BcC or bits:radius,...",
     OPTION_TEXT, OPTION_FIELD(task_arguments, options.plan), .common = true},
    {"block-size", 0, "SIZE", "bytes of a block, a power of two from 256 to 64K (default 4K)", OPTION_SIZE,
     OPTION_FIELD(task_arguments, options.block_bytes)},
    {"id-index", 0, NULL,
     "with an index of the ids, for quick 'sstore get', 'query --id', 'remove --ids' and 'add --replace'", OPTION_FLAG,
     OPTION_FIELD(task_arguments, options.id_index), .common = true},
    {"force", 0, NULL, "replace a store when the new one is complete", OPTION_FLAG,
     OPTION_FIELD(task_arguments, options.force), .common = true},
    {"allow-empty", 0, NULL, "with --force: also replace a store if there are no records", OPTION_FLAG,
     OPTION_FIELD(task_arguments, allow_empty)},
    {0},
};

/* ----- long tasks ----- */

static int report_and_check(void *context, const sstore_progress *progress)
{
    (void)context;
    progress_report(progress);
    return interrupted();
}

void task_begin_reading(task_arguments *arguments)
{
    interrupt_catch();
    progress_begin(arguments->quiet && arguments->progress == PROGRESS_AUTO ? PROGRESS_NONE : arguments->progress);
    arguments->options.on_progress = report_and_check;
}

void task_begin(task_arguments *arguments)
{
    /* If a reader closes the pipe of progress or answers, the process must not end in the middle of a change. */
    (void)signal(SIGPIPE, SIG_IGN);
    task_begin_reading(arguments);
}

int task_end(const char *path, const char *stopped, sstore_status status, const sstore_error *error)
{
    progress_end();
    if (status != SSTORE_STOPPED)
        return message_status(status, error);
    if (message_is_taken())
        message_print("%s: interrupted; %s", path, stopped);
    return interrupt_exit_code();
}

int task_end_write(const task_arguments *arguments, const char *path, sstore_status status, const sstore_error *error)
{
    const int code = task_end(path, "nothing was changed", status, error);
    if (status == SSTORE_ERROR_IO && error->system_errno == ENOSPC && arguments->options.tmp_dir == NULL)
        message_print("--tmp-dir puts temporary files on another disk");
    return code;
}

/* In smaller stores, most bytes are headers and partly filled blocks. */
#define MIN_SUMMED_FINGERPRINTS 10000u

static void print_summary(const char *path)
{
    sstore_statistics metadata;
    char each[48] = "", bits[32] = "";
    if (store_read_metadata(path, &metadata) != EXIT_DONE) {
        message_print("%s: the store was built, but cannot be opened now", path);
        return;
    }
    if (metadata.distinct_count >= MIN_SUMMED_FINGERPRINTS)
        snprintf(each, sizeof each, ", bytes per fingerprint %.1f",
                 (double)metadata.total_bytes / (double)metadata.distinct_count);
    if (metadata.fingerprint_bits != 64)
        snprintf(bits, sizeof bits, " of %" PRIu32 " bits", metadata.fingerprint_bits);
    message_print("%s: records %" PRIu64 "%s, distinct %" PRIu64 ", tables %" PRIu32 ", bytes %" PRIu64 "%s", path,
                  metadata.record_count, bits, metadata.distinct_count, metadata.table_count, metadata.total_bytes,
                  each);
}

int task_end_build(const task_arguments *arguments, const char *path, sstore_status status, const sstore_error *error)
{
    const int code = task_end_write(arguments, path, status, error);
    if (code == EXIT_DONE && !arguments->quiet)
        print_summary(path);
    return code;
}

int task_check_records(const task_arguments *arguments, const char *path, uint64_t record_count)
{
    if (record_count > 0 || !arguments->options.force || arguments->allow_empty)
        return EXIT_DONE;
    progress_end();
    message_print("%s: there are no input records, so nothing was changed; --allow-empty makes an empty store", path);
    return EXIT_FAILED;
}

int task_check_stores(const task_arguments *arguments, const char *path, const operands *stores)
{
    sstore_statistics metadata = {.record_count = 0};
    int code = EXIT_DONE;
    if (!arguments->options.force || arguments->allow_empty)
        return EXIT_DONE;
    for (int i = 0; i < stores->count && code == EXIT_DONE && metadata.record_count == 0; i++)
        code = store_read_metadata(stores->items[i], &metadata);
    return code == EXIT_DONE ? task_check_records(arguments, path, metadata.record_count) : code;
}

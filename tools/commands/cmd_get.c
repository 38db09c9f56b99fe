/* cmd_get.c - sstore get: print the records that have given ids. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "commands/cmd.h"
#include "input/input_line.h"
#include "input/input_measure.h"
#include "input/name_text.h"

typedef struct arguments {
    const char *input; /* --input, or NULL */
    bool json;
    radix_form output_radix;
    header_mode header;
    progress_mode progress;
    input_options format;
} arguments;

static const command_option options[] = {
    {"input", 0, "FILE",
     "read the ids or names from FILE; ids of text are decimal, in the first field; - is standard input", OPTION_TEXT,
     OPTION_FIELD(arguments, input), .common = true},
    {"name", 0, NULL, "the operands, or the lines of FILE, are names", OPTION_FLAG,
     OPTION_FIELD(arguments, format.lines.are_names), .common = true},
    {"json", 0, NULL, "print one JSON object per line", OPTION_FLAG, OPTION_FIELD(arguments, json), .common = true},
    {"output-radix", 0, "RADIX", "print fingerprints as hex (default), dec, signed, base64, base32 or bin",
     OPTION_CHOICE, OPTION_FIELD(arguments, output_radix), .choices = output_radix_choices},
    {0},
};
static const command_syntax syntax = {
    .options = options,
    .groups = (const option_group[]){HEADER_OPTION_GROUP(offsetof(arguments, header)),
                                     PROGRESS_OPTION_GROUP(offsetof(arguments, progress)),
                                     INPUT_OPTION_GROUP(offsetof(arguments, format)),
                                     {0}},
    .operands = "STORE ID...\n--name STORE NAME...\n--input=FILE STORE",
    .doc =
        "Print all records of STORE that have one of the IDs or NAMEs, as lines of fingerprint and id, or name if the "
        "store has names. The exit status is 1 if no record has some ID or NAME. A store that was built with "
        "--id-index or --names is asked for each; of any other one, all records are read.",
    .examples = (const command_example[]){{"print the record of an id", "sstore get pages.store 7"},
                                          {"print the record of a name", "sstore get --name docs.store docs/guide.md"},
                                          {0}},
};

/* An open store, and the ids or names that are looked up together. */
typedef struct session {
    const char *path;
    sstore_cursor *cursor;
    record_style style;
    stored_names names;
    record_batch chunk; /* of ids, in the place of fingerprints, or of names */
    bool *are_found;    /* one for each of CHUNK_IDS */
    uint64_t *found;    /* records that are not printed yet: index in the chunk, fingerprint and id */
    size_t found_count; /* at most MAX_FOUND */
    uint64_t asked, absent_count;
} session;

#define CHUNK_IDS ((size_t)1 << 20)
#define CHUNK_NAME_BYTES ((size_t)1 << 26)
#define MAX_FOUND ((size_t)1 << 20)
#define SHOWN_ABSENT 10u
#define SHOWN_NAME_BYTES 200u

/* ----- found records, in the order of the chunk ----- */

static size_t found_words(const session *self)
{
    return 2 + self->style.words;
}

static int compare_found(const void *left, const void *right, void *context)
{
    const uint64_t *a = left, *b = right;
    const size_t words = found_words(context);
    for (size_t i = 0; i < words; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

/* Print the found records. Returns false if the output fails. */
static bool print_found(session *self)
{
    const size_t words = found_words(self);
    bool done = true;
    qsort_r(self->found, self->found_count, words * sizeof *self->found, compare_found, self);
    for (size_t i = 0; done && i < self->found_count; i++) {
        const uint64_t *item = self->found + i * words;
        done = records_print(&self->style, item + 1, item[words - 1]);
    }
    self->found_count = 0;
    return done;
}

static int take_record(void *context, const sstore_match *record)
{
    session *self = context;
    uint64_t *item = self->found + self->found_count * found_words(self);
    self->are_found[record->query_index] = true;
    item[0] = record->query_index;
    memcpy(item + 1, record->fingerprint, self->style.words * sizeof *item);
    item[found_words(self) - 1] = record->id;
    return ++self->found_count == MAX_FOUND && !print_found(self);
}

/* ----- chunks ----- */

/* Tell of an id or a name that no record has. */
static void report_absent(const session *self, size_t index)
{
    if (self->chunk.has_names) {
        const sstore_name *name = &self->chunk.names[index];
        const bool is_long = name->size > SHOWN_NAME_BYTES;
        message_print("%s: no record has the name '%.*s%s'", self->path, (int)(is_long ? SHOWN_NAME_BYTES : name->size),
                      name->bytes, is_long ? "..." : "");
    } else {
        message_print("%s: no record has the id %" PRIu64, self->path, self->chunk.fingerprints[index]);
    }
}

/* Print the records of the ids or names of the chunk. Returns an exit code. */
static int answer_chunk(session *self)
{
    const uint64_t *ids = self->chunk.fingerprints;
    const size_t count = self->chunk.count;
    sstore_error error;
    self->chunk.count = 0;
    memset(self->are_found, false, CHUNK_IDS);
    sstore_status status = self->chunk.has_names
                               ? sstore_get_named(self->cursor, self->chunk.names, count, take_record, self, &error)
                               : sstore_get(self->cursor, ids, count, take_record, self, &error);
    if (!print_found(self) && status == SSTORE_OK) /* also those before an error */
        status = SSTORE_STOPPED;
    if (status != SSTORE_OK)
        return message_status(status, &error);
    for (size_t i = 0; i < count; i++)
        if (!self->are_found[i] && ++self->absent_count <= SHOWN_ABSENT)
            report_absent(self, i);
    self->asked += count;
    progress_show("answering", self->asked, 0, input_measure_fraction());
    return EXIT_DONE;
}

static int add_to_chunk(void *context, const record_batch *batch)
{
    session *self = context;
    if (!record_batch_append(&self->chunk, batch))
        return message_print("%s: out of memory", self->path);
    return self->chunk.name_used >= CHUNK_NAME_BYTES || self->chunk.count + INPUT_BATCH_RECORDS > CHUNK_IDS
               ? answer_chunk(self)
               : EXIT_DONE;
}

static int answer_input(session *self, const arguments *args)
{
    char *path = (char *)(uintptr_t)args->input;
    input_shape shape = {.words = 1};
    input_measure_begin(&path, 1);
    int code = bad_rows_open(args->format.bad_rows, &path, 1);
    if (code != EXIT_DONE)
        return code;
    code = input_read(path, &args->format, &shape, add_to_chunk, self);
    const int last_code = answer_chunk(self); /* also the ids before a malformed line */
    return end_inputs(&args->format, false, code != EXIT_DONE ? code : last_code);
}

/* Add an operand to the chunk. Wrong ones end the process with a usage error. False: there is no memory. */
static bool add_operand(record_batch *chunk, bool by_name, const char *text)
{
    const size_t length = strlen(text);
    size_t ignored;
    line_fault fault;
    if (!(by_name ? name_take(text, length, NULL, &ignored, &fault)
                  : line_parse_id(text, length, &chunk->fingerprints[chunk->count], &fault)))
        message_usage_error("%s%s", fault.reason, by_name ? "" : id_operand_hint(text));
    if (by_name && !record_batch_add_name(chunk, text, length))
        return false;
    chunk->count++;
    return true;
}

/* Take operands as the chunk, before anything is opened. The system allows fewer than a chunk holds. */
static int read_operands(session *self, const arguments *args, const operands *given)
{
    bool done = record_batch_init(&self->chunk, CHUNK_IDS);
    self->chunk.words = 1;
    self->chunk.has_names = args->format.lines.are_names;
    for (int i = 0; done && i < given->count && self->chunk.count < CHUNK_IDS; i++)
        done = add_operand(&self->chunk, args->format.lines.are_names, given->items[i]);
    return done ? EXIT_DONE : message_print("out of memory");
}

/* Close the session in any case. Returns an exit code. */
static int open_session(session *self, const arguments *args, sstore **store_out)
{
    sstore_error error;
    sstore_statistics metadata;
    int code = store_open(self->path, NULL, store_out, &metadata);
    if (code == EXIT_DONE && !metadata.has_ids)
        code = message_print("%s: the store has no ids", self->path);
    if (code == EXIT_DONE && args->format.lines.are_names && !metadata.has_names)
        code = message_print("%s: the store has no names; 'sstore build --names' keeps them", self->path);
    if (code == EXIT_DONE)
        code = stored_names_open(&self->names, *store_out, self->path, args->json, &self->style.names);
    if (code == EXIT_DONE)
        code = message_status(sstore_cursor_create(*store_out, &self->cursor, &error), &error);
    if (code != EXIT_DONE)
        return code;
    store_tell_reading_all(self->path, &metadata);
    self->style = (record_style){.format = args->json ? RECORDS_JSONL : RECORDS_TEXT,
                                 .words = metadata.fingerprint_bits / 64,
                                 .radix = args->output_radix,
                                 .has_ids = true,
                                 .names = self->style.names,
                                 .parts = {RECORD_FINGERPRINT, RECORD_ID},
                                 .part_count = 2,
                                 .keys = {"fingerprint", "id"}};
    self->are_found = allocate_or_exit(CHUNK_IDS, sizeof *self->are_found);
    self->found = allocate_or_exit(MAX_FOUND * found_words(self), sizeof *self->found);
    output_style lines = {.json = args->json,
                          .words = self->style.words,
                          .radix = self->style.radix,
                          .names = self->style.names};
    output_head(&lines, args->header, "fingerprint\tid");
    return EXIT_DONE;
}

int cmd_get(int argc, char **argv)
{
    arguments args = {.format = INPUT_OPTIONS_INIT};
    args.format.lines.are_ids = args.format.lines.ignore_ids = true;
    operands given = command_line_parse(&syntax, argc, argv, &args);
    session self = {.path = operands_take_store(&given)};
    sstore *store = NULL;
    if ((args.input != NULL) == (given.count > 0))
        message_usage_error("expected either ID or NAME operands or --input");
    args.format.lines.has_names = args.format.lines.are_names;
    int code = read_operands(&self, &args, &given);
    progress_begin(args.progress);
    if (code == EXIT_DONE)
        code = open_session(&self, &args, &store);
    if (code == EXIT_DONE)
        code = args.input != NULL ? answer_input(&self, &args) : answer_chunk(&self);
    code = stored_names_exit_code(&self.names, code);
    progress_end();
    if (code == EXIT_DONE && self.absent_count > SHOWN_ABSENT)
        message_print("%s: no record has %" PRIu64 " of the %s, of which the first %u are named above", self.path,
                      self.absent_count, args.format.lines.are_names ? "names" : "ids", SHOWN_ABSENT);
    if (code == EXIT_DONE && self.absent_count > 0)
        code = EXIT_FAILED;
    free(self.are_found);
    free(self.found);
    record_batch_free(&self.chunk);
    stored_names_close(&self.names);
    sstore_cursor_free(self.cursor);
    sstore_close(store);
    return code;
}

/*
 * cmd_fingerprint.c - sstore fingerprint: compute fingerprints of documents. A document may also come as lines of
 * weighted features, so that any other program can find the features and weigh them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/text_input.h"
#include "commands/weighted_features.h"
#include "documents/document_work.h"
#include "input/digits.h"
#include "input/input_measure.h"
#include "output/records.h"

#define MAX_BITS (64u * DOCUMENT_MAX_WORDS)

typedef enum fingerprint_format { FINGERPRINT_TEXT, FINGERPRINT_REC } fingerprint_format;

typedef struct arguments {
    text_input text;
    bad_rows bad;
    bool weighted, recipe, no_comments, margins;
    fingerprint_format format;
    header_mode header;
    progress_mode progress;
    uint64_t first_id;
    const char *skipped;      /* a path, or NULL */
    const char *output_given; /* an option of the output, if one is given */
} arguments;

static const option_choice output_formats[] = {{"text", FINGERPRINT_TEXT}, {"rec", FINGERPRINT_REC}, {0}};
static const command_option options[] = {
    {"id-field", 0, "KEY", "the JSON key or column of the id, a whole number or a name", OPTION_TEXT,
     OPTION_FIELD(arguments, text.form.id_key), .given = offsetof(arguments, text.field_given), .common = true},
    {"names", 0, NULL, "with --id-field: also take whole numbers as names", OPTION_FLAG,
     OPTION_FIELD(arguments, text.form.ids_are_names), .given = offsetof(arguments, output_given)},
    {"weighted", 0, NULL, "read lines of feature, tab and weight; a blank line ends a document", OPTION_FLAG,
     OPTION_FIELD(arguments, weighted)},
    {"first-id", 0, "N", "the id of the first document (default 0)", OPTION_NUMBER, OPTION_FIELD(arguments, first_id),
     .max = UINT64_MAX, .common = true},
    {"format", 0, "FORMAT", "text (default); rec: binary numbers, which sstore build reads fastest", OPTION_CHOICE,
     OPTION_FIELD(arguments, format), .choices = output_formats, .given = offsetof(arguments, output_given)},
    {"no-comments", 0, NULL, "leave out the comments, or the header of rec, that state recipe and columns", OPTION_FLAG,
     OPTION_FIELD(arguments, no_comments)},
    {"margins", 0, NULL, "also print by how much each bit is decided, from -1 to 1, the first bit first", OPTION_FLAG,
     OPTION_FIELD(arguments, margins), .given = offsetof(arguments, output_given)},
    {"skipped", 0, "FILE", "list documents without features, and files left out, in FILE: ids and names", OPTION_TEXT,
     OPTION_FIELD(arguments, skipped), .given = offsetof(arguments, output_given)},
    {"recipe", 0, NULL, "print how these options make fingerprints, for --recipe of other commands", OPTION_FLAG,
     OPTION_FIELD(arguments, recipe)},
    {0},
};
static const command_syntax syntax = {
    .groups = (const option_group[]){TEXT_OPTION_GROUP(offsetof(arguments, text)),
                                     SIMHASH_OPTION_GROUP(offsetof(arguments, text)),
                                     OPTION_GROUP(options, 0),
                                     BAD_ROW_OPTION_GROUP(offsetof(arguments, bad)),
                                     HEADER_OPTION_GROUP(offsetof(arguments, header)),
                                     PROGRESS_OPTION_GROUP(offsetof(arguments, progress)),
                                     {0}},
    .also_common = "skip-bad",
    .operands = "[FILE...]\n--weighted [FILE...]\n--recipe",
    .doc = "Print the fingerprint of each FILE, a text in UTF-8, as a line of fingerprint, id and name. Without "
           "FILE, or with -, read standard input. Similar documents get fingerprints that differ in few bits.",
    .examples = (const command_example[]){{"make a store of a folder's documents, with their names",
                                           "sstore fingerprint --recursive docs | sstore build --names texts.store"},
                                          {0}},
};

static void check_weighted(const arguments *args)
{
    const text_input *text = &args->text;
    if (text->form.unit != DOCUMENT_FILES || text->recursive || text->threads > 0 || text->form_given != NULL ||
        text->text_given != NULL || args->output_given != NULL || bad_rows_skip(&args->bad))
        message_usage_error(
            "--weighted can only be combined with --bits, --hash, --first-id, --header and --progress: its "
            "input already lists the features");
    if (args->recipe)
        message_usage_error(
            "--recipe is not possible with --weighted: sstore does not know how the features were made");
}

static void check_arguments(arguments *args, const operands *given)
{
    if (args->weighted)
        check_weighted(args);
    if (args->skipped != NULL && strcmp(args->skipped, "-") == 0)
        message_usage_error("--skipped: expected the name of a file, found '-'");
    if (args->header == HEADER_ALWAYS && args->format != FINGERPRINT_TEXT)
        message_usage_error("--header always needs --format text");
    if (args->margins && args->format != FINGERPRINT_TEXT)
        message_usage_error("--margins needs --format text");
    if (args->margins && args->text.options.hash == SSTORE_FEATURE_HASH_MINHASH)
        message_usage_error("--margins: only the bits of simhashes have margins");
    if (args->text.form.ids_are_names && args->text.form.id_key == NULL)
        message_usage_error("--names needs --id-field");
    if (args->recipe && args->header != HEADER_AUTO)
        message_usage_error("--recipe prints no rows, so --header is not possible");
    if (args->recipe && given->count > 0)
        message_usage_error("--recipe reads no FILE, found '%s'", given->items[0]);
}

static int print_recipe(const sstore_text_options *text)
{
    char recipe[RECORDS_MAX_RECIPE + 1];
    const size_t length = sstore_text_recipe(text, recipe, sizeof recipe);
    return output_bytes(recipe, length) && output_bytes("\n", 1) ? EXIT_DONE : EXIT_FAILED;
}

/* What all threads share. */
typedef struct text_job {
    const arguments *args;
    char recipe[RECORDS_MAX_RECIPE + 1];
    record_style rec_style; /* of binary output */
    document_work work;
    uint64_t document_count, skipped_count, no_text_count;
    uint64_t few_count;          /* with features, but fewer than TEXT_FEW_FEATURES */
    uint64_t replaced_count;     /* documents with bytes that are not UTF-8 */
    bool has_objects, has_lines; /* of the first document, which is a file; or of the first lines */
    bool has_tab;                /* in the first document */
    bool has_fingerprints;       /* of the first lines: all of them */
    FILE *skipped;               /* a list of skipped documents, or NULL */
} text_job;

static size_t fingerprint_bits(const text_job *job)
{
    return job->args->text.options.fingerprint_bits;
}

/* ----- on each thread ----- */

/* Keep the margins of a document: its `count` sums over the sum of weights. */
static sstore_status keep_margins(document_worker *worker, document *doc, const double *sums, size_t count,
                                  double weight, sstore_error *error)
{
    const sstore_status status = document_worker_reserve(worker, count, sizeof *sums, error);
    if (status != SSTORE_OK)
        return status;
    double *margins = (double *)worker->found + worker->found_count;
    doc->found_at = worker->found_count;
    for (size_t i = 0; i < count; i++)
        margins[i] = weight > 0 ? sums[i] / weight : 0;
    worker->found_count += count;
    return SSTORE_OK;
}

static sstore_status fingerprint_document(void *context, document_worker *worker, document *doc, const char *text,
                                          size_t length, sstore_error *error)
{
    const text_job *job = context;
    const bool margins = job->args->margins;
    const size_t bits = fingerprint_bits(job);
    sstore_text_result result = SSTORE_TEXT_RESULT_INIT;
    double sums[MAX_BITS];
    const sstore_status status = sstore_fingerprinter_text(worker->fingerprinter, text, length, &result,
                                                           margins ? sums : NULL, error);
    if (status != SSTORE_OK)
        return status;
    memcpy(doc->words, result.fingerprint, bits / 8);
    doc->feature_count = result.feature_count;
    doc->replaced_count = result.replaced_count;
    return margins ? keep_margins(worker, doc, sums, bits, result.weight, error) : SSTORE_OK;
}

/* ----- in order ----- */

/* Are there names beside the ids? */
static bool has_names(const arguments *args)
{
    return args->text.form.unit == DOCUMENT_FILES || args->text.form.id_key != NULL;
}

/* Print the recipe and the columns, so that a store keeps it and 'build' reads them. */
static bool print_comments(const text_job *job)
{
    const arguments *args = job->args;
    return output_text("%s%s\n", RECORDS_RECIPE_COMMENT, job->recipe) &&
           (!(has_names(args) || args->margins) ||
            output_text("%sfingerprint,id%s%s\n", RECORDS_COLUMNS_COMMENT, has_names(args) ? ",name" : "",
                        args->margins ? ",-" : ""));
}

static bool print_head(const text_job *job)
{
    const arguments *args = job->args;
    output_style lines = {.words = (uint32_t)fingerprint_bits(job) / 64};
    char columns[64];
    if (args->format == FINGERPRINT_REC)
        return records_begin(&job->rec_style, 0);
    if (!args->no_comments && !print_comments(job))
        return false;
    (void)snprintf(columns, sizeof columns, "fingerprint\tid%s%s", has_names(args) ? "\tname" : "",
                   args->margins ? "\tmargins" : "");
    output_head(&lines, args->header, columns);
    return true;
}

/* Print a tab and the `count` margins, separated by commas. */
static bool print_margins(const double *margins, size_t count)
{
    bool done = true;
    for (size_t i = 0; i < count; i++)
        done = done && output_text("%c%.3g", i == 0 ? '\t' : ',', margins[i]);
    return done;
}

/* Print a tab and the name of a document: '-' stands for none, as of standard input. */
static bool print_name(const text_job *job, const document *doc)
{
    const bool has_name = doc->name != NULL && (job->args->text.form.id_key != NULL || strcmp(doc->name, "-") != 0);
    return output_bytes("\t-", has_name ? 1 : 2) && (!has_name || output_name(doc->name, strlen(doc->name)));
}

/* Print "fingerprint<TAB>id", perhaps with a name and margins behind, or the words of both. */
static bool print_document(text_job *job, const document *doc, const double *margins)
{
    const size_t bits = fingerprint_bits(job);
    if (job->args->format == FINGERPRINT_REC)
        return records_print(&job->rec_style, doc->words, doc->id);
    char text[16 * DOCUMENT_MAX_WORDS + 1 + DIGITS_MAX_DECIMAL], *end = output_hex_words(text, doc->words, bits / 64);
    *end++ = '\t';
    end = output_decimal(end, doc->id);
    return output_bytes(text, (size_t)(end - text)) && (!has_names(job->args) || print_name(job, doc)) &&
           (margins == NULL || print_margins(margins, bits)) && output_bytes("\n", 1);
}

/* Write the id of a skipped document, or - for a file that is no text, and where it came from. False: that failed. */
static bool list_skipped(const text_job *job, const document *doc)
{
    if (job->skipped == NULL)
        return true;
    const char *known_as = doc->name != NULL ? doc->name : doc->input;
    const size_t size = sstore_escape(known_as, strlen(known_as), true, NULL, 0);
    char *escaped = allocate_or_exit(size + 1, 1);
    (void)sstore_escape(known_as, strlen(known_as), true, escaped, size + 1);
    int written = doc->is_left_out ? fprintf(job->skipped, "-\t%s", escaped)
                                   : fprintf(job->skipped, "%" PRIu64 "\t%s", doc->id, escaped);
    if (doc->line > 0 && written > 0)
        written = fprintf(job->skipped, "\t%" PRIu64, doc->line);
    if (written > 0)
        written = fprintf(job->skipped, "\n");
    free(escaped);
    return written > 0 || message_errno(job->args->skipped, "cannot write the file") == EXIT_DONE;
}

/* Print a document, or note that it is skipped. Returns an exit code. */
static int give_document(text_job *job, const document *doc, const double *margins)
{
    job->replaced_count += doc->replaced_count > 0;
    if (doc->feature_count == 0) {
        job->no_text_count += doc->is_left_out;
        job->skipped_count += !doc->is_left_out;
        return list_skipped(job, doc) ? EXIT_DONE : EXIT_FAILED;
    }
    job->few_count += job->args->text.options.hash == SSTORE_FEATURE_HASH_MINHASH &&
                      doc->feature_count < TEXT_FEW_FEATURES;
    return print_document(job, doc, margins) ? EXIT_DONE : EXIT_FAILED;
}

/* Do all documents of a batch that are not empty look so? */
static bool all_look(const document_batch *batch, bool (*is)(const char *text, size_t length))
{
    size_t seen = 0;
    for (size_t i = 0; i < batch->count; i++) {
        const document *doc = &batch->items[i];
        if (doc->length > 0 && !is(batch->bytes + doc->begin, doc->length))
            return false;
        seen += doc->length > 0;
    }
    return seen > 0;
}

/* Note what the first documents tell of the input's form. */
static void look_at_first(text_job *job, const document_batch *batch)
{
    const document *first = &batch->items[0];
    const char *text = batch->bytes + first->begin;
    job->has_objects = first->has_objects ||
                       (job->args->text.lines &&
                        (document_form_begins_array(text, first->length) || all_look(batch, document_form_is_object)));
    job->has_lines = batch->items[0].has_lines;
    job->has_tab = first->length > 0 && memchr(text, '\t', first->length) != NULL;
    job->has_fingerprints = job->args->text.lines && all_look(batch, document_form_is_fingerprint);
}

static int give_documents(void *context, document_worker *worker)
{
    text_job *job = context;
    const document_batch *batch = &worker->batch;
    const double *margins = worker->found;
    for (size_t i = 0; i < batch->count; i++) {
        const document *doc = &batch->items[i];
        const int code = give_document(job, doc, job->args->margins ? margins + doc->found_at : NULL);
        if (code != EXIT_DONE)
            return code;
    }
    if (job->document_count == 0 && batch->count > 0)
        look_at_first(job, batch);
    job->document_count += batch->count;
    progress_show("fingerprinting", job->document_count, 0, input_measure_fraction());
    return EXIT_DONE;
}

/* Tell that a table was taken as text, if its name says that it is one. */
static bool report_table(const text_job *job, const char *path)
{
    static const struct {
        const char *suffix, *option;
    } names[] = {{".csv", "--csv"}, {".csv.gz", "--csv"}, {".csv.zst", "--csv"},
                 {".tsv", "--tsv"}, {".tsv.gz", "--tsv"}, {".tsv.zst", "--tsv"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const bool is_tsv = strcmp(names[i].option, "--tsv") == 0;
        if (!name_has_suffix(path, strlen(path), names[i].suffix) || (is_tsv && !job->has_tab))
            continue;
        message_print("%s: taken as text, with its header and all columns; %s takes a document from each row", path,
                      names[i].option);
        return true;
    }
    return false;
}

/* Tell that an input may have been taken in another form than it has. */
static void report_shape(const text_job *job)
{
    const char *path = job->work.reader.files.operands[0];
    const document_form *form = &job->args->text.form;
    if (form->unit == DOCUMENT_JSONL || document_form_is_table(form))
        return;
    if (job->has_fingerprints)
        message_print("%s: these lines seem to be fingerprints already, which 'sstore build' reads; they were taken as "
                      "text",
                      path);
    else if (report_table(job, path))
        return;
    else if (job->has_objects)
        message_print("%s: taken as %s; --jsonl takes a document from each JSON object", path,
                      job->args->text.lines ? "text, with all keys" : "one document");
    else if (job->has_lines && job->document_count == 1)
        message_print("%s: taken as one document; --lines takes each of its lines as one", path);
}

/* Tell what a user may not expect. */
static void report_documents(const text_job *job)
{
    report_shape(job);
    if (job->skipped_count > 0)
        message_print("skipped %" PRIu64 " of %" PRIu64 " documents: they have no features", job->skipped_count,
                      job->document_count - job->no_text_count);
    text_input_report_few(&job->args->text, job->few_count);
    if (job->no_text_count > 0)
        message_print("left out files that are no text: %" PRIu64, job->no_text_count);
    if (job->replaced_count > 0)
        message_print("%" PRIu64 " of %" PRIu64 " documents have bytes that are not UTF-8; they count as U+FFFD%s",
                      job->replaced_count, job->document_count - job->no_text_count,
                      job->args->text.form.encoding == NULL ? "; --encoding names another encoding, such as ISO-8859-1"
                                                            : "");
}

/* ----- all of it ----- */

static int open_outputs(text_job *job)
{
    const char *path = job->args->skipped;
    const file_list *files = &job->work.reader.files;
    const int code = bad_rows_open(job->work.bad, files->operands, files->count);
    if (code != EXIT_DONE)
        return code;
    if (path != NULL && (job->skipped = fopen(path, "w")) == NULL)
        return message_errno(path, "cannot write the file");
    return EXIT_DONE;
}

static int fingerprint_all(text_job *job)
{
    int code = open_outputs(job);
    if (code == EXIT_DONE)
        code = print_head(job) ? document_work_run(&job->work, job->args->text.threads) : EXIT_FAILED;
    progress_end();
    code = bad_rows_end(job->work.bad, code);
    if (job->skipped != NULL && fclose(job->skipped) != 0 && code == EXIT_DONE)
        code = message_errno(job->args->skipped, "cannot write the file");
    if (code == EXIT_DONE)
        report_documents(job);
    return code;
}

static int fingerprint_texts(arguments *args, const operands *inputs)
{
    const text_input *text = &args->text;
    text_job job = {
        .args = args,
        .work = {.options = &text->options,
                 .bad = &args->bad,
                 .reader = {.form = text->form,
                            .files = {.operands = inputs->items, .count = inputs->count, .recursive = text->recursive},
                            .next_id = args->first_id},
                 .find = fingerprint_document,
                 .give = give_documents},
        .rec_style = {.format = RECORDS_WORDS,
                      .words = text->options.fingerprint_bits / 64,
                      .has_ids = true,
                      .parts = {RECORD_FINGERPRINT, RECORD_ID},
                      .part_count = 2}};
    job.work.context = &job;
    (void)sstore_text_recipe(&text->options, job.recipe, sizeof job.recipe);
    job.rec_style.recipe = args->no_comments ? NULL : job.recipe;
    return fingerprint_all(&job);
}

/* ----- the command ----- */

static int fingerprint_inputs(arguments *args, const operands *inputs)
{
    int code = args->weighted ? input_check_all(inputs->items, inputs->count, NULL)
                              : text_input_check(&args->text, inputs);
    if (code == EXIT_DONE && args->skipped != NULL && input_file_is_among(args->skipped, inputs->items, inputs->count))
        code = message_print("%s: it is an input; write to another file", args->skipped);
    if (code == EXIT_DONE && !args->weighted)
        code = text_input_open(&args->text);
    if (code != EXIT_DONE)
        return code;
    if (args->recipe)
        return print_recipe(&args->text.options);
    progress_begin(args->progress);
    input_measure_begin(inputs->items, inputs->count);
    return args->weighted ? fingerprint_weighted_features(inputs, args->first_id, &args->text.options, args->header)
                          : fingerprint_texts(args, inputs);
}

int cmd_fingerprint(int argc, char **argv)
{
    arguments args = {.text = TEXT_INPUT_INIT, .bad = BAD_ROWS_INIT};
    output_set_failure_mark(OUTPUT_FAILURE_LINE);
    const operands given = command_line_parse(&syntax, argc, argv, &args);
    if (args.format == FINGERPRINT_REC)
        output_set_failure_mark(OUTPUT_FAILURE_BYTES);
    check_arguments(&args, &given);
    const operands inputs = operands_as_inputs(given);
    const int code = fingerprint_inputs(&args, &inputs);
    text_input_close(&args.text);
    return code;
}

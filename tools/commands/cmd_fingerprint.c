/*
 * cmd_fingerprint.c - sstore fingerprint: compute fingerprints of documents. A document may also come as lines of
 * weighted features, so that any other program can find the features and weigh them.
 */
#include <inttypes.h>
#include <sstore_text.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/cmd.h"
#include "documents/document_json.h"
#include "documents/document_reader.h"
#include "documents/ordered.h"
#include "input/digits.h"
#include "input/input_measure.h"
#include "input/input_source.h"
#include "input/weight.h"
#include "output/records.h"

typedef enum fingerprint_format { FINGERPRINT_TEXT, FINGERPRINT_REC } fingerprint_format;

typedef struct arguments {
    sstore_text_options text;
    document_form form;
    bool lines, jsonl, recursive, weighted, recipe, no_header;
    fingerprint_format format;
    progress_mode progress;
    uint32_t threads;
    uint64_t first_id;
    const char *text_option_given, *json_option_given, *form_option_given; /* if one is given */
} arguments;

static const option_choice kinds[] = {{"words", SSTORE_FEATURE_KIND_WORDS}, {"chars", SSTORE_FEATURE_KIND_CHARS}, {0}};
static const option_choice weightings[] = {{"frequency", SSTORE_WEIGHTING_FREQUENCY},
                                           {"sublinear", SSTORE_WEIGHTING_SUBLINEAR},
                                           {"presence", SSTORE_WEIGHTING_PRESENCE},
                                           {0}};
static const option_choice markups[] = {{"none", SSTORE_MARKUP_NONE}, {"html", SSTORE_MARKUP_HTML}, {0}};
static const option_choice segmentations[] = {{"pairs", SSTORE_SEGMENTATION_PAIRS},
                                              {"icu", SSTORE_SEGMENTATION_ICU},
                                              {0}};
static const option_choice output_formats[] = {{"text", FINGERPRINT_TEXT}, {"rec", FINGERPRINT_REC}, {0}};
static const command_option options[] = {
    {"features", 0, "KIND", "words (default): sequences of words; chars: sequences of characters", OPTION_CHOICE,
     OPTION_FIELD(arguments, text.kind), .choices = kinds, .given = offsetof(arguments, text_option_given),
     .common = true},
    {"shingle", 0, "N", "the length of a feature, 1 to 64 (default 3 words or 4 characters)", OPTION_NUMBER,
     OPTION_FIELD(arguments, text.shingle), .min = 1, .max = 64, .given = offsetof(arguments, text_option_given),
     .common = true},
    {"weights", 0, "KIND",
     "of a feature that occurs N times: frequency (default): N; sublinear: 1 + log2(N); presence: 1", OPTION_CHOICE,
     OPTION_FIELD(arguments, text.weighting), .choices = weightings, .given = offsetof(arguments, text_option_given)},
    {"markup", 0, "KIND", "none (default); html: take away tags, comments and scripts, and decode references",
     OPTION_CHOICE, OPTION_FIELD(arguments, text.markup), .choices = markups,
     .given = offsetof(arguments, text_option_given)},
    {"segment", 0, "HOW", "of scripts without spaces: pairs (default): pairs of characters; icu: words, by ICU",
     OPTION_CHOICE, OPTION_FIELD(arguments, text.segmentation), .choices = segmentations,
     .given = offsetof(arguments, text_option_given)},
    {"lines", 0, NULL, "each line is a document; its id is its number, counted from 0 over all FILEs", OPTION_FLAG,
     OPTION_FIELD(arguments, lines), .common = true},
    {"jsonl", 0, NULL, "each line is a JSON object with a document", OPTION_FLAG, OPTION_FIELD(arguments, jsonl),
     .common = true},
    {"text-field", 0, "KEY", "the key of the text in it; 'a.b' is b in a (default text)", OPTION_TEXT,
     OPTION_FIELD(arguments, form.text_key), .given = offsetof(arguments, json_option_given)},
    {"id-field", 0, "KEY", "the key of its id, a whole number or a name; otherwise it is its number", OPTION_TEXT,
     OPTION_FIELD(arguments, form.id_key), .given = offsetof(arguments, json_option_given)},
    {"recursive", 0, NULL, "folders stand for all files in them; those that are no text are left out", OPTION_FLAG,
     OPTION_FIELD(arguments, recursive)},
    {"encoding", 0, "NAME", "the files are in this encoding, such as UTF-16 or GB18030 (default UTF-8)", OPTION_TEXT,
     OPTION_FIELD(arguments, form.encoding), .given = offsetof(arguments, form_option_given)},
    {"binary", 0, NULL, "also take files with zero bytes, which are hardly text", OPTION_FLAG,
     OPTION_FIELD(arguments, form.binary), .given = offsetof(arguments, form_option_given)},
    {"weighted", 0, NULL, "read lines of feature, tab and weight; a blank line ends a document", OPTION_FLAG,
     OPTION_FIELD(arguments, weighted), .common = true},
    {"first-id", 0, "N", "the id of the first document (default 0)", OPTION_NUMBER, OPTION_FIELD(arguments, first_id),
     .max = UINT64_MAX, .common = true},
    {"threads", 0, "N", "use N threads (default: all processors)", OPTION_NUMBER, OPTION_FIELD(arguments, threads),
     .max = 1024},
    {"format", 0, "FORMAT", "text (default); rec: pairs of words, which sstore build reads fastest", OPTION_CHOICE,
     OPTION_FIELD(arguments, format), .choices = output_formats},
    {"no-header", 0, NULL, "leave out the comments, or the header of rec, that state recipe and columns", OPTION_FLAG,
     OPTION_FIELD(arguments, no_header)},
    {"recipe", 0, NULL, "print how these options make fingerprints, for --recipe of other commands", OPTION_FLAG,
     OPTION_FIELD(arguments, recipe), .common = true},
    {0},
};
static const command_syntax syntax = {
    .options = options,
    .groups = (const option_group[]){PROGRESS_OPTION_GROUP(offsetof(arguments, progress)), {0}},
    .operands = "[FILE...]\n--weighted [FILE...]\n--recipe",
    .doc = "Print the 64-bit simhash of each FILE, a text in UTF-8, as a line of fingerprint, id and name. Without "
           "FILE, or with -, read standard input. Similar documents get fingerprints that differ in few bits.",
    .examples = (const command_example[]){{"fingerprint texts, and make a store of them",
                                           "sstore fingerprint --lines titles | sstore build titles.store"},
                                          {0}},
};

static void check_weighted(const arguments *all)
{
    if (all->lines || all->jsonl || all->recursive || all->form_option_given != NULL ||
        all->text_option_given != NULL || all->format != FINGERPRINT_TEXT)
        message_usage_error("--weighted can only be combined with --first-id and --progress: its input already lists "
                            "the features");
    if (all->recipe)
        message_usage_error(
            "--recipe is not possible with --weighted: sstore does not know how the features were made");
}

/* Words are cut by ICU only if there is one. */
static void check_segmentation(const sstore_text_options *text)
{
    sstore_text_options without = *text;
    sstore_error error;
    uint64_t unused;
    if (text->segmentation == SSTORE_SEGMENTATION_PAIRS)
        return;
    if (text->kind != SSTORE_FEATURE_KIND_WORDS)
        message_usage_error("--segment cuts texts into words: it cannot be combined with --features chars");
    without.segmentation = SSTORE_SEGMENTATION_PAIRS;
    if (sstore_fingerprint_text("", 0, &without, &unused, NULL) == SSTORE_OK &&
        sstore_fingerprint_text("", 0, text, &unused, &error) != SSTORE_OK)
        message_usage_error("--segment icu: %s", error.message);
}

static void check_arguments(const arguments *all, const operands *given)
{
    if (all->weighted)
        check_weighted(all);
    if (all->lines && all->jsonl)
        message_usage_error("--lines cannot be combined with --jsonl");
    if (all->json_option_given != NULL && !all->jsonl)
        message_usage_error("%s needs --jsonl", all->json_option_given);
    if (all->jsonl && !json_is_available())
        message_usage_error("--jsonl: this sstore was built without the jansson library");
    if (all->form.encoding != NULL && all->form.binary)
        message_usage_error("--encoding cannot be combined with --binary");
    if (all->form.encoding != NULL && !recode_knows(all->form.encoding))
        message_usage_error("--encoding: this system does not know '%s'; 'iconv -l' lists the encodings",
                            all->form.encoding);
    check_segmentation(&all->text);
    if (all->recipe && given->count > 0)
        message_usage_error("--recipe reads no FILE, found '%s'", given->items[0]);
}

static int print_recipe(const sstore_text_options *text)
{
    char recipe[256];
    uint64_t fingerprint;
    sstore_error error;
    if (sstore_fingerprint_text("", 0, text, &fingerprint, &error) != SSTORE_OK)
        return message_error(&error); /* the library was built without support for text */
    size_t length = sstore_text_recipe(text, recipe, sizeof recipe);
    return output_bytes(recipe, length) && output_bytes("\n", 1) ? EXIT_DONE : EXIT_FAILED;
}

/* ----- texts ----- */

/* What all threads share. */
typedef struct text_job {
    const arguments *all;
    char recipe[RECORDS_MAX_RECIPE + 1];
    record_style words;          /* of binary output */
    bool has_id_kind, are_named; /* of ids in JSON */
    document_reader reader;
    uint64_t document_count, skipped_count, replaced_count; /* replaced: documents with bytes that are not UTF-8 */
} text_job;

/* What a thread has for itself. */
typedef struct text_worker {
    sstore_fingerprinter *fingerprinter;
    document_batch batch;
} text_worker;

static void free_worker(void *item)
{
    text_worker *self = item;
    sstore_fingerprinter_free(self->fingerprinter);
    document_batch_free(&self->batch);
    free(self);
}

static void *make_worker(void *context)
{
    const text_job *job = context;
    text_worker *self = calloc(1, sizeof *self);
    sstore_error error;
    if (self != NULL && sstore_fingerprinter_create(&job->all->text, &self->fingerprinter, &error) == SSTORE_OK)
        return self;
    if (self != NULL)
        free_worker(self);
    return NULL;
}

static bool take_documents(void *context, void *item)
{
    text_job *job = context;
    return document_reader_take(&job->reader, &((text_worker *)item)->batch);
}

static bool fingerprint_text(text_worker *self, document *of, const char *text, size_t length)
{
    sstore_text_result result = SSTORE_TEXT_RESULT_INIT;
    sstore_error error;
    if (sstore_fingerprinter_text(self->fingerprinter, text, length, &result, NULL, &error) != SSTORE_OK) {
        self->batch.code = EXIT_FAILED;
        document_batch_explain(&self->batch, "%s", error.message);
        return false;
    }
    of->fingerprint = result.fingerprint;
    of->feature_count = result.feature_count;
    of->replaced_count = result.replaced_count;
    return true;
}

static bool fingerprint_document(text_worker *self, const document_form *form, document *of)
{
    document_text text;
    if (form->unit != DOCUMENT_JSONL)
        return fingerprint_text(self, of, self->batch.bytes + of->begin, of->length);
    const bool made = document_json_read(&self->batch, of, form, &text) &&
                      fingerprint_text(self, of, text.text, text.length);
    json_value_free(text.object);
    return made;
}

/* A document that fails ends the batch before it. */
static void fingerprint_documents(void *context, void *item)
{
    const text_job *job = context;
    text_worker *self = item;
    size_t done = 0;
    while (done < self->batch.count && fingerprint_document(self, &job->reader.form, &self->batch.items[done]))
        done++;
    self->batch.count = done;
}

/* Are there names beside the ids? */
static bool has_names(const arguments *all)
{
    return all->form.unit == DOCUMENT_FILES || all->form.id_key != NULL;
}

/* Print the recipe, so that a store keeps it. */
static bool print_head(const text_job *job)
{
    const arguments *all = job->all;
    if (all->format == FINGERPRINT_REC)
        return records_begin(&job->words, 0);
    return (all->no_header || output_text("%s%s\n", RECORDS_RECIPE_COMMENT, job->recipe)) &&
           (all->no_header || !has_names(all) || output_text("%sfingerprint,id,-\n", RECORDS_COLUMNS_COMMENT));
}

/* Print "fingerprint<TAB>id", perhaps with a name behind, or two words. */
static bool print_document(text_job *job, const document *of)
{
    const sstore_record record = {.fingerprint = of->fingerprint, .id = of->id};
    if (job->all->format == FINGERPRINT_REC)
        return records_print(&job->words, &record) == 0;
    if (!has_names(job->all))
        return output_record(true, &record);
    char text[17 + DIGITS_MAX_DECIMAL + 1], *end = output_hex(text, of->fingerprint);
    *end++ = '\t';
    end = output_decimal(end, of->id);
    *end++ = '\t';
    return output_bytes(text, (size_t)(end - text)) && output_escaped(of->name != NULL ? of->name : "-", true) &&
           output_bytes("\n", 1);
}

/* Names stand beside the numbers of the documents, which numbers as ids could equal. */
static bool has_id_of_one_kind(text_job *job, const document *of)
{
    if (job->all->form.id_key == NULL)
        return true;
    if (!job->has_id_kind)
        job->are_named = of->name != NULL;
    job->has_id_kind = true;
    return job->are_named == (of->name != NULL);
}

static int print_documents(void *context, void *item)
{
    text_job *job = context;
    const document_batch *batch = &((text_worker *)item)->batch;
    for (size_t i = 0; i < batch->count; i++) {
        const document *of = &batch->items[i];
        job->replaced_count += of->replaced_count > 0;
        job->skipped_count += of->feature_count == 0;
        if (!has_id_of_one_kind(job, of))
            return message_print("%s:%" PRIu64 ": expected %s as id, as in the documents before, found %s", of->input,
                                 of->line, job->are_named ? "a name" : "a number",
                                 job->are_named ? "a number" : "a name");
        if (of->feature_count > 0 && !print_document(job, of))
            return EXIT_FAILED;
    }
    job->document_count += batch->count;
    progress_show("fingerprinting", job->document_count, 0, input_measure_fraction());
    if (job->reader.may_wait && !output_flush())
        return EXIT_FAILED;
    if (batch->reason[0] != '\0')
        message_print("%s", batch->reason);
    return batch->code;
}

/* Tell what a user may not expect. */
static void report_documents(const text_job *job)
{
    if (job->skipped_count > 0)
        message_print("skipped %" PRIu64 " of %" PRIu64 " documents: they have no features", job->skipped_count,
                      job->document_count);
    if (job->reader.no_text_count > 0)
        message_print("left out files that are no text: %" PRIu64, job->reader.no_text_count);
    if (job->replaced_count > 0)
        message_print("%" PRIu64 " of %" PRIu64 " documents have bytes that are not UTF-8; they count as U+FFFD",
                      job->replaced_count, job->document_count);
}

static int fingerprint_texts(const arguments *all, const operands *inputs)
{
    text_job job = {
        .all = all,
        .reader = {.form = all->form,
                   .files = {.operands = inputs->items, .count = inputs->count, .recursive = all->recursive},
                   .next_id = all->first_id},
        .words = {.format = RECORDS_WORDS, .has_ids = true, .parts = {RECORD_FINGERPRINT, RECORD_ID}, .part_count = 2}};
    (void)sstore_text_recipe(&all->text, job.recipe, sizeof job.recipe);
    job.words.recipe = all->no_header ? NULL : job.recipe;
    const ordered_work work = {.context = &job,
                               .make = make_worker,
                               .free = free_worker,
                               .take = take_documents,
                               .work = fingerprint_documents,
                               .give = print_documents};
    const int code = print_head(&job) ? ordered_run(&work, all->threads) : EXIT_FAILED;
    document_reader_close(&job.reader);
    progress_end();
    if (code == EXIT_DONE)
        report_documents(&job);
    return code;
}

/* ----- weighted features ----- */

/* The ids of documents count over all inputs. */
typedef struct document_ids {
    uint64_t next, printed;
    bool used_up; /* the largest id is taken */
} document_ids;

/* Print "fingerprint<TAB>number" of a document in `source`. */
static int print_numbered(input_source *source, uint64_t fingerprint, document_ids *ids)
{
    const sstore_record record = {.fingerprint = fingerprint, .id = ids->next};
    if (ids->used_up)
        return input_source_fail(source, 0, NO_ID_LEFT);
    ids->used_up = ids->next == UINT64_MAX;
    ids->next++;
    progress_show("fingerprinting", ++ids->printed, 0, input_measure_fraction());
    return output_record(true, &record) ? EXIT_DONE : EXIT_FAILED;
}

/* The features of the document being read. */
typedef struct weighted_document {
    char *bytes; /* of all features, in order */
    size_t used, capacity;
    sstore_feature *features; /* `data` is set when the document is complete */
    size_t count, feature_capacity;
} weighted_document;

static bool add_feature(weighted_document *of, const char *data, size_t size, double weight)
{
    if (!grow(&of->bytes, &of->capacity, of->used + size, 1) ||
        !grow(&of->features, &of->feature_capacity, of->count + 1, sizeof *of->features))
        return false;
    if (of->bytes != NULL) /* NULL: all features so far are empty */
        memcpy(of->bytes + of->used, data, size);
    of->used += size;
    of->features[of->count++] = (sstore_feature){.size = size, .weight = weight};
    return true;
}

/* Print the fingerprint of the document, unless it has no lines, and start the next one. */
static int end_document(weighted_document *of, input_source *source, document_ids *ids)
{
    uint64_t fingerprint;
    sstore_error error;
    if (of->count == 0)
        return EXIT_DONE;
    size_t offset = 0;
    for (size_t i = 0; i < of->count; i++) {
        of->features[i].data = of->bytes + offset;
        offset += of->features[i].size;
    }
    if (sstore_simhash(of->features, of->count, &fingerprint, &error) != SSTORE_OK)
        return message_error(&error);
    of->used = of->count = 0;
    return print_numbered(source, fingerprint, ids);
}

static int take_line(weighted_document *of, input_source *source, const source_line *line, document_ids *ids)
{
    const char *text = line->text;
    const size_t length = source_line_length(line);
    size_t first = 0;
    while (first < length && (text[first] == ' ' || text[first] == '\t'))
        first++;
    if (first == length) /* blank */
        return end_document(of, source, ids);
    const char *tab = memrchr(text, '\t', length);
    if (tab == NULL)
        return input_source_fail(source, line->number, "expected a feature, a tab and a weight, found no tab");
    double weight;
    if (!weight_parse(tab + 1, length - (size_t)(tab + 1 - text), &weight))
        return input_source_fail(source, line->number,
                                 "expected a decimal weight from -2^31 to 2^31 after the last tab");
    if (!add_feature(of, text, (size_t)(tab - text), weight))
        return input_source_fail(source, line->number, "out of memory");
    return EXIT_DONE;
}

/* A document is lines of "feature<TAB>weight" up to a blank line: print "fingerprint<TAB>number" for each. */
static int fingerprint_weighted(input_source *source, document_ids *ids)
{
    weighted_document features = {0};
    source_line line = {.flushes = true};
    int code = EXIT_DONE;
    while (code == EXIT_DONE && source_line_next(source, &line, &code))
        code = take_line(&features, source, &line, ids);
    if (code == EXIT_DONE)
        code = end_document(&features, source, ids);
    free(features.bytes);
    free(features.features);
    return code;
}

static int read_weighted(const char *path, document_ids *ids)
{
    input_source source;
    int code = input_source_open(&source, path);
    if (code != EXIT_DONE)
        return code;
    code = fingerprint_weighted(&source, ids);
    input_source_report(&source);
    input_source_close(&source);
    return code;
}

static int fingerprint_features(const arguments *all, const operands *inputs)
{
    document_ids ids = {.next = all->first_id};
    int code = EXIT_DONE;
    for (int i = 0; i < inputs->count && code == EXIT_DONE; i++)
        code = read_weighted(inputs->items[i], &ids);
    progress_end();
    return code;
}

int cmd_fingerprint(int argc, char **argv)
{
    arguments all = {.text = SSTORE_TEXT_OPTIONS_INIT};
    const operands given = command_line_parse(&syntax, argc, argv, &all);
    uint64_t unused;
    sstore_error error;
    check_arguments(&all, &given);
    all.form.unit = all.jsonl ? DOCUMENT_JSONL : all.lines ? DOCUMENT_LINES : DOCUMENT_FILES;
    if (all.form.text_key == NULL)
        all.form.text_key = "text";
    const operands inputs = operands_as_inputs(given);
    if (all.recipe)
        return print_recipe(&all.text);
    /* Say so at once if the library was built without support for text. */
    if (!all.weighted && sstore_fingerprint_text("", 0, &all.text, &unused, &error) != SSTORE_OK)
        return message_error(&error);
    const int code = all.recursive ? EXIT_DONE : input_check_all(inputs.items, inputs.count, NULL);
    if (code != EXIT_DONE)
        return code;
    progress_begin(all.progress);
    input_measure_begin(inputs.items, inputs.count);
    return all.weighted ? fingerprint_features(&all, &inputs) : fingerprint_texts(&all, &inputs);
}

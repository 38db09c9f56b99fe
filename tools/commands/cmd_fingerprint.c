/*
 * cmd_fingerprint.c - sstore fingerprint: compute fingerprints of documents. A document may also come as lines of
 * weighted features, so that any other program can find the features and weigh them.
 */
#include <sstore_text.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/cmd.h"
#include "input/input_measure.h"
#include "input/input_source.h"
#include "input/weight.h"

typedef struct arguments {
    sstore_text_options text;
    bool lines, weighted, recipe;
    progress_mode progress;
    uint64_t first_id;
    const char *first_id_given, *text_option_given; /* such an option, if one is given */
} arguments;

static const option_choice kinds[] = {{"words", SSTORE_FEATURE_KIND_WORDS}, {"chars", SSTORE_FEATURE_KIND_CHARS}, {0}};
static const option_choice weightings[] = {{"frequency", SSTORE_WEIGHTING_FREQUENCY},
                                           {"sublinear", SSTORE_WEIGHTING_SUBLINEAR},
                                           {"presence", SSTORE_WEIGHTING_PRESENCE},
                                           {0}};
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
    {"lines", 0, NULL, "each line is a document; its id is its number, counted from 0 over all FILEs", OPTION_FLAG,
     OPTION_FIELD(arguments, lines), .common = true},
    {"weighted", 0, NULL, "read lines of feature, tab and weight; a blank line ends a document", OPTION_FLAG,
     OPTION_FIELD(arguments, weighted), .common = true},
    {"first-id", 0, "N", "with --lines or --weighted: the id of the first document (default 0)", OPTION_NUMBER,
     OPTION_FIELD(arguments, first_id), .max = UINT64_MAX, .given = offsetof(arguments, first_id_given),
     .common = true},
    {"recipe", 0, NULL, "print how these options make fingerprints, for --recipe of other commands", OPTION_FLAG,
     OPTION_FIELD(arguments, recipe), .common = true},
    {0},
};
static const command_syntax syntax = {
    .options = options,
    .groups = (const option_group[]){PROGRESS_OPTION_GROUP(offsetof(arguments, progress)), {0}},
    .operands = "[FILE...]\n--weighted [FILE...]\n--recipe",
    .doc =
        "Print the 64-bit simhash of each FILE, a text in UTF-8, as a line of fingerprint and path. Without FILE, or "
        "with -, read standard input. Similar documents get fingerprints that differ in few bits.",
    .examples = (const command_example[]){{"fingerprint texts, and make a store of them",
                                           "sstore fingerprint --lines titles | sstore build titles.store"},
                                          {0}},
};

static void check_arguments(const arguments *all, const operands *given)
{
    if (all->weighted && (all->lines || all->text_option_given != NULL))
        message_usage_error("--weighted cannot be combined with --features, --shingle, --weights or --lines: its input "
                            "already lists the features");
    if (all->weighted && all->recipe)
        message_usage_error(
            "--recipe is not possible with --weighted: sstore does not know how the features were made");
    if (all->first_id_given != NULL && !all->lines && !all->weighted)
        message_usage_error("--first-id needs --lines or --weighted: a whole file has a path instead of an id");
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

/* The ids of documents count over all inputs. */
typedef struct document_ids {
    uint64_t next, printed;
    bool used_up; /* the largest id is taken */
} document_ids;

static void show_progress(document_ids *ids)
{
    progress_show("fingerprinting", ++ids->printed, 0, input_measure_fraction());
}

/* Print "fingerprint<TAB>number" of a document in `source`. */
static int print_numbered(input_source *source, uint64_t fingerprint, document_ids *ids)
{
    const sstore_record record = {.fingerprint = fingerprint, .id = ids->next};
    if (ids->used_up)
        return input_source_fail(source, 0,
                                 "there is no id left for the next document after 18446744073709551615; give a lower "
                                 "--first-id");
    ids->used_up = ids->next == UINT64_MAX;
    ids->next++;
    show_progress(ids);
    return output_record(true, &record) ? EXIT_DONE : EXIT_FAILED;
}

/* The whole source is a document: print "fingerprint<TAB>name". */
static int fingerprint_file(input_source *source, sstore_fingerprinter *fingerprinter, document_ids *ids)
{
    sstore_text_result result = SSTORE_TEXT_RESULT_INIT;
    sstore_error error;
    int code = input_source_need(source, SIZE_MAX);
    if (code != EXIT_DONE)
        return code;
    const char *text = source->buffer + source->begin;
    if (sstore_fingerprinter_text(fingerprinter, text, source->end - source->begin, &result, NULL, &error) != SSTORE_OK)
        return message_error(&error);
    show_progress(ids);
    char digits[17];
    *output_hex(digits, result.fingerprint) = '\t';
    bool printed = output_bytes(digits, sizeof digits) && output_escaped(source->name, true) && output_bytes("\n", 1);
    return printed ? EXIT_DONE : EXIT_FAILED;
}

/* Each line is a document: print "fingerprint<TAB>number". */
static int fingerprint_lines(input_source *source, sstore_fingerprinter *fingerprinter, document_ids *ids)
{
    source_line line = {.any_length = true, .flushes = true};
    sstore_text_result result = SSTORE_TEXT_RESULT_INIT;
    sstore_error error;
    int code = EXIT_DONE;
    while (code == EXIT_DONE && source_line_next(source, &line, &code)) {
        if (sstore_fingerprinter_text(fingerprinter, line.text, line.length, &result, NULL, &error) != SSTORE_OK)
            return message_error(&error);
        code = print_numbered(source, result.fingerprint, ids);
    }
    return code;
}

/* ----- weighted features ----- */

/* The features of the document being read. */
typedef struct weighted_document {
    char *bytes; /* of all features, in order */
    size_t used, capacity;
    sstore_feature *features; /* `data` is set when the document is complete */
    size_t count, feature_capacity;
} weighted_document;

static bool add_feature(weighted_document *document, const char *data, size_t size, double weight)
{
    if (!grow(&document->bytes, &document->capacity, document->used + size, 1) ||
        !grow(&document->features, &document->feature_capacity, document->count + 1, sizeof *document->features))
        return false;
    if (document->bytes != NULL) /* NULL: all features so far are empty */
        memcpy(document->bytes + document->used, data, size);
    document->used += size;
    document->features[document->count++] = (sstore_feature){.size = size, .weight = weight};
    return true;
}

/* Print the fingerprint of the document, unless it has no lines, and start the next one. */
static int end_document(weighted_document *document, input_source *source, document_ids *ids)
{
    uint64_t fingerprint;
    sstore_error error;
    if (document->count == 0)
        return EXIT_DONE;
    size_t offset = 0;
    for (size_t i = 0; i < document->count; i++) {
        document->features[i].data = document->bytes + offset;
        offset += document->features[i].size;
    }
    if (sstore_simhash(document->features, document->count, &fingerprint, &error) != SSTORE_OK)
        return message_error(&error);
    document->used = document->count = 0;
    return print_numbered(source, fingerprint, ids);
}

static int take_line(weighted_document *document, input_source *source, const source_line *line, document_ids *ids)
{
    const char *text = line->text;
    const size_t length = source_line_length(line);
    size_t first = 0;
    while (first < length && (text[first] == ' ' || text[first] == '\t'))
        first++;
    if (first == length) /* blank */
        return end_document(document, source, ids);
    const char *tab = memrchr(text, '\t', length);
    if (tab == NULL)
        return input_source_fail(source, line->number, "expected a feature, a tab and a weight, found no tab");
    double weight;
    if (!weight_parse(tab + 1, length - (size_t)(tab + 1 - text), &weight))
        return input_source_fail(source, line->number,
                                 "expected a decimal weight from -2^31 to 2^31 after the last tab");
    if (!add_feature(document, text, (size_t)(tab - text), weight))
        return input_source_fail(source, line->number, "out of memory");
    return EXIT_DONE;
}

/* A document is lines of "feature<TAB>weight" up to a blank line: print "fingerprint<TAB>number" for each. */
static int fingerprint_weighted(input_source *source, document_ids *ids)
{
    weighted_document document = {0};
    source_line line = {.flushes = true};
    int code = EXIT_DONE;
    while (code == EXIT_DONE && source_line_next(source, &line, &code))
        code = take_line(&document, source, &line, ids);
    if (code == EXIT_DONE)
        code = end_document(&document, source, ids);
    free(document.bytes);
    free(document.features);
    return code;
}

static int read_input(const arguments *all, sstore_fingerprinter *fingerprinter, const char *path, document_ids *ids)
{
    input_source source;
    int code = input_source_open(&source, path);
    if (code != EXIT_DONE)
        return code;
    if (all->weighted)
        code = fingerprint_weighted(&source, ids);
    else if (all->lines)
        code = fingerprint_lines(&source, fingerprinter, ids);
    else
        code = fingerprint_file(&source, fingerprinter, ids);
    input_source_report(&source);
    input_source_close(&source);
    return code;
}

int cmd_fingerprint(int argc, char **argv)
{
    arguments all = {.text = SSTORE_TEXT_OPTIONS_INIT};
    const operands given = command_line_parse(&syntax, argc, argv, &all);
    check_arguments(&all, &given);
    const operands inputs = operands_as_inputs(given);
    if (all.recipe)
        return print_recipe(&all.text);
    document_ids ids = {.next = all.first_id};
    sstore_fingerprinter *fingerprinter = NULL;
    sstore_error error;
    int code = input_check_all(inputs.items, inputs.count, NULL);
    if (code == EXIT_DONE && !all.weighted &&
        sstore_fingerprinter_create(&all.text, &fingerprinter, &error) != SSTORE_OK)
        code = message_error(&error); /* such as of a library without support for text */
    progress_begin(all.progress);
    input_measure_begin(inputs.items, inputs.count);
    for (int i = 0; i < inputs.count && code == EXIT_DONE; i++)
        code = read_input(&all, fingerprinter, inputs.items[i], &ids);
    progress_end();
    sstore_fingerprinter_free(fingerprinter);
    return code;
}

/*
 * cmd_fingerprint.c - sstore fingerprint: make fingerprints of documents. Documents may come as weighted features,
 * one a line: for any way to find features and weigh them that is not built in.
 */
#include <sstore_text.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/cmd.h"
#include "input/input_source.h"
#include "input/weight.h"

typedef struct arguments {
    sstore_text_options text;
    bool lines, weighted, recipe;
    uint64_t first_id;
    const char *first_id_given, *text_option_given; /* such an option, if there is one */
} arguments;

static const option_choice kinds[] = {{"words", SSTORE_FEATURES_WORDS}, {"chars", SSTORE_FEATURES_CHARS}, {0}};
static const command_option options[] = {
    {"features", 0, "KIND", "words: shingles of lower-cased words (the default); chars: n-grams", OPTION_CHOICE,
     OPTION_FIELD(arguments, text.kind), .choices = kinds, .given = offsetof(arguments, text_option_given)},
    {"shingle", 0, "N", "N words or characters a feature, 1 to 64 (default 3 words, 4 characters)", OPTION_NUMBER,
     OPTION_FIELD(arguments, text.shingle), .min = 1, .max = 64, .given = offsetof(arguments, text_option_given)},
    {"lines", 0, NULL, "every line is a document; print its number, from 0 over all FILEs, as its id", OPTION_FLAG,
     OPTION_FIELD(arguments, lines)},
    {"weighted", 0, NULL, "read lines of feature, tab, weight; a blank line ends a document", OPTION_FLAG,
     OPTION_FIELD(arguments, weighted)},
    {"first-id", 0, "N", "with --lines or --weighted: the first document's id (default 0)", OPTION_NUMBER,
     OPTION_FIELD(arguments, first_id), .max = UINT64_MAX, .given = offsetof(arguments, first_id_given)},
    {"recipe", 0, NULL, "print how fingerprints are made with these options, for --recipe of other commands",
     OPTION_FLAG, OPTION_FIELD(arguments, recipe)},
    {0},
};
static const command_syntax syntax = {
    .options = options,
    .operands = "[FILE...]",
    .doc = "Print the 64-bit simhash of each FILE, a text in UTF-8, as lines of fingerprint and path; - or no FILE "
           "is stdin. Similar documents get fingerprints that differ in few bits.",
};

static void check_arguments(const arguments *all, const operands *given)
{
    if (all->weighted && (all->lines || all->text_option_given != NULL))
        message_usage_error("--weighted: the features are given, so --features, --shingle and --lines do not apply");
    if (all->weighted && all->recipe)
        message_usage_error("--recipe: only who made the features of --weighted can say how");
    if (all->first_id_given != NULL && !all->lines && !all->weighted)
        message_usage_error("--first-id goes with --lines or --weighted only: a whole file has its path, and no id");
    if (all->recipe && given->count > 0)
        message_usage_error("expected no FILE with --recipe, found '%s'", given->items[0]);
}

static int print_recipe(const sstore_text_options *text)
{
    char recipe[256];
    uint64_t fingerprint;
    sstore_error error;
    if (sstore_fingerprint_text("", 0, text, &fingerprint, &error) != SSTORE_OK)
        return message_error(&error); /* a library that cannot read text has no recipe for it */
    size_t length = sstore_text_recipe(text, recipe, sizeof recipe);
    return output_bytes(recipe, length) && output_bytes("\n", 1) ? EXIT_DONE : EXIT_FAILED;
}

/* ----- texts ----- */

/* The ids of documents: numbers, over all inputs. */
typedef struct document_ids {
    uint64_t next;
    bool used_up; /* the largest one is taken */
} document_ids;

/* Print "fingerprint<TAB>number" of a document in `source`. */
static int print_numbered(input_source *source, uint64_t fingerprint, document_ids *ids)
{
    const sstore_record record = {.fingerprint = fingerprint, .id = ids->next};
    if (ids->used_up)
        return input_source_fail(source,
                                 "there is no id left for the next document: the largest one, 18446744073709551615, "
                                 "is taken; give a lower --first-id");
    ids->used_up = ids->next == UINT64_MAX;
    ids->next++;
    return output_record(true, &record) ? EXIT_DONE : EXIT_FAILED;
}

/* A document is the whole source: prints "fingerprint<TAB>name". */
static int fingerprint_file(input_source *source, const sstore_text_options *text_options)
{
    uint64_t fingerprint;
    sstore_error error;
    int code = input_source_need(source, SIZE_MAX);
    if (code != EXIT_DONE)
        return code;
    const char *text = source->buffer + source->begin;
    if (sstore_fingerprint_text(text, source->end - source->begin, text_options, &fingerprint, &error) != SSTORE_OK)
        return message_error(&error);
    char digits[17];
    *output_hex(digits, fingerprint) = '\t';
    bool printed = output_bytes(digits, sizeof digits) && output_escaped(source->name, true) && output_bytes("\n", 1);
    return printed ? EXIT_DONE : EXIT_FAILED;
}

/* A document is a line: prints "fingerprint<TAB>number" for each. */
static int fingerprint_lines(input_source *source, const sstore_text_options *text_options, document_ids *ids)
{
    source_line line = {.any_length = true, .flushes = true}; /* a document */
    uint64_t fingerprint;
    sstore_error error;
    int code = EXIT_DONE;
    while (code == EXIT_DONE && source_line_next(source, &line, &code)) {
        if (sstore_fingerprint_text(line.text, line.length, text_options, &fingerprint, &error) != SSTORE_OK)
            return message_error(&error);
        code = print_numbered(source, fingerprint, ids);
    }
    return code;
}

/* ----- weighted features ----- */

/* The features of the document being read. */
typedef struct weighted_document {
    char *bytes; /* of all features, one after the other */
    size_t used, capacity;
    sstore_feature *features; /* `data` is set once all bytes are there */
    size_t count, feature_capacity;
} weighted_document;

static bool add_feature(weighted_document *document, const char *data, size_t size, double weight)
{
    if (document->capacity - document->used < size) {
        size_t capacity = 2 * document->capacity + size;
        char *bytes = realloc(document->bytes, capacity);
        if (bytes == NULL)
            return false;
        document->bytes = bytes;
        document->capacity = capacity;
    }
    if (document->count == document->feature_capacity) {
        size_t capacity = 2 * document->feature_capacity + 256;
        sstore_feature *features = reallocarray(document->features, capacity, sizeof *features);
        if (features == NULL)
            return false;
        document->features = features;
        document->feature_capacity = capacity;
    }
    if (document->bytes != NULL) /* there are others than empty ones */
        memcpy(document->bytes + document->used, data, size);
    document->used += size;
    document->features[document->count++] = (sstore_feature){.size = size, .weight = weight};
    return true;
}

/* Print the document's fingerprint, if it has any line, and start the next one. */
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

static bool is_blank(const char *text, size_t length)
{
    while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\t'))
        length--;
    return length == 0;
}

static int take_line(weighted_document *document, input_source *source, const source_line *line, document_ids *ids)
{
    const char *text = line->text;
    const size_t length = source_line_length(line);
    if (is_blank(text, length))
        return end_document(document, source, ids);
    const char *tab = memrchr(text, '\t', length);
    if (tab == NULL)
        return input_source_fail_line(source, line->number, "expected a feature, a tab and a weight, found no tab");
    double weight;
    if (!weight_parse(tab + 1, length - (size_t)(tab + 1 - text), &weight))
        return input_source_fail_line(source, line->number,
                                      "expected a decimal weight from -2^31 to 2^31 behind the last tab");
    if (!add_feature(document, text, (size_t)(tab - text), weight))
        return input_source_fail_line(source, line->number, "out of memory");
    return EXIT_DONE;
}

/* A document is lines of "feature<TAB>weight" up to a blank line: prints "fingerprint<TAB>number" for each. */
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

static int read_input(const arguments *all, const char *path, document_ids *ids)
{
    input_source source;
    int code = input_source_open(&source, path);
    if (code != EXIT_DONE)
        return code;
    if (all->weighted)
        code = fingerprint_weighted(&source, ids);
    else if (all->lines)
        code = fingerprint_lines(&source, &all->text, ids);
    else
        code = fingerprint_file(&source, &all->text);
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
    int code = input_check_all(inputs.items, inputs.count, NULL);
    for (int i = 0; i < inputs.count && code == EXIT_DONE; i++)
        code = read_input(&all, inputs.items[i], &ids);
    return code;
}

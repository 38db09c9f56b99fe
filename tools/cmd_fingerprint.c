/*
 * cmd_fingerprint.c - sstore fingerprint: make fingerprints of documents.
 */
#include <stdio.h>
#include <string.h>

#include "arguments.h"
#include "cmd.h"
#include "fingerprint_documents.h"
#include "input.h"
#include "output.h"

enum { KEY_FEATURES = 0x200, KEY_SHINGLE, KEY_LINES, KEY_WEIGHTED, KEY_FIRST_ID, KEY_RECIPE };

typedef struct fingerprint_arguments {
    sstore_text_options text;
    bool has_text_options, lines, weighted, has_first_id, recipe;
    uint64_t first_id;
    char **inputs; /* of argv; argp has put them together at its end */
    int input_count;
} fingerprint_arguments;

static const struct argp_option options[] = {
    {"features", KEY_FEATURES, "KIND", 0, "words: shingles of lower-cased words (the default); chars: n-grams", 0},
    {"shingle", KEY_SHINGLE, "N", 0, "N words or characters a feature, 1 to 64 (default 3 words, 4 characters)", 0},
    {"lines", KEY_LINES, NULL, 0, "every line is a document; print its number, from 0 over all FILEs, as its id", 0},
    {"weighted", KEY_WEIGHTED, NULL, 0, "read lines of feature, tab, weight; a blank line ends a document", 0},
    {"first-id", KEY_FIRST_ID, "N", 0, "with --lines or --weighted: the first document's id (default 0)", 0},
    {"recipe", KEY_RECIPE, NULL, 0,
     "print how fingerprints are made with these options, for --recipe of other commands", 0},
    {0}};

static error_t parse_option(int key, char *argument, fingerprint_arguments *arguments)
{
    static const char *const kinds[] = {"words", "chars", NULL};
    static const sstore_feature_kind values[] = {SSTORE_FEATURES_WORDS, SSTORE_FEATURES_CHARS};
    switch (key) {
    case KEY_FEATURES:
        arguments->text.kind = values[argument_choice("--features", argument, kinds, "'words' or 'chars'")];
        arguments->has_text_options = true;
        return 0;
    case KEY_SHINGLE:
        arguments->text.shingle = (uint32_t)argument_number("--shingle", argument, 1, 64);
        arguments->has_text_options = true;
        return 0;
    case KEY_LINES: arguments->lines = true; return 0;
    case KEY_WEIGHTED: arguments->weighted = true; return 0;
    case KEY_FIRST_ID:
        arguments->first_id = argument_number("--first-id", argument, 0, UINT64_MAX);
        arguments->has_first_id = true;
        return 0;
    case KEY_RECIPE: arguments->recipe = true; return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static void check_arguments(fingerprint_arguments *arguments)
{
    if (arguments->weighted && (arguments->lines || arguments->has_text_options))
        cmd_usage_error("--weighted: the features are given, so --features, --shingle and --lines do not apply");
    if (arguments->weighted && arguments->recipe)
        cmd_usage_error("--recipe: only who made the features of --weighted can say how");
    if (arguments->has_first_id && !arguments->lines && !arguments->weighted)
        cmd_usage_error("--first-id goes with --lines or --weighted only: a whole file has its path, and no id");
    if (arguments->recipe && arguments->input_count > 0)
        cmd_usage_error("expected no FILE with --recipe, found '%s'", arguments->inputs[0]);
    cmd_settle_inputs(&arguments->inputs, &arguments->input_count);
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    fingerprint_arguments *arguments = state->input;
    switch (key) {
    case ARGP_KEY_ARGS:
        arguments->inputs = state->argv + state->next;
        arguments->input_count = state->argc - state->next;
        return 0;
    case ARGP_KEY_END: check_arguments(arguments); return 0;
    default: return parse_option(key, argument, arguments);
    }
}

static const struct argp_child children[] = {CMD_COMMON_CHILD, {0}};
static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "[FILE...]",
    .doc = "Print the 64-bit simhash of each FILE, a text in UTF-8, as lines of fingerprint and path; - or no FILE is "
           "stdin. Similar documents get fingerprints that differ in few bits.",
    .children = children,
};

static int print_recipe(const sstore_text_options *text)
{
    char recipe[256];
    uint64_t fingerprint;
    sstore_error error;
    if (sstore_fingerprint_text("", 0, text, &fingerprint, &error) != SSTORE_OK)
        return cmd_fail(&error); /* a library that cannot read text has no recipe for it */
    size_t length = sstore_text_recipe(text, recipe, sizeof recipe);
    return output_bytes(recipe, length) && output_bytes("\n", 1) ? EXIT_DONE : EXIT_FAILED;
}

static int read_input(const fingerprint_arguments *arguments, const char *path, document_ids *ids)
{
    input_source source;
    int code = input_source_open(&source, path);
    if (code != EXIT_DONE)
        return code;
    if (arguments->weighted)
        code = fingerprint_weighted(&source, ids);
    else if (arguments->lines)
        code = fingerprint_lines(&source, &arguments->text, ids);
    else
        code = fingerprint_file(&source, &arguments->text);
    input_source_report(&source);
    input_source_close(&source);
    return code;
}

int cmd_fingerprint(int argc, char **argv)
{
    fingerprint_arguments arguments = {.text = SSTORE_TEXT_OPTIONS_INIT};
    cmd_parse(&argp, argc, argv, &arguments);
    if (arguments.recipe)
        return print_recipe(&arguments.text);
    document_ids ids = {.next = arguments.first_id};
    int code = EXIT_DONE;
    for (int i = 0; i < arguments.input_count && code == EXIT_DONE; i++)
        code = input_check(arguments.inputs[i], NULL);
    for (int i = 0; i < arguments.input_count && code == EXIT_DONE; i++)
        code = read_input(&arguments, arguments.inputs[i], &ids);
    return code;
}

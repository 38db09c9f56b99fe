/*
 * command_line.c - parses the arguments of a command by its tables, through argp.
 */
#include "commands/command_line.h"

#include <argp.h>
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/describe.h"
#include "commands/suggest.h"
#include "input/digits.h"
#include "output/messages.h"
#include "output/output.h"

enum { KEY_USAGE = 0x100, FIRST_KEY, MAX_OPTIONS = 48 };

/* The options as argp takes them, and where their values go. */
typedef struct parser {
    const command_syntax *syntax;
    char *arguments;
    operands operands;
    bool has_sizes; /* some option is an OPTION_SIZE */
    size_t count;   /* of rows[], without those of every command, which follow */
    /* The key of an option without a letter is FIRST_KEY plus its index. */
    struct argp_option rows[MAX_OPTIONS + EVERY_COMMAND_OPTION_COUNT + 1];
    struct target {
        const command_option *option;
        char *part;       /* of the arguments */
        char written[32]; /* the option as messages show it */
    } targets[MAX_OPTIONS];
} parser;

/* ----- values ----- */

/* Read the digits at the beginning of `text`. Returns the text after them, or NULL if there are none or too many. */
static const char *read_digits(const char *text, uint64_t *value_out)
{
    bool fits;
    const size_t count = digits_read_any_decimal(text, strlen(text), value_out, &fits);
    return count == 0 || !fits ? NULL : text + count;
}

static uint64_t parse_number(const char *written, const char *text, uint64_t min, uint64_t max)
{
    uint64_t value = 0;
    const char *end = read_digits(text, &value);
    if (end != NULL && *end == '\0' && value >= min && value <= max)
        return value;
    if (max == UINT64_MAX)
        message_usage_error("%s: expected a number of at least %" PRIu64 ", found '%s'", written, min, text);
    message_usage_error("%s: expected a number from %" PRIu64 " to %" PRIu64 ", found '%s'", written, min, max, text);
}

/* A number with a suffix: of a size powers of 1024, of a count powers of 1000. */
static uint64_t parse_scaled(const char *written, const char *text, bool is_size)
{
    static const char letters[] = "KMGT";
    uint64_t value = 0;
    const char *suffix = read_digits(text, &value);
    bool valid = suffix != NULL && (value > 0 || !is_size);
    if (valid && *suffix != '\0') {
        const char *letter = strchr(letters, *suffix & ~0x20); /* in either case */
        valid = letter != NULL && *letter != '\0' && (suffix[1] == '\0' || (is_size && strcmp(suffix + 1, "iB") == 0));
        for (const char *at = letters; valid && at <= letter; at++)
            valid = !__builtin_mul_overflow(value, is_size ? 1024u : 1000u, &value);
    }
    if (!valid)
        message_usage_error("%s: expected a %s or 2G, found '%s'", written,
                            is_size ? "size such as 65536, 512K, 64M" : "number such as 65536, 500K, 10M", text);
    return value;
}

static uint64_t parse_choice(const char *written, const char *text, const option_choice *choices)
{
    char expected[256] = "", similar[80];
    size_t length = 0;
    suggestion meant = {.word = text};
    for (const option_choice *at = choices; at->name != NULL; at++) {
        if (strcmp(at->name, text) == 0)
            return at->value;
        const char *before = at == choices ? "" : at[1].name == NULL ? " or " : ", ";
        length += (size_t)snprintf(expected + length, sizeof expected - length, "%s'%s'", before, at->name);
        assert(length < sizeof expected);
        suggestion_consider(&meant, at->name);
    }
    message_usage_error("%s: expected %s, found '%s'%s", written, expected, text, suggestion_text(&meant, "", similar));
}

static uint64_t parse_value(const command_option *option, const char *written, const char *text)
{
    assert(text != NULL || option->kind == OPTION_FLAG);
    switch (option->kind) {
    case OPTION_NUMBER: return parse_number(written, text, option->min, option->max);
    case OPTION_SIZE:
    case OPTION_COUNT: return parse_scaled(written, text, option->kind == OPTION_SIZE);
    case OPTION_CHOICE: return parse_choice(written, text, option->choices);
    case OPTION_SECONDS: return *text == '\0' ? UINT64_MAX : 1000 * parse_number(written, text, 0, UINT32_MAX);
    case OPTION_FLAG:
    case OPTION_TEXT:
    case OPTION_TEXTS: break;
    }
    return 1;
}

static void store_value(char *field, size_t bytes, uint64_t value)
{
    const uint32_t small = value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
    const bool flag = value != 0;
    if (bytes == sizeof value)
        memcpy(field, &value, sizeof value);
    else if (bytes == sizeof small)
        memcpy(field, &small, sizeof small);
    else
        memcpy(field, &flag, sizeof flag);
}

static void append_text(const char *written, text_list *list, const char *text)
{
    if (list->count == TEXT_LIST_MAX)
        message_usage_error("%s: it can be given at most %u times", written, TEXT_LIST_MAX);
    list->items[list->count++] = text;
}

static void take_option(const struct target *target, const char *text)
{
    const command_option *option = target->option;
    const char *written = target->written;
    if (text == NULL && option->value_is_optional)
        text = option->kind == OPTION_CHOICE ? option->choices->name : "";
    const uint64_t value = parse_value(option, written, text);
    if (option->kind == OPTION_TEXT)
        memcpy(target->part + option->offset, &text, sizeof text);
    else if (option->kind == OPTION_TEXTS)
        append_text(written, (text_list *)(void *)(target->part + option->offset), text);
    else
        store_value(target->part + option->offset, option->bytes, value);
    if (option->given != 0)
        memcpy(target->part + option->given, &written, sizeof written);
}

/* ----- argp ----- */

static void add_options(parser *self, const command_option *options, char *part)
{
    for (const command_option *option = options; option != NULL && option->name != NULL; option++) {
        const size_t index = self->count++;
        assert(index < MAX_OPTIONS);
        struct target *target = &self->targets[index];
        *target = (struct target){.option = option, .part = part};
        self->has_sizes = self->has_sizes || option->kind == OPTION_SIZE;
        if (option->letter != 0)
            snprintf(target->written, sizeof target->written, "-%c", option->letter);
        else
            snprintf(target->written, sizeof target->written, "--%s", option->name);
        self->rows[index] = (struct argp_option){.name = option->name,
                                                 .key = option->letter != 0 ? option->letter : FIRST_KEY + (int)index,
                                                 .arg = option->value_name,
                                                 .flags = option->value_is_optional ? OPTION_ARG_OPTIONAL : 0,
                                                 .doc = option->help};
    }
}

static error_t take_key(parser *self, int key, const char *text)
{
    for (size_t i = 0; i < self->count; i++)
        if (self->targets[i].option != NULL && self->rows[i].key == key) {
            take_option(&self->targets[i], text);
            return 0;
        }
    return ARGP_ERR_UNKNOWN;
}

/* The options that every command has, and the end of the rows. */
static void add_every_command_rows(parser *self)
{
    struct argp_option *row = &self->rows[self->count];
    for (const command_option *option = every_command_options; option->name != NULL; option++) {
        *row++ = (struct argp_option){.name = option->name,
                                      .key = option->letter != 0 ? option->letter : KEY_USAGE,
                                      .arg = option->value_name,
                                      .flags = option->value_is_optional ? OPTION_ARG_OPTIONAL : 0,
                                      .doc = option->help,
                                      .group = -1};
        if (option->letter == 'h')
            *row++ = (struct argp_option){.key = '?', .flags = OPTION_ALIAS | OPTION_HIDDEN};
    }
    *row = (struct argp_option){0};
}

/* ----- help ----- */

#define SCREEN_LINES 24

/* The lines after the options: examples, or in the long help notes, and where to find more. */
static void print_end_of_help(const parser *self, bool is_long, FILE *to)
{
    const command_syntax *syntax = self->syntax;
    const char *command = strchr(program_invocation_short_name, ' ') + 1;
    if (is_long && syntax->notes != NULL)
        fprintf(to, "%s\n", syntax->notes);
    if (is_long && self->has_sizes)
        fputs(SIZE_NOTE "\n", to);
    for (const command_example *at = syntax->examples; at != NULL && at->command != NULL; at++)
        fprintf(to, "%c%s:\n  $ %s\n", toupper((unsigned char)at->text[0]), at->text + 1, at->command);
    fprintf(to,
            is_long ? COMMAND_MANUAL("%s") " explains more." : "All options: --help=all, or " COMMAND_MANUAL("%s") ".",
            command);
}

/* Leave out the note about values of short options: the rows say it. Other texts are returned, not copied, as argp uses
 * a copy of the operands after it is freed. */
static char *filter_help(int key, const char *text, void *input)
{
    (void)input;
    return key == ARGP_KEY_HELP_DUP_ARGS_NOTE ? NULL : (char *)(uintptr_t)text;
}

static FILE *open_text(char **text_out, size_t *length_out)
{
    FILE *to = open_memstream(text_out, length_out);
    if (to != NULL)
        return to;
    message_print("out of memory");
    exit(EXIT_FAILED);
}

/* Does the help show the row where not all fit? */
static bool is_common(const parser *self, size_t index)
{
    const command_option *option = self->targets[index].option;
    const char *also = self->syntax->also_common;
    return option != NULL && (option->common || (also != NULL && strcmp(option->name, also) == 0));
}

/* Returns the help of all options, or of the common ones, to be freed. */
static char *make_help(const parser *self, struct argp_state *state, bool is_long)
{
    struct argp_option rows[sizeof self->rows / sizeof *self->rows];
    size_t count = 0, length;
    for (size_t i = 0; i < self->count; i++)
        if (is_long || is_common(self, i))
            rows[count++] = self->rows[i];
    for (const struct argp_option *row = &self->rows[self->count]; row->name != NULL || row->key != 0; row++)
        if (is_long || row->key == 'h')
            rows[count++] = *row;
    rows[count] = (struct argp_option){0};
    char *doc, *text;
    FILE *to = open_text(&doc, &length);
    fprintf(to, "%s\v", self->syntax->doc);
    print_end_of_help(self, is_long, to);
    fclose(to);
    to = open_text(&text, &length);
    static struct argp argp; /* static: the state keeps its address */
    argp = (struct argp){.options = rows, .args_doc = self->syntax->operands, .doc = doc, .help_filter = filter_help};
    (void)setenv("ARGP_HELP_FMT", "opt-doc-col=26", 0);
    state->root_argp = &argp;
    state->name = program_invocation_short_name;
    argp_state_help(state, to, ARGP_HELP_STD_HELP & ~(unsigned)ARGP_HELP_EXIT_OK);
    fclose(to);
    free(doc);
    return text;
}

static size_t count_lines(const char *text)
{
    size_t count = 0;
    for (; (text = strchr(text, '\n')) != NULL; text++)
        count++;
    return count;
}

/* Take out lines of spaces, which argp leaves behind a row that just fits. */
static void drop_empty_rows(char *text)
{
    char *to = text;
    for (char *line = text, *end; *line != '\0'; line = end) {
        const size_t spaces = strspn(line, " ");
        end = line + strcspn(line, "\n");
        end += *end == '\n';
        if (spaces > 0 && line[spaces] == '\n')
            continue;
        memmove(to, line, (size_t)(end - line));
        to += end - line;
    }
    *to = '\0';
}

/* Print the help of all options if they are wanted or fit on a screen, otherwise of the common ones. */
static void print_help(const parser *self, struct argp_state *state, bool all)
{
    char *text = make_help(self, state, true);
    if (!all && count_lines(text) > SCREEN_LINES) {
        free(text);
        text = make_help(self, state, false);
    }
    drop_empty_rows(text);
    output_text("%s", text);
    free(text);
}

/* `what` is the value of --help, or NULL. */
static __attribute__((noreturn)) void print_help_and_exit(const parser *self, struct argp_state *state,
                                                          const char *what)
{
    if (what != NULL && strcmp(what, "table") == 0)
        describe_tables(self->syntax);
    else
        print_help(self, state, what != NULL && parse_choice("--help", what, every_command_options[0].choices) != 0);
    exit(EXIT_DONE);
}

/*
 * argp shows argv[0] both before getopt's messages, where it should be "sstore", and in its usage, where it should be
 * "sstore NAME". So argp prints no errors here, and this --help replaces its own.
 */
static error_t parse_key(int key, char *text, struct argp_state *state)
{
    parser *self = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->err_stream = NULL; return 0;
    case 'h':
    case '?': print_help_and_exit(self, state, text);
    case KEY_USAGE:
        state->name = program_invocation_short_name;
        argp_state_help(state, stdout, ARGP_HELP_USAGE | ARGP_HELP_EXIT_OK);
        return 0;
    case 'V': output_version(); exit(EXIT_DONE);
    case ARGP_KEY_ARGS:
        if (self->syntax->operands == NULL)
            message_usage_error("unexpected operand '%s': this command takes none", state->argv[state->next]);
        self->operands = (operands){state->argv + state->next, state->argc - state->next};
        return 0;
    case ARGP_KEY_END:
        for (const option_group *at = self->syntax->groups; at != NULL && at->options != NULL; at++)
            if (at->check != NULL)
                at->check(self->arguments + at->offset);
        return 0;
    default: return take_key(self, key, text);
    }
}

/* ----- messages ----- */

/* Is it an option of how texts come, which a command of fingerprints does not have? */
static bool is_of_texts(const char *word)
{
    static const char *const names[] = {"lines", "jsonl", "text-field", "recursive", "markup", "shingle"};
    bool found = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        found = found || strcmp(word, names[i]) == 0;
    return found;
}

/* What getopt's message about an option leaves open: a similar option, or how to give a negative number. */
static const char *add_advice(const parser *self, const char *message, char advice[80])
{
    char word[32];
    if (sscanf(message, "sstore: invalid option -- '%1[0-9]", word) == 1)
        return "; put negative numbers after --";
    suggestion meant = {.word = word};
    if (sscanf(message, "sstore: unrecognized option '--%31[^'=]", word) != 1)
        return "";
    if (is_of_texts(word))
        return "; it is one of 'sstore fingerprint', which makes fingerprints of texts for 'sstore build'";
    for (const struct argp_option *row = self->rows; row->name != NULL || row->key != 0 || row->doc != NULL; row++)
        if (row->name != NULL)
            suggestion_consider(&meant, row->name);
    return suggestion_text(&meant, "--", advice);
}

/*
 * getopt prints its message, one line, to `stderr`, and repeats arguments as they are. So `stderr` is a buffer
 * meanwhile, and its content is printed escaped.
 */
static error_t parse_quietly(const struct argp *argp, int argc, char **argv, parser *self)
{
    char *text = NULL;
    size_t length = 0;
    FILE *memory = open_memstream(&text, &length), *before = stderr;
    if (memory == NULL)
        return ENOMEM;
    stderr = memory; /* messages of ours do not go there */
    error_t failure = argp_parse(argp, argc, argv, ARGP_NO_HELP, NULL, self);
    stderr = before;
    if (fclose(memory) == 0 && length > 1) {
        char shown[8192], advice[80];
        (void)sstore_escape(text, length - 1, 0, shown, sizeof shown); /* without the newline */
        fprintf(stderr, "%s%s\n", shown, add_advice(self, text, advice));
    }
    free(text);
    return failure;
}

operands command_line_parse(const command_syntax *syntax, int argc, char **argv, void *arguments)
{
    static parser self; /* static: `given` fields of the arguments point into it */
    self = (parser){.syntax = syntax, .arguments = arguments};
    add_options(&self, syntax->options, arguments);
    for (const option_group *at = syntax->groups; at != NULL && at->options != NULL; at++) {
        if (at->header != NULL)
            self.rows[self.count++] = (struct argp_option){.doc = at->header, .group = 10};
        add_options(&self, at->options, self.arguments + at->offset);
    }
    add_every_command_rows(&self);
    if (argc > 1 && strcmp(argv[1], COMPLETE_WORD) == 0) {
        describe_completions(syntax, argv + 2, argc - 2);
        exit(EXIT_DONE);
    }
    const struct argp argp = {.options = self.rows, .parser = parse_key, .args_doc = syntax->operands};
    error_t failure = parse_quietly(&argp, argc, argv, &self);
    if (failure == EINVAL) /* getopt has printed the reason */
        message_exit_usage();
    if (failure != 0) {
        message_print("cannot parse the command line: out of memory");
        exit(EXIT_FAILED);
    }
    return self.operands;
}

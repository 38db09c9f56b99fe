/*
 * command_line.c - parsing the arguments of a command by its tables.
 */
#include "commands/command_line.h"

#include <argp.h>
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/digits.h"
#include "output/messages.h"
#include "output/output.h"

enum { KEY_USAGE = 0x100, FIRST_KEY, MAX_OPTIONS = 48 };

static const struct argp_option common_options[] = {
    {"help", '?', NULL, 0, "print this help", -1},
    {"usage", KEY_USAGE, NULL, 0, "print a short usage message", 0},
    {"version", 'V', NULL, 0, "print the version", 0},
    {0},
};

/* What argp is given, and what each option is. */
typedef struct parser {
    const command_syntax *syntax;
    char *arguments;
    operands operands;
    size_t count; /* of rows[], but for the common options, which follow them */
    /* The key of an option without a letter is its index and FIRST_KEY. */
    struct argp_option rows[MAX_OPTIONS + sizeof common_options / sizeof *common_options];
    struct target {
        const command_option *option;
        char *part;       /* of the arguments */
        char written[32]; /* as messages show it */
    } targets[MAX_OPTIONS];
} parser;

/* ----- values ----- */

/* Read the digits that `text` begins with. Returns what follows them, or NULL if there are none or too many. */
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
        message_usage_error("%s: expected a number from %" PRIu64 " on, found '%s'", written, min, text);
    message_usage_error("%s: expected a number from %" PRIu64 " to %" PRIu64 ", found '%s'", written, min, max, text);
}

/* The binary multiple that a suffix stands for, as a shift; -1: no such suffix. */
static int suffix_shift(const char *suffix)
{
    static const char letters[] = "KMGT";
    if (*suffix == '\0')
        return 0;
    char upper = (char)(*suffix & ~0x20);
    const char *found = strchr(letters, upper);
    if (found == NULL || *found == '\0' || (suffix[1] != '\0' && strcmp(suffix + 1, "iB") != 0))
        return -1;
    return 10 * (int)(found - letters + 1);
}

static uint64_t parse_size(const char *written, const char *text)
{
    uint64_t value = 0;
    const char *suffix = read_digits(text, &value);
    int shift = suffix == NULL ? -1 : suffix_shift(suffix);
    if (shift < 0 || value == 0 || value > UINT64_MAX >> shift)
        message_usage_error("%s: expected a size such as 65536, 512K, 64M or 2G, found '%s'", written, text);
    return value << shift;
}

static uint64_t parse_count(const char *written, const char *text)
{
    uint64_t value = 0;
    const char *end = read_digits(text, &value);
    int shift = end == NULL || (*end != '\0' && end[1] != '\0') ? -1 : suffix_shift(end);
    for (; shift > 0 && value <= UINT64_MAX / 1000; shift -= 10)
        value *= 1000;
    if (shift != 0)
        message_usage_error("%s: expected a number such as 65536, 500K, 10M or 2G, found '%s'", written, text);
    return value;
}

static uint64_t parse_choice(const char *written, const char *text, const option_choice *choices)
{
    char expected[256] = "";
    size_t length = 0;
    for (const option_choice *at = choices; at->name != NULL; at++) {
        if (strcmp(at->name, text) == 0)
            return at->value;
        const char *before = at == choices ? "" : at[1].name == NULL ? " or " : ", ";
        length += (size_t)snprintf(expected + length, sizeof expected - length, "%s'%s'", before, at->name);
        assert(length < sizeof expected);
    }
    message_usage_error("%s: expected %s, found '%s'", written, expected, text);
}

static uint64_t parse_value(const command_option *option, const char *written, const char *text)
{
    switch (option->kind) {
    case OPTION_NUMBER: return parse_number(written, text, option->min, option->max);
    case OPTION_SIZE: return parse_size(written, text);
    case OPTION_COUNT: return parse_count(written, text);
    case OPTION_CHOICE: return parse_choice(written, text, option->choices);
    case OPTION_JSON:
        if (!json_is_available())
            message_usage_error("%s: this sstore was built without the jansson library", written);
        break;
    case OPTION_FLAG:
    case OPTION_TEXT: break;
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

static void take_option(const struct target *target, const char *text)
{
    const command_option *option = target->option;
    const char *written = target->written;
    const uint64_t value = parse_value(option, written, text);
    if (option->kind == OPTION_TEXT)
        memcpy(target->part + option->offset, &text, sizeof text);
    else
        store_value(target->part + option->offset, option->bytes, value);
    if (option->given != 0)
        memcpy(target->part + option->given, &written, sizeof written);
}

/* ----- argp ----- */

static void add_option(parser *self, const command_option *option, char *part)
{
    const size_t index = self->count++;
    struct target *target = &self->targets[index];
    assert(index < MAX_OPTIONS);
    self->rows[index] = (struct argp_option){.name = option->name,
                                             .key = option->letter != 0 ? option->letter : FIRST_KEY + (int)index,
                                             .arg = option->value_name,
                                             .doc = option->help};
    target->option = option;
    target->part = part;
    if (option->letter != 0)
        snprintf(target->written, sizeof target->written, "-%c", option->letter);
    else
        snprintf(target->written, sizeof target->written, "--%s", option->name);
}

static void add_options(parser *self, const command_option *options, char *part)
{
    for (const command_option *at = options; at != NULL && at->name != NULL; at++)
        add_option(self, at, part);
}

static void add_groups(parser *self)
{
    for (const option_group *at = self->syntax->groups; at != NULL && at->options != NULL; at++) {
        if (at->header != NULL)
            self->rows[self->count++] = (struct argp_option){.doc = at->header, .group = 10};
        add_options(self, at->options, self->arguments + at->offset);
    }
}

static void check_groups(const parser *self)
{
    for (const option_group *at = self->syntax->groups; at != NULL && at->options != NULL; at++)
        if (at->check != NULL)
            at->check(self->arguments + at->offset);
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

/*
 * argp shows argv[0] both before getopt's messages and as the program in its usage, but the former is to be "sstore"
 * and the latter "sstore NAME". So argp prints no errors here, and its own --help is replaced by this one.
 */
static error_t parse_key(int key, char *text, struct argp_state *state)
{
    parser *self = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->err_stream = NULL; return 0;
    case '?':
    case KEY_USAGE:
        state->name = program_invocation_short_name;
        argp_state_help(state, stdout, key == '?' ? ARGP_HELP_STD_HELP : ARGP_HELP_USAGE | ARGP_HELP_EXIT_OK);
        return 0;
    case 'V': output_version(); exit(EXIT_DONE);
    case ARGP_KEY_ARGS:
        if (self->syntax->operands == NULL)
            message_usage_error("'%s' is one operand too many: expected none", state->argv[state->next]);
        self->operands = (operands){state->argv + state->next, state->argc - state->next};
        return 0;
    case ARGP_KEY_END: check_groups(self); return 0;
    default: return take_key(self, key, text);
    }
}

/* Print getopt's message, one line, escaped: getopt repeats arguments as they are. */
static void print_getopt_messages(const char *text, size_t length)
{
    while (length > 0 && text[length - 1] == '\n')
        length--;
    char shown[8192];
    (void)sstore_escape(text, length, 0, shown, sizeof shown);
    if (length > 0)
        fprintf(stderr, "%s\n", shown);
}

/* Getopt prints its messages to `stderr` and cannot be given another stream. So `stderr` is a buffer while it works. */
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
    if (fclose(memory) == 0)
        print_getopt_messages(text, length);
    free(text);
    return failure;
}

operands command_line_parse(const command_syntax *syntax, int argc, char **argv, void *arguments)
{
    static parser self; /* the arguments may point to what it says of an option */
    self = (parser){.syntax = syntax, .arguments = arguments};
    add_options(&self, syntax->options, arguments);
    add_groups(&self);
    memcpy(&self.rows[self.count], common_options, sizeof common_options);
    const struct argp argp = {.options = self.rows,
                              .parser = parse_key,
                              .args_doc = syntax->operands,
                              .doc = syntax->doc};
    error_t failure = parse_quietly(&argp, argc, argv, &self);
    if (failure == EINVAL) /* getopt has said why */
        message_exit_usage();
    if (failure != 0) {
        message_print("cannot parse the command line: out of memory");
        exit(EXIT_FAILED);
    }
    return self.operands;
}

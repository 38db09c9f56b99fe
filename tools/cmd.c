/*
 * cmd.c - messages and argument parsing that all commands share.
 */
#include "cmd.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "output.h"
#include "progress.h"

enum { KEY_USAGE = 0x100 };

/* Where messages go while getopt's are caught: the real stderr. NULL: nothing is caught. */
static FILE *message_stream;

static FILE *messages(void)
{
    return message_stream != NULL ? message_stream : stderr;
}

__attribute__((format(printf, 1, 0))) static void complain(const char *format, va_list arguments)
{
    /* One buffer, one write: messages of processes that share a terminal or a log do not mix. */
    char message[8192], shown[4 * sizeof message];
    vsnprintf(message, sizeof message, format, arguments);
    (void)sstore_escape(message, strlen(message), 0, shown, sizeof shown);
    progress_wipe();
    fprintf(messages(), "sstore: %s\n", shown);
}

void cmd_complain(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    complain(format, arguments);
    va_end(arguments);
}

int cmd_fail(const sstore_error *error)
{
    cmd_complain("%s", error->message);
    if (error->status == SSTORE_ERROR_DAMAGED)
        return EXIT_DAMAGED;
    /* The library is handed nothing that does not come from the command line, so its complaint is about that. */
    return error->status == SSTORE_ERROR_ARGUMENT ? EXIT_USAGE : EXIT_FAILED;
}

__attribute__((noreturn)) static void exit_usage(void)
{
    fprintf(messages(), "Try '%s --help' for more information.\n", program_invocation_short_name);
    exit(EXIT_USAGE);
}

void cmd_usage_error(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    complain(format, arguments);
    va_end(arguments);
    exit_usage();
}

void *cmd_allocate(size_t count, size_t size)
{
    void *memory = calloc(count > 0 ? count : 1, size);
    if (memory == NULL) {
        cmd_complain("out of memory");
        exit(EXIT_FAILED);
    }
    return memory;
}

/* ----- parsing ----- */

/*
 * argp shows argv[0] both before getopt's messages and as the program in its usage, but the former is to be "sstore"
 * and the latter "sstore NAME". So argp is kept from speaking of errors, and its own --help is replaced by this one.
 */
static error_t parse_common(int key, char *argument, struct argp_state *state)
{
    (void)argument;
    switch (key) {
    case ARGP_KEY_INIT:
        state->err_stream = NULL;
        return 0;
    case '?':
    case KEY_USAGE:
        state->name = program_invocation_short_name;
        argp_state_help(state, stdout, key == '?' ? ARGP_HELP_STD_HELP : ARGP_HELP_USAGE | ARGP_HELP_EXIT_OK);
        return 0;
    case 'V':
        cmd_print_version();
        exit(EXIT_DONE);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option common_options[] = {
    {"help", '?', NULL, 0, "print this help", -1},
    {"usage", KEY_USAGE, NULL, 0, "print a short usage message", 0},
    {"version", 'V', NULL, 0, "print the version", 0},
    {0}};

const struct argp cmd_common_argp = {.options = common_options, .parser = parse_common};

void cmd_print_version(void)
{
    output_text("sstore %s\n", sstore_version());
}

error_t cmd_parse_store(int key, char *argument, const char **store)
{
    switch (key) {
    case ARGP_KEY_ARG:
        if (*store != NULL)
            cmd_usage_error("'%s' is one operand too many: expected one STORE", argument);
        *store = argument;
        return 0;
    case ARGP_KEY_END:
        if (*store == NULL)
            cmd_usage_error("expected a STORE");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

cmd_store_and_inputs cmd_take_operands(const struct argp_state *state)
{
    return (cmd_store_and_inputs){.store = state->argv[state->next],
                                  .inputs = state->argv + state->next + 1,
                                  .input_count = state->argc - state->next - 1};
}

void cmd_settle_inputs(char ***inputs, int *input_count)
{
    static char *standard_input[] = {"-"};
    int standard_inputs = 0;
    for (int i = 0; i < *input_count; i++)
        standard_inputs += strcmp((*inputs)[i], "-") == 0;
    if (standard_inputs > 1)
        cmd_usage_error("expected '-', standard input, once, found it %d times", standard_inputs);
    if (*input_count > 0)
        return;
    *inputs = standard_input;
    *input_count = 1;
}

void cmd_check_inputs(cmd_store_and_inputs *operands)
{
    if (operands->store == NULL)
        cmd_usage_error("expected a STORE");
    cmd_settle_inputs(&operands->inputs, &operands->input_count);
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
static error_t parse_quietly(const struct argp *argp, int argc, char **argv, void *arguments)
{
    char *text = NULL;
    size_t length = 0;
    FILE *memory = open_memstream(&text, &length);
    if (memory == NULL)
        return ENOMEM;
    message_stream = stderr;
    stderr = memory;
    error_t failure = argp_parse(argp, argc, argv, ARGP_NO_HELP, NULL, arguments);
    stderr = message_stream;
    message_stream = NULL;
    if (fclose(memory) == 0)
        print_getopt_messages(text, length);
    free(text);
    return failure;
}

void cmd_parse(const struct argp *argp, int argc, char **argv, void *arguments)
{
    error_t failure = parse_quietly(argp, argc, argv, arguments);
    if (failure == EINVAL) /* getopt has said why */
        exit_usage();
    if (failure != 0) {
        cmd_complain("cannot parse the command line: out of memory");
        exit(EXIT_FAILED);
    }
}

void cmd_allow_many_files(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
}

int cmd_read_facts(const char *path, sstore_statistics *facts_out)
{
    sstore *store;
    sstore_error error;
    if (sstore_open(path, NULL, &store, &error) != SSTORE_OK)
        return cmd_fail(&error);
    *facts_out = (sstore_statistics){.struct_size = sizeof *facts_out};
    sstore_status status = sstore_stat(store, facts_out, &error);
    sstore_close(store);
    return status == SSTORE_OK ? EXIT_DONE : cmd_fail(&error);
}

/*
 * input_arguments.c - the options that say how input is read, for every command that reads it.
 */
#include "arguments.h"
#include "cmd.h"
#include "input.h"

enum { KEY_FORMAT = 0x100, KEY_COMPRESSION, KEY_COLUMNS, KEY_RADIX };

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "Input:", 10},
    {"format", KEY_FORMAT, "FORMAT", 0, "auto (by suffix; the default), text, u64, rec or npy", 0},
    {"compression", KEY_COMPRESSION, "KIND", 0,
     "auto (by suffix, of text also by its beginning; the default), none, gzip or zstd", 0},
    {"columns", KEY_COLUMNS, "LIST", 0, "what the fields of a line are: fingerprint, id, or - for one to skip", 0},
    {"radix", KEY_RADIX, "RADIX", 0, "of fingerprints in text: hex (the default) or dec, signed or unsigned", 0},
    {0}};

static input_format parse_format(const char *text)
{
    static const char *const names[] = {"auto", "text", "u64", "rec", "npy", NULL};
    return (input_format)argument_choice("--format", text, names, "'auto', 'text', 'u64', 'rec' or 'npy'");
}

static compression parse_compression(const char *text)
{
    static const char *const names[] = {"auto", "none", "gzip", "zstd", NULL};
    compression kind = (compression)argument_choice("--compression", text, names, "'auto', 'none', 'gzip' or 'zstd'");
    if (!compression_is_known(kind))
        cmd_usage_error("--compression: this sstore was built without %s",
                        compression_describe(kind)->decoder->library);
    return kind;
}

static bool parse_radix(const char *text)
{
    static const char *const names[] = {"hex", "dec", NULL};
    return argument_choice("--radix", text, names, "'hex' or 'dec'") == 1;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    input_options *input = state->input;
    line_fault fault;
    switch (key) {
    case KEY_FORMAT:
        input->format = parse_format(argument);
        return 0;
    case KEY_COMPRESSION:
        input->compression = parse_compression(argument);
        return 0;
    case KEY_COLUMNS:
        input->columns = argument;
        return 0;
    case KEY_RADIX:
        input->lines.decimal = parse_radix(argument);
        return 0;
    case ARGP_KEY_END: /* by now it is known what is to be read of them */
        if (input->columns != NULL && !line_format_set_columns(&input->lines, input->columns, &fault))
            cmd_usage_error("--columns: %s", fault.reason);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp input_argp = {.options = options, .parser = parse_option};

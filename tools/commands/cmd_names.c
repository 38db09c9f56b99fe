/*
 * cmd_names.c - sstore names: show an id table, or make one from lines.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "commands/cmd.h"
#include "input/digits.h"
#include "input/input_line.h"
#include "input/input_measure.h"
#include "input/input_source.h"
#include "input/interrupt.h"
#include "names/id_table_reader.h"
#include "names/id_table_writer.h"

typedef struct arguments {
    const char *from;
    header_mode header;
    progress_mode progress;
} arguments;

static const command_option options[] = {
    {"from", 0, "FILE", "make TABLE of these lines, or append them; - is standard input", OPTION_TEXT,
     OPTION_FIELD(arguments, from), .common = true},
    {0},
};
static const command_syntax syntax = {
    .options = options,
    .groups = (const option_group[]){HEADER_OPTION_GROUP(offsetof(arguments, header)),
                                     PROGRESS_OPTION_GROUP(offsetof(arguments, progress)),
                                     {0}},
    .operands = "TABLE [ID...]\n--from=FILE TABLE",
    .doc = "Print the names of each ID, or check TABLE and print all of it, as lines of id and name. "
           "'sstore fingerprint --id-table' makes such tables.",
    .examples = (const command_example[]){{"print all names of a table", "sstore names pages.names > names.tsv"},
                                          {"make a table of lines of id and name",
                                           "sstore names --from names.tsv copy.names"},
                                          {0}},
};

/* ----- printing ----- */

static bool print_entry(uint64_t id, const char *name, size_t length)
{
    char text[DIGITS_MAX_DECIMAL + 1];
    char *end = output_decimal(text, id);
    *end++ = '\t';
    return output_bytes(text, (size_t)(end - text)) && output_escaped(name, length, true) && output_bytes("\n", 1);
}

/* Of the table that is being printed. */
typedef struct printer {
    uint64_t printed, total;
    bool failed;
} printer;

#define ENTRIES_PER_REPORT 4096u

static bool print_next(void *context, uint64_t id, const char *name, size_t length)
{
    printer *self = context;
    if (self->printed++ % ENTRIES_PER_REPORT == 0)
        progress_show("printing", self->printed, self->total, (double)self->printed / (double)self->total);
    self->failed = !print_entry(id, name, length);
    return !self->failed;
}

static int print_all(id_table_reader *table)
{
    sstore_error error;
    printer how = {.total = id_table_reader_count(table)};
    const int code = message_status(id_table_reader_each(table, print_next, &how, &error), &error);
    return how.failed ? EXIT_FAILED : code;
}

static uint64_t parse_id_operand(const char *text)
{
    uint64_t id;
    line_fault fault;
    if (!line_parse_id(text, strlen(text), &id, &fault))
        message_usage_error("%s", fault.reason);
    return id;
}

static int print_names(const char *path, id_table_reader *table, const operands *ids)
{
    for (int i = 0; i < ids->count; i++) {
        sstore_error error;
        const char *name;
        size_t length;
        const uint64_t id = parse_id_operand(ids->items[i]);
        if (id_table_reader_find(table, id, &name, &length, &error) != SSTORE_OK)
            return message_error(&error);
        if (name == NULL)
            return message_print("%s: it has no name for id %" PRIu64, path, id);
        if (!print_entry(id, name, length))
            return EXIT_FAILED;
    }
    return EXIT_DONE;
}

static int show(const char *path, const operands *ids, header_mode header)
{
    output_style lines = {.json = false};
    id_table_reader *table;
    sstore_error error;
    for (int i = 0; i < ids->count; i++)
        (void)parse_id_operand(ids->items[i]); /* before anything is printed */
    if (id_table_reader_open(path, &table, &error) != SSTORE_OK)
        return message_error(&error);
    output_head(&lines, header, "id\tname");
    const int code = ids->count > 0 ? print_names(path, table, ids) : print_all(table);
    id_table_reader_close(table);
    return code;
}

/* ----- making a table ----- */

static int hex_digit(char digit)
{
    static const char digits[] = "0123456789abcdef";
    const char *found = digit != '\0' ? strchr(digits, digit) : NULL;
    return found != NULL ? (int)(found - digits) : -1;
}

/* Decode what output_escaped() prints. False: a backslash begins neither "\\" nor \xNN. */
static bool unescape(const char *text, size_t length, char *to, size_t *length_out)
{
    size_t used = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] != '\\') {
            to[used++] = text[i];
        } else if (i + 1 < length && text[i + 1] == '\\') {
            to[used++] = '\\';
            i++;
        } else if (i + 3 < length && text[i + 1] == 'x' && hex_digit(text[i + 2]) >= 0 && hex_digit(text[i + 3]) >= 0) {
            to[used++] = (char)(hex_digit(text[i + 2]) << 4 | hex_digit(text[i + 3]));
            i += 3;
        } else {
            return false;
        }
    }
    *length_out = used;
    return true;
}

static int take_line(id_table_writer *table, input_source *source, const source_line *line)
{
    const size_t length = source_line_length(line);
    const char *tab = memchr(line->text, '\t', length);
    uint64_t id;
    line_fault fault;
    sstore_error error;
    if (source_line_is_blank(line) || line->text[0] == '#')
        return EXIT_DONE;
    if (tab == NULL)
        return input_source_fail(source, line->number, "expected an id, a tab and a name, found no tab");
    if (!line_parse_id(line->text, (size_t)(tab - line->text), &id, &fault))
        return input_source_fail(source, line->number, fault.reason);
    size_t size = length - (size_t)(tab + 1 - line->text);
    char *name = malloc(size + 1);
    if (name == NULL)
        return input_source_fail(source, line->number, "out of memory");
    int code = EXIT_DONE;
    if (!unescape(tab + 1, size, name, &size))
        code = input_source_fail(source, line->number,
                                 "a backslash in a name must be written as \\\\, and a byte as \\xNN with two "
                                 "lower-case hex digits");
    else if (id_table_writer_add(table, id, name, size, &error) != SSTORE_OK)
        code = input_source_fail(source, line->number, error.message);
    free(name);
    return code;
}

static int read_lines(const char *from, id_table_writer *table)
{
    input_source source;
    source_line line = {.any_length = true};
    int code = input_source_open(&source, from);
    if (code != EXIT_DONE)
        return code;
    code = input_source_unpack(&source, COMPRESSION_AUTO);
    while (code == EXIT_DONE && source_line_next(&source, &line, &code)) {
        code = interrupted() ? interrupt_exit_code() : take_line(table, &source, &line);
        progress_show("reading", line.number, 0, input_measure_fraction());
    }
    input_source_report(&source);
    input_source_close(&source);
    return code;
}

static int make_table(const char *path, const char *from)
{
    id_table_writer *table;
    sstore_error error;
    char *input = (char *)(uintptr_t)from;
    interrupt_catch(); /* a signal would leave the file of the new table behind */
    if (id_table_writer_open(path, &table, &error) != SSTORE_OK)
        return message_error(&error);
    input_measure_begin(&input, 1);
    int code = read_lines(from, table);
    if (code == EXIT_DONE)
        code = message_status(id_table_writer_commit(table, &error), &error);
    id_table_writer_free(table);
    progress_end();
    if (code != EXIT_DONE)
        message_print("%s: nothing was changed", path);
    return code;
}

int cmd_names(int argc, char **argv)
{
    arguments args = {.from = NULL};
    operands given = command_line_parse(&syntax, argc, argv, &args);
    if (given.count == 0 || given.items[0][0] == '\0')
        message_usage_error("expected a TABLE");
    const char *path = *given.items++;
    given.count--;
    if (args.from != NULL && args.header != HEADER_AUTO)
        message_usage_error("--from prints no rows, so --header is not possible");
    if (args.from != NULL && given.count > 0)
        message_usage_error("expected either ID operands or --from, found both");
    progress_begin(args.progress);
    const int code = args.from != NULL ? make_table(path, args.from) : show(path, &given, args.header);
    progress_end();
    return code;
}

/*
 * command_line.h - parses the arguments of a command by its tables. argp, of the C library, does it, and prints the
 * help.
 *
 * A malformed value is a usage error and ends the process.
 */
#ifndef COMMAND_LINE_H
#define COMMAND_LINE_H

#include "commands/option_table.h"

/* The arguments that are no options: a part of argv. */
typedef struct operands {
    char **items;
    int count;
} operands;

/*
 * Parse the arguments of a command into the initialised struct `arguments`. Options may stand anywhere among the
 * operands. --help, --usage and --version end the process, and so does COMPLETE_WORD, if it is the first argument: then
 * the others are completed.
 */
#define COMPLETE_WORD "--complete"
operands command_line_parse(const command_syntax *syntax, int argc, char **argv, void *arguments);

#endif

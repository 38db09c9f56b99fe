/*
 * describe.h - tells other programs about the tables of a command: shells, what may complete a command line, and
 * tools/man/update.py, what the man page says of the options.
 */
#ifndef DESCRIBE_H
#define DESCRIBE_H

#include "commands/option_table.h"

/*
 * Print what may stand in the place of the last of `count` words, of which the others are complete, as lines of word,
 * tab and description. A line ":files" or ":folders" means names of these. The value of --option=value is taken for a
 * word of its own.
 */
void describe_completions(const command_syntax *syntax, char **words, int count);

/* Print the tables as lines of fields, separated by tabs; the first field says what the line has. */
void describe_tables(const command_syntax *syntax);

#endif

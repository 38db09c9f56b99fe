/*
 * command_line.h - the options of a command as tables: each row says how an option is written, what it means, and
 * which field takes its value. argp, of the C library, parses them and prints the help.
 *
 * A malformed value is a usage error, which ends the process.
 */
#ifndef COMMAND_LINE_H
#define COMMAND_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum option_kind {
    OPTION_FLAG,   /* takes no value; sets a bool or an int to 1 */
    OPTION_JSON,   /* the same, refused by an sstore without JSON */
    OPTION_TEXT,   /* a const char * */
    OPTION_NUMBER, /* decimal, from `min` to `max` */
    OPTION_SIZE,   /* of at least a byte: decimal, then nothing, or K, M, G or T, or KiB, MiB, GiB or TiB */
    OPTION_COUNT,  /* decimal, then nothing, or K, M, G or T, powers of 1000 */
    OPTION_CHOICE  /* a name of `choices` */
} option_kind;

typedef struct option_choice {
    const char *name; /* NULL ends the list */
    uint32_t value;
} option_choice;

/* NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): the order is that of the tables */
typedef struct command_option {
    const char *name;       /* NULL ends the table */
    int letter;             /* of the short form, or 0 */
    const char *value_name; /* in the help; NULL without a value */
    const char *help;
    option_kind kind;
    size_t offset, bytes; /* of the field. A value too large for it becomes its maximum, for the library to refuse */
    uint64_t min, max;
    const option_choice *choices;
    size_t given; /* the offset, not 0, of a const char * that is set to the option as messages write it; 0: none */
} command_option;

/* The field, and the last member of a row but for those that its kind needs. */
#define OPTION_FIELD(type, field) .offset = offsetof(type, field), .bytes = sizeof(((type *)NULL)->field)

/* Options that commands share, for a part of a command's arguments. */
typedef struct option_group {
    const command_option *options; /* NULL ends the list */
    size_t offset;                 /* of the part in the arguments */
    const char *header;            /* above them in the help, or NULL; such a group comes last */
    void (*check)(void *part);     /* once all options are parsed; or NULL */
} option_group;

typedef struct command_syntax {
    const command_option *options; /* of this command, or NULL */
    const option_group *groups;    /* or NULL */
    const char *operands, *doc;    /* for the help; `operands` is NULL where none are allowed */
} command_syntax;

/* What is no option, in argv. */
typedef struct operands {
    char **items;
    int count;
} operands;

/*
 * Parse the arguments of a command into the struct `arguments`, which has been initialised. Options may stand
 * anywhere among the operands. --help, --usage and --version end the process.
 */
operands command_line_parse(const command_syntax *syntax, int argc, char **argv, void *arguments);

#endif

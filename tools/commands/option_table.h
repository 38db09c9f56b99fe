/*
 * option_table.h - the options of a command as tables: each row says how an option is written, what it means, and
 * which field takes its value.
 */
#ifndef OPTION_TABLE_H
#define OPTION_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum option_kind {
    OPTION_FLAG,    /* takes no value; sets a bool */
    OPTION_TEXT,    /* a const char * */
    OPTION_TEXTS,   /* a text_list: the option can be repeated */
    OPTION_NUMBER,  /* decimal, from `min` to `max` */
    OPTION_SIZE,    /* at least 1: decimal, optionally followed by K, M, G, T, KiB, MiB, GiB or TiB (powers of 1024) */
    OPTION_COUNT,   /* decimal, optionally followed by K, M, G or T (powers of 1000) */
    OPTION_SECONDS, /* whole seconds, kept in milliseconds; without a value UINT64_MAX */
    OPTION_CHOICE   /* one of the names in `choices` */
} option_kind;

#define TEXT_LIST_MAX 63u

/* The values of an option that can be repeated. */
typedef struct text_list {
    const char *items[TEXT_LIST_MAX];
    uint32_t count;
} text_list;

typedef struct option_choice {
    const char *name; /* NULL ends the list */
    uint32_t value;
} option_choice;

/* NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): the order is that of the tables */
typedef struct command_option {
    const char *name;       /* NULL ends the table */
    int letter;             /* the short form, or 0 */
    const char *value_name; /* as the help shows it; NULL: the option takes no value */
    const char *help;
    option_kind kind;
    size_t offset, bytes; /* the field. A value too large for it becomes its maximum, which the library refuses */
    uint64_t min, max;
    const option_choice *choices;
    size_t given;           /* offset of a const char * that is set to the option as messages show it; 0: none */
    bool value_is_optional; /* without it, a text is "", and a choice the first one */
    bool common;            /* shown by --help also if all options do not fit on a screen; --help=all shows them */
} command_option;

/* Sets `offset` and `bytes` of a row. */
#define OPTION_FIELD(type, field) .offset = offsetof(type, field), .bytes = sizeof(((type *)NULL)->field)

/* Options that several commands share. They fill a part of a command's arguments. */
typedef struct option_group {
    const command_option *options; /* NULL ends the list */
    size_t offset;                 /* of the part in the arguments */
    const char *header;            /* title in the help, or NULL; groups with a title come last */
    void (*check)(void *part);     /* called after all options are parsed; or NULL */
} option_group;

/* A group without a title and a check. */
#define OPTION_GROUP(table, part_offset)                                                                               \
    {                                                                                                                  \
        .options = (table), .offset = (part_offset)                                                                    \
    }

/* An example of use. tests/cli/cases/examples.sh runs it. */
typedef struct command_example {
    const char *text;    /* what it does; a phrase */
    const char *command; /* NULL ends the list */
} command_example;

/* Where the manual page of a command is. */
#ifdef SSTORE_WITHOUT_MAN
#define COMMAND_MANUAL(name) "tools/man/sstore-" name ".1 of the sources"
#else
#define COMMAND_MANUAL(name) "'man sstore-" name "'"
#endif

/* All texts are shown in the help; the man page also gets its parts from here (tools/man/update.py). */
typedef struct command_syntax {
    const command_option *options; /* the command's own, or NULL */
    const option_group *groups;    /* or NULL */
    const char *operands;          /* one line for each form; NULL if none are allowed */
    const char *doc;               /* what the command does */
    const command_example *examples;
    const char *also_common; /* an option of a shared table that --help always shows; or NULL */
    const char *notes;       /* about options that --help does not show; or NULL */
} command_syntax;

/* The options that every command has. */
#define EVERY_COMMAND_OPTION_COUNT 3
extern const command_option every_command_options[EVERY_COMMAND_OPTION_COUNT + 1];

#define SIZE_NOTE "A SIZE is a number of bytes; the suffixes K, M, G and T are powers of 1024."

#endif

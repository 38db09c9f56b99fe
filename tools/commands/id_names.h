/* id_names.h - --id-table: names from an id table that are printed in the place of ids. */
#ifndef ID_NAMES_H
#define ID_NAMES_H

#include "commands/command_line.h"
#include "names/id_table_reader.h"
#include "output/output.h"

#define ID_TABLE_OPTION(type, field)                                                                                   \
    {                                                                                                                  \
        "id-table", 0, "FILE", "print names from this id table instead of ids", OPTION_TEXT,                           \
            OPTION_FIELD(type, field), .common = true                                                                  \
    }

/* Begins zeroed, and ends with id_names_close(). */
typedef struct id_names {
    const char *ids_of; /* the store or file that has the ids, for messages */
    id_table_reader *table;
    const char *path;
    char *escaped[2]; /* the last two names */
    size_t capacity[2], turn;
    output_names names;
    int code; /* EXIT_DONE, or why a name was not found */
} id_names;

/*
 * Have ids printed as names from the file `id_table`; NULL: as numbers. `ids_of` has the ids. `style` says whether
 * there are any; it then refers to `self`, which must stay in its place. Returns an exit code.
 */
int id_names_open(id_names *self, const char *id_table, const char *ids_of, output_style *style);

/* The exit code of a command that has ended with `code`: if it stopped since a name was not found, that of this. */
int id_names_exit_code(const id_names *self, int code);

void id_names_close(id_names *self);

#endif

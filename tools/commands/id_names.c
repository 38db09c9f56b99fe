#include "commands/id_names.h"

#include <inttypes.h>
#include <stdlib.h>

#include "output/messages.h"

static const char *fail(id_names *self, int code)
{
    self->code = code;
    return NULL;
}

static const char *find(void *context, uint64_t id, size_t *length_out)
{
    id_names *self = context;
    sstore_error error;
    const char *name;
    size_t length;
    if (id_table_reader_find(self->table, id, &name, &length, &error) != SSTORE_OK)
        return fail(self, message_error(&error));
    if (name == NULL)
        return fail(self, message_print("%s: it has no name for id %" PRIu64 " of %s, so it is not the table of these "
                                        "ids; without --id-table, answers have numbers",
                                        self->path, id, self->ids_of));
    char **escaped = &self->escaped[self->turn];
    if (!grow(escaped, &self->capacity[self->turn], 4 * length + 1, 1))
        return fail(self, message_print("%s: out of memory", self->path));
    *length_out = sstore_escape(name, length, true, *escaped, 4 * length + 1);
    self->turn = 1 - self->turn;
    return *escaped;
}

int id_names_open(id_names *self, const char *id_table, const char *ids_of, output_style *style)
{
    sstore_error error;
    if (id_table == NULL)
        return EXIT_DONE;
    if (!style->has_ids)
        return message_print("%s: there are no ids, so --id-table is not possible; leave it out", ids_of);
    *self = (id_names){.ids_of = ids_of, .path = id_table, .names = {.find = find, .context = self}};
    if (id_table_reader_open(id_table, &self->table, &error) != SSTORE_OK)
        return message_error(&error);
    style->names = &self->names;
    return EXIT_DONE;
}

int id_names_exit_code(const id_names *self, int code)
{
    return self->code != EXIT_DONE ? self->code : code;
}

void id_names_close(id_names *self)
{
    id_table_reader_close(self->table);
    free(self->escaped[0]);
    free(self->escaped[1]);
}

#include "output/stored_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/json_read.h"
#include "output/messages.h"

size_t name_escape(const char *bytes, size_t size, char *to)
{
    size_t begin = 0;
    if (size > 0 && (bytes[0] == '#' || (size == 1 && bytes[0] == '-')))
        begin = (size_t)sprintf(to, "\\x%02x", bytes[0]);
    const size_t skipped = begin > 0 ? 1 : 0;
    return begin + sstore_escape(bytes + skipped, size - skipped, true, to + begin, 4 * (size - skipped) + 1);
}

printed_name name_form(const sstore_name *name, bool json, char *to)
{
    printed_name made = {to, name->size, !json};
    memcpy(to, name->bytes, name->size);
    to[name->size] = '\0';
    made.is_escaped = !json || !json_is_text(to);
    if (made.is_escaped)
        made.length = name_escape(name->bytes, name->size, to);
    return made;
}

int stored_names_open(stored_names *self, const sstore *store, const char *path, bool json, stored_names **names_out)
{
    sstore_statistics metadata = {.struct_size = sizeof metadata};
    sstore_error error;
    *self = (stored_names){.path = path, .escapes = !json};
    sstore_status status = sstore_stat(store, &metadata, &error);
    *names_out = status == SSTORE_OK && metadata.has_names ? self : NULL;
    if (*names_out != NULL)
        status = sstore_cursor_create(store, &self->cursor, &error);
    return message_status(status, &error);
}

void stored_names_open_dedup(stored_names *self, sstore_dedup *dedup, const char *path, bool json)
{
    *self = (stored_names){.path = path, .dedup = dedup, .escapes = !json};
}

void stored_names_close(stored_names *self)
{
    sstore_cursor_free(self->cursor);
    free(self->ids);
    free(self->places);
    free(self->texts);
}

/* Append a name to the texts. Returns 1 if there is no memory. */
static int add_name(void *context, size_t index, uint64_t id, const sstore_name *name)
{
    stored_names *self = context;
    name_place *place = &self->places[index];
    const size_t room = 4 * name->size + 1;
    (void)id;
    if (!grow(&self->texts, &self->text_capacity, self->text_bytes + room, 1))
        return 1;
    const printed_name made = name_form(name, !self->escapes, self->texts + self->text_bytes);
    *place = (name_place){self->text_bytes, made.length, true, made.is_escaped};
    self->text_bytes += place->length + 1;
    return 0;
}

void stored_names_expect(stored_names *self, const uint64_t *ids, size_t count)
{
    sstore_error error;
    if (self == NULL || self->code != EXIT_DONE || count == 0)
        return;
    self->count = self->next = self->text_bytes = 0;
    if (!grow(&self->ids, &self->id_capacity, count, sizeof *self->ids) ||
        !grow(&self->places, &self->place_capacity, count, sizeof *self->places)) {
        self->code = message_print("%s: out of memory", self->path);
        return;
    }
    memcpy(self->ids, ids, count * sizeof *ids);
    memset(self->places, 0, count * sizeof *self->places);
    const sstore_status status = self->dedup != NULL
                                     ? sstore_dedup_names(self->dedup, ids, count, add_name, self, &error)
                                     : sstore_names(self->cursor, ids, count, add_name, self, &error);
    if (status != SSTORE_OK)
        self->code = status == SSTORE_STOPPED ? message_print("%s: out of memory", self->path) : message_error(&error);
    self->count = status == SSTORE_OK ? count : 0;
}

/* Look among the names that are there: they are wanted in their order, perhaps not all. */
static const name_place *find_next(stored_names *self, uint64_t id)
{
    size_t i = self->next;
    while (i < self->count && self->ids[i] != id)
        i++;
    if (i == self->count)
        return NULL;
    self->next = i + 1;
    return &self->places[i];
}

printed_name stored_names_find(stored_names *self, uint64_t id)
{
    const name_place *place = find_next(self, id);
    if (place == NULL) {
        stored_names_expect(self, &id, 1);
        place = find_next(self, id);
    }
    if (place != NULL && place->is_found)
        return (printed_name){self->texts + place->at, place->length, place->is_escaped};
    if (self->code == EXIT_DONE)
        self->code = message_print("%s: damaged: id %" PRIu64 " has no name; 'sstore verify' tells more", self->path,
                                   id);
    return (printed_name){.text = NULL};
}

int stored_names_exit_code(const stored_names *self, int code)
{
    return self->code != EXIT_DONE ? self->code : code;
}

#include "commands/named_ids.h"

#include <stdlib.h>
#include <string.h>

int named_ids_open(named_ids *self, const char *path)
{
    sstore_error error;
    sstore_statistics metadata;
    int code = store_open(path, NULL, &self->store, &metadata);
    if (code == EXIT_DONE)
        code = message_status(sstore_cursor_create(self->store, &self->cursor, &error), &error);
    self->next_id = metadata.next_id;
    return code;
}

void named_ids_close(named_ids *self)
{
    sstore_cursor_free(self->cursor);
    sstore_close(self->store);
    free(self->ids);
    free(self->are_found);
    free(self->fingerprints);
}

#define UNKNOWN UINT64_MAX

static void need(bool has_room)
{
    if (has_room)
        return;
    message_print("out of memory");
    exit(EXIT_FAILED);
}

/* The lowest id of a name, if it has several. */
static int take_id(void *context, const sstore_match *record)
{
    named_ids *self = context;
    uint64_t *id = &self->ids[record->query_index];
    *id = record->id < *id ? record->id : *id;
    return 0;
}

sstore_status named_ids_find(named_ids *self, const record_batch *batch, sstore_error *error)
{
    need(grow(&self->ids, &self->capacity, batch->count, sizeof *self->ids));
    for (size_t i = 0; i < batch->count; i++)
        self->ids[i] = UNKNOWN;
    const sstore_status status = sstore_get_named(self->cursor, batch->names, batch->count, take_id, self, error);
    for (size_t i = 0; i < batch->count; i++)
        if (self->ids[i] == UNKNOWN)
            self->ids[i] = self->next_id++;
    return status;
}

static void add_record(named_ids *self, const uint64_t *fingerprint, uint64_t id)
{
    const size_t words = self->batch->words;
    need(grow(&self->ids, &self->capacity, self->count + 1, sizeof *self->ids) &&
         grow(&self->fingerprints, &self->fingerprint_capacity, (self->count + 1) * words, sizeof *fingerprint));
    memcpy(self->fingerprints + self->count * words, fingerprint, words * sizeof *fingerprint);
    self->ids[self->count++] = id;
}

static int take_record(void *context, const sstore_match *record)
{
    named_ids *self = context;
    const size_t words = self->batch->words;
    const uint64_t *wanted = self->batch->fingerprints + record->query_index * words;
    if (memcmp(record->fingerprint, wanted, words * sizeof *wanted) != 0)
        return 0;
    self->are_found[record->query_index] = true;
    add_record(self, wanted, record->id);
    return 0;
}

sstore_status named_ids_find_records(named_ids *self, const record_batch *batch, sstore_error *error)
{
    self->batch = batch;
    self->count = 0;
    need(grow(&self->are_found, &self->found_capacity, batch->count, sizeof *self->are_found));
    memset(self->are_found, false, batch->count);
    const sstore_status status = sstore_get_named(self->cursor, batch->names, batch->count, take_record, self, error);
    for (size_t i = 0; status == SSTORE_OK && i < batch->count; i++)
        if (!self->are_found[i])
            add_record(self, batch->fingerprints + i * batch->words, self->next_id);
    return status;
}

#include "input/record_batch.h"

#include <stdlib.h>
#include <string.h>

#include "output/messages.h"

bool record_batch_init(record_batch *batch, size_t capacity)
{
    *batch = (record_batch){.fingerprints = calloc(capacity > SSTORE_MAX_WORDS ? capacity : SSTORE_MAX_WORDS,
                                                   sizeof *batch->fingerprints),
                            .ids = calloc(capacity, sizeof *batch->ids)};
    return batch->fingerprints != NULL && batch->ids != NULL;
}

void record_batch_free(record_batch *batch)
{
    free(batch->fingerprints);
    free(batch->ids);
    free(batch->names);
    free(batch->name_bytes);
}

/* Make room for names, of together `bytes`, behind those of the `batch->count` records. */
static bool reserve_names(record_batch *batch, size_t count, size_t bytes)
{
    const size_t capacity = batch->name_byte_capacity;
    if (batch->count == 0)
        batch->name_used = 0;
    if (!grow(&batch->names, &batch->name_capacity, batch->count + count, sizeof *batch->names) ||
        !grow(&batch->name_bytes, &batch->name_byte_capacity, batch->name_used + bytes, 1))
        return false;
    const char *at = batch->name_bytes;
    for (size_t i = 0; batch->name_byte_capacity != capacity && i < batch->count; at += batch->names[i++].size)
        batch->names[i].bytes = at;
    return true;
}

bool record_batch_add_name(record_batch *batch, const char *bytes, size_t size)
{
    if (!reserve_names(batch, 1, size))
        return false;
    char *to = batch->name_bytes + batch->name_used;
    memcpy(to, bytes, size);
    batch->names[batch->count] = (sstore_name){to, size};
    batch->name_used += size;
    return true;
}

/* Append the names of records. */
static bool append_names(record_batch *batch, const record_batch *records)
{
    if (!reserve_names(batch, records->count, records->name_used))
        return false;
    char *to = batch->name_bytes + batch->name_used;
    memcpy(to, records->name_bytes, records->name_used);
    for (size_t i = 0; i < records->count; to += records->names[i++].size)
        batch->names[batch->count + i] = (sstore_name){to, records->names[i].size};
    batch->name_used += records->name_used;
    return true;
}

bool record_batch_append(record_batch *batch, const record_batch *records)
{
    if (records->has_names && !append_names(batch, records))
        return false;
    const size_t words = records->words;
    memcpy(batch->fingerprints + words * batch->count, records->fingerprints,
           words * records->count * sizeof *records->fingerprints);
    if (records->has_ids || records->has_rows)
        memcpy(batch->ids + batch->count, records->ids, records->count * sizeof *records->ids);
    batch->words = records->words;
    batch->has_ids = records->has_ids;
    batch->has_rows = records->has_rows;
    batch->has_names = records->has_names;
    batch->count += records->count;
    return true;
}

/* Drop the names of the first `count` records. */
static void drop_names(record_batch *batch, size_t count)
{
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += batch->names[i].size;
    batch->name_used -= bytes;
    memmove(batch->name_bytes, batch->name_bytes + bytes, batch->name_used);
    memmove(batch->names, batch->names + count, (batch->count - count) * sizeof *batch->names);
    for (size_t i = 0; i < batch->count - count; i++)
        batch->names[i].bytes -= bytes;
}

void record_batch_drop(record_batch *batch, size_t count)
{
    const size_t words = batch->words, rest = batch->count - count;
    if (batch->has_names)
        drop_names(batch, count);
    memmove(batch->fingerprints, batch->fingerprints + count * words, rest * words * sizeof *batch->fingerprints);
    memmove(batch->ids, batch->ids + count, rest * sizeof *batch->ids);
    batch->count = rest;
}

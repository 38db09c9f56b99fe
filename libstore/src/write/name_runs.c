#include "write/name_runs.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "store/name_column.h"

/* A name in memory has its size before it, in a spilled run also its id. */
#define SIZE_BYTES 4u
#define HEAD_BYTES 12u
#define ENTRY_BYTES (2 * sizeof(ss_record)) /* of the order, for each name in memory */
#define MIN_BUFFER_BYTES 4096u
#define MAX_BUFFER_BYTES ((size_t)1 << 18)

void ss_name_runs_init(ss_name_runs *runs, uint64_t max_bytes, const ss_dir *tmp_dir)
{
    *runs = (ss_name_runs){.max_bytes = (size_t)max_bytes, .tmp_dir = tmp_dir, .file = SS_FILE_NONE};
}

static void free_gathered(ss_name_runs *runs)
{
    ss_free(runs->bytes);
    ss_free(runs->order);
    ss_free(runs->scratch);
    runs->bytes = NULL;
    runs->order = runs->scratch = NULL;
    runs->used = runs->capacity = runs->count = runs->order_capacity = 0;
}

void ss_name_runs_free(ss_name_runs *runs)
{
    free_gathered(runs);
    ss_free(runs->runs);
    runs->runs = NULL;
    if (runs->file.path != NULL)
        ss_file_close(&runs->file);
}

/* ----- gathering ----- */

static size_t size_at(const ss_name_runs *runs, size_t place)
{
    return ss_load_le32(runs->bytes + place);
}

static const uint8_t *name_at(const ss_name_runs *runs, size_t place)
{
    return runs->bytes + place + SIZE_BYTES;
}

static bool is_same_name(const ss_name_runs *runs, size_t a, size_t b)
{
    return ss_name_equal(name_at(runs, a), size_at(runs, a), name_at(runs, b), size_at(runs, b));
}

/* Sort the names in memory by id, and keep each id once. */
static sstore_status sort_gathered(ss_name_runs *runs, sstore_error *error)
{
    size_t kept = 0;
    bool ascends = true;
    for (size_t i = 1; i < runs->count; i++)
        ascends &= runs->order[i - 1].fingerprint < runs->order[i].fingerprint;
    if (ascends)
        return SSTORE_OK;
    ss_sort_records(runs->order, runs->scratch, runs->count);
    for (size_t i = 0; i < runs->count; i++) {
        const ss_record *entry = &runs->order[i], *last = kept > 0 ? &runs->order[kept - 1] : NULL;
        if (last == NULL || last->fingerprint != entry->fingerprint)
            runs->order[kept++] = *entry;
        else if (!is_same_name(runs, last->id, entry->id))
            return ss_fail_two_names(entry->fingerprint, name_at(runs, last->id), size_at(runs, last->id),
                                     name_at(runs, entry->id), size_at(runs, entry->id), SS_NAME_GIVEN, error);
    }
    runs->count = kept;
    return SSTORE_OK;
}

typedef struct run_writer {
    ss_name_runs *runs;
    size_t used;
    uint8_t *buffer; /* of MAX_BUFFER_BYTES */
} run_writer;

static sstore_status flush(run_writer *writer, sstore_error *error)
{
    ss_name_runs *runs = writer->runs;
    const sstore_status status = ss_file_write_at(&runs->file, runs->file_bytes, writer->buffer, writer->used, error);
    runs->file_bytes += writer->used;
    writer->used = 0;
    return status;
}

static sstore_status write_entry(run_writer *writer, const ss_record *entry, sstore_error *error)
{
    const ss_name_runs *runs = writer->runs;
    const size_t size = size_at(runs, entry->id);
    const sstore_status status = writer->used + HEAD_BYTES + size > MAX_BUFFER_BYTES ? flush(writer, error) : SSTORE_OK;
    uint8_t *to = writer->buffer + writer->used;
    ss_store_le64(to, entry->fingerprint);
    memcpy(to + 8, runs->bytes + entry->id, SIZE_BYTES + size);
    writer->used += HEAD_BYTES + size;
    return status;
}

static sstore_status spill(ss_name_runs *runs, sstore_error *error)
{
    run_writer writer = {.runs = runs};
    sstore_status status = sort_gathered(runs, error);
    if (status == SSTORE_OK && runs->file.path == NULL)
        status = ss_file_create_unnamed(runs->tmp_dir, &runs->file, error);
    if (status != SSTORE_OK)
        return status;
    ss_name_run *grown = ss_grow(runs->runs, runs->run_count, &runs->run_capacity, 16, sizeof *grown);
    if (grown != NULL)
        runs->runs = grown;
    writer.buffer = ss_realloc(NULL, MAX_BUFFER_BYTES, 1);
    if (grown == NULL || writer.buffer == NULL) {
        ss_free(writer.buffer);
        return ss_fail_memory(error, MAX_BUFFER_BYTES);
    }
    ss_name_run *run = &runs->runs[runs->run_count++];
    run->offset = runs->file_bytes;
    for (size_t i = 0; status == SSTORE_OK && i < runs->count; i++)
        status = write_entry(&writer, &runs->order[i], error);
    if (status == SSTORE_OK)
        status = flush(&writer, error);
    run->bytes = runs->file_bytes - run->offset;
    ss_free(writer.buffer);
    runs->used = runs->count = 0;
    return status;
}

/* Make room for one more name. */
static sstore_status make_room(ss_name_runs *runs, size_t bytes, sstore_error *error)
{
    const size_t order_capacity = runs->order_capacity;
    while (runs->used + bytes > runs->capacity) {
        const size_t capacity = ss_max_u64(2 * runs->capacity, 2 * bytes + MIN_BUFFER_BYTES);
        uint8_t *grown = ss_realloc(runs->bytes, capacity, 1);
        if (grown == NULL)
            return ss_fail_memory(error, capacity);
        runs->bytes = grown;
        runs->capacity = capacity;
    }
    ss_record *order = ss_grow(runs->order, runs->count, &runs->order_capacity, 64, sizeof *order);
    if (order == NULL)
        return ss_fail_memory(error, 2 * order_capacity * sizeof *order);
    runs->order = order;
    if (runs->order_capacity == order_capacity)
        return SSTORE_OK;
    ss_record *scratch = ss_realloc(runs->scratch, runs->order_capacity, sizeof *scratch);
    if (scratch == NULL)
        return ss_fail_memory(error, runs->order_capacity * sizeof *scratch);
    runs->scratch = scratch;
    return SSTORE_OK;
}

sstore_status ss_name_runs_add(ss_name_runs *runs, uint64_t id, const char *name, size_t size, sstore_error *error)
{
    const size_t bytes = SIZE_BYTES + size;
    sstore_status status = SSTORE_OK;
    assert(ss_name_valid(name, size));
    /* Arrays double, so half of the memory is the most that they may have. */
    if (runs->count > 0 && runs->used + bytes + (runs->count + 1) * ENTRY_BYTES > runs->max_bytes / 2)
        status = spill(runs, error);
    if (status == SSTORE_OK)
        status = make_room(runs, bytes, error);
    if (status != SSTORE_OK)
        return status;
    ss_store_le32(runs->bytes + runs->used, (uint32_t)size);
    memcpy(runs->bytes + runs->used + SIZE_BYTES, name, size);
    runs->order[runs->count++] = (ss_record){.fingerprint = id, .id = runs->used};
    runs->used += bytes;
    runs->name_count++;
    runs->name_bytes += size;
    return SSTORE_OK;
}

sstore_status ss_name_runs_finish(ss_name_runs *runs, sstore_error *error)
{
    if (runs->run_count == 0)
        return sort_gathered(runs, error);
    const sstore_status status = runs->count > 0 ? spill(runs, error) : SSTORE_OK;
    free_gathered(runs);
    return status;
}

/* ----- reading ----- */

void ss_name_run_reader_open(ss_name_run_reader *reader, const ss_name_runs *runs, size_t run)
{
    *reader = (ss_name_run_reader){.runs = runs, .run = run};
}

void ss_name_run_reader_rewind(ss_name_run_reader *reader)
{
    reader->next = reader->at = reader->end = 0;
    reader->read_bytes = 0;
}

void ss_name_run_reader_close(ss_name_run_reader *reader)
{
    ss_free(reader->buffer);
    reader->buffer = NULL;
    reader->capacity = 0;
}

/* Read on, until `bytes` bytes are in the buffer. */
static sstore_status fill(ss_name_run_reader *reader, size_t bytes, sstore_error *error)
{
    const ss_name_runs *runs = reader->runs;
    const ss_name_run *run = &runs->runs[reader->run];
    const size_t left = reader->end - reader->at;
    const size_t wanted = ss_min_u64(ss_max_u64(runs->max_bytes / runs->run_count, MIN_BUFFER_BYTES), MAX_BUFFER_BYTES);
    if (left >= bytes)
        return SSTORE_OK;
    if (reader->capacity < ss_max_u64(bytes, wanted)) {
        const size_t capacity = ss_max_u64(bytes, wanted);
        uint8_t *grown = ss_realloc(reader->buffer, capacity, 1);
        if (grown == NULL)
            return ss_fail_memory(error, capacity);
        reader->buffer = grown;
        reader->capacity = capacity;
    }
    memmove(reader->buffer, reader->buffer + reader->at, left);
    const size_t size = ss_min_u64(reader->capacity - left, run->bytes - reader->read_bytes);
    assert(left + size >= bytes);
    const sstore_status status = ss_file_read_at(&runs->file, run->offset + reader->read_bytes, reader->buffer + left,
                                                 size, error);
    reader->read_bytes += size;
    reader->at = 0;
    reader->end = left + size;
    return status;
}

static sstore_status next_in_memory(ss_name_run_reader *reader, bool *more_out)
{
    const ss_name_runs *runs = reader->runs;
    *more_out = reader->next < runs->count;
    if (!*more_out)
        return SSTORE_OK;
    const ss_record *entry = &runs->order[reader->next++];
    reader->id = entry->fingerprint;
    reader->name = name_at(runs, entry->id);
    reader->size = size_at(runs, entry->id);
    return SSTORE_OK;
}

sstore_status ss_name_run_reader_next(ss_name_run_reader *reader, bool *more_out, sstore_error *error)
{
    const ss_name_runs *runs = reader->runs;
    if (runs->run_count == 0)
        return next_in_memory(reader, more_out);
    *more_out = reader->at < reader->end || reader->read_bytes < runs->runs[reader->run].bytes;
    if (!*more_out)
        return SSTORE_OK;
    sstore_status status = fill(reader, HEAD_BYTES, error);
    if (status != SSTORE_OK)
        return status;
    reader->size = ss_load_le32(reader->buffer + reader->at + 8);
    status = fill(reader, HEAD_BYTES + reader->size, error);
    if (status != SSTORE_OK)
        return status;
    reader->id = ss_load_le64(reader->buffer + reader->at);
    reader->name = reader->buffer + reader->at + HEAD_BYTES;
    reader->at += HEAD_BYTES + reader->size;
    return SSTORE_OK;
}

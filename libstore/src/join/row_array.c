#include "join/row_array.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/words.h"
#include "codec/rows.h"
#include "join/record_reader.h"

#define READ_BATCH ((size_t)4096)

/* Fingerprints on their way from the store to the array. */
typedef struct filler {
    ss_row_array *array;
    ss_progress *progress;
    uint64_t *rows; /* where the next ones go: a buffer, or the rest of the array */
    size_t count;   /* of those that are there, but not in the array yet */
} filler;

uint64_t ss_row_array_max_count(const sstore *store)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < store->manifest.segment_count; i++) {
        const ss_manifest_segment *segment = &store->segments[i]->metadata; /* its counts may be wrong */
        sum += segment->tables[0].block_count * ss_rows_capacity(segment->block_bytes, store->manifest.words);
    }
    return sum;
}

/* ----- filling ----- */

/* Let the fingerprints of a filler be in the array. */
static sstore_status take_rows(filler *self, sstore_error *error)
{
    ss_row_array *array = self->array;
    const size_t row_bytes = array->words * sizeof *self->rows;
    sstore_status status = SSTORE_OK;
    if (array->rows == NULL)
        status = ss_file_write_at(&array->file, array->count * row_bytes, self->rows, self->count * row_bytes, error);
    else
        self->rows += self->count * array->words;
    array->count += self->count;
    const size_t count = self->count;
    self->count = 0;
    return status == SSTORE_OK ? ss_progress_add(self->progress, 0, count) : status;
}

static sstore_status take_row(filler *self, ss_record_reader *reader, sstore_error *error)
{
    uint64_t *row = self->rows + self->count++ * reader->words;
    ss_words_copy(row, ss_record_reader_fingerprint(reader), reader->words);
    const sstore_status status = ss_record_reader_pass(reader, row, error);
    return status == SSTORE_OK && self->count == READ_BATCH ? take_rows(self, error) : status;
}

static sstore_status read_all_rows(ss_row_array *array, ss_join_call *call, uint64_t *buffer, sstore_error *error)
{
    const sstore *store = call->left;
    filler self = {.array = array, .progress = &call->progress, .rows = array->rows == NULL ? buffer : array->rows};
    ss_record_reader reader = {.more = false};
    /* Ids matter only if some of a fingerprint's ids may have been removed. */
    sstore_status status = ss_record_reader_open(&reader, store, store->manifest.has_ids && store->removal_end > 0,
                                                 &call->excluded, error);
    if (status == SSTORE_OK)
        status = ss_record_reader_first(&reader, error);
    while (status == SSTORE_OK && reader.more)
        status = take_row(&self, &reader, error);
    ss_record_reader_close(&reader);
    return status == SSTORE_OK ? take_rows(&self, error) : status;
}

sstore_status ss_row_array_open(ss_row_array *array, ss_join_call *call, uint64_t bytes, sstore_error *error)
{
    const uint32_t words = call->left->manifest.words;
    const size_t row_bytes = words * sizeof(uint64_t);
    const uint64_t max_count = ss_row_array_max_count(call->left);
    *array = (ss_row_array){.words = words, .file = SS_FILE_NONE};
    if (max_count <= bytes / row_bytes) {
        array->rows = ss_alloc_large((size_t)max_count * row_bytes);
        if (array->rows == NULL)
            return ss_fail_memory(error, max_count * row_bytes);
        return read_all_rows(array, call, NULL, error);
    }
    uint64_t *buffer = ss_realloc(NULL, READ_BATCH, row_bytes);
    if (buffer == NULL)
        return ss_fail_memory(error, READ_BATCH * row_bytes);
    sstore_status status = ss_file_create_unnamed(&call->tmp_dir, &array->file, error);
    if (status == SSTORE_OK)
        status = read_all_rows(array, call, buffer, error);
    ss_free(buffer);
    return status;
}

void ss_row_array_close(ss_row_array *array)
{
    ss_free(array->rows);
    ss_file_close(&array->file);
    array->rows = NULL;
}

/* ----- reading ----- */

sstore_status ss_row_array_get(const ss_row_array *array, uint64_t first, size_t count, uint64_t *buffer,
                               const uint64_t **rows_out, sstore_error *error)
{
    const size_t row_bytes = array->words * sizeof *buffer;
    *rows_out = array->rows != NULL ? array->rows + first * array->words : buffer;
    return array->rows != NULL ? SSTORE_OK
                               : ss_file_read_at(&array->file, first * row_bytes, buffer, count * row_bytes, error);
}

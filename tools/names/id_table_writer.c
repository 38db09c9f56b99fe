#include "names/id_table_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "names/id_table_form.h"
#include "names/id_table_reader.h"
#include "output/messages.h"
#include "output/new_file.h"

struct id_table_writer {
    char *path; /* for messages */
    new_file file;
    uint64_t offset;
    id_table_row *rows;
    size_t row_count, row_capacity;
    uint64_t entry_count, last_id;
    id_table_encoder encoder;
};

static sstore_status fail(const id_table_writer *self, sstore_error *error, sstore_status status, const char *reason)
{
    return id_table_fail(error, status, self->path, SSTORE_NO_OFFSET, reason);
}

static sstore_status fail_writing(const id_table_writer *self, sstore_error *error)
{
    return fail(self, error, SSTORE_ERROR_IO, "cannot write the new id table beside it");
}

static sstore_status no_memory(const id_table_writer *self, sstore_error *error)
{
    return fail(self, error, SSTORE_ERROR_MEMORY, "out of memory");
}

/* ----- the new file ----- */

static sstore_status open_file(id_table_writer *self, sstore_error *error)
{
    if (new_file_open(&self->file, self->path, false))
        return SSTORE_OK;
    return errno == EWOULDBLOCK
               ? fail(self, error, SSTORE_ERROR_BUSY, "another process writes the id table; wait until it ends")
               : fail_writing(self, error);
}

static sstore_status write_all(id_table_writer *self, const void *bytes, size_t size, sstore_error *error)
{
    self->offset += size;
    return file_write(self->file.fd, bytes, size) ? SSTORE_OK : fail_writing(self, error);
}

static sstore_status write_block(id_table_writer *self, const void *bytes, size_t size, uint64_t first_id,
                                 sstore_error *error)
{
    if (!grow(&self->rows, &self->row_capacity, self->row_count + 1, sizeof *self->rows))
        return no_memory(self, error);
    self->rows[self->row_count++] = (id_table_row){first_id, self->offset, id_table_checksum(bytes, size)};
    return write_all(self, bytes, size, error);
}

static sstore_status end_block(id_table_writer *self, sstore_error *error)
{
    const id_table_encoder *made = &self->encoder;
    const sstore_status status = made->used > 0 ? write_block(self, made->bytes, made->used, made->first_id, error)
                                                : SSTORE_OK;
    id_table_encoder_clear(&self->encoder);
    return status;
}

/* ----- what the table has already ----- */

/* Decode the last block, which may have room for more. */
static sstore_status take_last_block(id_table_writer *self, const id_table_block *block, sstore_error *error)
{
    id_table_decoder decoder = {0};
    id_table_step step;
    id_table_decoder_begin(&decoder, block->bytes, block->size, block->first_id, block->max_id);
    while ((step = id_table_decoder_next(&decoder)) == ID_TABLE_ENTRY)
        if (!id_table_encoder_add(&self->encoder, decoder.id, decoder.name.bytes, decoder.name.length)) {
            step = ID_TABLE_NO_MEMORY;
            break;
        }
    sstore_status status = SSTORE_OK;
    if (step == ID_TABLE_NO_MEMORY)
        status = no_memory(self, error);
    else if (step == ID_TABLE_MALFORMED || decoder.id != block->max_id)
        status = fail(self, error, SSTORE_ERROR_DAMAGED, "the last block is malformed, or lacks the last id");
    id_table_decoder_free(&decoder);
    if (status == SSTORE_OK && self->encoder.used >= ID_TABLE_BLOCK_BYTES)
        status = end_block(self, error);
    return status;
}

/* All blocks but the last one are copied as they are. */
static sstore_status take_table(id_table_writer *self, id_table_reader *table, sstore_error *error)
{
    const uint64_t count = id_table_reader_block_count(table);
    id_table_block block;
    sstore_status status = SSTORE_OK;
    if (fchmod(self->file.fd, id_table_reader_mode(table)) != 0)
        return fail_writing(self, error);
    for (uint64_t i = 0; i < count && status == SSTORE_OK; i++) {
        status = id_table_reader_block(table, i, &block, error);
        if (status == SSTORE_OK)
            status = i + 1 < count ? write_block(self, block.bytes, block.size, block.first_id, error)
                                   : take_last_block(self, &block, error);
    }
    self->entry_count = id_table_reader_count(table);
    self->last_id = id_table_reader_last_id(table);
    return status;
}

static sstore_status take_existing(id_table_writer *self, sstore_error *error)
{
    id_table_reader *table;
    sstore_status status = id_table_reader_open(self->path, &table, error);
    if (status == SSTORE_ERROR_NOT_FOUND)
        return SSTORE_OK;
    if (status == SSTORE_OK)
        status = take_table(self, table, error);
    id_table_reader_close(table);
    return status;
}

static sstore_status begin_table(id_table_writer *self, sstore_error *error)
{
    uint8_t header[ID_TABLE_HEADER_BYTES];
    const sstore_status status = open_file(self, error);
    if (status != SSTORE_OK)
        return status;
    id_table_put_header(header);
    const sstore_status written = write_all(self, header, sizeof header, error);
    return written == SSTORE_OK ? take_existing(self, error) : written;
}

sstore_status id_table_writer_open(const char *path, id_table_writer **writer_out, sstore_error *error)
{
    id_table_writer *self = calloc(1, sizeof *self);
    *writer_out = NULL;
    if (self == NULL)
        return id_table_fail(error, SSTORE_ERROR_MEMORY, path, SSTORE_NO_OFFSET, "out of memory");
    self->file = NEW_FILE_NONE;
    self->path = strdup(path);
    const sstore_status status = self->path != NULL ? begin_table(self, error)
                                                    : id_table_fail(error, SSTORE_ERROR_MEMORY, path, SSTORE_NO_OFFSET,
                                                                    "out of memory");
    if (status == SSTORE_OK)
        *writer_out = self;
    else
        id_table_writer_free(self);
    return status;
}

/* ----- entries ----- */

uint64_t id_table_writer_count(const id_table_writer *self)
{
    return self->entry_count;
}

uint64_t id_table_writer_last_id(const id_table_writer *self)
{
    return self->last_id;
}

sstore_status id_table_writer_add(id_table_writer *self, uint64_t id, const char *name, size_t length,
                                  sstore_error *error)
{
    char reason[128];
    if (self->entry_count > 0 && id <= self->last_id) {
        snprintf(reason, sizeof reason, "id %" PRIu64 " does not follow id %" PRIu64 ": the ids of names must ascend",
                 id, self->last_id);
        return fail(self, error, SSTORE_ERROR_ARGUMENT, reason);
    }
    if (length > ID_TABLE_MAX_NAME_BYTES) {
        snprintf(reason, sizeof reason, "the name of id %" PRIu64 " has %zu bytes: at most %zu are possible", id,
                 length, ID_TABLE_MAX_NAME_BYTES);
        return fail(self, error, SSTORE_ERROR_ARGUMENT, reason);
    }
    if (!id_table_encoder_add(&self->encoder, id, name, length))
        return no_memory(self, error);
    self->entry_count++;
    self->last_id = id;
    return self->encoder.used >= ID_TABLE_BLOCK_BYTES ? end_block(self, error) : SSTORE_OK;
}

/* ----- the end ----- */

static sstore_status write_index(id_table_writer *self, sstore_error *error)
{
    const size_t size = self->row_count * ID_TABLE_ROW_BYTES;
    id_table_footer footer = {.entry_count = self->entry_count,
                              .last_id = self->last_id,
                              .index_offset = self->offset,
                              .block_count = self->row_count};
    uint8_t end[ID_TABLE_FOOTER_BYTES], *bytes = malloc(size > 0 ? size : 1);
    if (bytes == NULL)
        return no_memory(self, error);
    for (size_t i = 0; i < self->row_count; i++)
        id_table_put_row(bytes + i * ID_TABLE_ROW_BYTES, &self->rows[i]);
    footer.index_checksum = id_table_checksum(bytes, size);
    id_table_put_footer(end, &footer);
    sstore_status status = write_all(self, bytes, size, error);
    if (status == SSTORE_OK)
        status = write_all(self, end, sizeof end, error);
    free(bytes);
    return status;
}

/* Have the new name on the disk. Some file systems cannot sync folders. */
static bool sync_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash == NULL ? strdup(".") : strndup(path, slash == path ? 1 : (size_t)(slash - path));
    const int fd = folder != NULL ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    const bool done = fd >= 0 && (fsync(fd) == 0 || errno == EINVAL);
    if (fd >= 0)
        (void)close(fd);
    free(folder);
    return done;
}

sstore_status id_table_writer_commit(id_table_writer *self, sstore_error *error)
{
    sstore_status status = end_block(self, error);
    if (status == SSTORE_OK)
        status = write_index(self, error);
    if (status != SSTORE_OK)
        return status;
    if (fsync(self->file.fd) != 0 || !new_file_commit(&self->file))
        return fail_writing(self, error);
    return sync_folder(self->file.target)
               ? SSTORE_OK
               : fail(self, error, SSTORE_ERROR_IO, "the id table is complete, but its folder cannot be synced");
}

void id_table_writer_free(id_table_writer *self)
{
    if (self == NULL)
        return;
    new_file_close(&self->file);
    id_table_encoder_free(&self->encoder);
    free(self->rows);
    free(self->path);
    free(self);
}

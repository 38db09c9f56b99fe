#include "names/id_table_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "names/id_table_form.h"
#include "output/messages.h"

/* Blocks that stay in memory: one in each slot, by their numbers. Larger ones, of long names, are read each time. */
#define SLOTS 1024u
#define SLOT_BYTES 9216u

typedef struct slot {
    uint8_t *bytes;
    uint64_t block; /* if there are bytes */
} slot;

struct id_table_reader {
    char *path;
    int fd;
    unsigned mode;
    id_table_footer footer;
    id_table_row *rows; /* the last one only says where the last block ends */
    slot slots[SLOTS];
    uint8_t *large; /* a block that fits into no slot */
    size_t large_capacity;
    id_table_decoder decoder;
    uint64_t decoded; /* the block that the decoder reads; UINT64_MAX: none */
};

static sstore_status fail(const id_table_reader *self, sstore_error *error, sstore_status status, uint64_t offset,
                          const char *reason)
{
    return id_table_fail(error, status, self->path, offset, reason);
}

static sstore_status no_memory(const id_table_reader *self, sstore_error *error)
{
    return fail(self, error, SSTORE_ERROR_MEMORY, SSTORE_NO_OFFSET, "out of memory");
}

static sstore_status read_at(const id_table_reader *self, uint64_t offset, void *to, size_t size, sstore_error *error)
{
    char *bytes = to;
    while (size > 0) {
        const ssize_t got = pread(self->fd, bytes, size, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return fail(self, error, SSTORE_ERROR_IO, offset, "cannot read the id table");
        if (got == 0)
            return fail(self, error, SSTORE_ERROR_DAMAGED, offset, "the file ends here, since it was cut");
        bytes += got;
        offset += (uint64_t)got;
        size -= (size_t)got;
    }
    return SSTORE_OK;
}

/* ----- opening ----- */

static sstore_status open_file(id_table_reader *self, uint64_t *size_out, sstore_error *error)
{
    struct stat info;
    self->fd = open(self->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO would wait for its writer */
    if (self->fd < 0) {
        const sstore_status status = errno == ENOENT ? SSTORE_ERROR_NOT_FOUND : SSTORE_ERROR_IO;
        return fail(self, error, status, SSTORE_NO_OFFSET,
                    errno == ENOENT ? "there is no such id table; 'sstore fingerprint --id-table' makes one"
                                    : "cannot open the id table");
    }
    if (fstat(self->fd, &info) != 0)
        return fail(self, error, SSTORE_ERROR_IO, SSTORE_NO_OFFSET, "cannot read the id table");
    self->mode = info.st_mode & 0777;
    *size_out = (uint64_t)info.st_size;
    return S_ISREG(info.st_mode)
               ? SSTORE_OK
               : fail(self, error, SSTORE_ERROR_UNSUPPORTED, SSTORE_NO_OFFSET,
                      "this is no regular file, so it is no id table, which 'sstore fingerprint --id-table' makes");
}

static sstore_status read_ends(id_table_reader *self, uint64_t size, sstore_error *error)
{
    static const char none[] = "this is no id table, which 'sstore fingerprint --id-table' makes";
    uint8_t header[ID_TABLE_HEADER_BYTES], bytes[ID_TABLE_FOOTER_BYTES];
    id_table_footer *footer = &self->footer;
    if (size < sizeof header)
        return fail(self, error, SSTORE_ERROR_UNSUPPORTED, SSTORE_NO_OFFSET, none);
    sstore_status status = read_at(self, 0, header, sizeof header, error);
    if (status != SSTORE_OK)
        return status;
    const id_table_kind kind = id_table_take_header(header);
    if (kind == ID_TABLE_NONE)
        return fail(self, error, SSTORE_ERROR_UNSUPPORTED, SSTORE_NO_OFFSET, none);
    if (kind == ID_TABLE_OF_ANOTHER_VERSION)
        return fail(self, error, SSTORE_ERROR_UNSUPPORTED, 8,
                    "this sstore does not know the version of the id table; use the one that made it");
    if (size < sizeof header + sizeof bytes)
        return fail(self, error, SSTORE_ERROR_DAMAGED, size, "the file ends here, since it was cut");
    status = read_at(self, size - sizeof bytes, bytes, sizeof bytes, error);
    if (status != SSTORE_OK)
        return status;
    if (!id_table_take_footer(header, bytes, footer))
        return fail(self, error, SSTORE_ERROR_DAMAGED, size - sizeof bytes,
                    "the checksum of the footer is wrong, or the file was cut");
    const uint64_t inner = size - sizeof bytes - sizeof header;
    if (footer->block_count > inner / ID_TABLE_ROW_BYTES ||
        footer->index_offset != size - sizeof bytes - footer->block_count * ID_TABLE_ROW_BYTES)
        return fail(self, error, SSTORE_ERROR_DAMAGED, size - sizeof bytes,
                    "the index and its number of rows do not fit the length of the file");
    if ((footer->entry_count == 0) != (footer->block_count == 0) || footer->entry_count < footer->block_count ||
        (footer->entry_count == 0 ? footer->last_id != 0 : footer->last_id < footer->entry_count - 1))
        return fail(self, error, SSTORE_ERROR_DAMAGED, size - sizeof bytes,
                    "the numbers of entries and blocks and the last id do not fit each other");
    return SSTORE_OK;
}

/* Check row `i` and how long the block before it is. Row `block_count` only has a place, that of the index. */
static sstore_status check_row(const id_table_reader *self, uint64_t i, sstore_error *error)
{
    const id_table_row *row = &self->rows[i];
    const uint64_t place = self->footer.index_offset + i * ID_TABLE_ROW_BYTES;
    if (i == 0)
        return row->offset == ID_TABLE_HEADER_BYTES
                   ? SSTORE_OK
                   : fail(self, error, SSTORE_ERROR_DAMAGED, place, "the first block does not follow the header");
    const id_table_row *before = &self->rows[i - 1];
    if (row->offset <= before->offset || row->offset - before->offset > ID_TABLE_MAX_BLOCK_BYTES)
        return fail(self, error, SSTORE_ERROR_DAMAGED, place - ID_TABLE_ROW_BYTES, "a block is empty or too long");
    const bool ascends = i < self->footer.block_count ? before->first_id < row->first_id
                                                      : before->first_id <= self->footer.last_id;
    return ascends ? SSTORE_OK : fail(self, error, SSTORE_ERROR_DAMAGED, place, "the ids do not ascend");
}

#define ROW_BATCH 4096u

/* Read `count` rows, from row `begin` on, and keep their bytes. */
static sstore_status read_rows(id_table_reader *self, uint64_t begin, size_t count, uint8_t *bytes, sstore_error *error)
{
    sstore_status status = read_at(self, self->footer.index_offset + begin * ID_TABLE_ROW_BYTES, bytes,
                                   count * ID_TABLE_ROW_BYTES, error);
    for (size_t i = 0; i < count && status == SSTORE_OK; i++) {
        self->rows[begin + i] = id_table_take_row(bytes + i * ID_TABLE_ROW_BYTES);
        status = check_row(self, begin + i, error);
    }
    return status;
}

/* Read the index. Its memory grows with the rows that are right: a sparse file may claim any number of them. */
static sstore_status read_index(id_table_reader *self, sstore_error *error)
{
    const id_table_footer *footer = &self->footer;
    const uint64_t count = footer->block_count;
    uint8_t *bytes = NULL;
    size_t capacity = 0, row_capacity = 0, read = 0;
    sstore_status status = SSTORE_OK;
    do {
        const size_t more = count - read < ROW_BATCH ? (size_t)(count - read) : ROW_BATCH;
        if (!grow(&bytes, &capacity, (read + more) * ID_TABLE_ROW_BYTES + 1, 1) ||
            !grow(&self->rows, &row_capacity, read + more + 1, sizeof *self->rows))
            status = no_memory(self, error);
        else
            status = read_rows(self, read, more, bytes + read * ID_TABLE_ROW_BYTES, error);
        read += more;
    } while (status == SSTORE_OK && read < count);
    if (status == SSTORE_OK && id_table_checksum(bytes, read * ID_TABLE_ROW_BYTES) != footer->index_checksum)
        status = fail(self, error, SSTORE_ERROR_DAMAGED, footer->index_offset, "the checksum of the index is wrong");
    if (status == SSTORE_OK && self->rows != NULL) { /* it has one more than was read */
        self->rows[count] = (id_table_row){.offset = footer->index_offset};
        status = check_row(self, count, error);
    }
    free(bytes);
    return status;
}

sstore_status id_table_reader_open(const char *path, id_table_reader **reader_out, sstore_error *error)
{
    uint64_t size = 0;
    id_table_reader *self = calloc(1, sizeof *self);
    *reader_out = NULL;
    if (self == NULL || (self->path = strdup(path)) == NULL) {
        free(self);
        return id_table_fail(error, SSTORE_ERROR_MEMORY, path, SSTORE_NO_OFFSET, "out of memory");
    }
    self->decoded = UINT64_MAX;
    sstore_status status = open_file(self, &size, error);
    if (status == SSTORE_OK)
        status = read_ends(self, size, error);
    if (status == SSTORE_OK)
        status = read_index(self, error);
    if (status == SSTORE_OK)
        *reader_out = self;
    else
        id_table_reader_close(self);
    return status;
}

void id_table_reader_close(id_table_reader *self)
{
    if (self == NULL)
        return;
    for (size_t i = 0; i < SLOTS; i++)
        free(self->slots[i].bytes);
    if (self->fd >= 0)
        (void)close(self->fd);
    id_table_decoder_free(&self->decoder);
    free(self->large);
    free(self->rows);
    free(self->path);
    free(self);
}

uint64_t id_table_reader_count(const id_table_reader *self)
{
    return self->footer.entry_count;
}

uint64_t id_table_reader_last_id(const id_table_reader *self)
{
    return self->footer.last_id;
}

unsigned id_table_reader_mode(const id_table_reader *self)
{
    return self->mode;
}

uint64_t id_table_reader_block_count(const id_table_reader *self)
{
    return self->footer.block_count;
}

/* ----- blocks ----- */

static size_t block_size(const id_table_reader *self, uint64_t index)
{
    return (size_t)(self->rows[index + 1].offset - self->rows[index].offset);
}

/* Read a block into memory of its size. */
static sstore_status load(const id_table_reader *self, uint64_t index, uint8_t *to, sstore_error *error)
{
    const id_table_row *row = &self->rows[index];
    const sstore_status status = read_at(self, row->offset, to, block_size(self, index), error);
    if (status != SSTORE_OK)
        return status;
    return id_table_checksum(to, block_size(self, index)) == row->checksum
               ? SSTORE_OK
               : fail(self, error, SSTORE_ERROR_DAMAGED, row->offset, "the checksum of the block is wrong");
}

static sstore_status load_large(id_table_reader *self, uint64_t index, sstore_error *error)
{
    return grow(&self->large, &self->large_capacity, block_size(self, index), 1) ? load(self, index, self->large, error)
                                                                                 : no_memory(self, error);
}

/* Have a block in its slot. */
static sstore_status load_slot(id_table_reader *self, uint64_t index, sstore_error *error)
{
    slot *at = &self->slots[index % SLOTS];
    if (at->bytes != NULL && at->block == index)
        return SSTORE_OK;
    uint8_t *bytes = realloc(at->bytes, block_size(self, index));
    if (bytes == NULL)
        return no_memory(self, error);
    at->bytes = bytes;
    at->block = index;
    const sstore_status status = load(self, index, bytes, error);
    if (status != SSTORE_OK) {
        free(bytes);
        at->bytes = NULL;
    }
    return status;
}

static uint64_t max_id(const id_table_reader *self, uint64_t index)
{
    return index + 1 < self->footer.block_count ? self->rows[index + 1].first_id - 1 : self->footer.last_id;
}

sstore_status id_table_reader_block(id_table_reader *self, uint64_t index, id_table_block *block_out,
                                    sstore_error *error)
{
    self->decoded = UINT64_MAX; /* its bytes may move */
    const sstore_status status = load_large(self, index, error);
    *block_out = (id_table_block){self->large, block_size(self, index), self->rows[index].first_id,
                                  max_id(self, index)};
    return status;
}

/* Begin to decode a block. */
static sstore_status begin_block(id_table_reader *self, uint64_t index, sstore_error *error)
{
    const bool is_large = block_size(self, index) > SLOT_BYTES;
    self->decoded = UINT64_MAX;
    const sstore_status status = is_large ? load_large(self, index, error) : load_slot(self, index, error);
    if (status != SSTORE_OK)
        return status;
    id_table_decoder_begin(&self->decoder, is_large ? self->large : self->slots[index % SLOTS].bytes,
                           block_size(self, index), self->rows[index].first_id, max_id(self, index));
    self->decoded = index;
    return SSTORE_OK;
}

/* Decode the next entry, if there is one. */
static sstore_status decode_next(id_table_reader *self, bool *ended_out, sstore_error *error)
{
    id_table_decoder *decoder = &self->decoder;
    const id_table_step step = id_table_decoder_next(decoder);
    *ended_out = step == ID_TABLE_END;
    if (step == ID_TABLE_ENTRY || step == ID_TABLE_END)
        return SSTORE_OK;
    const uint64_t place = self->rows[self->decoded].offset + (uint64_t)(decoder->at - decoder->begin);
    self->decoded = UINT64_MAX;
    return step == ID_TABLE_NO_MEMORY ? no_memory(self, error)
                                      : fail(self, error, SSTORE_ERROR_DAMAGED, place, decoder->reason);
}

/* ----- lookups ----- */

/* The last block whose first id is at most `id`, which is not below that of the first block. */
static uint64_t find_block(const id_table_reader *self, uint64_t id)
{
    uint64_t low = 0, high = self->footer.block_count;
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        if (self->rows[middle].first_id <= id)
            low = middle;
        else
            high = middle;
    }
    return low;
}

sstore_status id_table_reader_find(id_table_reader *self, uint64_t id, const char **name_out, size_t *length_out,
                                   sstore_error *error)
{
    id_table_decoder *decoder = &self->decoder;
    bool ended = false;
    *name_out = NULL;
    *length_out = 0;
    if (self->footer.block_count == 0 || id < self->rows[0].first_id || id > self->footer.last_id)
        return SSTORE_OK;
    const uint64_t block = find_block(self, id);
    /* Ids that ascend go on where the one before was found. */
    sstore_status status = SSTORE_OK;
    if (self->decoded != block || decoder->at == decoder->begin || id < decoder->id) {
        status = begin_block(self, block, error);
        if (status == SSTORE_OK)
            status = decode_next(self, &ended, error);
    }
    while (status == SSTORE_OK && !ended && decoder->id < id)
        status = decode_next(self, &ended, error);
    if (status == SSTORE_OK && !ended && decoder->id == id) {
        *name_out = decoder->name.bytes;
        *length_out = decoder->name.length;
    }
    return status;
}

sstore_status id_table_reader_each(id_table_reader *self,
                                   bool (*visit)(void *context, uint64_t id, const char *name, size_t length),
                                   void *context, sstore_error *error)
{
    const id_table_decoder *decoder = &self->decoder;
    const id_table_footer *footer = &self->footer;
    uint64_t count = 0;
    sstore_status status = SSTORE_OK;
    for (uint64_t i = 0; i < footer->block_count && status == SSTORE_OK; i++) {
        bool ended = false;
        status = begin_block(self, i, error);
        if (status == SSTORE_OK)
            status = decode_next(self, &ended, error);
        for (; status == SSTORE_OK && !ended; status = decode_next(self, &ended, error)) {
            count++;
            if (!visit(context, decoder->id, decoder->name.bytes, decoder->name.length))
                return SSTORE_OK;
        }
    }
    if (status == SSTORE_OK && (count != footer->entry_count || (count > 0 && decoder->id != footer->last_id)))
        status = fail(self, error, SSTORE_ERROR_DAMAGED, footer->index_offset,
                      "the blocks have other entries than the footer says");
    return status;
}

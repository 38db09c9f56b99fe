#include "file/block_writer.h"

#include "base/alloc.h"
#include "base/error.h"

#define OUTPUT_BYTES ((size_t)1 << 20)

uint64_t ss_block_salt(uint64_t file_key, uint64_t block)
{
    uint8_t place[16];
    ss_store_le64(place, file_key);
    ss_store_le64(place + 8, block);
    return ss_hash64(place, sizeof place);
}

static uint64_t salted_checksum(const uint8_t *bytes, uint32_t block_bytes, uint64_t salt)
{
    return ss_hash64(bytes, block_bytes - SS_BLOCK_TRAILER_BYTES) ^ salt;
}

bool ss_block_intact(const uint8_t *bytes, uint32_t block_bytes, uint64_t salt)
{
    return salted_checksum(bytes, block_bytes, salt) == ss_load_le64(bytes + block_bytes - SS_BLOCK_TRAILER_BYTES);
}

sstore_status ss_block_writer_open(ss_block_writer *writer, const ss_dir *dir, const ss_block_header *header,
                                   sstore_error *error)
{
    char name[SS_NAME_CAPACITY];
    *writer = (ss_block_writer){.file = SS_FILE_NONE, .header = *header, .file_key = ss_block_file_key(header)};
    ss_block_file_name(name, header->number);
    sstore_status status = ss_file_create_at(dir, name, &writer->file, error);
    if (status == SSTORE_OK)
        status = ss_output_open(&writer->output, &writer->file, SS_HEADER_BYTES, OUTPUT_BYTES, error);
    if (status == SSTORE_OK) {
        writer->block = ss_alloc(1, header->block_bytes);
        if (writer->block == NULL)
            status = ss_fail_memory(error, header->block_bytes);
    }
    return status;
}

sstore_status ss_block_writer_append(ss_block_writer *writer, uint32_t item_count, sstore_error *error)
{
    ss_block_header *header = &writer->header;
    uint64_t salt = ss_block_salt(writer->file_key, header->block_count);
    ss_store_le64(writer->block + header->block_bytes - SS_BLOCK_TRAILER_BYTES,
                  salted_checksum(writer->block, header->block_bytes, salt));
    header->block_count++;
    header->item_count += item_count;
    return ss_output_write(&writer->output, writer->block, header->block_bytes, error);
}

sstore_status ss_block_writer_finish(ss_block_writer *writer, ss_u128 *checksum_out, sstore_error *error)
{
    uint8_t bytes[SS_HEADER_BYTES];
    *checksum_out = ss_block_header_encode(&writer->header, bytes);
    sstore_status status = ss_output_flush(&writer->output, error);
    if (status == SSTORE_OK)
        status = ss_file_write_at(&writer->file, 0, bytes, sizeof bytes, error);
    if (status == SSTORE_OK)
        status = ss_file_sync(&writer->file, error);
    return status;
}

void ss_block_writer_close(ss_block_writer *writer)
{
    ss_free(writer->block);
    writer->block = NULL;
    ss_output_close(&writer->output);
    if (writer->file.path != NULL)
        ss_file_close(&writer->file);
}

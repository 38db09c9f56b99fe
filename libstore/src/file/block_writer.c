#include "file/block_writer.h"

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
    return ss_file_create_at(dir, name, &writer->file, error);
}

sstore_status ss_block_writer_put(const ss_block_writer *writer, uint64_t first_block, uint8_t *bytes, uint32_t count,
                                  sstore_error *error)
{
    uint32_t block_bytes = writer->header.block_bytes;
    uint64_t offset = SS_HEADER_BYTES + first_block * block_bytes, size = (uint64_t)count * block_bytes;
    for (uint32_t i = 0; i < count; i++) {
        uint8_t *block = bytes + (size_t)i * block_bytes;
        ss_store_le64(block + block_bytes - SS_BLOCK_TRAILER_BYTES,
                      salted_checksum(block, block_bytes, ss_block_salt(writer->file_key, first_block + i)));
    }
    sstore_status status = ss_file_write_at(&writer->file, offset, bytes, size, error);
    if (status == SSTORE_OK)
        ss_file_start_writing(&writer->file, offset, size);
    return status;
}

sstore_status ss_block_writer_finish(ss_block_writer *writer, uint64_t block_count, uint64_t item_count,
                                     ss_u128 *checksum_out, sstore_error *error)
{
    uint8_t bytes[SS_HEADER_BYTES];
    writer->header.block_count = block_count;
    writer->header.item_count = item_count;
    *checksum_out = ss_block_header_encode(&writer->header, bytes);
    sstore_status status = ss_file_write_at(&writer->file, 0, bytes, sizeof bytes, error);
    return status == SSTORE_OK ? ss_file_sync(&writer->file, error) : status;
}

void ss_block_writer_close(ss_block_writer *writer)
{
    if (writer->file.path != NULL)
        ss_file_close(&writer->file);
}

#include "store/block_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/platform.h"

/* ===== names and numbers ===== */

void ss_folder_name(char name[SS_NAME_CAPACITY], const char *prefix, uint64_t number)
{
    snprintf(name, SS_NAME_CAPACITY, "%s%016" PRIx64, prefix, number);
}

void ss_word_index_folder_name(char name[SS_NAME_CAPACITY], uint32_t word)
{
    snprintf(name, SS_NAME_CAPACITY, SS_WORD_INDEX_PREFIX "%02u", word);
}

void ss_block_file_name(char name[SS_NAME_CAPACITY], uint32_t number)
{
    if (number == SS_IDS_NUMBER)
        snprintf(name, SS_NAME_CAPACITY, "%s", SS_IDS_NAME);
    else if (number == SS_NAMES_NUMBER)
        snprintf(name, SS_NAME_CAPACITY, "%s", SS_NAMES_NAME);
    else
        snprintf(name, SS_NAME_CAPACITY, "table-%02u.blk", number);
}

/* ===== header ===== */

static const uint8_t magic[8] = {'s', 's', 't', 'o', 'r', 'B', 'L', 'K'};

enum {
    AT_MAGIC = 0,
    AT_VERSION = 8,
    AT_HEADER_BYTES = 12,
    AT_BLOCK_BYTES = 36,
    AT_COLUMN_BITS = 40,
    AT_FINGERPRINT_BITS = 44,
    AT_BLOCK_COUNT = 48,
    AT_CODE_LENGTHS = 88,
    AT_FRAGMENTS = 1176,
    AT_CHECKSUM = SS_HEADER_BYTES - 16
};

static const ss_field fields[] = {
    SS_FIELD(16, ss_block_header, segment_id, 8),
    SS_FIELD(32, ss_block_header, number, 4),
    SS_FIELD(AT_BLOCK_BYTES, ss_block_header, block_bytes, 4),
    SS_FIELD(AT_BLOCK_COUNT, ss_block_header, block_count, 8),
    SS_FIELD(56, ss_block_header, item_count, 8),
    SS_FIELD(64, ss_block_header, table_count, 4),
    SS_FIELD(68, ss_block_header, distance, 4),
    SS_FIELD(72, ss_block_header, radius, 4), /* 76: reserved */
    SS_FIELD(80, ss_block_header, key_mask, 8),
    SS_FIELD(AT_CODE_LENGTHS, ss_block_header, code_lengths, 1),
    SS_FIELD(152, ss_block_header, h_counts, 8),
    SS_FIELD(664, ss_block_header, gap_bit_counts, 8),
};

#define FIELD_COUNT (sizeof fields / sizeof *fields)

uint64_t ss_block_file_key(const ss_block_header *header)
{
    uint8_t bytes[20 + SS_SYMBOL_COUNT];
    ss_store_u128(bytes, header->segment_id);
    ss_store_le32(bytes + 16, header->number);
    memcpy(bytes + 20, header->code_lengths, SS_SYMBOL_COUNT);
    return ss_hash64(bytes, sizeof bytes);
}

/* Whether a file is not of a table. */
static bool is_column(uint32_t number)
{
    return number == SS_IDS_NUMBER || number == SS_NAMES_NUMBER;
}

/* The width of the column of lower halves; there is none in ids and names. */
static uint32_t column_bits(const ss_block_header *header)
{
    return is_column(header->number) ? 0 : ss_column_bits(header->words);
}

void ss_block_header_set_fragments(ss_block_header *header, const uint8_t fragments[SS_FRAGMENTS_STORED_BYTES])
{
    memset(header->code_lengths, 0, sizeof header->code_lengths);
    ss_store_u128(header->code_lengths, ss_hash128(fragments, SS_FRAGMENTS_STORED_BYTES));
    header->fragments = fragments;
}

ss_u128 ss_block_header_encode(const ss_block_header *header, uint8_t bytes[SS_HEADER_BYTES])
{
    memset(bytes, 0, SS_HEADER_BYTES);
    memcpy(bytes + AT_MAGIC, magic, sizeof magic);
    ss_store_le32(bytes + AT_VERSION, SS_FORMAT_VERSION);
    ss_store_le32(bytes + AT_HEADER_BYTES, SS_HEADER_BYTES);
    ss_store_le32(bytes + AT_FINGERPRINT_BITS, SS_WORD_BITS * header->words);
    ss_store_le32(bytes + AT_COLUMN_BITS, column_bits(header));
    ss_fields_store(fields, FIELD_COUNT, header, bytes);
    if (header->fragments != NULL)
        memcpy(bytes + AT_FRAGMENTS, header->fragments, SS_FRAGMENTS_STORED_BYTES);
    ss_u128 checksum = ss_hash128(bytes, AT_CHECKSUM);
    ss_store_u128(bytes + AT_CHECKSUM, checksum);
    return checksum;
}

sstore_status ss_block_header_decode(const uint8_t bytes[SS_HEADER_BYTES], const char *file, ss_block_header *header,
                                     ss_u128 *checksum_out, sstore_error *error)
{
    const char *reason;
    if (memcmp(bytes + AT_MAGIC, magic, sizeof magic) != 0)
        return ss_fail_damaged(error, file, AT_MAGIC, "is not a block file of a store");
    *checksum_out = ss_hash128(bytes, AT_CHECKSUM);
    if (!ss_u128_equal(*checksum_out, ss_load_u128(bytes + AT_CHECKSUM)))
        return ss_fail_damaged(error, file, 0, "the header's checksum is wrong");
    const uint32_t version = ss_load_le32(bytes + AT_VERSION), bits = ss_load_le32(bytes + AT_FINGERPRINT_BITS);
    if (version != SS_FORMAT_VERSION || !ss_fingerprint_bits_valid(bits) ||
        ss_load_le32(bytes + AT_HEADER_BYTES) != SS_HEADER_BYTES)
        return ss_fail(error, SSTORE_ERROR_UNSUPPORTED, 0, file, AT_VERSION,
                       "format version %u with fingerprints of %u bits is not supported by this version of sstore",
                       version, bits);
    ss_fields_load(fields, FIELD_COUNT, bytes, header);
    header->words = bits / SS_WORD_BITS;
    header->fragments = NULL;
    const uint32_t width = ss_load_le32(bytes + AT_COLUMN_BITS);
    if (width != column_bits(header))
        return ss_fail(error, SSTORE_ERROR_UNSUPPORTED, 0, file, AT_COLUMN_BITS,
                       "blocks with columns of %u bits are not supported by this version of sstore", width);
    if (!ss_block_bytes_valid(header->block_bytes))
        return ss_fail_damaged(error, file, AT_BLOCK_BYTES, "the block size is invalid");
    const bool has_names = header->number == SS_NAMES_NUMBER; /* which may be longer than a block */
    const uint64_t min_items = has_names ? header->block_count > 0 : header->block_count;
    if (header->block_count > SS_MAX_BLOCK_COUNT || header->item_count < min_items ||
        header->item_count > UINT16_MAX * header->block_count)
        return ss_fail_damaged(error, file, AT_BLOCK_COUNT, "the numbers of blocks and items contradict each other");
    if (!has_names && !ss_huffman_valid(header->code_lengths, &reason))
        return ss_fail_damaged(error, file, AT_CODE_LENGTHS, "%s", reason);
    return SSTORE_OK;
}

/* ===== checksums of blocks ===== */

uint64_t ss_block_salt(uint64_t file_key, uint64_t block)
{
    uint8_t place[16];
    ss_store_le64(place, file_key);
    ss_store_le64(place + 8, block);
    return ss_hash64(place, sizeof place);
}

static uint64_t salted_checksum(const uint8_t *bytes, uint32_t block_bytes, uint64_t file_key, uint64_t block)
{
    return ss_hash64(bytes, block_bytes - SS_BLOCK_TRAILER_BYTES) ^ ss_block_salt(file_key, block);
}

/* Check a block against its checksum. */
static sstore_status check_block(const ss_block_reader *reader, uint64_t block, const uint8_t *bytes,
                                 sstore_error *error)
{
    const uint32_t block_bytes = reader->header.block_bytes;
    if (salted_checksum(bytes, block_bytes, reader->file_key, block) ==
        ss_load_le64(bytes + block_bytes - SS_BLOCK_TRAILER_BYTES))
        return SSTORE_OK;
    return ss_fail_damaged(
        error, reader->file.path, ss_block_offset(reader, block),
        "block %llu at offset %llu is damaged: its checksum is wrong; restore the file from a copy or "
        "rebuild the store",
        (unsigned long long)block, (unsigned long long)ss_block_offset(reader, block));
}

sstore_status ss_block_reader_malformed(const ss_block_reader *reader, uint64_t block, const char *reason,
                                        sstore_error *error)
{
    return ss_fail_damaged(error, reader->file.path, ss_block_offset(reader, block),
                           "block %llu at offset %llu is malformed although its checksum is right: %s",
                           (unsigned long long)block, (unsigned long long)ss_block_offset(reader, block), reason);
}

/* ===== reader ===== */

#define CACHE_LINE 64u
#define FRAME_BYTES_A_LINE 4096u        /* of a table's block for each cache line of its frame */
#define AHEAD_BYTES (UINT64_C(2) << 20) /* the maximum that is read ahead */
#define FIRST_DIVISOR 32u               /* at first 1/32 of it: 64 KiB, one of the largest blocks */

static sstore_status check_header(ss_block_reader *reader, const ss_block_file_metadata *metadata, sstore_error *error)
{
    uint8_t bytes[SS_HEADER_BYTES];
    ss_u128 checksum;
    sstore_status status = SSTORE_OK;
    if (reader->base != NULL)
        memcpy(bytes, reader->base, sizeof bytes);
    else
        status = ss_file_read_at(&reader->file, 0, bytes, sizeof bytes, error);
    if (status == SSTORE_OK)
        status = ss_block_header_decode(bytes, reader->file.path, &reader->header, &checksum, error);
    if (status != SSTORE_OK)
        return status;
    const ss_block_header *header = &reader->header;
    if (header->words != metadata->words)
        return ss_fail(error, SSTORE_ERROR_UNSUPPORTED, 0, reader->file.path, AT_FINGERPRINT_BITS,
                       "fingerprints of %u bits in a place for those of %u bits are not supported by this version of "
                       "sstore",
                       SS_WORD_BITS * header->words, SS_WORD_BITS * metadata->words);
    reader->file_key = ss_block_file_key(header);
    /* The header is in the page cache now. If it can be read without waiting, so can blocks. */
    reader->can_try = reader->io == SSTORE_IO_PREAD && ss_file_try_read(&reader->file, 0, bytes, sizeof bytes);
    if (!ss_u128_equal(checksum, metadata->header_checksum) ||
        !ss_u128_equal(header->segment_id, metadata->segment_id) || header->number != metadata->number ||
        header->block_bytes != metadata->block_bytes || header->block_count != metadata->block_count)
        return ss_fail_damaged(
            error, reader->file.path, 0,
            "the header is not the one in the manifest: the file belongs to another store or another place");
    return SSTORE_OK;
}

/* Read the header again, as it was checked. */
static sstore_status read_header(const ss_block_reader *reader, uint8_t bytes[SS_HEADER_BYTES], sstore_error *error)
{
    if (reader->base != NULL) {
        memcpy(bytes, reader->base, SS_HEADER_BYTES);
        return SSTORE_OK;
    }
    return ss_file_read_at(&reader->file, 0, bytes, SS_HEADER_BYTES, error);
}

sstore_status ss_block_reader_fragments(const ss_block_reader *reader, ss_fragments *fragments_out, sstore_error *error)
{
    uint8_t bytes[SS_HEADER_BYTES];
    const uint8_t *fragments = bytes + AT_FRAGMENTS;
    const char *reason = "the fragments in the header of the names are damaged";
    const sstore_status status = read_header(reader, bytes, error);
    if (status != SSTORE_OK)
        return status;
    if (!ss_u128_equal(ss_hash128(fragments, SS_FRAGMENTS_STORED_BYTES), ss_load_u128(reader->header.code_lengths)) ||
        !ss_fragments_load(fragments_out, fragments, &reason))
        return ss_fail_damaged(error, reader->file.path, AT_FRAGMENTS, "%s", reason);
    return SSTORE_OK;
}

static sstore_status load(ss_block_reader *reader, sstore_error *error)
{
    uint8_t *bytes = ss_alloc_large(reader->file_bytes);
    if (bytes == NULL)
        return ss_fail_memory(error, reader->file_bytes);
    reader->base = bytes;
    reader->io = SSTORE_IO_MEMORY;
    const sstore_status status = ss_file_read_at(&reader->file, 0, bytes, reader->file_bytes, error);
    ss_file_release(&reader->file); /* nothing is read again */
    return status;
}

static sstore_status check_blocks(const ss_block_reader *reader, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    for (uint64_t block = 0; status == SSTORE_OK && block < reader->header.block_count; block++)
        status = check_block(reader, block, reader->base + ss_block_offset(reader, block), error);
    return status;
}

static sstore_status expect_checks(ss_block_reader *reader, sstore_error *error)
{
    reader->checked = ss_alloc(reader->header.block_count / 8 + 1, sizeof *reader->checked);
    return reader->checked != NULL ? SSTORE_OK : ss_fail_memory(error, reader->header.block_count / 8);
}

/* A store of several words has many small files, and a process may have few descriptors. So a small mapped file is
 * closed, if the system can read a mapped page without one. */
#define SMALL_MAP_BYTES ((uint64_t)1 << 20)

static sstore_status map(ss_block_reader *reader, sstore_error *error)
{
    const sstore_status status = ss_file_map(&reader->file, reader->file_bytes, &reader->base, error);
    if (status == SSTORE_OK && reader->file_bytes <= SMALL_MAP_BYTES &&
        ss_platform_populate(reader->base, SS_HEADER_BYTES))
        ss_file_release(&reader->file);
    else
        ss_file_expect_random(&reader->file); /* sequential reads have ss_read_ahead */
    return status;
}

sstore_status ss_block_reader_open(ss_block_reader *reader, const ss_dir *dir, const ss_block_file_metadata *metadata,
                                   sstore_io io, sstore_error *error)
{
    char name[SS_NAME_CAPACITY];
    uint64_t expected = SS_HEADER_BYTES + metadata->block_count * metadata->block_bytes;
    *reader = (ss_block_reader){.file = SS_FILE_NONE, .io = io};
    ss_block_file_name(name, metadata->number);
    sstore_status status = ss_file_open_at(dir, name, &reader->file, error);
    if (status != SSTORE_OK)
        return status;
    reader->file_bytes = reader->file.opened_bytes;
    if (reader->file_bytes != expected)
        return ss_fail_damaged(error, reader->file.path, ss_min_u64(reader->file_bytes, expected),
                               "the file has %llu bytes instead of %llu", (unsigned long long)reader->file_bytes,
                               (unsigned long long)expected);
    if (io == SSTORE_IO_MEMORY || ss_block_file_is_copied(expected, io))
        status = load(reader, error);
    if (status == SSTORE_OK)
        status = check_header(reader, metadata, error);
    if (status == SSTORE_OK && io == SSTORE_IO_MEMORY)
        status = check_blocks(reader, error);
    if (status == SSTORE_OK && io == SSTORE_IO_MMAP)
        status = expect_checks(reader, error);
    if (status == SSTORE_OK && reader->io == SSTORE_IO_MMAP)
        status = map(reader, error);
    if (io == SSTORE_IO_PREAD)
        ss_file_expect_random(&reader->file);
    return status;
}

void ss_block_reader_close_file(ss_block_reader *reader)
{
    uint8_t header[SS_HEADER_BYTES];
    if (reader->io != SSTORE_IO_PREAD || reader->file_bytes > SMALL_MAP_BYTES ||
        ss_file_map(&reader->file, reader->file_bytes, &reader->closed_map, NULL) != SSTORE_OK)
        return;
    if (ss_platform_copy_mapped(reader->closed_map, sizeof header, header)) {
        reader->can_try = false;
        ss_file_release(&reader->file);
    } else {
        ss_unmap(reader->closed_map, reader->file_bytes);
        reader->closed_map = NULL;
    }
}

void ss_block_reader_close(ss_block_reader *reader)
{
    ss_unmap(reader->closed_map, reader->file_bytes);
    reader->closed_map = NULL;
    if (reader->io == SSTORE_IO_MMAP)
        ss_unmap(reader->base, reader->file_bytes);
    else
        ss_free((void *)(uintptr_t)reader->base);
    ss_free(reader->checked);
    if (reader->file.path != NULL)
        ss_file_close(&reader->file);
    reader->base = NULL;
    reader->checked = NULL;
}

static bool was_checked(const ss_block_reader *reader, uint64_t block)
{
    return reader->checked == NULL ||
           (atomic_load_explicit(&reader->checked[block / 8], memory_order_relaxed) >> block % 8 & 1) != 0;
}

static sstore_status read_block(const ss_block_reader *reader, uint64_t block, uint8_t *buffer, sstore_error *error)
{
    const uint64_t offset = ss_block_offset(reader, block);
    const uint32_t block_bytes = reader->header.block_bytes;
    sstore_status status;
    if (reader->closed_map != NULL) {
        status = ss_file_map_copy(&reader->file, reader->closed_map, offset, buffer, block_bytes, error);
    } else if (reader->file.fd >= 0) {
        status = ss_file_read_at(&reader->file, offset, buffer, block_bytes, error);
    } else {
        assert(reader->base != NULL);
        status = ss_file_map_read(&reader->file, reader->base, offset, block_bytes, error);
        if (status == SSTORE_OK)
            memcpy(buffer, reader->base + offset, block_bytes);
    }
    return status == SSTORE_OK ? check_block(reader, block, buffer, error) : status;
}

sstore_status ss_block_reader_get_once(const ss_block_reader *reader, uint64_t block, uint8_t *buffer,
                                       const uint8_t **bytes_out, sstore_error *error)
{
    if (reader->io == SSTORE_IO_MEMORY)
        return ss_block_reader_get(reader, block, buffer, bytes_out, error);
    *bytes_out = buffer;
    return read_block(reader, block, buffer, error);
}

sstore_status ss_block_reader_get(const ss_block_reader *reader, uint64_t block, uint8_t *buffer,
                                  const uint8_t **bytes_out, sstore_error *error)
{
    uint64_t offset = ss_block_offset(reader, block);
    assert(block < reader->header.block_count);
    if (reader->base == NULL) {
        *bytes_out = buffer;
        return read_block(reader, block, buffer, error);
    }
    *bytes_out = reader->base + offset;
    /* Several threads may check the same block, which is harmless. */
    if (was_checked(reader, block))
        return SSTORE_OK;
    sstore_status status = SSTORE_OK;
    if (reader->io == SSTORE_IO_MMAP)
        status = ss_file_map_read(&reader->file, reader->base, offset, reader->header.block_bytes, error);
    if (status == SSTORE_OK)
        status = check_block(reader, block, *bytes_out, error);
    if (status == SSTORE_OK)
        atomic_fetch_or_explicit(&reader->checked[block / 8], (unsigned char)(1u << block % 8), memory_order_relaxed);
    return status;
}

bool ss_block_reader_prefetch(const ss_block_reader *reader, uint64_t block, uint8_t *buffer)
{
    const uint64_t offset = ss_block_offset(reader, block);
    const uint32_t block_bytes = reader->header.block_bytes;
    if (reader->base == NULL && reader->can_try && ss_file_try_read(&reader->file, offset, buffer, block_bytes))
        return true;
    if (reader->closed_map != NULL)
        return false;
    if (reader->base == NULL || !was_checked(reader, block)) {
        ss_file_will_need(&reader->file, offset, block_bytes);
    } else if (is_column(reader->header.number)) {
        __builtin_prefetch(reader->base + offset);
    } else {
        for (uint32_t at = 0; at < block_bytes; at += FRAME_BYTES_A_LINE)
            __builtin_prefetch(reader->base + offset + block_bytes -
                               (size_t)(at / FRAME_BYTES_A_LINE + 1) * CACHE_LINE);
    }
    return false;
}

void ss_block_reader_prefetch_bytes(const ss_block_reader *reader, uint64_t block, uint32_t at, uint32_t bytes)
{
    if (reader->base == NULL || !was_checked(reader, block))
        return;
    const uint32_t end = ss_min_u32(at + bytes, reader->header.block_bytes);
    for (at &= ~(CACHE_LINE - 1); at < end; at += CACHE_LINE)
        __builtin_prefetch(reader->base + ss_block_offset(reader, block) + at);
}

void ss_block_reader_ahead(const ss_block_reader *reader, uint64_t block, ss_read_ahead *ahead)
{
    const uint64_t max = AHEAD_BYTES / reader->header.block_bytes;
    if (reader->file.fd < 0 || block + ahead->step < ahead->prefetched)
        return;
    ahead->step = ahead->step == 0 ? max / FIRST_DIVISOR : ss_min_u64(2 * ahead->step, max);
    uint64_t from = ss_max_u64(ahead->prefetched, block);
    uint64_t to = ss_min_u64(block + 2 * ahead->step, ss_min_u64(ahead->end, reader->header.block_count));
    ahead->prefetched = block + 2 * ahead->step;
    if (from < to)
        ss_file_will_need(&reader->file, ss_block_offset(reader, from), (to - from) * reader->header.block_bytes);
}

/* ===== slot ===== */

sstore_status ss_fail_steps(const ss_block_reader *reader, sstore_error *error)
{
    return ss_fail_damaged(
        error, reader->file.path, SSTORE_NO_OFFSET,
        "the call needs more steps than any valid store of this size: the store is damaged or malicious; "
        "sstore_verify() reports details");
}

void ss_block_slot_prefetch(ss_block_slot *slot, const ss_block_reader *reader, uint64_t number)
{
    if (ss_block_slot_is(slot, reader, number))
        return;
    slot->reader = reader;
    slot->number = number;
    slot->bytes = NULL;
    slot->is_loaded = ss_block_reader_prefetch(reader, number, slot->buffer);
}

sstore_status ss_block_slot_wait(ss_block_slot *slot, sstore_error *error)
{
    if (slot->bytes != NULL)
        return SSTORE_OK;
    const ss_block_reader *reader = slot->reader;
    if (slot->steps != NULL && SS_UNLIKELY(!ss_steps_take(slot->steps, 1))) {
        slot->reader = NULL;
        return ss_fail_steps(reader, error);
    }
    if (slot->steps != NULL)
        slot->steps->block_count++;
    const uint8_t *bytes = slot->buffer;
    sstore_status status = slot->is_loaded ? check_block(reader, slot->number, bytes, error)
                                           : ss_block_reader_get(reader, slot->number, slot->buffer, &bytes, error);
    if (status == SSTORE_OK)
        slot->bytes = bytes;
    else
        slot->reader = NULL;
    return status;
}

/* ===== writer ===== */

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
                      salted_checksum(block, block_bytes, writer->file_key, first_block + i));
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

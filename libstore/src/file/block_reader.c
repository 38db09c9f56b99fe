#include "file/block_reader.h"

#include "base/alloc.h"
#include "base/error.h"
#include "file/block_writer.h"

#define CACHE_LINE 64u
#define FRAME_BYTES_A_LINE 4096u        /* of a table's block whose frame, at its end, takes a line more */
#define AHEAD_BYTES (UINT64_C(2) << 20) /* of a walk in order, at most */
#define FIRST_SHARE 32u                 /* of this, at first: 64 KiB, one of the largest blocks */

static sstore_status fail_checksum(const ss_block_reader *reader, uint64_t block, sstore_error *error)
{
    return ss_fail_damaged(
        error, reader->file.path, ss_block_offset(reader, block),
        "block %llu at offset %llu is damaged: its checksum is wrong; restore the file from a copy or "
        "build the store again",
        (unsigned long long)block, (unsigned long long)ss_block_offset(reader, block));
}

sstore_status ss_block_reader_malformed(const ss_block_reader *reader, uint64_t block, const char *reason,
                                        sstore_error *error)
{
    return ss_fail_damaged(error, reader->file.path, ss_block_offset(reader, block),
                           "block %llu at offset %llu is malformed although its checksum is right: %s",
                           (unsigned long long)block, (unsigned long long)ss_block_offset(reader, block), reason);
}

static bool intact(const ss_block_reader *reader, uint64_t block, const uint8_t *bytes)
{
    return ss_block_intact(bytes, reader->header.block_bytes, ss_block_salt(reader->file_key, block));
}

sstore_status ss_block_reader_check(const ss_block_reader *reader, uint64_t block, const uint8_t *bytes,
                                    sstore_error *error)
{
    return intact(reader, block, bytes) ? SSTORE_OK : fail_checksum(reader, block, error);
}

static sstore_status check_header(ss_block_reader *reader, const ss_block_file_facts *facts, sstore_error *error)
{
    uint8_t bytes[SS_HEADER_BYTES];
    ss_u128 checksum;
    sstore_status status = ss_file_read_at(&reader->file, 0, bytes, sizeof bytes, error);
    if (status == SSTORE_OK)
        status = ss_block_header_decode(bytes, reader->file.path, &reader->header, &checksum, error);
    if (status != SSTORE_OK)
        return status;
    const ss_block_header *header = &reader->header;
    reader->file_key = ss_block_file_key(header);
    if (!ss_u128_equal(checksum, facts->header_checksum) || !ss_u128_equal(header->segment_id, facts->segment_id) ||
        header->number != facts->number || header->block_bytes != facts->block_bytes ||
        header->block_count != facts->block_count)
        return ss_fail_damaged(
            error, reader->file.path, 0,
            "the header is not the one that the manifest names: the file belongs to another store or "
            "another place");
    return SSTORE_OK;
}

static sstore_status load(ss_block_reader *reader, sstore_error *error)
{
    uint8_t *bytes = ss_alloc_large(reader->file_bytes);
    if (bytes == NULL)
        return ss_fail_memory(error, reader->file_bytes);
    reader->base = bytes;
    sstore_status status = ss_file_read_at(&reader->file, 0, bytes, reader->file_bytes, error);
    for (uint64_t block = 0; status == SSTORE_OK && block < reader->header.block_count; block++)
        if (!intact(reader, block, bytes + ss_block_offset(reader, block)))
            status = fail_checksum(reader, block, error);
    return status;
}

static sstore_status map(ss_block_reader *reader, sstore_error *error)
{
    reader->checked = ss_alloc(reader->header.block_count / 8 + 1, sizeof *reader->checked);
    if (reader->checked == NULL)
        return ss_fail_memory(error, reader->header.block_count / 8);
    return ss_file_map(&reader->file, reader->file_bytes, &reader->base, error);
}

/* The header was read just now. */
static bool can_try(const ss_block_reader *reader)
{
    uint8_t bytes[SS_HEADER_BYTES];
    return ss_file_try_read(&reader->file, 0, bytes, sizeof bytes);
}

sstore_status ss_block_reader_open(ss_block_reader *reader, const ss_dir *dir, const ss_block_file_facts *facts,
                                   sstore_io io, sstore_error *error)
{
    char name[SS_NAME_CAPACITY];
    uint64_t expected = SS_HEADER_BYTES + facts->block_count * facts->block_bytes;
    *reader = (ss_block_reader){.file = SS_FILE_NONE, .io = io};
    ss_block_file_name(name, facts->number);
    sstore_status status = ss_file_open_at(dir, name, &reader->file, error);
    if (status == SSTORE_OK)
        status = ss_file_size(&reader->file, &reader->file_bytes, error);
    if (status != SSTORE_OK)
        return status;
    if (reader->file_bytes != expected)
        return ss_fail_damaged(error, reader->file.path, ss_min_u64(reader->file_bytes, expected),
                               "the file has %llu bytes instead of %llu", (unsigned long long)reader->file_bytes,
                               (unsigned long long)expected);
    status = check_header(reader, facts, error);
    if (status == SSTORE_OK && io == SSTORE_IO_MEMORY)
        status = load(reader, error);
    else if (status == SSTORE_OK && io == SSTORE_IO_MMAP)
        status = map(reader, error);
    else if (status == SSTORE_OK)
        reader->can_try = can_try(reader);
    if (io != SSTORE_IO_MEMORY)
        ss_file_expect_random(&reader->file); /* a walk in order asks for what comes itself */
    return status;
}

void ss_block_reader_close(ss_block_reader *reader)
{
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
    return reader->checked == NULL || (atomic_load_explicit(&reader->checked[block / 8], memory_order_relaxed) >> block % 8 & 1) != 0;
}

static sstore_status read_block(const ss_block_reader *reader, uint64_t block, uint8_t *buffer, sstore_error *error)
{
    const sstore_status status =
        ss_file_read_at(&reader->file, ss_block_offset(reader, block), buffer, reader->header.block_bytes, error);
    return status == SSTORE_OK ? ss_block_reader_check(reader, block, buffer, error) : status;
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
    /* Two threads may both check a block: no harm. */
    if (was_checked(reader, block))
        return SSTORE_OK;
    const sstore_status status = ss_file_map_read(&reader->file, reader->base, offset, reader->header.block_bytes, error);
    if (status != SSTORE_OK)
        return status;
    if (!intact(reader, block, *bytes_out))
        return fail_checksum(reader, block, error);
    atomic_fetch_or_explicit(&reader->checked[block / 8], (unsigned char)(1u << block % 8), memory_order_relaxed);
    return SSTORE_OK;
}

bool ss_block_reader_ask(const ss_block_reader *reader, uint64_t block, uint8_t *buffer)
{
    uint64_t offset = ss_block_offset(reader, block);
    uint32_t block_bytes = reader->header.block_bytes;
    if (reader->base == NULL) {
        if (reader->can_try && ss_file_try_read(&reader->file, offset, buffer, block_bytes))
            return true;
        ss_file_will_need(&reader->file, offset, block_bytes);
    } else if (was_checked(reader, block)) {
        const uint8_t *bytes = reader->base + offset;
        if (reader->header.number == SS_IDS_NUMBER) {
            __builtin_prefetch(bytes);
        } else {
            for (uint32_t at = 0; at < block_bytes; at += FRAME_BYTES_A_LINE)
                __builtin_prefetch(bytes + block_bytes - (size_t)(at / FRAME_BYTES_A_LINE + 1) * CACHE_LINE);
        }
    } else {
        ss_file_will_need(&reader->file, offset, block_bytes);
    }
    return false;
}

void ss_block_reader_prefetch(const ss_block_reader *reader, uint64_t block, uint32_t at, uint32_t bytes)
{
    if (reader->base == NULL || !was_checked(reader, block))
        return;
    const uint32_t end = ss_min_u32(at + bytes, reader->header.block_bytes);
    for (at &= ~(CACHE_LINE - 1); at < end; at += CACHE_LINE)
        __builtin_prefetch(reader->base + ss_block_offset(reader, block) + at);
}

void ss_block_reader_ahead(const ss_block_reader *reader, uint64_t block, ss_block_walk *walk)
{
    const uint64_t most = AHEAD_BYTES / reader->header.block_bytes;
    if (reader->io == SSTORE_IO_MEMORY || block + walk->step < walk->asked)
        return;
    walk->step = walk->step == 0 ? most / FIRST_SHARE : ss_min_u64(2 * walk->step, most);
    uint64_t from = ss_max_u64(walk->asked, block);
    uint64_t to = ss_min_u64(block + 2 * walk->step, ss_min_u64(walk->end, reader->header.block_count));
    walk->asked = block + 2 * walk->step;
    if (from < to)
        ss_file_will_need(&reader->file, ss_block_offset(reader, from), (to - from) * reader->header.block_bytes);
}

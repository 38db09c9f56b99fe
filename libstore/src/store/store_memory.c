#include "store/store_memory.h"

#include "store/cursor.h"

/* A block file in memory: all of it in the mode memory. In the mode mmap a bit a block says what was checked; the pages are those of
 * the page cache, which the system takes back as it likes. */
static uint64_t block_file_bytes(uint64_t block_count, uint32_t block_bytes, sstore_io io)
{
    switch (io) {
    case SSTORE_IO_MEMORY: return SS_HEADER_BYTES + block_count * block_bytes;
    case SSTORE_IO_MMAP: return block_count / 8 + 1;
    case SSTORE_IO_PREAD:
    case SSTORE_IO_AUTO: break;
    }
    return 0;
}

static uint64_t segment_bytes(const ss_manifest_segment *segment, bool has_ids, sstore_io io)
{
    const uint32_t block_bytes = segment->block_bytes;
    uint64_t bytes = segment->directory_bytes + sizeof(ss_segment);
    for (uint32_t i = 0; i < segment->plan.table_count; i++) {
        uint64_t blocks = segment->tables[i].block_count;
        bytes += sizeof(ss_table) + ss_key_index_bytes(blocks) + block_file_bytes(blocks, block_bytes, io);
    }
    if (has_ids)
        bytes += ss_key_index_bytes(segment->ids.block_count) +
                 block_file_bytes(segment->ids.block_count, block_bytes, io);
    return bytes;
}

uint64_t ss_store_memory_bytes(const ss_manifest *manifest, sstore_io io)
{
    uint64_t bytes = sizeof(sstore) + manifest->segment_count * sizeof *manifest->segments;
    for (uint32_t i = 0; i < manifest->segment_count; i++)
        bytes += segment_bytes(&manifest->segments[i], manifest->has_ids, io);
    return bytes + ss_cursor_bytes(manifest, io);
}

uint64_t ss_store_block_bytes(const ss_manifest *manifest)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < manifest->segment_count; i++) {
        const ss_manifest_segment *segment = &manifest->segments[i];
        uint64_t blocks = segment->ids.block_count;
        for (uint32_t j = 0; j < segment->plan.table_count; j++)
            blocks += segment->tables[j].block_count;
        bytes += blocks * segment->block_bytes;
    }
    return bytes;
}

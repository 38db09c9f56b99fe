/*
 * block_writer.h - writes a block file: blocks, each with its salted checksum, in any order and from any thread, and
 * the header last.
 */
#ifndef SS_BLOCK_WRITER_H
#define SS_BLOCK_WRITER_H

#include "base/file.h"
#include "file/block_header.h"

/* What a block's checksum is mixed with, so that a right block in a wrong place is found: it depends on the file, by
 * ss_block_file_key(), and on the block's number. */
uint64_t ss_block_salt(uint64_t file_key, uint64_t block);

/* Whether the trailer of a block is what its bytes and place ask for. */
bool ss_block_intact(const uint8_t *bytes, uint32_t block_bytes, uint64_t salt);

typedef struct ss_block_writer {
    ss_file file;
    uint64_t file_key;
    ss_block_header header;
} ss_block_writer;

/* Create the file of that number in `dir`; all of *header but its counts of blocks and items must be set. */
sstore_status ss_block_writer_open(ss_block_writer *writer, const ss_dir *dir, const ss_block_header *header,
                                   sstore_error *error);
/* Set the trailers of `count` blocks at `bytes`, which are those from `first_block` on, and write them. Several threads may
 * do so at once. IO. */
sstore_status ss_block_writer_put(const ss_block_writer *writer, uint64_t first_block, uint8_t *bytes, uint32_t count,
                                  sstore_error *error);
/* All blocks are written: write the header and make all durable; *checksum_out is the header's. */
sstore_status ss_block_writer_finish(ss_block_writer *writer, uint64_t block_count, uint64_t item_count,
                                     ss_u128 *checksum_out, sstore_error *error);
/* Close; also after a failure, and of a zeroed writer that was never opened. */
void ss_block_writer_close(ss_block_writer *writer);

#endif

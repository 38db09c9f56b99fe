/*
 * ids_writer.h - writes the id column from pieces that several threads hold, beside table 0 and in the same way
 * (table_writer.h): blocks are claimed in the order of the pieces and written side by side.
 */
#ifndef SS_IDS_WRITER_H
#define SS_IDS_WRITER_H

#include "file/block_writer.h"
#include "file/directory.h"
#include "file/ids.h"
#include "file/manifest.h"

typedef struct ss_ids_writer {
    ss_block_writer file;
    ss_array_writer keys;
    uint32_t block_bytes;
    uint64_t block_count; /* claimed */
    uint64_t count;       /* records so far, with those that are kept */
    uint64_t next_rank;   /* of the first record that is not in a block yet, if it starts one */
    uint32_t kept_count;
    uint64_t *kept;       /* what waits for more */
    uint8_t *kept_starts;
} ss_ids_writer;

/* A thread's piece: ids, and whether each record has another rank than the one before it; and room before them for what
 * was kept. */
typedef struct ss_ids_piece {
    size_t first, count; /* from SS_IDS_MARGIN on, and what was put before it */
    uint64_t *ids;
    uint8_t *starts;
    uint8_t *output;
    uint32_t output_blocks;
    uint64_t first_block, block_count; /* claimed */
    uint64_t first_rank;               /* of the first record, if it starts one */
} ss_ids_piece;

#define SS_IDS_MARGIN ((size_t)SS_IDS_BLOCK_MOST)

sstore_status ss_ids_writer_open(ss_ids_writer *writer, const ss_dir *dir, const ss_manifest_segment *segment,
                                 ss_directory_writer *directory, sstore_error *error);

/* Room for pieces of up to `capacity` records. They go to ids[SS_IDS_MARGIN ...] and starts[SS_IDS_MARGIN ...]. */
sstore_status ss_ids_piece_open(ss_ids_piece *piece, uint32_t block_bytes, size_t capacity, sstore_error *error);
/* Also of a zeroed one. */
void ss_ids_piece_close(ss_ids_piece *piece);

/* Claim blocks for a piece of `count` records; in the order of the pieces. `is_last`: all that is left goes into a last
 * block. */
sstore_status ss_ids_writer_claim(ss_ids_writer *writer, ss_ids_piece *piece, size_t count, bool is_last,
                                  sstore_error *error);

/* Write what was claimed. */
sstore_status ss_ids_piece_write(ss_ids_piece *piece, const ss_ids_writer *writer, sstore_error *error);

sstore_status ss_ids_writer_finish(ss_ids_writer *writer, ss_manifest_file *file_out, sstore_error *error);
/* Also after a failure, and of a zeroed writer. */
void ss_ids_writer_close(ss_ids_writer *writer);

/* The bytes that a piece of `capacity` records takes. */
size_t ss_ids_piece_bytes(size_t capacity);

#endif

/*
 * table_writer.h - writes a table from pieces that several threads hold: each measures its piece, then, in the order
 * of the pieces, claims the blocks that it completes, and writes them while others do the same.
 *
 * A block's place and contents depend on all fingerprints before it, but finding where blocks end takes a small part
 * of the time that writing them takes. So only that is done in order, and the blocks are the same whatever the pieces
 * are. What does not fill a block is kept, and goes before the next piece.
 */
#ifndef SS_TABLE_WRITER_H
#define SS_TABLE_WRITER_H

#include "file/block_writer.h"
#include "file/directory.h"
#include "file/manifest.h"
#include "store/table_counts.h"

typedef struct ss_table_writer {
    ss_block_writer file;
    uint32_t block_bytes;
    ss_code *code;
    ss_array_writer keys, ranks;
    bool is_first;       /* table 0, whose ranks are kept */
    uint64_t block_count; /* claimed */
    uint64_t count;      /* fingerprints so far, with those that are kept */
    uint64_t last;       /* of them */
    uint32_t kept_count;
    uint64_t *kept;      /* what waits for more */
    uint8_t *kept_bits;
} ss_table_writer;

/* A thread's piece: fingerprints, and room before them for what was kept. */
typedef struct ss_table_piece {
    uint32_t margin;    /* that room */
    size_t first, count; /* values[first .. first+count-1] are the piece, from the margin on, and what was put before it */
    uint64_t *values;
    uint8_t *step_bits;
    uint8_t *output;
    uint32_t output_blocks;
    uint64_t first_block, block_count; /* claimed */
} ss_table_piece;

/* Create table `number` of the segment in `dir`. The directory's writer is borrowed. */
sstore_status ss_table_writer_open(ss_table_writer *writer, const ss_dir *dir, const ss_manifest_segment *segment,
                                   uint32_t number, const ss_table_facts *facts, ss_directory_writer *directory,
                                   sstore_error *error);

/* Room for pieces of up to `capacity` fingerprints. Its values go to values[margin ...]. */
sstore_status ss_table_piece_open(ss_table_piece *piece, uint32_t block_bytes, size_t capacity, sstore_error *error);
/* Also of a zeroed one. */
void ss_table_piece_close(ss_table_piece *piece);

/* `count` fingerprints are there, ascending and distinct: see what they take. */
void ss_table_piece_measure(ss_table_piece *piece, const ss_table_writer *writer, size_t count);

/* Claim blocks for the piece; in the order of the pieces. `is_last`: all that is left goes into a last block. Its first
 * fingerprint may be the last of the piece before: then it counts once. */
sstore_status ss_table_writer_claim(ss_table_writer *writer, ss_table_piece *piece, bool is_last, sstore_error *error);

/* Write what was claimed. */
sstore_status ss_table_piece_write(ss_table_piece *piece, const ss_table_writer *writer, sstore_error *error);

sstore_status ss_table_writer_finish(ss_table_writer *writer, ss_manifest_file *file_out, sstore_error *error);
/* Also after a failure, and of a zeroed writer. */
void ss_table_writer_close(ss_table_writer *writer);

/* The bytes that a piece of `capacity` fingerprints takes. */
size_t ss_table_piece_bytes(uint32_t block_bytes, size_t capacity);

#endif

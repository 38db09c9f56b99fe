/*
 * column_writer.h - writes a block file, a table or the id column, from pieces that several threads hold. Each thread
 * measures its piece, reserves the blocks that it completes, and encodes and writes them while the others do the same.
 *
 * A block's place and contents depend on all items before it, but finding the ends of blocks takes little time compared
 * to encoding them. So only the reservation follows the order of the pieces, and the blocks do not depend on how the
 * items are cut into pieces. Items that do not fill a block are carried into the next piece.
 */
#ifndef SS_COLUMN_WRITER_H
#define SS_COLUMN_WRITER_H

#include "codec/huffman.h"
#include "store/block_file.h"
#include "store/directory.h"
#include "store/manifest.h"

/*
 * An item is a 64-bit value with a byte beside it, its mark:
 *   in a table        a fingerprint, and the bits that the step to it takes (ss_step_bits())
 *   in the id column  an id, and whether its record has another rank than the one before it
 */
typedef struct ss_column_writer {
    ss_block_writer file;
    uint32_t number, block_bytes;
    ss_code *code; /* NULL: the id column */
    ss_array_writer keys, ranks;
    uint64_t block_count; /* reserved */
    uint64_t count;       /* items so far, with those that are carried */
    uint64_t last;        /* the last fingerprint of them */
    uint64_t next_rank;   /* of the first record that is not in a block yet, if it starts one */
    uint32_t carried_count;
    uint64_t *carried;
    uint8_t *carried_marks;
} ss_column_writer;

/* A thread's piece: items, and space before them for carried ones. */
typedef struct ss_column_piece {
    uint32_t margin;     /* that space; the piece begins at items[margin] and marks[margin] */
    size_t first, count; /* items[first .. first + count - 1] are the piece and what was carried into it */
    uint64_t *items;
    uint8_t *marks;
    uint8_t *output;                   /* encoded blocks */
    uint64_t first_block, block_count; /* reserved */
    uint64_t first_rank;               /* of the first record, if it starts one */
} ss_column_piece;

/* Create table `number` of the segment in `dir`, or, with SS_IDS_NUMBER and without counts, its id column. The
 * directory's writer is borrowed. IO, MEMORY. */
sstore_status ss_column_writer_open(ss_column_writer *writer, const ss_dir *dir, const ss_manifest_segment *segment,
                                    uint32_t number, const ss_table_totals *metadata, ss_directory_writer *directory,
                                    sstore_error *error);

/* The bytes that a piece of `capacity` items takes. */
size_t ss_column_piece_bytes(bool of_ids, uint32_t block_bytes, size_t capacity);

/* Allocate a piece of up to `capacity` items. MEMORY. */
sstore_status ss_column_piece_open(ss_column_piece *piece, bool of_ids, uint32_t block_bytes, size_t capacity,
                                   sstore_error *error);
/* A zeroed one is allowed. */
void ss_column_piece_close(ss_column_piece *piece);

/* Set the marks of the piece's `count` fingerprints, which ascend strictly. Only for tables. */
void ss_column_piece_measure(ss_column_piece *piece, const ss_column_writer *writer, size_t count);

/* Reserve blocks for a piece of `count` items, in the order of the pieces. `is_last`: the remaining items form a last
 * block. If a piece begins with the last fingerprint of the piece before, this counts once. MEMORY, IO. */
sstore_status ss_column_writer_reserve(ss_column_writer *writer, ss_column_piece *piece, size_t count, bool is_last,
                                       sstore_error *error);

/* Encode and write the reserved blocks. IO. */
sstore_status ss_column_piece_write(ss_column_piece *piece, const ss_column_writer *writer, sstore_error *error);

sstore_status ss_column_writer_finish(ss_column_writer *writer, ss_manifest_file *file_out, sstore_error *error);
/* Allowed after a failure, and for a zeroed writer. */
void ss_column_writer_close(ss_column_writer *writer);

#endif

/*
 * column_writer.h - writes a block file of a segment, a column of sorted items. A thread has a piece of the items: it
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

/* Beside each item stands a byte, its mark. */
typedef enum ss_column_kind {
    SS_COLUMN_CODED, /* fingerprints of one word, each marked with the bits of the step to it: ss_step_bits() */
    SS_COLUMN_WHOLE, /* fingerprints of several words; their marks have no meaning */
    SS_COLUMN_IDS    /* ids, each marked with whether its record has another rank than the one before */
} ss_column_kind;

typedef struct ss_column_form {
    ss_column_kind kind;
    uint32_t words; /* of an item */
    uint32_t block_bytes;
} ss_column_form;

/* The form of a table whose fingerprints have this many words. */
static inline ss_column_form ss_table_form(uint32_t words, uint32_t block_bytes)
{
    return (ss_column_form){words > 1 ? SS_COLUMN_WHOLE : SS_COLUMN_CODED, words, block_bytes};
}

static inline ss_column_form ss_ids_form(uint32_t block_bytes)
{
    return (ss_column_form){SS_COLUMN_IDS, 1, block_bytes};
}

typedef struct ss_column_writer {
    ss_column_form form;
    ss_block_writer file;
    uint32_t number;
    ss_code *code; /* of a coded column; else NULL */
    ss_array_writer keys, ranks;
    uint64_t block_count;            /* reserved */
    uint64_t count;                  /* items so far, with those that are carried */
    uint64_t last[SSTORE_MAX_WORDS]; /* the last fingerprint of them */
    uint64_t next_rank;              /* of the first record that is not in a block yet, if it starts one */
    uint32_t carried_count;
    uint64_t *carried;
    uint8_t *carried_marks;
} ss_column_writer;

/* A thread's piece: items, and space before them for carried ones. */
typedef struct ss_column_piece {
    uint32_t words;      /* of an item */
    uint32_t margin;     /* that space, in items: the piece begins at items[margin * words] and marks[margin] */
    size_t first, count; /* the items from `first` on, of the piece and of what was carried into it */
    bool repeats;        /* the piece began with the last fingerprint of the piece before */
    uint64_t *items;
    uint8_t *marks;
    uint8_t *output;                   /* encoded blocks */
    uint64_t first_block, block_count; /* reserved */
    uint64_t first_rank;               /* of the first record, if it starts one */
} ss_column_piece;

/* Create table `number` of the segment in `dir`, or, with SS_IDS_NUMBER, its id column. The code of a coded table
 * follows from `totals`, which others do not need. The directory's writer is borrowed. IO, MEMORY. */
sstore_status ss_column_writer_open(ss_column_writer *writer, const ss_dir *dir, const ss_manifest_segment *segment,
                                    uint32_t number, const ss_table_totals *totals, ss_directory_writer *directory,
                                    sstore_error *error);

/* The bytes that a piece of `capacity` items takes. */
uint64_t ss_column_piece_bytes(ss_column_form form, size_t capacity);

/* Allocate a piece of up to `capacity` items. MEMORY. */
sstore_status ss_column_piece_open(ss_column_piece *piece, ss_column_form form, size_t capacity, sstore_error *error);
/* A zeroed one is allowed. */
void ss_column_piece_close(ss_column_piece *piece);

/* Where the items of a piece go. */
static inline uint64_t *ss_column_piece_items(const ss_column_piece *piece)
{
    return piece->items + (size_t)piece->margin * piece->words;
}

/* Where their marks go. */
static inline uint8_t *ss_column_piece_marks(const ss_column_piece *piece)
{
    return piece->marks + piece->margin;
}

/* Set the marks of `count` fingerprints, which ascend strictly. Not for ids. */
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

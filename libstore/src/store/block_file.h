/* block_file.h - the files of a store: their names, and block files, which are read and written block by block. */
#ifndef SS_BLOCK_FILE_H
#define SS_BLOCK_FILE_H

#include <stdatomic.h>

#include "base/bytes.h"
#include "base/common.h"
#include "base/file.h"
#include "codec/block.h"

/* ===== names and numbers ===== */

/*
 * Names and numbers of the files on disk that more than one module needs. The contract is
 * format-spec/sstore-format.md; where the two differ, one of them is wrong.
 */

#define SS_FORMAT_VERSION 2u
/* What a segment names as its writer: sstore, of this version. */
#define SS_WRITER_SSTORE 1u
#define SS_WRITER (SS_WRITER_SSTORE << 24 | SSTORE_VERSION_MAJOR << 16 | SSTORE_VERSION_MINOR << 8 | SSTORE_VERSION_PATCH)

#define SS_MANIFEST_NAME "MANIFEST"
#define SS_MANIFEST_NEW_NAME "MANIFEST.new"
#define SS_DIRECTORY_NAME "directory.mdb"
#define SS_IDS_NAME "ids.blk"
#define SS_SEGMENT_PREFIX "seg-"
#define SS_UNFINISHED_PREFIX "tmp-"
#define SS_RUN_PREFIX "sstore-run-" /* of spilled records where a file system has no nameless files */
#define SS_NAME_CAPACITY 32u /* of the names above, with digits */

#define SS_HEADER_BYTES 4096u         /* of a block file: the blocks begin on a page */
#define SS_IDS_NUMBER UINT32_C(0xffffffff) /* the id column's number among the block files */
#define SS_MAX_BLOCK_COUNT (UINT64_C(1) << 40)
#define SS_MAX_RECIPE_BYTES 4096u

/* The name of the folder of a segment, or the unfinished one, by number. */
void ss_folder_name(char name[SS_NAME_CAPACITY], const char *prefix, uint64_t number);

/* The name of a block file: a table's by number, or the id column's. */
void ss_block_file_name(char name[SS_NAME_CAPACITY], uint32_t number);

/* ===== header ===== */

/*
 * The first 4096 bytes of a block file (a table or the id column). Layout:
 * format-spec/sstore-format.md.
 */

typedef struct ss_block_header {
    ss_u128 segment_id;
    uint32_t number;           /* of the table, or SS_IDS_NUMBER */
    uint32_t table_count;      /* of the segment; this, the distance and the radius let a lost manifest be made again */
    uint32_t distance;
    uint32_t radius;           /* 0 in the id column */
    uint32_t block_bytes;
    uint64_t block_count;
    uint64_t item_count;       /* fingerprints, or records in the id column */
    uint64_t key_mask;         /* 0 in the id column */
    uint8_t code_lengths[SS_SYMBOL_COUNT];
    uint64_t h_counts[SS_FINGERPRINT_BITS];       /* of all neighbours in the table, also across blocks: by the first
                                                     difference of all 64 bits */
    uint64_t gap_bit_counts[SS_FINGERPRINT_BITS]; /* how many gaps between neighbours have a 1 at each bit */
} ss_block_header;

/* What the salts of the file's blocks are made from: it stands for the segment, the file's number and the code. */
uint64_t ss_block_file_key(const ss_block_header *header);

/* Write the header with its checksum, which is also returned. */
ss_u128 ss_block_header_encode(const ss_block_header *header, uint8_t bytes[SS_HEADER_BYTES]);

/* Read and check a header: checksum, version, ranges, a valid code. `file` is for errors. DAMAGED, UNSUPPORTED. */
sstore_status ss_block_header_decode(const uint8_t bytes[SS_HEADER_BYTES], const char *file, ss_block_header *header_out,
                                     ss_u128 *checksum_out, sstore_error *error);

/* ===== reader ===== */

/*
 * Reads the blocks of a block file, in any of the three ways of sstore_io, every byte checked against
 * the block's checksum before anything else looks at it.
 *
 * A reader is immutable but for the flags that remember which blocks of a map were checked; any number of threads may
 * read at once.
 */

typedef struct ss_block_reader {
    ss_file file;
    ss_block_header header;
    uint64_t file_key;
    sstore_io io;
    const uint8_t *base; /* of the map or the loaded file, header included; NULL in pread mode */
    uint64_t file_bytes;
    atomic_uchar *checked; /* a bit a block, in mmap mode */
    bool can_try;          /* in pread mode: the file system reads without waiting what it has in memory */
} ss_block_reader;

/* What the manifest says of a block file. */
typedef struct ss_block_file_metadata {
    ss_u128 segment_id;
    uint32_t number;
    uint32_t block_bytes;
    uint64_t block_count;
    ss_u128 header_checksum;
} ss_block_file_metadata;

/* Open a block file and hold it against the facts: its exact size and its header. In memory mode all blocks are read and
 * checked. DAMAGED, UNSUPPORTED, IO, MEMORY, NOT_FOUND. */
sstore_status ss_block_reader_open(ss_block_reader *reader, const ss_dir *dir, const ss_block_file_metadata *metadata,
                                   sstore_io io, sstore_error *error);
/* Also of a zeroed reader that was never opened. */
void ss_block_reader_close(ss_block_reader *reader);

/* Get block `block` (below block_count), checked. *bytes_out is `buffer` (block_bytes long) or memory of the reader. */
sstore_status ss_block_reader_get(const ss_block_reader *reader, uint64_t block, uint8_t *buffer,
                                  const uint8_t **bytes_out, sstore_error *error);

/* The same in a walk over many blocks, each of which is needed once: of a map, none stays resident for that. */
sstore_status ss_block_reader_get_once(const ss_block_reader *reader, uint64_t block, uint8_t *buffer,
                                       const uint8_t **bytes_out, sstore_error *error);

/*
 * Ask for a block that will be got soon. In pread mode, if the page cache has it, it is read into `buffer` at once:
 * that is true, and only ss_block_reader_check is left to do. Otherwise it is on its way to the cache or the page
 * cache when this returns. So blocks that are asked for one after the other, and got after that, are read side by
 * side.
 */
bool ss_block_reader_ask(const ss_block_reader *reader, uint64_t block, uint8_t *buffer);

/* Bring `bytes` bytes of a block, from byte `at` on, into the cache, if it is in memory and was checked. */
void ss_block_reader_prefetch(const ss_block_reader *reader, uint64_t block, uint32_t at, uint32_t bytes);

/* Hold a block against its checksum. */
sstore_status ss_block_reader_check(const ss_block_reader *reader, uint64_t block, const uint8_t *bytes,
                                    sstore_error *error);

/* A walk over blocks in order. */
typedef struct ss_read_ahead {
    uint64_t asked, end; /* blocks below `asked` were asked for; the walk ends before `end` */
    uint64_t step;       /* how many were asked for at once: more and more, since walks may end early */
} ss_read_ahead;

/* A walk begins with block `first`. */
static inline ss_read_ahead ss_read_ahead_from(uint64_t first, uint64_t end)
{
    return (ss_read_ahead){.asked = first, .end = end};
}

/* Tell of each block of a walk before getting it; it has what comes next read meanwhile. */
void ss_block_reader_ahead(const ss_block_reader *reader, uint64_t block, ss_read_ahead *ahead);

/* Where a block begins in the file, for errors. */
static inline uint64_t ss_block_offset(const ss_block_reader *reader, uint64_t block)
{
    return SS_HEADER_BYTES + block * reader->header.block_bytes;
}

/* Bring the end of a block, which is read first, into the cache, if the file is in memory. */
static inline void ss_block_reader_touch(const ss_block_reader *reader, uint64_t block)
{
    if (reader->base != NULL)
        __builtin_prefetch(reader->base + ss_block_offset(reader, block + 1) - 1);
}

/* Report a block whose checksum is right and whose contents are not. */
sstore_status ss_block_reader_malformed(const ss_block_reader *reader, uint64_t block, const char *reason,
                                        sstore_error *error);

/* ===== slot ===== */

/* A place for one block, which can be asked for some time before it is needed. */

typedef struct ss_block_slot {
    const ss_block_reader *reader; /* NULL: nothing was asked for */
    uint64_t number;
    const uint8_t *bytes; /* once it was waited for: the block, checked, in `buffer` or in memory of the reader */
    uint8_t *buffer;      /* of a block's size, borrowed; may be NULL where the reader does not read into buffers */
    bool at_hand;         /* asked for, and the buffer holds it already, unchecked */
    ss_steps *steps;      /* of which each block that is waited for takes one; NULL: any number may be */
} ss_block_slot;

/* Whether this is the block that was asked for. */
static inline bool ss_block_slot_is(const ss_block_slot *slot, const ss_block_reader *reader, uint64_t number)
{
    return slot->reader == reader && slot->number == number;
}

/* Ask for a block, without waiting for it. Costs nothing if it is the one that was asked for last. */
void ss_block_slot_ask(ss_block_slot *slot, const ss_block_reader *reader, uint64_t number);

/* Wait for the block that was asked for. IO, DAMAGED, also where no step is left; then nothing is asked for any more. */
sstore_status ss_block_slot_wait(ss_block_slot *slot, sstore_error *error);

/* Report that a call has no step left. */
sstore_status ss_fail_steps(const ss_block_reader *reader, sstore_error *error);

/* ===== writer ===== */

/*
 * Writes a block file: blocks, each with its salted checksum, in any order and from any thread, and
 * the header last.
 */

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

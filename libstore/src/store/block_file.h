/*
 * block_file.h - the names of a store's files; block files (tables and the id column), their headers, and the reading
 * and writing of single blocks. A block's checksum is checked before anything else reads the block. Layout:
 * format-spec/sstore-format.md.
 */
#ifndef SS_BLOCK_FILE_H
#define SS_BLOCK_FILE_H

#include <stdatomic.h>

#include "base/bytes.h"
#include "base/common.h"
#include "base/file.h"
#include "codec/block.h"
#include "codec/fragments.h"

/* ===== names and numbers ===== */

#define SS_FORMAT_VERSION 2u
/* The writer that a segment names: sstore, of this version. */
#define SS_WRITER_SSTORE 1u
#define SS_WRITER                                                                                                      \
    (SS_WRITER_SSTORE << 24 | SSTORE_VERSION_MAJOR << 16 | SSTORE_VERSION_MINOR << 8 | SSTORE_VERSION_PATCH)

#define SS_MANIFEST_NAME "MANIFEST"
#define SS_MANIFEST_NEW_NAME "MANIFEST.new"
#define SS_DIRECTORY_NAME "directory.mdb"
#define SS_IDS_NAME "ids.blk"
#define SS_NAMES_NAME "names.blk"
#define SS_SEGMENT_PREFIX "seg-"
#define SS_UNFINISHED_PREFIX "tmp-"
#define SS_WORD_INDEX_PREFIX "word-"
#define SS_ID_INDEX_NAME "id-index"
#define SS_NAMES_FOLDER_NAME "names"
#define SS_NAME_CAPACITY 32u /* of the names above, with digits */

#define SS_HEADER_BYTES 4096u                /* of a block file; so blocks begin at a page boundary */
#define SS_IDS_NUMBER UINT32_C(0xffffffff)   /* the id column's number among the block files */
#define SS_NAMES_NUMBER UINT32_C(0xfffffffe) /* that of a column of names */
#define SS_MAX_BLOCK_COUNT (UINT64_C(1) << 40)
#define SS_MAX_RECIPE_BYTES 4096u

/* The name of a segment's folder, finished or unfinished by its prefix. */
void ss_folder_name(char name[SS_NAME_CAPACITY], const char *prefix, uint64_t number);

/* The name of a word index's folder, in that of its segment. */
void ss_word_index_folder_name(char name[SS_NAME_CAPACITY], uint32_t word);

/* The name of a block file: of table `number`, or of a column (SS_IDS_NUMBER, SS_NAMES_NUMBER). */
void ss_block_file_name(char name[SS_NAME_CAPACITY], uint32_t number);

/* ===== header: the first 4096 bytes of a block file ===== */

typedef struct ss_block_header {
    ss_u128 segment_id;
    uint32_t number;      /* of the table, or of the column */
    uint32_t words;       /* of a fingerprint. If there are several, they are in the column of table 0 entirely */
    uint32_t table_count; /* of the segment; with distance and radius, enough to rebuild a lost manifest */
    uint32_t distance;
    uint32_t radius; /* 0 in the id column */
    uint32_t block_bytes;
    uint64_t block_count;
    uint64_t item_count;                   /* fingerprints, or records in the id column, or names */
    uint64_t key_mask;                     /* 0 in the id column */
    uint8_t code_lengths[SS_SYMBOL_COUNT]; /* of a column of names: the hash of its fragments, then zeros */
    /* Of all neighbours in the table, also across blocks: how many first differ at each bit, and in how many the
     * difference of the two numbers has a 1 at each bit. */
    uint64_t h_counts[SS_FINGERPRINT_BITS];
    uint64_t gap_bit_counts[SS_FINGERPRINT_BITS];
    const uint8_t *fragments; /* of a column of names that is written, as they are stored; else NULL */
} ss_block_header;

/* The width of the column in the blocks of tables whose fingerprints have this many words. */
static inline uint32_t ss_column_bits(uint32_t words)
{
    return words == 1 ? SS_COLUMN_BITS : SS_WORD_BITS * words;
}

/* A hash of the segment, the file's number and the code, from which the salts of the file's blocks are made. */
uint64_t ss_block_file_key(const ss_block_header *header);

/* Encode the header with its checksum, which is also returned. */
ss_u128 ss_block_header_encode(const ss_block_header *header, uint8_t bytes[SS_HEADER_BYTES]);

/* Set the fragments, as they are stored, of a column of names. They are borrowed until the header is encoded. */
void ss_block_header_set_fragments(ss_block_header *header, const uint8_t fragments[SS_FRAGMENTS_STORED_BYTES]);

/* Decode a header, and check its checksum, version, ranges and code. `file` is for errors. DAMAGED, UNSUPPORTED. */
sstore_status ss_block_header_decode(const uint8_t bytes[SS_HEADER_BYTES], const char *file, ss_block_header *header,
                                     ss_u128 *checksum_out, sstore_error *error);

/* ===== reader ===== */

/* Reads blocks in any mode of sstore_io. Any number of threads may use it: only the flags of checked blocks change. */
typedef struct ss_block_reader {
    ss_file file;
    ss_block_header header;
    uint64_t file_key;
    sstore_io io;              /* not AUTO; MEMORY also if ss_block_file_is_copied() */
    const uint8_t *base;       /* of the map or the loaded file, header included; NULL in pread mode */
    const uint8_t *closed_map; /* of a file in pread mode that is closed: ss_block_reader_close_file(); else NULL */
    uint64_t file_bytes;
    atomic_uchar *checked; /* a bit for each block, if it was opened in mmap mode */
    bool can_try;          /* in pread mode: the file system can read cached blocks without waiting */
} ss_block_reader;

/* What the manifest says about a block file. */
typedef struct ss_block_file_metadata {
    ss_u128 segment_id;
    uint32_t number;
    uint32_t words;
    uint32_t block_bytes;
    uint64_t block_count;
    ss_u128 header_checksum;
} ss_block_file_metadata;

/* Whether a file of this size is read into memory in mmap mode, which takes less time than mapping it. */
static inline bool ss_block_file_is_copied(uint64_t bytes, sstore_io io)
{
    return io == SSTORE_IO_MMAP && bytes <= 4 * SS_HEADER_BYTES;
}

/* Open a block file, and check its size and header against the metadata. In memory mode all blocks are read and
 * checked. DAMAGED, UNSUPPORTED, IO, MEMORY, NOT_FOUND. */
sstore_status ss_block_reader_open(ss_block_reader *reader, const ss_dir *dir, const ss_block_file_metadata *metadata,
                                   sstore_io io, sstore_error *error);
/* Get the fragments of a column of names, which are in its header. DAMAGED, IO. */
sstore_status ss_block_reader_fragments(const ss_block_reader *reader, ss_fragments *fragments_out,
                                        sstore_error *error);
/* Close the file in pread mode, if it is small and the system can copy blocks of a map safely: then it does that. */
void ss_block_reader_close_file(ss_block_reader *reader);
/* A zeroed reader is allowed. */
void ss_block_reader_close(ss_block_reader *reader);

/* Get block `block` (below block_count), checked. *bytes_out is `buffer` (of block_bytes) or memory of the reader. */
sstore_status ss_block_reader_get(const ss_block_reader *reader, uint64_t block, uint8_t *buffer,
                                  const uint8_t **bytes_out, sstore_error *error);

/* Get a block that is needed only once: it does not become resident if the file is mapped. */
sstore_status ss_block_reader_get_once(const ss_block_reader *reader, uint64_t block, uint8_t *buffer,
                                       const uint8_t **bytes_out, sstore_error *error);

/* Start reading a block that is needed soon, so that several blocks are read in parallel. True if it is now in
 * `buffer`, unchecked: in pread mode, if the page cache had it. */
bool ss_block_reader_prefetch(const ss_block_reader *reader, uint64_t block, uint8_t *buffer);

/* Prefetch `bytes` bytes of a block, from byte `at` on, into the processor's cache, if the block is in memory and was
 * checked. */
void ss_block_reader_prefetch_bytes(const ss_block_reader *reader, uint64_t block, uint32_t at, uint32_t bytes);

/* Read-ahead of blocks that are read in order. */
typedef struct ss_read_ahead {
    uint64_t prefetched, end; /* blocks below `prefetched` were prefetched; the last one is end - 1 */
    uint64_t step;            /* how many are prefetched at once: few at first, since reading may end early */
} ss_read_ahead;

/* Reading begins with block `first`, and ends before `end` or at the file's end. */
static inline ss_read_ahead ss_read_ahead_from(uint64_t first, uint64_t end)
{
    return (ss_read_ahead){.prefetched = first, .end = end};
}

/* Call before getting each block: starts reading the next ones. */
void ss_block_reader_ahead(const ss_block_reader *reader, uint64_t block, ss_read_ahead *ahead);

/* Where a block begins in the file, for errors. */
static inline uint64_t ss_block_offset(const ss_block_reader *reader, uint64_t block)
{
    return SS_HEADER_BYTES + block * reader->header.block_bytes;
}

/* Prefetch the end of a block, which is read first, into the processor's cache, if the file is in memory. */
static inline void ss_block_reader_prefetch_end(const ss_block_reader *reader, uint64_t block)
{
    if (reader->base != NULL)
        __builtin_prefetch(reader->base + ss_block_offset(reader, block + 1) - 1);
}

/* Report a block with a correct checksum but malformed contents. */
sstore_status ss_block_reader_malformed(const ss_block_reader *reader, uint64_t block, const char *reason,
                                        sstore_error *error);

/* ===== slot: a buffer for a block that is prefetched before it is needed ===== */

typedef struct ss_block_slot {
    const ss_block_reader *reader; /* NULL: nothing was prefetched */
    uint64_t number;
    const uint8_t *bytes; /* after waiting: the block, checked, in `buffer` or in memory of the reader */
    uint8_t *buffer;      /* of a block's size, borrowed; may be NULL unless in pread mode */
    bool is_loaded;       /* the buffer already has it, unchecked */
    ss_steps *steps;      /* each wait for another block takes one; NULL: no limit */
} ss_block_slot;

/* Whether this block was prefetched last. */
static inline bool ss_block_slot_is(const ss_block_slot *slot, const ss_block_reader *reader, uint64_t number)
{
    return slot->reader == reader && slot->number == number;
}

/* Prefetch a block without waiting. Does nothing if it was prefetched last. */
void ss_block_slot_prefetch(ss_block_slot *slot, const ss_block_reader *reader, uint64_t number);

/* Wait for the block that was prefetched. IO; DAMAGED, also if no step is left. After a failure prefetch it again. */
sstore_status ss_block_slot_wait(ss_block_slot *slot, sstore_error *error);

/* Report that a call has no steps left. */
sstore_status ss_fail_steps(const ss_block_reader *reader, sstore_error *error);

/* ===== writer ===== */

/* The number that a block's checksum is combined with. It depends on the file (ss_block_file_key()) and the block's
 * number, so that a block in a wrong place is detected. */
uint64_t ss_block_salt(uint64_t file_key, uint64_t block);

typedef struct ss_block_writer {
    ss_file file;
    uint64_t file_key;
    ss_block_header header;
} ss_block_writer;

/* Create the file of header->number in `dir`. The header's counts of blocks and items may still be unset. */
sstore_status ss_block_writer_open(ss_block_writer *writer, const ss_dir *dir, const ss_block_header *header,
                                   sstore_error *error);
/* Set the trailers of `count` blocks at `bytes`, from block `first_block` on, and write them. In any order and from any
 * thread. IO. */
sstore_status ss_block_writer_put(const ss_block_writer *writer, uint64_t first_block, uint8_t *bytes, uint32_t count,
                                  sstore_error *error);
/* Write the header after all blocks, and make the file durable. *checksum_out is the header's. */
sstore_status ss_block_writer_finish(ss_block_writer *writer, uint64_t block_count, uint64_t item_count,
                                     ss_u128 *checksum_out, sstore_error *error);
/* Allowed after a failure, and for a zeroed writer. */
void ss_block_writer_close(ss_block_writer *writer);

#endif

/*
 * block_reader.h - reads the blocks of a block file, in any of the three ways of sstore_io, every byte checked against
 * the block's checksum before anything else looks at it.
 *
 * A reader is immutable but for the flags that remember which blocks of a map were checked; any number of threads may
 * read at once.
 */
#ifndef SS_BLOCK_READER_H
#define SS_BLOCK_READER_H

#include <stdatomic.h>

#include "base/file.h"
#include "file/block_header.h"

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
typedef struct ss_block_file_facts {
    ss_u128 segment_id;
    uint32_t number;
    uint32_t block_bytes;
    uint64_t block_count;
    ss_u128 header_checksum;
} ss_block_file_facts;

/* Open a block file and hold it against the facts: its exact size and its header. In memory mode all blocks are read and
 * checked. DAMAGED, UNSUPPORTED, IO, MEMORY, NOT_FOUND. */
sstore_status ss_block_reader_open(ss_block_reader *reader, const ss_dir *dir, const ss_block_file_facts *facts,
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
typedef struct ss_block_walk {
    uint64_t asked, end; /* blocks below `asked` were asked for; the walk ends before `end` */
    uint64_t step;       /* how many were asked for at once: more and more, since walks may end early */
} ss_block_walk;

/* A walk begins with block `first`. */
static inline ss_block_walk ss_block_walk_from(uint64_t first, uint64_t end)
{
    return (ss_block_walk){.asked = first, .end = end};
}

/* Tell of each block of a walk before getting it; it has what comes next read meanwhile. */
void ss_block_reader_ahead(const ss_block_reader *reader, uint64_t block, ss_block_walk *walk);

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

#endif

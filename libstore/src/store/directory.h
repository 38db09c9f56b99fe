/*
 * directory.h - all block keys of all block files of a segment. A build writes them into an LMDB file; everything else
 * reads a checked copy in memory. Only this module uses LMDB.
 *
 * LMDB does not detect damage and may crash on it, so it reads only checked bytes: the file is hashed while it is
 * copied into a sealed memfd, and LMDB opens that. An entry is an array of at most SS_CHUNK_KEYS u64, which is used in
 * place. Layout: format-spec/sstore-format.md, "Directory".
 */
#ifndef SS_DIRECTORY_H
#define SS_DIRECTORY_H

#include "base/file.h"
#include "store/block_file.h"

#define SS_CHUNK_KEYS ((size_t)1 << 16) /* half a MiB: LMDB holds a value in the heap until its transaction ends */

typedef enum ss_array_kind {
    SS_ARRAY_KEYS = 1, /* of a block file: each block's last fingerprint (permuted), or last rank in the id column */
    SS_ARRAY_RANKS = 2 /* of table 0: each block's first rank */
} ss_array_kind;

/* The file format of this LMDB on this machine. The manifest records it, since LMDB files are not portable. */
uint32_t ss_directory_lmdb_format(void);

/* Check that a directory has this format; `path` is for the error. UNSUPPORTED. */
sstore_status ss_directory_check_format(uint32_t lmdb_format, const char *path, sstore_error *error);

/* Advice for messages about a directory that cannot be used. */
#define SS_DIRECTORY_ADVICE "sstore_reindex() rebuilds the directory from the block files"

/* ----- writing ----- */

typedef struct ss_directory_writer ss_directory_writer;

/* Create the directory file in `dir`, for at most `max_bytes` of arrays. Several threads may put arrays. */
sstore_status ss_directory_writer_open(const ss_dir *dir, uint64_t max_bytes, ss_directory_writer **writer_out,
                                       sstore_error *error);
/* Write piece `chunk` of an array; all pieces but the last have SS_CHUNK_KEYS values. */
sstore_status ss_directory_writer_put(ss_directory_writer *writer, ss_array_kind kind, uint32_t number, uint32_t chunk,
                                      const uint64_t *values, size_t count, sstore_error *error);
/* Make the file durable, and get its size and XXH3-128. */
sstore_status ss_directory_writer_finish(ss_directory_writer *writer, uint64_t *bytes_out, ss_u128 *checksum_out,
                                         sstore_error *error);
void ss_directory_writer_close(ss_directory_writer *writer);

/* Collects the values of an array, and puts them into the directory piece by piece. */
typedef struct ss_array_writer {
    ss_directory_writer *writer;
    ss_array_kind kind;
    uint32_t number, chunk;
    size_t count, capacity;
    uint64_t *values;
} ss_array_writer;

void ss_array_writer_init(ss_array_writer *array, ss_directory_writer *writer, ss_array_kind kind, uint32_t number);
sstore_status ss_array_writer_add(ss_array_writer *array, uint64_t value, sstore_error *error);
sstore_status ss_array_writer_finish(ss_array_writer *array, sstore_error *error);
void ss_array_writer_free(ss_array_writer *array);

/* ----- reading ----- */

typedef struct ss_directory ss_directory;

/* Load the directory of this format, size and checksum in `dir`. DAMAGED, IO, MEMORY, NOT_FOUND, UNSUPPORTED. */
sstore_status ss_directory_open(const ss_dir *dir, uint32_t lmdb_format, uint64_t bytes, ss_u128 checksum,
                                ss_directory **directory_out, sstore_error *error);
void ss_directory_close(ss_directory *directory);

/* All arrays were found: close the file of a small directory, whose arrays are copies. */
void ss_directory_release(ss_directory *directory);

/* Whether an error means that the file must be rebuilt: it is lost, damaged, another LMDB's, or unreadable (EIO). */
bool ss_directory_is_lost(const sstore_error *error);

/* An array in the directory; valid while the directory is open. */
typedef struct ss_array {
    uint64_t count;
    const uint8_t **chunks; /* little-endian, unaligned */
    uint8_t *copy;          /* of a small directory; NULL: the chunks are the directory's */
} ss_array;

/* Find an array, which must have `count` values. Free it also after a failure. DAMAGED, MEMORY. */
sstore_status ss_directory_get(const ss_directory *directory, ss_array_kind kind, uint32_t number, uint64_t count,
                               ss_array *array_out, sstore_error *error);
void ss_array_free(ss_array *array);

/* Prefetch the value for ss_array_at(). */
static inline void ss_array_prefetch(const ss_array *array, uint64_t index)
{
    __builtin_prefetch(array->chunks[index / SS_CHUNK_KEYS] + 8 * (index % SS_CHUNK_KEYS));
}

static inline uint64_t ss_array_at(const ss_array *array, uint64_t index)
{
    return ss_load_le64(array->chunks[index / SS_CHUNK_KEYS] + 8 * (index % SS_CHUNK_KEYS));
}

/* Whether the values ascend; if not `strictly`, consecutive ones may be equal. */
bool ss_array_ascends(const ss_array *array, bool strictly);

/* ----- lmdb_check.c ----- */

/* Check that lookups in the unnamed database of a file of LMDB 0.9, written by a host like this one, stay inside the
 * file. Takes time proportional to the tree's pages. DAMAGED, with the page's offset; `path` is for the message. */
sstore_status ss_lmdb_check(const uint8_t *bytes, uint64_t size, const char *path, sstore_error *error);

#endif

/*
 * directory.h - all block keys of all block files of a segment: written into an LMDB file by a build, and read from a
 * verified copy in memory by everything else. The only module that knows LMDB.
 *
 * LMDB does not notice damage and may crash on it, so it never sees a byte that was not checked: the file is hashed
 * while it is copied into a sealed memory file, and that is what LMDB opens. An entry is an array of u64, at most
 * SS_CHUNK_KEYS of them; arrays are used where they lie. Layout: format-spec/sstore-format.md, "Directory".
 */
#ifndef SS_DIRECTORY_H
#define SS_DIRECTORY_H

#include "base/file.h"
#include "store/block_file.h"

#define SS_CHUNK_KEYS ((size_t)1 << 16) /* half a MiB: a value is held in the heap until its transaction ends */

/* What an array holds. */
typedef enum ss_array_kind {
    SS_ARRAY_KEYS = 1, /* of a block file, a block's last fingerprint (permuted), or last rank in the id column */
    SS_ARRAY_RANKS = 2 /* of table 0, a block's first rank */
} ss_array_kind;

/* Identifies the file format of the LMDB in use; kept in the manifest, since LMDB files do not travel between kinds. */
uint32_t ss_directory_lmdb_format(void);

/* Fail unless a directory is of this format. `path` is for the error. UNSUPPORTED. */
sstore_status ss_directory_check_format(uint32_t lmdb_format, const char *path, sstore_error *error);

/* What can be done about a directory that cannot be used; for messages. */
#define SS_DIRECTORY_ADVICE "'sstore reindex' (or sstore_reindex()) makes the directory again from the block files"

/* ----- writing ----- */

typedef struct ss_directory_writer ss_directory_writer;

/* Create the directory file in `dir`, for at most `max_bytes` of arrays. May be used by several threads at once. */
sstore_status ss_directory_writer_open(const ss_dir *dir, uint64_t max_bytes, ss_directory_writer **writer_out,
                                       sstore_error *error);
/* Write the chunk-th piece of an array; all pieces but the last have SS_CHUNK_KEYS values. */
sstore_status ss_directory_writer_put(ss_directory_writer *writer, ss_array_kind kind, uint32_t number, uint32_t chunk,
                                      const uint64_t *values, size_t count, sstore_error *error);
/* Make it durable; gives size and XXH3-128 of the file. */
sstore_status ss_directory_writer_finish(ss_directory_writer *writer, uint64_t *bytes_out, ss_u128 *sum_out,
                                         sstore_error *error);
void ss_directory_writer_close(ss_directory_writer *writer);

/* An array on its way to the directory, piece by piece. */
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

/* Load the directory file in `dir`, which must have that format, size and sum. DAMAGED, IO, MEMORY, NOT_FOUND,
 * UNSUPPORTED. */
sstore_status ss_directory_open(const ss_dir *dir, uint32_t lmdb_format, uint64_t bytes, ss_u128 sum,
                                ss_directory **directory_out, sstore_error *error);
void ss_directory_close(ss_directory *directory);

/* Whether an error may say that the file is no good, so that another one is called for: it is lost, damaged, another
 * LMDB's, or where the disk cannot be read. Not so where the system had no memory, for one. */
bool ss_directory_is_lost(const sstore_error *error);

/* An array in the directory. Valid while the directory is open. */
typedef struct ss_array {
    uint64_t count;
    const uint8_t **chunks; /* little-endian, unaligned; to be freed by ss_array_free */
} ss_array;

/* Find an array, which must have `count` values. DAMAGED, MEMORY. */
sstore_status ss_directory_get(const ss_directory *directory, ss_array_kind kind, uint32_t number, uint64_t count,
                               ss_array *array_out, sstore_error *error);
void ss_array_free(ss_array *array);

/* Ask for what ss_array_at() will read. */
static inline void ss_array_prefetch(const ss_array *array, uint64_t index)
{
    __builtin_prefetch(array->chunks[index / SS_CHUNK_KEYS] + 8 * (index % SS_CHUNK_KEYS));
}

static inline uint64_t ss_array_at(const ss_array *array, uint64_t index)
{
    return ss_load_le64(array->chunks[index / SS_CHUNK_KEYS] + 8 * (index % SS_CHUNK_KEYS));
}

/* Whether the values ascend: strictly, or by 0 too. */
bool ss_array_ascends(const ss_array *array, bool strictly);

/* ----- lmdb_check.c ----- */

/*
 * Check a file of LMDB 0.9, written by a host like this one, for lookups in its unnamed database. Takes time in proportion
 * to the tree's pages. DAMAGED, with the offset of the page; `path` is for the message.
 */
sstore_status ss_lmdb_check(const uint8_t *bytes, uint64_t size, const char *path, sstore_error *error);

#endif

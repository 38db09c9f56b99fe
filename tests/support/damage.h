/*
 * damage.h - a small store for damage tests. A damaged store must never give a wrong answer. The files of the whole
 * store stay in memory, so that each case can start from them.
 */
#ifndef SUPPORT_DAMAGE_H
#define SUPPORT_DAMAGE_H

#include "support/data.h"
#include "support/record_set.h"
#include "support/scratch.h"
#include "support/testing.h"

#define DAMAGE_QUERIES 12
#define DAMAGE_MAX_STORE_BYTES 65536 /* of a segment */
/* A mask of ways of reading, 1 << SSTORE_IO_... each. */
#define PREAD_AND_MEMORY (1U << SSTORE_IO_PREAD | 1U << SSTORE_IO_MEMORY)
#define ONLY_MMAP (1U << SSTORE_IO_MMAP)
#define ALL_WAYS (PREAD_AND_MEMORY | ONLY_MMAP)

typedef struct damage_query {
    uint64_t fingerprint;
    uint32_t distance;
    matches answer;
} damage_query;

/* A store on disk, its contents, and its undamaged files. */
typedef struct damage_store {
    char path[256];
    data_set data;
    record_set truth;
    damage_query queries[DAMAGE_QUERIES];
    file_list files;
    file_bytes *contents;
    size_t total_bytes;
    uint64_t pair_count;                               /* of near records */
    uint64_t cases;                                    /* damages; verify found each of them */
    uint64_t trials, open_errors, query_errors, right; /* trials: a damage and a way of reading */
} damage_store;

/* Build the store and check it. `block_bytes` is 256 or 512. If `changed`, it has three segments, of which the second
 * adds and the third removes records; not for DATA_ASSIGNED. */
void damage_store_make(damage_store *store, uint64_t seed, uint32_t block_bytes, data_ids ids, bool changed);
void damage_store_free(damage_store *store);

/* The path of a file, in static storage. */
const char *damage_path(const damage_store *store, size_t file);

/*
 * Verifying must find the damage. In each of the given ways of reading, opening and all calls must give right results
 * or an error that names the file, and allocate no more than a limit.
 */
void damage_check(damage_store *store, unsigned io_mask);

/* Check a damage that must cause an error in each way of reading, from every call. */
void damage_check_refused(damage_store *store);

/* After the file was restored, everything must be right again. */
void damage_check_whole(damage_store *store);

/* Print the result of all trials as a figure. */
void damage_report(const damage_store *store, const char *what);

#endif

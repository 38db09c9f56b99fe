/*
 * store_files.h - the block files of a store with one segment, as files: to read blocks of them without the library,
 * and to drop what the page cache holds of them. Their names and that their blocks end where they end is
 * format-spec/sstore-format.md.
 */
#ifndef BENCH_STORE_FILES_H
#define BENCH_STORE_FILES_H

#include <stddef.h>
#include <stdint.h>

#include "sstore.h"

typedef struct bench_block_file {
    int fd;
    uint64_t block_count, first_offset;
} bench_block_file;

typedef struct bench_store_files {
    bench_block_file *files; /* the tables in their order, then the id column if there is one */
    size_t count;
    uint64_t block_bytes;
} bench_store_files;

bench_store_files bench_store_files_open(const char *path, const sstore *store);
void bench_store_files_close(bench_store_files *files);

/* Drop all blocks from the page cache, also those that this process has mapped: the next to read one waits for the
 * disk. */
void bench_store_files_drop(const bench_store_files *files);

#endif

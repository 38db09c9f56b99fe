/*
 * reader.h - an open store with a cursor, for one thread.
 */
#ifndef BENCH_READER_H
#define BENCH_READER_H

#include "sstore.h"

typedef struct bench_reader {
    sstore *store;
    sstore_cursor *cursor;
} bench_reader;

bench_reader bench_reader_open(const char *path, sstore_io io);
void bench_reader_close(bench_reader *reader);

/* An sstore_match_fn that counts into the uint64_t that is its context. */
int bench_count_match(void *count, const sstore_match *match);

#endif

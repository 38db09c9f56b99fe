/*
 * reader.h - an open store with a cursor, for one thread.
 */
#ifndef BENCH_READER_H
#define BENCH_READER_H

#include "sstore.h"
#include "sstore_statistics.h"

typedef struct bench_reader {
    sstore *store;
    sstore_cursor *cursor;
    size_t words; /* of a fingerprint */
} bench_reader;

bench_reader bench_reader_open(const char *path, sstore_io io);
void bench_reader_close(bench_reader *reader);

#define BENCH_PLAN_BYTES 4096u

/* Write the plan of the largest segment; of several words, the plan of each, with blanks between them. */
void bench_reader_plan(const bench_reader *reader, char plan[BENCH_PLAN_BYTES]);

/* Ask for one fingerprint, of as many words as the store's. */
void bench_reader_query(const bench_reader *reader, const uint64_t *fingerprint, uint32_t distance,
                        sstore_match_fn on_match, void *context);

/* An sstore_match_fn that counts into the uint64_t that is its context. */
int bench_count_match(void *count, const sstore_match *match);

#endif

/*
 * bare_reads.h - only the reads of blocks, in waves: the reads of a wave are issued in parallel, and a wave begins when
 * the one before is done. This is the minimum work of a program that needs these blocks.
 */
#ifndef BENCH_BARE_READS_H
#define BENCH_BARE_READS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How the reads of a wave are issued. */
typedef enum bench_way {
    BENCH_SERIAL,  /* not in parallel: one pread after the other */
    BENCH_THREADS, /* a thread for each */
    BENCH_ADVISE,  /* all announced with posix_fadvise(WILLNEED), then one pread after the other */
    BENCH_RING,    /* by io_uring */
    BENCH_WAYS
} bench_way;

typedef struct bench_read {
    int fd;
    uint64_t offset;
} bench_read;

typedef struct bench_bare bench_bare;

/* For reads of `block_bytes`, at most `width` (1 or more) of them in parallel. */
bench_bare *bench_bare_create(size_t block_bytes, size_t width);
void bench_bare_free(bench_bare *bare);

const char *bench_way_name(bench_way way);

/* Whether there is such a way: with a width of 1 all are serial, and containers often forbid io_uring. */
bool bench_bare_can(const bench_bare *bare, bench_way way);

/* One wave; or several, if there are more reads than the width. */
void bench_bare_wave(bench_bare *bare, bench_way way, const bench_read *reads, size_t count);

#endif

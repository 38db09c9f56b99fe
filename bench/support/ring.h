/*
 * ring.h - as much of io_uring as reading a wave of blocks takes, without liburing.
 */
#ifndef BENCH_RING_H
#define BENCH_RING_H

#include <stddef.h>

#include "support/bare_reads.h"

typedef struct bench_ring bench_ring;

/* For up to `capacity` reads at once; NULL where the system does not allow it. */
bench_ring *bench_ring_create(size_t capacity);
void bench_ring_free(bench_ring *ring);

/* Issue all reads, and wait for all. Read i goes to buffers + i * block_bytes. */
void bench_ring_read(bench_ring *ring, const bench_read *reads, size_t count, unsigned char *buffers,
                     size_t block_bytes);

#endif

#include "support/bare_reads.h"

#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "support/must.h"
#include "support/ring.h"

struct bench_bare {
    size_t block_bytes, width;
    unsigned char *buffers; /* a block for each read of a wave */
    bench_ring *ring;       /* or NULL */

    /* Threads that wait for a wave; the caller is one more. */
    pthread_t *threads;
    size_t thread_count;
    sem_t begin, end;
    bool closing;
    const bench_read *reads;
    size_t count;
    atomic_size_t next;
};

const char *bench_way_name(bench_way way)
{
    static const char *const names[BENCH_WAYS] = {"serial", "threads", "advise", "io_uring"};
    return names[way];
}

static void read_one(const bench_bare *bare, const bench_read *read, size_t index)
{
    ssize_t got = pread(read->fd, bare->buffers + index * bare->block_bytes, bare->block_bytes, (off_t)read->offset);
    bench_must_do(got >= 0, "reading a block", NULL);
    if ((size_t)got != bare->block_bytes)
        bench_fail("a block was read only in part");
}

/* ----- threads ----- */

static void take_reads(bench_bare *bare)
{
    for (size_t i = atomic_fetch_add(&bare->next, 1); i < bare->count; i = atomic_fetch_add(&bare->next, 1))
        read_one(bare, &bare->reads[i], i);
}

static void wait_for(sem_t *semaphore)
{
    while (sem_wait(semaphore) != 0)
        ;
}

static void *work(void *context)
{
    bench_bare *bare = context;
    for (;;) {
        wait_for(&bare->begin);
        if (bare->closing)
            return NULL;
        take_reads(bare);
        sem_post(&bare->end);
    }
}

static void read_by_threads(bench_bare *bare, const bench_read *reads, size_t count)
{
    bare->reads = reads;
    bare->count = count;
    atomic_store(&bare->next, 0);
    for (size_t i = 1; i < count; i++)
        sem_post(&bare->begin);
    take_reads(bare);
    for (size_t i = 1; i < count; i++)
        wait_for(&bare->end);
}

/* ----- all ways ----- */

bench_bare *bench_bare_create(size_t block_bytes, size_t width)
{
    bench_bare *bare = bench_alloc(1, sizeof *bare);
    bare->block_bytes = block_bytes;
    bare->width = width;
    bare->buffers = bench_alloc(width, block_bytes);
    bare->ring = bench_ring_create(width);
    bare->threads = bench_alloc(width, sizeof *bare->threads);
    bench_must_do(sem_init(&bare->begin, 0, 0) == 0 && sem_init(&bare->end, 0, 0) == 0, "sem_init", NULL);
    for (; bare->thread_count + 1 < width; bare->thread_count++)
        if (pthread_create(&bare->threads[bare->thread_count], NULL, work, bare) != 0)
            bench_fail("a thread could not be started");
    return bare;
}

void bench_bare_free(bench_bare *bare)
{
    bare->closing = true;
    for (size_t i = 0; i < bare->thread_count; i++)
        sem_post(&bare->begin);
    for (size_t i = 0; i < bare->thread_count; i++)
        (void)pthread_join(bare->threads[i], NULL);
    sem_destroy(&bare->begin);
    sem_destroy(&bare->end);
    bench_ring_free(bare->ring);
    free(bare->threads);
    free(bare->buffers);
    free(bare);
}

bool bench_bare_can(const bench_bare *bare, bench_way way)
{
    if (way == BENCH_SERIAL)
        return true;
    return bare->width > 1 && (way != BENCH_RING || bare->ring != NULL);
}

static void read_side_by_side(bench_bare *bare, bench_way way, const bench_read *reads, size_t count)
{
    if (way == BENCH_RING) {
        bench_ring_read(bare->ring, reads, count, bare->buffers, bare->block_bytes);
        return;
    }
    if (way == BENCH_THREADS) {
        read_by_threads(bare, reads, count);
        return;
    }
    for (size_t i = 0; way == BENCH_ADVISE && i < count; i++)
        (void)posix_fadvise(reads[i].fd, (off_t)reads[i].offset, (off_t)bare->block_bytes, POSIX_FADV_WILLNEED);
    for (size_t i = 0; i < count; i++)
        read_one(bare, &reads[i], i);
}

void bench_bare_wave(bench_bare *bare, bench_way way, const bench_read *reads, size_t count)
{
    for (size_t done = 0; done < count; done += bare->width) {
        size_t left = count - done;
        read_side_by_side(bare, way, reads + done, left < bare->width ? left : bare->width);
    }
}

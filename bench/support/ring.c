#include "support/ring.h"

#include <errno.h>
#include <linux/io_uring.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "support/must.h"

struct bench_ring {
    int fd;
    struct io_uring_params facts;
    unsigned char *rings; /* submissions and completions share a map */
    size_t rings_bytes;
    struct io_uring_sqe *entries;
};

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static void *map(const bench_ring *ring, size_t bytes, uint64_t what)
{
    void *mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring->fd, (off_t)what);
    bench_must_do(mapped != MAP_FAILED, "mapping an io_uring", NULL);
    return mapped;
}

bench_ring *bench_ring_create(size_t capacity)
{
    bench_ring *ring = bench_alloc(1, sizeof *ring);
    ring->fd = (int)syscall(SYS_io_uring_setup, (unsigned)capacity, &ring->facts);
    if (ring->fd < 0 || (ring->facts.features & IORING_FEAT_SINGLE_MMAP) == 0) {
        bench_ring_free(ring);
        return NULL;
    }
    const struct io_uring_params *facts = &ring->facts;
    ring->rings_bytes = larger(facts->sq_off.array + facts->sq_entries * sizeof(uint32_t),
                               facts->cq_off.cqes + facts->cq_entries * sizeof(struct io_uring_cqe));
    ring->rings = map(ring, ring->rings_bytes, IORING_OFF_SQ_RING);
    ring->entries = map(ring, facts->sq_entries * sizeof *ring->entries, IORING_OFF_SQES);
    return ring;
}

void bench_ring_free(bench_ring *ring)
{
    if (ring == NULL)
        return;
    if (ring->entries != NULL)
        (void)munmap(ring->entries, ring->facts.sq_entries * sizeof *ring->entries);
    if (ring->rings != NULL)
        (void)munmap(ring->rings, ring->rings_bytes);
    if (ring->fd >= 0)
        close(ring->fd);
    free(ring);
}

static uint32_t *field(const bench_ring *ring, uint32_t offset)
{
    return (uint32_t *)(void *)(ring->rings + offset);
}

static void submit(bench_ring *ring, const bench_read *reads, size_t count, uintptr_t buffers, size_t block_bytes)
{
    const struct io_sqring_offsets *offsets = &ring->facts.sq_off;
    uint32_t tail = *field(ring, offsets->tail), mask = *field(ring, offsets->ring_mask);
    uint32_t *array = field(ring, offsets->array);
    for (size_t i = 0; i < count; i++, tail++) {
        uint32_t slot = tail & mask;
        ring->entries[slot] = (struct io_uring_sqe){.opcode = IORING_OP_READ,
                                                    .fd = reads[i].fd,
                                                    .off = reads[i].offset,
                                                    .addr = buffers + i * block_bytes,
                                                    .len = (uint32_t)block_bytes};
        array[slot] = slot;
    }
    __atomic_store_n(field(ring, offsets->tail), tail, __ATOMIC_RELEASE);
}

/* Take off what is complete; how many they were. */
static size_t reap(bench_ring *ring, size_t block_bytes)
{
    const struct io_cqring_offsets *offsets = &ring->facts.cq_off;
    uint32_t head = *field(ring, offsets->head), mask = *field(ring, offsets->ring_mask);
    uint32_t tail = __atomic_load_n(field(ring, offsets->tail), __ATOMIC_ACQUIRE);
    const struct io_uring_cqe *done = (const void *)(ring->rings + offsets->cqes);
    for (uint32_t i = head; i != tail; i++)
        if (done[i & mask].res != (int32_t)block_bytes)
            bench_fail("io_uring read a block only in part, or not at all (%d)", done[i & mask].res);
    __atomic_store_n(field(ring, offsets->head), tail, __ATOMIC_RELEASE);
    return tail - head;
}

void bench_ring_read(bench_ring *ring, const bench_read *reads, size_t count, unsigned char *buffers,
                     size_t block_bytes)
{
    size_t to_submit = count, left = count;
    submit(ring, reads, count, (uintptr_t)buffers, block_bytes);
    while (left > 0) {
        long entered = syscall(SYS_io_uring_enter, ring->fd, (unsigned)to_submit, (unsigned)left,
                               IORING_ENTER_GETEVENTS, NULL, 0);
        bench_must_do(entered >= 0 || errno == EINTR, "io_uring_enter", NULL);
        if (entered > 0)
            to_submit -= (size_t)entered;
        left -= reap(ring, block_bytes);
    }
}

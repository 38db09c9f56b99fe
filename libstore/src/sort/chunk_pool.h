/*
 * chunk_pool.h - a fixed memory, in equal chunks that several threads take and give back. Taken from the system as it
 * is needed, a slab at a time, and kept until the pool is closed.
 */
#ifndef SS_CHUNK_POOL_H
#define SS_CHUNK_POOL_H

#include <pthread.h>

#include "base/common.h"

#define SS_NO_CHUNK UINT32_MAX

typedef struct ss_chunk_pool {
    pthread_mutex_t lock; /* guards all below but next[] and the chunks themselves */
    size_t chunk_bytes;   /* a power of two; chunks are aligned to it */
    uint32_t slab_chunks, max_chunks;
    uint32_t made;        /* chunks handed out at least once */
    uint32_t taken;       /* chunks that are out */
    uint32_t free_chunk;  /* the first of those that came back, linked by next[] */
    void **slabs;         /* as allocated */
    uint8_t **bases;      /* where a slab's first chunk is */
    uint32_t *next;       /* of a chunk: whoever has it links it by this */
} ss_chunk_pool;

/* A pool of at most `bytes`, in chunks of `chunk_bytes`; at least one chunk. MEMORY. */
sstore_status ss_chunk_pool_open(ss_chunk_pool *pool, uint64_t bytes, size_t chunk_bytes, sstore_error *error);
/* Take a chunk. SS_NO_CHUNK: all are taken, or the system has no memory for another slab. */
uint32_t ss_chunk_pool_take(ss_chunk_pool *pool);
void ss_chunk_pool_give(ss_chunk_pool *pool, uint32_t chunk);
/* Also of a zeroed pool that was never opened, and of one that could not be. */
void ss_chunk_pool_close(ss_chunk_pool *pool);

static inline uint8_t *ss_chunk_at(const ss_chunk_pool *pool, uint32_t chunk)
{
    return pool->bases[chunk / pool->slab_chunks] + (size_t)(chunk % pool->slab_chunks) * pool->chunk_bytes;
}

#endif

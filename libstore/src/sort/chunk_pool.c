#include "sort/chunk_pool.h"

#include "base/alloc.h"
#include "base/error.h"

#define SLAB_BYTES ((uint64_t)8 << 20) /* whole huge pages */

sstore_status ss_chunk_pool_open(ss_chunk_pool *pool, uint64_t bytes, size_t chunk_bytes, sstore_error *error)
{
    assert((chunk_bytes & (chunk_bytes - 1)) == 0);
    uint64_t chunks = ss_min_u64(ss_max_u64(bytes / chunk_bytes, 1), SS_NO_CHUNK);
    uint32_t slab_chunks = (uint32_t)ss_min_u64(ss_max_u64(SLAB_BYTES / chunk_bytes, 1), chunks);
    size_t slabs = (size_t)((chunks + slab_chunks - 1) / slab_chunks);
    *pool = (ss_chunk_pool){.chunk_bytes = chunk_bytes,
                            .slab_chunks = slab_chunks,
                            .max_chunks = (uint32_t)chunks,
                            .free_chunk = SS_NO_CHUNK};
    pthread_mutex_init(&pool->lock, NULL);
    pool->slabs = ss_alloc(slabs, sizeof *pool->slabs);
    pool->bases = ss_alloc(slabs, sizeof *pool->bases);
    pool->next = ss_realloc(NULL, (size_t)chunks, sizeof *pool->next);
    if (pool->slabs != NULL && pool->bases != NULL && pool->next != NULL)
        return SSTORE_OK;
    return ss_fail_memory(error, chunks * sizeof *pool->next);
}

/* Make the slab of the next chunk. */
static bool add_slab(ss_chunk_pool *pool)
{
    uint32_t slab = pool->made / pool->slab_chunks;
    uint64_t left = pool->max_chunks - pool->made;
    size_t bytes = (size_t)ss_min_u64(left, pool->slab_chunks) * pool->chunk_bytes;
    size_t slack = bytes < SLAB_BYTES ? pool->chunk_bytes : 0; /* full slabs are aligned to more than a chunk */
    uint8_t *memory = ss_alloc_large(bytes + slack);
    if (memory == NULL)
        return false;
    pool->slabs[slab] = memory;
    pool->bases[slab] = memory + (-(uintptr_t)memory & (pool->chunk_bytes - 1));
    return true;
}

uint32_t ss_chunk_pool_take(ss_chunk_pool *pool)
{
    uint32_t chunk = SS_NO_CHUNK;
    pthread_mutex_lock(&pool->lock);
    if (pool->free_chunk != SS_NO_CHUNK) {
        chunk = pool->free_chunk;
        pool->free_chunk = pool->next[chunk];
    } else if (pool->made < pool->max_chunks && (pool->made % pool->slab_chunks != 0 || add_slab(pool))) {
        chunk = pool->made++;
    }
    pool->taken += chunk != SS_NO_CHUNK;
    pthread_mutex_unlock(&pool->lock);
    return chunk;
}

void ss_chunk_pool_give(ss_chunk_pool *pool, uint32_t chunk)
{
    pthread_mutex_lock(&pool->lock);
    pool->next[chunk] = pool->free_chunk;
    pool->free_chunk = chunk;
    pool->taken--;
    pthread_mutex_unlock(&pool->lock);
}

void ss_chunk_pool_close(ss_chunk_pool *pool)
{
    if (pool->chunk_bytes == 0)
        return;
    for (uint64_t slab = 0; slab * pool->slab_chunks < pool->made; slab++)
        ss_free(pool->slabs[slab]);
    ss_free(pool->slabs);
    ss_free(pool->bases);
    ss_free(pool->next);
    pthread_mutex_destroy(&pool->lock);
    *pool = (ss_chunk_pool){.chunk_bytes = 0};
}

/*
 * memory.h - allocation, and the memory that this process may use. The library allocates only through these functions,
 * so that tests can make them fail. Sizes are checked for overflow; each function returns NULL if memory is short.
 */
#ifndef SS_MEMORY_H
#define SS_MEMORY_H

#include "base/common.h"

/* `count` elements of `size` bytes, zeroed; 64-byte aligned from 64 bytes on. */
void *ss_alloc(size_t count, size_t size);

/* Grow or shrink memory that came from ss_realloc(NULL, ...); the new part is not zeroed. On NULL the old block is
 * unchanged. Alignment as malloc's. */
void *ss_realloc(void *memory, size_t count, size_t size);

/* Grow an array so that it can hold one more element than `count`. A full *capacity is doubled, beginning with `first`.
 * Returns the array, which may have moved; on NULL the old one is unchanged. As ss_realloc(). */
void *ss_grow(void *elements, size_t count, size_t *capacity, size_t first, size_t size);

/* A large block, not zeroed, for reads in random order: in huge pages if possible. */
void *ss_alloc_large(size_t bytes);

/* A large zeroed block that may be used sparsely: pages (huge if possible) are allocated on first use. Alignment as
 * malloc's. */
void *ss_alloc_sparse(size_t bytes);

/* A copy of a string. */
char *ss_strdup(const char *text);

/* Free what any of the above returned; NULL is allowed. */
void ss_free(void *memory);

/* ----- memory limits of calls ----- */

#define SS_DEFAULT_MEMORY_BYTES ((uint64_t)1 << 30)
#define SS_MIN_MEMORY_BYTES ((uint64_t)1 << 20) /* with less than a few MiB, a limit is exceeded */

/* Bytes of a limit that a call leaves to the process itself, its stacks and the allocator. */
#define SS_PROCESS_BYTES ((uint64_t)6 << 20)
/* What a call that is fed by its caller leaves: also the buffers through which that reads input, and the arrays of a
 * directory on their way into LMDB. */
#define SS_FED_PROCESS_BYTES ((uint64_t)12 << 20)

/* The limit of a call whose options have this one. */
static inline uint64_t ss_memory_or_default(uint64_t bytes)
{
    return bytes != 0 ? bytes : SS_DEFAULT_MEMORY_BYTES;
}

/* The memory that is left beside `taken` bytes, of which at most half of the limit counts. */
static inline uint64_t ss_remaining_memory(uint64_t limit_bytes, uint64_t taken)
{
    return ss_max_u64(limit_bytes - ss_min_u64(taken, limit_bytes / 2), SS_MIN_MEMORY_BYTES);
}

/* The bytes that this process may use: the smallest of the machine's memory, RLIMIT_AS, and the limits of the process's
 * memory cgroups (version 1 or 2) and of their parents. A limit that cannot be read is none; UINT64_MAX if none can.
 * Reads files. Any thread may call it. */
uint64_t ss_memory_limit(void);

#endif

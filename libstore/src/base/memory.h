/*
 * memory.h - the heap, and how much memory this process may use. The library allocates only through these functions, so
 * that tests can make them fail. Sizes are checked for overflow; each function returns NULL if there is no memory.
 */
#ifndef SS_MEMORY_H
#define SS_MEMORY_H

#include "base/common.h"

/* `count` elements of `size` bytes, zeroed; 64-byte aligned from 64 bytes on. */
void *ss_alloc(size_t count, size_t size);

/* Grow or shrink memory that came from ss_realloc(NULL, ...); the new part is not zeroed. On NULL the old block stays
 * as it was. Alignment as malloc's. */
void *ss_realloc(void *memory, size_t count, size_t size);

/* Make room in an array for one more element than `count`: when *capacity is full, it is doubled, from `first` on.
 * Returns the array, which may have moved; on NULL the old one stays as it was. As for ss_realloc(). */
void *ss_grow(void *elements, size_t count, size_t *capacity, size_t first, size_t size);

/* Many bytes, not zeroed, that will be read in no order: in huge pages if the system grants them. */
void *ss_alloc_large(size_t bytes);

/* Many bytes, zeroed, of which few may be used: pages (huge if possible) are taken on first use. Alignment as
 * malloc's. */
void *ss_alloc_sparse(size_t bytes);

/* A copy of a string. */
char *ss_strdup(const char *text);

/* Free what any of the above returned; NULL is allowed. */
void ss_free(void *memory);

/* The bytes that this process may use: the smallest of the machine's memory, RLIMIT_AS, and the limits of the process's
 * memory cgroups (version 1 or 2) and of their parents. A limit that cannot be read is none; UINT64_MAX if none can.
 * Reads files of /proc and /sys. Any thread may call it. */
uint64_t ss_memory_limit(void);

#endif

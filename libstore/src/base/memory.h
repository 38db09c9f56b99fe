/* memory.h - the heap, and how much memory this process may use. */
#ifndef SS_MEMORY_H
#define SS_MEMORY_H

#include "base/common.h"

/* ===== the heap ===== */

/* The library's only way to the heap, so that tests can make it fail. Sizes are checked for overflow. */

/* `count` elements of `size` bytes, zeroed; 64-byte aligned from 64 bytes on. NULL where memory or arithmetic fail. */
void *ss_alloc(size_t count, size_t size);

/* Grow or shrink; the new part is not zeroed. On NULL the old block stays as it was. Alignment as malloc's. Only for
 * memory that came from ss_realloc(NULL, ...). */
void *ss_realloc(void *memory, size_t count, size_t size);

/* Make room in an array for one more element than `count`: doubles *capacity, from `first` on, when that is full. Returns
 * the array, moved perhaps; NULL where memory fails, and then the old one stays as it was. As for ss_realloc(). */
void *ss_grow(void *elements, size_t count, size_t *capacity, size_t first, size_t size);

/* Many bytes, not zeroed, that will be read all over: in huge pages where the system has them to give. NULL where memory
 * fails. */
void *ss_alloc_large(size_t bytes);

/* Many bytes, zeroed, of which perhaps few will be used: in huge pages where the system has them to give, which are taken
 * when they are used. Alignment as malloc's. NULL where memory fails. */
void *ss_alloc_sparse(size_t bytes);

/* Free what any of the above returned; NULL is allowed. */
void ss_free(void *memory);

/* A copy of a string; NULL where memory fails. */
char *ss_strdup(const char *text);

/* ===== the memory limit ===== */

/* How much memory this process may use. */

/* Bytes: the smallest of the machine's memory, RLIMIT_AS, and the limits of the process's memory cgroups, of version 1 or 2, and
 * of those above them. A limit that cannot be read is none; UINT64_MAX if none can. Any thread may ask; reads files of /proc and
 * /sys. */
uint64_t ss_memory_limit(void);

#endif

/*
 * alloc.h - the library's only way to the heap, so that tests can make it fail. Sizes are checked for overflow.
 */
#ifndef SS_ALLOC_H
#define SS_ALLOC_H

#include "base/common.h"

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

#endif

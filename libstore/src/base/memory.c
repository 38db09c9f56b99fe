#include "base/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/platform.h"

/* ===== the heap ===== */

#define CACHE_LINE 64
#define HUGE_PAGE ((size_t)2 << 20)

void *ss_alloc(size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX - CACHE_LINE)
        return NULL;
    if (bytes < CACHE_LINE)
        return calloc(1, bytes == 0 ? 1 : bytes);
    void *memory = aligned_alloc(CACHE_LINE, (bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE);
    if (memory != NULL)
        memset(memory, 0, bytes);
    return memory;
}

void *ss_realloc(void *memory, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        return NULL;
    return realloc(memory, bytes == 0 ? 1 : bytes);
}

void *ss_grow(void *elements, size_t count, size_t *capacity, size_t first, size_t size)
{
    if (count < *capacity)
        return elements;
    size_t larger = *capacity == 0 ? first : 2 * *capacity;
    void *grown = ss_realloc(elements, larger, size);
    if (grown != NULL)
        *capacity = larger;
    return grown;
}

void *ss_alloc_large(size_t bytes)
{
    if (bytes < HUGE_PAGE || bytes > SIZE_MAX - HUGE_PAGE)
        return ss_realloc(NULL, bytes, 1);
    size_t rounded = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    void *memory = aligned_alloc(HUGE_PAGE, rounded);
    if (memory != NULL)
        ss_platform_use_huge_pages(memory, rounded);
    return memory;
}

void *ss_alloc_sparse(size_t bytes)
{
    uint8_t *memory = calloc(1, bytes == 0 ? 1 : bytes); /* the system zeroes pages of large blocks on first use */
    const uintptr_t begin = ((uintptr_t)memory + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    const uintptr_t end = ((uintptr_t)memory + bytes) / HUGE_PAGE * HUGE_PAGE;
    if (memory != NULL && begin < end)
        ss_platform_use_huge_pages(memory + (begin - (uintptr_t)memory), end - begin);
    return memory;
}

void ss_free(void *memory)
{
    free(memory);
}

char *ss_strdup(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = ss_realloc(NULL, size, 1);
    if (copy != NULL)
        memcpy(copy, text, size);
    return copy;
}

/* ===== the memory limit ===== */

uint64_t ss_memory_limit(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
    uint64_t min = pages > 0 && page_bytes > 0 ? (uint64_t)pages * (uint64_t)page_bytes : UINT64_MAX;
    struct rlimit space;
    if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY)
        min = ss_min_u64(min, space.rlim_cur);
    return ss_min_u64(min, ss_platform_group_memory_limit());
}

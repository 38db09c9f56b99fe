#include "base/memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

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
        (void)madvise(memory, rounded, MADV_HUGEPAGE);
    return memory;
}

void *ss_alloc_sparse(size_t bytes)
{
    uint8_t *memory = calloc(1, bytes == 0 ? 1 : bytes); /* the system zeroes pages of large blocks on first use */
    const uintptr_t begin = ((uintptr_t)memory + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    const uintptr_t end = ((uintptr_t)memory + bytes) / HUGE_PAGE * HUGE_PAGE;
    if (memory != NULL && begin < end)
        (void)madvise(memory + (begin - (uintptr_t)memory), end - begin, MADV_HUGEPAGE);
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

#define PATH_BYTES 4096u

/* The number in a file; UINT64_MAX if there is none, for example "max". */
static uint64_t read_limit(const char *path)
{
    char text[32] = "";
    uint64_t limit = UINT64_MAX;
    FILE *file = fopen(path, "re");
    if (file != NULL && fgets(text, sizeof text, file) != NULL && text[0] >= '0' && text[0] <= '9')
        limit = strtoull(text, NULL, 10);
    if (file != NULL)
        fclose(file);
    return limit;
}

/* The smallest limit of a group and its parents. Shortens `group`. In a container /proc may name a path that is not
 * below the mount. Then the mount itself, which is tried last, is the container's group. */
static uint64_t group_limit(const char *mount, char *group, const char *name)
{
    char path[2 * PATH_BYTES];
    uint64_t min = UINT64_MAX;
    for (;;) {
        snprintf(path, sizeof path, "%s%s/%s", mount, group, name);
        min = ss_min_u64(min, read_limit(path));
        char *last = strrchr(group, '/');
        if (last == NULL)
            return min;
        *last = '\0';
    }
}

/* Whether a comma-separated list has "memory". */
static bool has_memory(char *list)
{
    char *rest;
    for (char *kind = strtok_r(list, ",", &rest); kind != NULL; kind = strtok_r(NULL, ",", &rest))
        if (strcmp(kind, "memory") == 0)
            return true;
    return false;
}

/* Lines of /proc/self/cgroup: "0::/GROUP" for version 2, "NUMBER:KIND,KIND:/GROUP" for version 1. */
static uint64_t cgroup_limit(void)
{
    char line[PATH_BYTES];
    uint64_t min = UINT64_MAX;
    FILE *file = fopen("/proc/self/cgroup", "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        char *kind = strchr(line, ':'), *group = kind != NULL ? strchr(kind + 1, ':') : NULL;
        if (group == NULL)
            continue;
        *group++ = '\0';
        group[strcspn(group, "\n")] = '\0';
        if (kind[1] == '\0')
            min = ss_min_u64(min, group_limit("/sys/fs/cgroup", group, "memory.max"));
        else if (has_memory(kind + 1))
            min = ss_min_u64(min, group_limit("/sys/fs/cgroup/memory", group, "memory.limit_in_bytes"));
    }
    if (file != NULL)
        fclose(file);
    return min;
}

uint64_t ss_memory_limit(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
    uint64_t min = pages > 0 && page_bytes > 0 ? (uint64_t)pages * (uint64_t)page_bytes : UINT64_MAX;
    struct rlimit space;
    if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY)
        min = ss_min_u64(min, space.rlim_cur);
    return ss_min_u64(min, cgroup_limit());
}

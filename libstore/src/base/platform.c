#include "base/platform.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

/* ===== processors and memory ===== */

uint32_t ss_platform_processors(void)
{
    cpu_set_t set;
    /* With more than 1024 processors the set is too small. */
    const long count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : sysconf(_SC_NPROCESSORS_ONLN);
    return count < 1 ? 1 : (uint32_t)count;
}

void ss_platform_use_huge_pages(void *memory, size_t bytes)
{
    (void)madvise(memory, bytes, MADV_HUGEPAGE);
}

/* ----- memory limits of cgroups ----- */

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
uint64_t ss_platform_group_memory_limit(void)
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

/* ===== files ===== */

int ss_platform_create_unnamed(int folder)
{
    int fd = openat(folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0 && (errno == EISDIR || errno == EINVAL)) /* of kernels and file systems that do not know the flag */
        errno = EOPNOTSUPP;
    return fd;
}

int ss_platform_create_in_memory(void)
{
    return memfd_create("sstore-copy", MFD_CLOEXEC | MFD_ALLOW_SEALING);
}

bool ss_platform_seal(int fd)
{
    return fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) == 0;
}

bool ss_platform_sync_file_system(int fd)
{
    return syncfs(fd) == 0;
}

bool ss_platform_read_cached(int fd, uint64_t offset, void *buffer, size_t size)
{
#ifdef RWF_NOWAIT
    const struct iovec part = {.iov_base = buffer, .iov_len = size};
    return preadv2(fd, &part, 1, (off_t)offset, RWF_NOWAIT) == (ssize_t)size;
#else
    (void)fd, (void)offset, (void)buffer, (void)size;
    return false;
#endif
}

bool ss_platform_populate(const uint8_t *part, size_t size)
{
#ifdef MADV_POPULATE_READ /* Linux 5.14 */
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), before = (uintptr_t)part & (page - 1);
    return madvise((void *)((uintptr_t)part - before), before + size, MADV_POPULATE_READ) == 0;
#else
    (void)part, (void)size;
    return false;
#endif
}

bool ss_platform_copy_mapped(const uint8_t *part, size_t size, void *to)
{
    const struct iovec from = {.iov_base = (void *)(uintptr_t)part, .iov_len = size};
    const struct iovec into = {.iov_base = to, .iov_len = size};
    return process_vm_readv(getpid(), &into, 1, &from, 1, 0) == (ssize_t)size;
}

void ss_platform_will_need(int fd, uint64_t offset, uint64_t size)
{
    (void)posix_fadvise(fd, (off_t)offset, (off_t)size, POSIX_FADV_WILLNEED);
}

void ss_platform_expect_random(int fd)
{
    (void)posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
}

void ss_platform_start_writing(int fd, uint64_t offset, uint64_t size)
{
    (void)sync_file_range(fd, (off_t)offset, (off_t)size, SYNC_FILE_RANGE_WRITE);
}

void ss_platform_punch(int fd, uint64_t offset, uint64_t size)
{
    (void)fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)size);
}

/* ===== paths of open files ===== */

void ss_platform_path(int fd, const char *name, char path[SS_PLATFORM_PATH_BYTES])
{
    snprintf(path, SS_PLATFORM_PATH_BYTES, SS_PLATFORM_DESCRIPTORS "/%d%s%s", fd, name != NULL ? "/" : "",
             name != NULL ? name : "");
}

bool ss_platform_has_paths(void)
{
    return access(SS_PLATFORM_DESCRIPTORS, F_OK) == 0;
}

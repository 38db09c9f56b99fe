#include "support/memory_use.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/must.h"

#define MAX_MEMFDS 64

/* The number behind `name` in a file of lines "name: number", or 0. */
static uint64_t number_in(const char *path, const char *name)
{
    char line[256];
    uint64_t number = 0;
    size_t length = strlen(name);
    FILE *file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, name, length) == 0 && line[length] == ':')
            number = strtoull(line + length + 1, NULL, 10);
    if (file != NULL)
        fclose(file);
    return number;
}

/* Whether an open file is a memfd that was not seen before: LMDB has a handle of its own to the directory. */
static bool new_memfd(DIR *fds, const char *name, ino_t seen[MAX_MEMFDS], size_t *seen_count, uint64_t *bytes_out)
{
    static const char prefix[] = "/memfd:";
    char target[sizeof prefix] = "";
    struct stat facts;
    if (readlinkat(dirfd(fds), name, target, sizeof target - 1) < 0 || strcmp(target, prefix) != 0 ||
        fstatat(dirfd(fds), name, &facts, 0) != 0)
        return false;
    for (size_t i = 0; i < *seen_count; i++)
        if (seen[i] == facts.st_ino)
            return false;
    if (*seen_count == MAX_MEMFDS)
        bench_fail("more memfds are open than can be counted");
    seen[(*seen_count)++] = facts.st_ino;
    *bytes_out = (uint64_t)facts.st_blocks * 512;
    return true;
}

static uint64_t memfd_bytes(void)
{
    ino_t seen[MAX_MEMFDS];
    size_t seen_count = 0;
    uint64_t sum = 0, bytes;
    const struct dirent *entry;
    DIR *fds = opendir("/proc/self/fd");
    bench_must_do(fds != NULL, "listing", "/proc/self/fd");
    while ((entry = readdir(fds)) != NULL)
        if (new_memfd(fds, entry->d_name, seen, &seen_count, &bytes))
            sum += bytes;
    closedir(fds);
    return sum;
}

bench_memory bench_memory_now(void)
{
    static const char status[] = "/proc/self/status"; /* in KiB */
    bench_memory memory = {.anonymous_bytes = number_in(status, "RssAnon") * 1024,
                           .file_bytes = number_in(status, "RssFile") * 1024,
                           .memfd_bytes = memfd_bytes()};
    memory.total_bytes = memory.anonymous_bytes + memory.file_bytes + memory.memfd_bytes;
    return memory;
}

uint64_t bench_memory_peak(void)
{
    return number_in("/proc/self/status", "VmHWM") * 1024;
}

void bench_memory_peak_restart(void)
{
    FILE *file = fopen("/proc/self/clear_refs", "w");
    if (file == NULL)
        return;
    (void)fputs("5", file);
    (void)fclose(file);
}

uint64_t bench_disk_bytes(void)
{
    return number_in("/proc/self/io", "read_bytes");
}

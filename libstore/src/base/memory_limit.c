#include "base/memory_limit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define PATH_BYTES 4096u

/* The number in a file; UINT64_MAX where there is none, as in "max". */
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

/* The least limit of a group and of those above it. `group` is cut short. In a container /proc may tell a path that is not below the
 * mount; then the mount itself, which comes last, is the container's own group. */
static uint64_t group_limit(const char *mount, char *group, const char *name)
{
    char path[2 * PATH_BYTES];
    uint64_t least = UINT64_MAX;
    for (;;) {
        snprintf(path, sizeof path, "%s%s/%s", mount, group, name);
        least = ss_min_u64(least, read_limit(path));
        char *last = strrchr(group, '/');
        if (last == NULL)
            return least;
        *last = '\0';
    }
}

/* Whether a list, separated by commas, has "memory". */
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
    uint64_t least = UINT64_MAX;
    FILE *file = fopen("/proc/self/cgroup", "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        char *kind = strchr(line, ':'), *group = kind != NULL ? strchr(kind + 1, ':') : NULL;
        if (group == NULL)
            continue;
        *group++ = '\0';
        group[strcspn(group, "\n")] = '\0';
        if (kind[1] == '\0')
            least = ss_min_u64(least, group_limit("/sys/fs/cgroup", group, "memory.max"));
        else if (has_memory(kind + 1))
            least = ss_min_u64(least, group_limit("/sys/fs/cgroup/memory", group, "memory.limit_in_bytes"));
    }
    if (file != NULL)
        fclose(file);
    return least;
}

uint64_t ss_memory_limit(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
    uint64_t least = pages > 0 && page_bytes > 0 ? (uint64_t)pages * (uint64_t)page_bytes : UINT64_MAX;
    struct rlimit space;
    if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY)
        least = ss_min_u64(least, space.rlim_cur);
    return ss_min_u64(least, cgroup_limit());
}

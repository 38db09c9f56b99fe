#include "support/process.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "support/testing.h"

static size_t count_entries(const char *path)
{
    size_t count = 0;
    DIR *folder = opendir(path);
    assert_non_null(folder);
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(folder);
    return count;
}

size_t process_open_files(void)
{
    return count_entries("/proc/self/fd") - 1; /* without that of the folder itself */
}

size_t process_threads(void)
{
    return count_entries("/proc/self/task");
}

size_t process_resident_kib(void)
{
    char line[256];
    size_t kib = 0;
    FILE *status = fopen("/proc/self/status", "r");
    assert_non_null(status);
    while (fgets(line, sizeof line, status) != NULL)
        (void)sscanf(line, "VmRSS: %zu kB", &kib);
    fclose(status);
    return kib;
}

size_t process_maps(const char *word, const char *other)
{
    char line[1024];
    size_t count = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    assert_non_null(maps);
    while (fgets(line, sizeof line, maps) != NULL)
        count += strstr(line, word) != NULL || strstr(line, other) != NULL;
    fclose(maps);
    return count;
}

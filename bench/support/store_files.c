#include "support/store_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sstore_statistics.h"
#include "support/must.h"

/* The folder of the only segment, relative to the store's. */
static void find_segment(const char *path, char name[NAME_MAX + 1])
{
    int found = 0;
    const struct dirent *entry;
    DIR *folder = opendir(path);
    bench_must_do(folder != NULL, "listing", path);
    while ((entry = readdir(folder)) != NULL)
        if (strncmp(entry->d_name, "seg-", 4) == 0) {
            snprintf(name, NAME_MAX + 1, "%s", entry->d_name);
            found++;
        }
    closedir(folder);
    if (found != 1)
        bench_fail("%s has %d segments; this can measure only one", path, found);
}

static bench_block_file open_file(const char *path, uint64_t block_count, uint64_t block_bytes)
{
    struct stat facts;
    bench_block_file file = {.fd = open(path, O_RDONLY | O_CLOEXEC), .block_count = block_count};
    bench_must_do(file.fd >= 0, "opening", path);
    bench_must_do(fstat(file.fd, &facts) == 0, "looking at", path);
    bench_must_do(fdatasync(file.fd) == 0, "syncing", path); /* what is not on the disk yet cannot be dropped */
    file.first_offset = (uint64_t)facts.st_size - block_count * block_bytes;
    return file;
}

bench_store_files bench_store_files_open(const char *path, const sstore *store)
{
    sstore_error error;
    sstore_statistics facts = {.struct_size = sizeof facts};
    sstore_table_statistics table = {.struct_size = sizeof table};
    char segment[NAME_MAX + 1], file_path[PATH_MAX];
    bench_must(sstore_stat(store, &facts, &error), &error);
    find_segment(path, segment);
    bench_store_files files = {.files = bench_alloc(facts.table_count + 1, sizeof *files.files),
                               .block_bytes = facts.block_bytes};
    for (uint32_t i = 0; i < facts.table_count; i++) {
        bench_must(sstore_stat_table(store, 0, i, &table, &error), &error);
        snprintf(file_path, sizeof file_path, "%s/%s/table-%02" PRIu32 ".blk", path, segment, i);
        files.files[files.count++] = open_file(file_path, table.block_count, files.block_bytes);
    }
    if (facts.has_ids) {
        snprintf(file_path, sizeof file_path, "%s/%s/ids.blk", path, segment);
        files.files[files.count++] = open_file(file_path, facts.ids_block_count, files.block_bytes);
    }
    return files;
}

void bench_store_files_close(bench_store_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        close(files->files[i].fd);
    free(files->files);
    *files = (bench_store_files){0};
}

/* The page cache keeps what is mapped and was touched. */
static void unmap_pages(void)
{
    char line[PATH_MAX + 128];
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        char *at = line; /* "begin-end ... path" */
        uintptr_t begin = strtoull(at, &at, 16), end = *at == '-' ? strtoull(at + 1, &at, 16) : begin;
        if (strstr(at, ".blk\n") != NULL)
            (void)madvise((void *)begin, end - begin, MADV_DONTNEED);
    }
    if (maps != NULL)
        fclose(maps);
}

void bench_store_files_drop(const bench_store_files *files)
{
    unmap_pages();
    for (size_t i = 0; i < files->count; i++)
        (void)posix_fadvise(files->files[i].fd, 0, 0, POSIX_FADV_DONTNEED);
}

/*
 * scratch.h - a temporary folder that is removed when the program ends, and functions for whole files. If a program was
 * killed, a later one removes its folder.
 */
#ifndef SUPPORT_SCRATCH_H
#define SUPPORT_SCRATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The program's scratch folder, made at the first call: below the first of /dev/shm, TMPDIR, /tmp and /var/tmp that
 * is writable and has 1 GiB of room; if none has, below the first that is writable. Removed with all that is in it
 * at exit. */
const char *scratch_folder(void);

/* A path in the scratch folder, in static storage that is used again after 16 calls. */
const char *scratch_path(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The path of a name in another scratch folder, which is on a disk where there is one: below TMPDIR, /var/tmp or /tmp.
 * /dev/shm has no reads that fail instead of waiting, so only this folder shows how a reader handles them. */
const char *scratch_disk_path(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Remove a file, or a folder with all that is in it; a missing one is ignored. */
void scratch_remove(const char *path);

bool scratch_exists(const char *path);

/* ----- whole files ----- */

typedef struct file_bytes {
    uint8_t *data;
    size_t size;
} file_bytes;

/* Read and write complete files; any error fails the test. Freed with file_bytes_free(). */
file_bytes file_load(const char *path);
void file_save(const char *path, const void *data, size_t size);
/* Write `size` bytes at an offset of an existing file. */
void file_patch(const char *path, size_t offset, const void *data, size_t size);
void file_bytes_free(file_bytes *content);

/* The regular files below a folder, as sorted paths relative to it. */
typedef struct file_list {
    char **names;
    size_t count;
} file_list;

/* List the files below the folder `path` whose names end in `suffix` ("": all). Freed with file_list_free(). */
file_list file_list_make(const char *path, const char *suffix);
void file_list_free(file_list *list);

/* Copy a folder with its files, and folders that have files. */
void folder_copy(const char *from, const char *to);
/* Write a folder's files out and drop them from the page cache, if possible. */
void folder_forget(const char *path);

/* Whether two folders hold the same files of that suffix, byte for byte; says which one differs. */
bool folders_equal(const char *left, const char *right, const char *suffix);

#endif

/*
 * file.h - files and folders by handle. Reads and writes are complete or fail, and errors name the file.
 *
 * Files in a folder are opened relative to its handle and without following symbolic links. So a folder that is renamed
 * stays readable, and no name leads out of it. All other modules reach the file system through this one. Functions that
 * return a status fail with IO, or with MEMORY if memory is short; further errors are named.
 */
#ifndef SS_FILE_H
#define SS_FILE_H

#include "base/common.h"

/* An open folder, closed if it is SS_DIR_NONE. `path` is for messages. */
typedef struct ss_dir {
    int fd;
    char *path;
} ss_dir;

/* An open regular file, closed if it is SS_FILE_NONE. `path` is for messages. */
typedef struct ss_file {
    int fd;
    char *path;
    uint64_t opened_bytes; /* the size when ss_file_open_at() opened it */
} ss_file;

#define SS_DIR_NONE ((ss_dir){.fd = -1, .path = NULL})
#define SS_FILE_NONE ((ss_file){.fd = -1, .path = NULL})

/* Whether anything exists at a path, even a dangling link. True if that is unknown. */
bool ss_path_is_taken(const char *path);

/* ----- folders ----- */

/* Open a folder by path. NOT_FOUND if there is none. */
sstore_status ss_dir_open(const char *path, ss_dir *dir_out, sstore_error *error);
/* Open another handle on the same folder. */
sstore_status ss_dir_copy(const ss_dir *dir, ss_dir *copy_out, sstore_error *error);
/* Open the folder `name` in `parent`. NOT_FOUND if there is none; a symbolic link does not count. */
sstore_status ss_dir_open_at(const ss_dir *parent, const char *name, ss_dir *dir_out, sstore_error *error);
/* Create a folder in another one. EXISTS if the name is taken. */
sstore_status ss_dir_make_at(const ss_dir *parent, const char *name, sstore_error *error);
/* Create a folder with a new name that begins with the prefix, for its owner only. *path_out is its path, to be
 * freed. */
sstore_status ss_dir_make_unique(const ss_dir *parent, const char *prefix, char **path_out, sstore_error *error);
/* Make the folder's entries durable. */
sstore_status ss_dir_sync(const ss_dir *dir, sstore_error *error);
/* Make the folder's own entry in its parent durable. */
sstore_status ss_dir_sync_parent(const ss_dir *dir, sstore_error *error);
/* Rename within a folder; replaces a file of the new name. */
sstore_status ss_dir_rename(const ss_dir *dir, const char *from, const char *to, sstore_error *error);
/* Lock the folder until it is closed or the process dies. BUSY, with the message `busy`, if another one has the
 * lock. */
sstore_status ss_dir_lock(const ss_dir *dir, const char *busy, sstore_error *error);
/* Get the bytes that may still be written to the folder's file system. */
sstore_status ss_dir_free_bytes(const ss_dir *dir, uint64_t *bytes_out, sstore_error *error);
/* Whether two folders are on the same file system. */
bool ss_dir_same_device(const ss_dir *a, const ss_dir *b);
/* Remove the folder, which was opened at `path`, if it is empty and still has that name in its parent. The path is not
 * followed again, since a relative one may lead elsewhere by now. */
void ss_dir_remove_self(const ss_dir *dir, const char *path);
/* Whether `path` now leads to the folder. */
bool ss_dir_is_at(const ss_dir *dir, const char *path);
/* Whether the folder has anything of that name, a folder, or a regular file of that size. */
bool ss_dir_has(const ss_dir *dir, const char *name);
bool ss_dir_has_folder(const ss_dir *dir, const char *name);
bool ss_dir_has_file(const ss_dir *dir, const char *name, uint64_t bytes);
/* Remove a file if possible; a folder stays. */
void ss_dir_unlink(const ss_dir *dir, const char *name);
/* Remove a file, or a folder with the files in it (no deeper), as far as possible. */
void ss_dir_remove(const ss_dir *dir, const char *name);
/* Call `visit` for every name but . and .. until it returns false. */
sstore_status ss_dir_each(const ss_dir *dir, bool (*visit)(void *context, const char *name), void *context,
                          sstore_error *error);
void ss_dir_close(ss_dir *dir);

/* ----- files ----- */

/* Open for reading. NOT_FOUND; DAMAGED if it is a symbolic link or no regular file. */
sstore_status ss_file_open_at(const ss_dir *dir, const char *name, ss_file *file_out, sstore_error *error);
/* Create for reading and writing. EXISTS if the name is taken. */
sstore_status ss_file_create_at(const ss_dir *dir, const char *name, ss_file *file_out, sstore_error *error);
/* The prefix of a temporary name, which a file has for a moment if the file system cannot create unnamed files. */
#define SS_TEMPORARY_PREFIX "sstore-run-"
/* Create an unnamed file in a folder, readable by its owner only. Closing removes it. */
sstore_status ss_file_create_unnamed(const ss_dir *dir, ss_file *file_out, sstore_error *error);
/* Add the file `name` of one folder to another one: by a hard link, or by a copy if the file system refuses links.
 * Makes the contents durable, but not the new entry. The file must not be written to after this. */
sstore_status ss_file_link_or_copy(const ss_dir *from, const ss_dir *to, const char *name, sstore_error *error);
/* Read `size` bytes from a file's start, and write them to `to` unless that is NULL. *hash_out is their XXH3-128. */
struct ss_u128;
sstore_status ss_file_copy(const ss_file *from, const ss_file *to, uint64_t size, struct ss_u128 *hash_out,
                           sstore_error *error);
sstore_status ss_file_size(const ss_file *file, uint64_t *bytes_out, sstore_error *error);

/* Distinguishes a file from a later one in its place, even with equal bytes and inode: their change times differ. */
typedef struct ss_file_identity {
    uint64_t device, number, size;
    int64_t changed_seconds, changed_nanoseconds;
} ss_file_identity;

sstore_status ss_file_identify(const ss_file *file, ss_file_identity *identity_out, sstore_error *error);
bool ss_file_same(const ss_file_identity *a, const ss_file_identity *b);

/* Read exactly `size` bytes at `offset`. DAMAGED if the file ends before. */
sstore_status ss_file_read_at(const ss_file *file, uint64_t offset, void *buffer, size_t size, sstore_error *error);
/* Read without waiting. False if a part is not in the page cache, or the file system does not support this. */
bool ss_file_try_read(const ss_file *file, uint64_t offset, void *buffer, size_t size);
/* Start reading a part into the page cache. */
void ss_file_will_need(const ss_file *file, uint64_t offset, uint64_t size);
/* Turn off the system's read-ahead, for reads in random order. */
void ss_file_expect_random(const ss_file *file);
sstore_status ss_file_write_at(const ss_file *file, uint64_t offset, const void *data, size_t size,
                               sstore_error *error);

/* A part of memory that ss_file_write_parts_at() writes. */
typedef struct ss_file_part {
    const void *data;
    size_t size;
} ss_file_part;

/* Write `count` (at most 1024) consecutive parts. */
sstore_status ss_file_write_parts_at(const ss_file *file, uint64_t offset, const ss_file_part *parts, uint32_t count,
                                     sstore_error *error);
/* Start writing a part to the disk, so that a later ss_file_sync() waits less. */
void ss_file_start_writing(const ss_file *file, uint64_t offset, uint64_t size);
/* Free the disk space of a part, if the file system can. */
void ss_file_punch(const ss_file *file, uint64_t offset, uint64_t size);
sstore_status ss_file_sync(const ss_file *file, sstore_error *error);
/* Map `size` bytes from the start for reads in random order. Unmap with ss_unmap(). */
sstore_status ss_file_map(const ss_file *file, uint64_t size, const uint8_t **map_out, sstore_error *error);
/* Read a part of a map from the disk. A part that cannot be read fails here, instead of ending the process with SIGBUS
 * when it is touched. DAMAGED if the file ends before it. */
sstore_status ss_file_map_read(const ss_file *file, const uint8_t *map, uint64_t offset, size_t size,
                               sstore_error *error);
/* Copy a part of a map whose file was closed, with the same errors as a read. */
sstore_status ss_file_map_copy(const ss_file *file, const uint8_t *map, uint64_t offset, void *buffer, size_t size,
                               sstore_error *error);

void ss_unmap(const uint8_t *map, uint64_t size);
/* Copy a file of `size` bytes into memory, as a sealed file. *hash_out is the XXH3-128 of its bytes. */
sstore_status ss_file_load_sealed(const ss_file *file, uint64_t size, ss_file *memory_out, struct ss_u128 *hash_out,
                                  sstore_error *error);
/* Close the handle only; the path stays, for messages. */
void ss_file_release(ss_file *file);
/* Close. Errors that matter were reported by ss_file_sync(). */
void ss_file_close(ss_file *file);

#endif

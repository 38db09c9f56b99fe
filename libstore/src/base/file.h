/*
 * file.h - files and folders by handle, with whole reads and writes and errors that name the file.
 *
 * Everything inside a store is opened relative to the store's folder handle and without following symbolic links, so a
 * store that is renamed stays readable and no name leads out of it. All other modules go through this one to the
 * system.
 */
#ifndef SS_FILE_H
#define SS_FILE_H

#include "base/common.h"

/* Files are copied and hashed in pieces of so many bytes. Allocated buffers come zeroed, which costs small files more than larger
 * pieces save large ones. */
#define SS_COPY_BYTES ((size_t)1 << 16)

/* An open folder. `path` is for messages. A zeroed one is closed but for its fd: use SS_DIR_NONE. */
typedef struct ss_dir {
    int fd;
    char *path;
} ss_dir;

/* An open regular file. `path` is for messages. */
typedef struct ss_file {
    int fd;
    char *path;
} ss_file;

#define SS_DIR_NONE ((ss_dir){.fd = -1, .path = NULL})
#define SS_FILE_NONE ((ss_file){.fd = -1, .path = NULL})

/* ----- folders ----- */

/* Open a folder by path. NOT_FOUND where there is nothing or something else. */
sstore_status ss_dir_open(const char *path, ss_dir *dir_out, sstore_error *error);
/* A handle of one's own on the same folder. IO, MEMORY. */
sstore_status ss_dir_copy(const ss_dir *dir, ss_dir *copy_out, sstore_error *error);
/* Open the folder `name` inside `parent`. NOT_FOUND where there is nothing or something else, such as a symbolic link. */
sstore_status ss_dir_open_at(const ss_dir *parent, const char *name, ss_dir *dir_out, sstore_error *error);
sstore_status ss_dir_make_at(const ss_dir *parent, const char *name, sstore_error *error);
/* Make the folder's entries durable. */
sstore_status ss_dir_sync(const ss_dir *dir, sstore_error *error);
/* Make the folder's own entry durable, in the folder that it is in. */
sstore_status ss_dir_sync_parent(const ss_dir *dir, sstore_error *error);
/* Rename within one folder; replaces a file of the new name. */
sstore_status ss_dir_rename(const ss_dir *dir, const char *from, const char *to, sstore_error *error);
/* Take the writer's lock, which ends when the folder is closed or the process dies. BUSY if someone has it. */
sstore_status ss_dir_lock(const ss_dir *dir, sstore_error *error);
/* The bytes that may still be written to the folder's file system, and whether two folders are on the same one. IO. */
sstore_status ss_dir_free_bytes(const ss_dir *dir, uint64_t *bytes_out, sstore_error *error);
bool ss_dir_same_device(const ss_dir *a, const ss_dir *b);
/* Whether the folder is what a path leads to now. */
bool ss_dir_is_at(const ss_dir *dir, const char *path);
/* Whether there is anything of that name. */
bool ss_dir_has(const ss_dir *dir, const char *name);
/* Whether there is a folder of that name. */
bool ss_dir_has_folder(const ss_dir *dir, const char *name);
/* Whether there is a regular file of that name and size. */
bool ss_dir_has_file(const ss_dir *dir, const char *name, uint64_t bytes);
/* Remove a file, as far as possible; a folder stays. */
void ss_dir_unlink(const ss_dir *dir, const char *name);
/* Remove a file, or a folder with the files in it (no deeper), as far as possible; what is not there is no error. */
void ss_dir_remove(const ss_dir *dir, const char *name);
/* Call `visit` for every name but . and ..; stops when it returns false. */
sstore_status ss_dir_each(const ss_dir *dir, bool (*visit)(void *context, const char *name), void *context,
                          sstore_error *error);
void ss_dir_close(ss_dir *dir);

/* ----- files ----- */

/* Open for reading. NOT_FOUND or IO; a symbolic link or anything but a regular file is DAMAGED. */
sstore_status ss_file_open_at(const ss_dir *dir, const char *name, ss_file *file_out, sstore_error *error);
/* Create for reading and writing; EXISTS if there is one. */
sstore_status ss_file_create_at(const ss_dir *dir, const char *name, ss_file *file_out, sstore_error *error);
/* Have the file `name` of one folder in another one as well, durably but for the other folder's entry: by a hard
 * link, or where there is none to be had, by a copy. The file must not be written to any more. */
sstore_status ss_file_share(const ss_dir *from, const ss_dir *to, const char *name, sstore_error *error);
/* A nameless file in a folder, for its owner alone, gone when it is closed. Where the file system has none, it has a name for
 * a moment. IO, MEMORY. */
sstore_status ss_file_create_nameless(const ss_dir *dir, ss_file *file_out, sstore_error *error);
sstore_status ss_file_size(const ss_file *file, uint64_t *bytes_out, sstore_error *error);
/* What tells a file from another one that has come in its place, with the same bytes even: the next of the same number was
 * changed at another time. */
typedef struct ss_file_identity {
    uint64_t device, number, size;
    int64_t changed_seconds, changed_nanoseconds;
} ss_file_identity;

sstore_status ss_file_identify(const ss_file *file, ss_file_identity *identity_out, sstore_error *error);
bool ss_file_same(const ss_file_identity *a, const ss_file_identity *b);
/* Read exactly `size` bytes at `offset`; a file that ends before is DAMAGED. */
sstore_status ss_file_read_at(const ss_file *file, uint64_t offset, void *buffer, size_t size, sstore_error *error);
/* The same without waiting: false, and nothing reported, if some of it is not in the page cache, or the file system does not
 * know how. */
bool ss_file_try_read(const ss_file *file, uint64_t offset, void *buffer, size_t size);
/* The part of the file will be read soon: have it read into the page cache meanwhile. */
void ss_file_will_need(const ss_file *file, uint64_t offset, uint64_t size);
/* Reads will come in no order: read nothing but what is asked for. */
void ss_file_expect_random(const ss_file *file);
sstore_status ss_file_write_at(const ss_file *file, uint64_t offset, const void *data, size_t size,
                               sstore_error *error);
/* A part of memory, to be written between others. */
typedef struct ss_file_part {
    const void *data;
    size_t size;
} ss_file_part;

/* Write `count` (at most 1024) parts one behind the other. */
sstore_status ss_file_write_parts_at(const ss_file *file, uint64_t offset, const ss_file_part *parts, uint32_t count,
                                     sstore_error *error);
/* Have what was written there begin its way to the disk, so that a later ss_file_sync has less to wait for. */
void ss_file_start_writing(const ss_file *file, uint64_t offset, uint64_t size);
/* Give the part's room on the disk back, where the file system can. */
void ss_file_punch(const ss_file *file, uint64_t offset, uint64_t size);
sstore_status ss_file_sync(const ss_file *file, sstore_error *error);
/* Map `size` bytes from the start for reading, in no order. Unmap with ss_unmap. */
sstore_status ss_file_map(const ss_file *file, uint64_t size, const uint8_t **map_out, sstore_error *error);
/* Read a part of a map from the disk, so that touching it soon afterwards ends no process: what cannot be read is an error here. IO;
 * DAMAGED where the file ends before it. */
sstore_status ss_file_map_read(const ss_file *file, const uint8_t *map, uint64_t offset, size_t size, sstore_error *error);
void ss_unmap(const uint8_t *map, uint64_t size);
/* Give up the handle; the path stays, for messages. */
void ss_file_release(ss_file *file);
/* Close for good; errors that matter were seen at sync. */
void ss_file_close(ss_file *file);

/* A sealed, nameless file in memory with the bytes of `file`, which must be `size` long; *sum_out is XXH3-128 over them.
 * What was hashed is what is in it: nobody can change it afterwards. */
struct ss_u128;
sstore_status ss_file_load_sealed(const ss_file *file, uint64_t size, ss_file *memory_out, struct ss_u128 *sum_out,
                                  sstore_error *error);

/* Whether there is anything at a path, also a link that leads nowhere, as far as can be told. */
bool ss_path_is_taken(const char *path);

/* A path of two parts, to be freed with ss_free; NULL where memory fails. */
char *ss_path_join(const char *folder, const char *name);

#endif

#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/platform.h"

/* The piece size of copying and hashing. The buffer is zeroed, so a larger one costs small files more than it saves
 * large ones. */
#define COPY_BYTES ((size_t)1 << 16)
#define MAX_PARTS 1024u                /* the system takes no more at once */
#define MAX_TRANSFER ((size_t)1 << 30) /* Linux moves at most 2 GiB - 4 KiB in one call */
#define MAX_NAME_ATTEMPTS 100u
#define READ_AROUND_BYTES 65536u /* Linux reads about as many around a page of a map */

static sstore_status fail_io(sstore_error *error, const char *path, uint64_t offset, const char *what)
{
    return ss_fail(error, errno == ENOMEM ? SSTORE_ERROR_MEMORY : SSTORE_ERROR_IO, errno, path, offset, "%s failed",
                   what);
}

bool ss_path_is_taken(const char *path)
{
    struct stat info;
    return lstat(path, &info) == 0 || errno != ENOENT;
}

/* A path of two parts; NULL if there is no memory. */
static char *join_path(const char *folder, const char *name)
{
    const size_t folder_length = strlen(folder), size = folder_length + strlen(name) + 2;
    const bool has_slash = folder_length > 0 && folder[folder_length - 1] == '/';
    char *path = ss_realloc(NULL, size, 1);
    if (path != NULL)
        snprintf(path, size, "%s%s%s", folder, has_slash ? "" : "/", name);
    return path;
}

/* ----- folders ----- */

sstore_status ss_dir_open(const char *path, ss_dir *dir_out, sstore_error *error)
{
    *dir_out = SS_DIR_NONE;
    dir_out->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir_out->fd < 0)
        return ss_fail(error, errno == ENOENT || errno == ENOTDIR ? SSTORE_ERROR_NOT_FOUND : SSTORE_ERROR_IO, errno,
                       path, SSTORE_NO_OFFSET, "cannot open the folder");
    dir_out->path = ss_strdup(path);
    if (dir_out->path != NULL)
        return SSTORE_OK;
    ss_dir_close(dir_out);
    return ss_fail_memory(error, strlen(path));
}

sstore_status ss_dir_copy(const ss_dir *dir, ss_dir *copy_out, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    *copy_out = (ss_dir){.fd = fcntl(dir->fd, F_DUPFD_CLOEXEC, 0), .path = ss_strdup(dir->path)};
    if (copy_out->fd < 0)
        status = ss_fail(error, SSTORE_ERROR_IO, errno, dir->path, SSTORE_NO_OFFSET, "cannot reopen the folder");
    else if (copy_out->path == NULL)
        status = ss_fail_memory(error, strlen(dir->path));
    if (status != SSTORE_OK)
        ss_dir_close(copy_out);
    return status;
}

sstore_status ss_dir_open_at(const ss_dir *parent, const char *name, ss_dir *dir_out, sstore_error *error)
{
    *dir_out = (ss_dir){.fd = -1, .path = join_path(parent->path, name)};
    if (dir_out->path == NULL)
        return ss_fail_memory(error, strlen(name));
    dir_out->fd = openat(parent->fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (dir_out->fd >= 0)
        return SSTORE_OK;
    const int reason = errno;
    const bool is_other = reason == ENOTDIR || reason == ELOOP;
    struct stat info;
    const char *what = "cannot open the folder";
    if (is_other)
        what = fstatat(parent->fd, name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(info.st_mode)
                   ? "is a symbolic link, which is not followed"
                   : "is not a folder";
    const sstore_status status = ss_fail(error, is_other || reason == ENOENT ? SSTORE_ERROR_NOT_FOUND : SSTORE_ERROR_IO,
                                         reason, dir_out->path, SSTORE_NO_OFFSET, "%s", what);
    ss_dir_close(dir_out);
    return status;
}

sstore_status ss_dir_make_at(const ss_dir *parent, const char *name, sstore_error *error)
{
    if (mkdirat(parent->fd, name, 0777) == 0)
        return SSTORE_OK;
    if (errno == EACCES || errno == EROFS)
        return ss_fail(error, SSTORE_ERROR_IO, errno, parent->path, SSTORE_NO_OFFSET, "cannot write to the folder");
    return ss_fail(error, errno == EEXIST ? SSTORE_ERROR_EXISTS : SSTORE_ERROR_IO, errno, parent->path,
                   SSTORE_NO_OFFSET, "cannot create the folder '%s'", name);
}

sstore_status ss_dir_make_unique(const ss_dir *parent, const char *prefix, char **path_out, sstore_error *error)
{
    const size_t size = strlen(parent->path) + strlen(prefix) + sizeof "/XXXXXX";
    char *path = *path_out = ss_alloc(size, 1);
    if (path == NULL)
        return ss_fail_memory(error, size);
    (void)snprintf(path, size, "%s/%sXXXXXX", parent->path, prefix);
    if (mkdtemp(path) != NULL)
        return SSTORE_OK;
    ss_free(path);
    *path_out = NULL;
    return ss_fail(error, SSTORE_ERROR_IO, errno, parent->path, SSTORE_NO_OFFSET, "cannot create a folder in it");
}

sstore_status ss_dir_sync(const ss_dir *dir, sstore_error *error)
{
    return fsync(dir->fd) == 0 ? SSTORE_OK : fail_io(error, dir->path, SSTORE_NO_OFFSET, "fsync");
}

sstore_status ss_dir_sync_parent(const ss_dir *dir, sstore_error *error)
{
    ss_dir parent = SS_DIR_NONE;
    sstore_error reason;
    sstore_status status = ss_dir_open_at(dir, "..", &parent, &reason);
    if (status == SSTORE_OK)
        status = ss_dir_sync(&parent, error);
    else if (reason.system_errno == EACCES) /* the parent is not readable: sync the file system instead */
        status = ss_platform_sync_file_system(dir->fd)
                     ? SSTORE_OK
                     : fail_io(error, dir->path, SSTORE_NO_OFFSET, "syncing its file system");
    else
        status = ss_fail_as(error, &reason);
    ss_dir_close(&parent);
    return status;
}

sstore_status ss_dir_rename(const ss_dir *dir, const char *from, const char *to, sstore_error *error)
{
    if (renameat(dir->fd, from, dir->fd, to) == 0)
        return SSTORE_OK;
    return ss_fail(error, SSTORE_ERROR_IO, errno, dir->path, SSTORE_NO_OFFSET, "cannot rename '%s' to '%s'", from, to);
}

sstore_status ss_dir_lock(const ss_dir *dir, const char *busy, sstore_error *error)
{
    while (flock(dir->fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EINTR)
            continue;
        if (errno == EWOULDBLOCK)
            return ss_fail(error, SSTORE_ERROR_BUSY, 0, dir->path, SSTORE_NO_OFFSET, "%s", busy);
        return fail_io(error, dir->path, SSTORE_NO_OFFSET, "flock");
    }
    return SSTORE_OK;
}

sstore_status ss_dir_free_bytes(const ss_dir *dir, uint64_t *bytes_out, sstore_error *error)
{
    struct statvfs info;
    if (fstatvfs(dir->fd, &info) != 0)
        return fail_io(error, dir->path, SSTORE_NO_OFFSET, "fstatvfs");
    *bytes_out = (uint64_t)info.f_bavail * info.f_frsize;
    return SSTORE_OK;
}

static bool is_same(const ss_dir *dir, int at, const char *path, int flags)
{
    struct stat own, there;
    return fstat(dir->fd, &own) == 0 && fstatat(at, path, &there, flags) == 0 && own.st_dev == there.st_dev &&
           own.st_ino == there.st_ino;
}

void ss_dir_remove_self(const ss_dir *dir, const char *path)
{
    char sibling[NAME_MAX + 4] = "../";
    size_t end = strlen(path), begin;
    while (end > 0 && path[end - 1] == '/')
        end--;
    for (begin = end; begin > 0 && path[begin - 1] != '/'; begin--)
        ;
    if (end - begin > NAME_MAX)
        return;
    memcpy(sibling + 3, path + begin, end - begin);
    if (is_same(dir, dir->fd, sibling, AT_SYMLINK_NOFOLLOW))
        (void)unlinkat(dir->fd, sibling, AT_REMOVEDIR);
}

bool ss_dir_is_at(const ss_dir *dir, const char *path)
{
    return is_same(dir, AT_FDCWD, path, 0);
}

bool ss_dir_same_device(const ss_dir *a, const ss_dir *b)
{
    struct stat first, second;
    return fstat(a->fd, &first) == 0 && fstat(b->fd, &second) == 0 && first.st_dev == second.st_dev;
}

bool ss_dir_has(const ss_dir *dir, const char *name)
{
    struct stat info;
    return fstatat(dir->fd, name, &info, AT_SYMLINK_NOFOLLOW) == 0;
}

bool ss_dir_has_folder(const ss_dir *dir, const char *name)
{
    struct stat info;
    return fstatat(dir->fd, name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(info.st_mode);
}

bool ss_dir_has_file(const ss_dir *dir, const char *name, uint64_t bytes)
{
    struct stat info;
    return fstatat(dir->fd, name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(info.st_mode) &&
           (uint64_t)info.st_size == bytes;
}

sstore_status ss_dir_each(const ss_dir *dir, bool (*visit)(void *context, const char *name), void *context,
                          sstore_error *error)
{
    /* A new handle, because duplicates share the position that reading moves. */
    int fd = openat(dir->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = fd < 0 ? NULL : fdopendir(fd);
    if (stream == NULL) {
        sstore_status status = fail_io(error, dir->path, SSTORE_NO_OFFSET, "open");
        if (fd >= 0)
            close(fd);
        return status;
    }
    const struct dirent *entry;
    bool go_on = true;
    errno = 0; /* only errno distinguishes a failure from the end */
    while (go_on && (entry = readdir(stream)) != NULL) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            go_on = visit(context, entry->d_name);
        errno = 0;
    }
    const sstore_status status = errno == 0 ? SSTORE_OK : fail_io(error, dir->path, SSTORE_NO_OFFSET, "readdir");
    closedir(stream);
    return status;
}

void ss_dir_unlink(const ss_dir *dir, const char *name)
{
    (void)unlinkat(dir->fd, name, 0);
}

static bool remove_entry(void *context, const char *name)
{
    ss_dir_unlink(context, name);
    return true;
}

void ss_dir_remove(const ss_dir *dir, const char *name)
{
    ss_dir inner;
    if (unlinkat(dir->fd, name, 0) == 0 || ss_dir_open_at(dir, name, &inner, NULL) != SSTORE_OK)
        return;
    (void)ss_dir_each(&inner, remove_entry, &inner, NULL);
    ss_dir_close(&inner);
    (void)unlinkat(dir->fd, name, AT_REMOVEDIR);
}

void ss_dir_close(ss_dir *dir)
{
    if (dir->fd >= 0)
        close(dir->fd);
    ss_free(dir->path);
    *dir = SS_DIR_NONE;
}

/* ----- files ----- */

sstore_status ss_file_open_at(const ss_dir *dir, const char *name, ss_file *file_out, sstore_error *error)
{
    *file_out = (ss_file){.fd = -1, .path = join_path(dir->path, name)};
    if (file_out->path == NULL)
        return ss_fail_memory(error, strlen(name));
    /* O_NONBLOCK: a FIFO in place of a file must not block the reader. */
    file_out->fd = openat(dir->fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat info = {.st_mode = 0};
    sstore_status status = SSTORE_OK;
    if (file_out->fd < 0 && errno == ENOENT)
        status = ss_fail(error, SSTORE_ERROR_NOT_FOUND, errno, file_out->path, SSTORE_NO_OFFSET,
                         "cannot open the file");
    else if (file_out->fd < 0 && errno == ELOOP)
        status = ss_fail_damaged(error, file_out->path, SSTORE_NO_OFFSET, "is a symbolic link, which is not followed");
    else if ((file_out->fd < 0 && errno != ENXIO) || (file_out->fd >= 0 && fstat(file_out->fd, &info) != 0))
        status = fail_io(error, file_out->path, SSTORE_NO_OFFSET, "open");
    else if (!S_ISREG(info.st_mode)) /* also a socket, which cannot be opened: ENXIO */
        status = ss_fail_damaged(error, file_out->path, SSTORE_NO_OFFSET, "is not a regular file");
    file_out->opened_bytes = (uint64_t)info.st_size;
    if (status != SSTORE_OK)
        ss_file_close(file_out);
    return status;
}

sstore_status ss_file_create_at(const ss_dir *dir, const char *name, ss_file *file_out, sstore_error *error)
{
    *file_out = (ss_file){.fd = -1, .path = join_path(dir->path, name)};
    if (file_out->path == NULL)
        return ss_fail_memory(error, strlen(name));
    file_out->fd = openat(dir->fd, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (file_out->fd >= 0)
        return SSTORE_OK;
    const sstore_status status = ss_fail(error, errno == EEXIST ? SSTORE_ERROR_EXISTS : SSTORE_ERROR_IO, errno,
                                         file_out->path, SSTORE_NO_OFFSET, "cannot create the file");
    ss_file_close(file_out);
    return status;
}

/* Whether a hard link was refused because the file system has none or no more, or forbids links to files of others. */
static bool is_without_links(int system_errno)
{
    return system_errno == EPERM || system_errno == EOPNOTSUPP || system_errno == ENOSYS || system_errno == EMLINK ||
           system_errno == EXDEV;
}

sstore_status ss_file_copy(const ss_file *from, const ss_file *to, uint64_t size, ss_u128 *hash_out,
                           sstore_error *error)
{
    ss_hash_state hash;
    sstore_status status = SSTORE_OK;
    uint8_t *chunk = ss_alloc(1, COPY_BYTES);
    if (chunk == NULL)
        return ss_fail_memory(error, COPY_BYTES);
    ss_hash_state_init(&hash);
    for (uint64_t offset = 0; status == SSTORE_OK && offset < size; offset += COPY_BYTES) {
        const size_t piece = (size_t)ss_min_u64(size - offset, COPY_BYTES);
        status = ss_file_read_at(from, offset, chunk, piece, error);
        if (status == SSTORE_OK && to != NULL)
            status = ss_file_write_at(to, offset, chunk, piece, error);
        ss_hash_state_add(&hash, chunk, piece);
    }
    *hash_out = ss_hash_state_digest(&hash);
    ss_free(chunk);
    return status;
}

sstore_status ss_file_link_or_copy(const ss_dir *from, const ss_dir *to, const char *name, sstore_error *error)
{
    ss_file file = SS_FILE_NONE, copy = SS_FILE_NONE;
    ss_u128 hash;
    const bool linked = linkat(from->fd, name, to->fd, name, 0) == 0;
    if (!linked && !is_without_links(errno))
        return ss_fail(error, SSTORE_ERROR_IO, errno, from->path, SSTORE_NO_OFFSET, "cannot create a hard link to '%s'",
                       name);
    sstore_status status = ss_file_open_at(from, name, &file, error);
    if (status == SSTORE_OK && !linked)
        status = ss_file_create_at(to, name, &copy, error);
    if (status == SSTORE_OK && !linked)
        status = ss_file_copy(&file, &copy, file.opened_bytes, &hash, error);
    if (status == SSTORE_OK) /* also after a link: the file's writer may not have synced it */
        status = ss_file_sync(linked ? &file : &copy, error);
    ss_file_close(&copy);
    ss_file_close(&file);
    return status;
}

sstore_status ss_file_create_unnamed(const ss_dir *dir, ss_file *file_out, sstore_error *error)
{
    *file_out = (ss_file){.fd = -1, .path = join_path(dir->path, "(temporary file)")};
    if (file_out->path == NULL)
        return ss_fail_memory(error, strlen(dir->path));
    int fd = ss_platform_create_unnamed(dir->fd);
    if (fd < 0 && errno == EOPNOTSUPP) {
        /* The file has a name for a moment. Other builds may use the same names. */
        char name[64];
        for (uint32_t attempt = 0; attempt < MAX_NAME_ATTEMPTS && fd < 0 && (attempt == 0 || errno == EEXIST);
             attempt++) {
            snprintf(name, sizeof name, SS_TEMPORARY_PREFIX "%ld-%p-%u", (long)getpid(), (void *)file_out, attempt);
            fd = openat(dir->fd, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        }
        if (fd >= 0)
            (void)unlinkat(dir->fd, name, 0);
    }
    file_out->fd = fd;
    if (fd >= 0)
        return SSTORE_OK;
    const sstore_status status = ss_fail(error, errno == ENOMEM ? SSTORE_ERROR_MEMORY : SSTORE_ERROR_IO, errno,
                                         dir->path, SSTORE_NO_OFFSET,
                                         "cannot create a temporary file here (set tmp_dir to another folder)");
    ss_file_close(file_out);
    return status;
}

sstore_status ss_file_size(const ss_file *file, uint64_t *bytes_out, sstore_error *error)
{
    ss_file_identity identity = {.size = 0};
    const sstore_status status = ss_file_identify(file, &identity, error);
    *bytes_out = identity.size;
    return status;
}

sstore_status ss_file_identify(const ss_file *file, ss_file_identity *identity_out, sstore_error *error)
{
    struct stat info;
    if (fstat(file->fd, &info) != 0)
        return fail_io(error, file->path, SSTORE_NO_OFFSET, "fstat");
    *identity_out = (ss_file_identity){.device = info.st_dev,
                                       .number = info.st_ino,
                                       .size = (uint64_t)info.st_size,
                                       .changed_seconds = info.st_ctim.tv_sec,
                                       .changed_nanoseconds = info.st_ctim.tv_nsec};
    return SSTORE_OK;
}

bool ss_file_same(const ss_file_identity *a, const ss_file_identity *b)
{
    return a->device == b->device && a->number == b->number && a->size == b->size &&
           a->changed_seconds == b->changed_seconds && a->changed_nanoseconds == b->changed_nanoseconds;
}

sstore_status ss_file_read_at(const ss_file *file, uint64_t offset, void *buffer, size_t size, sstore_error *error)
{
    uint8_t *to = buffer;
    while (size > 0) {
        ssize_t got = pread(file->fd, to, size < MAX_TRANSFER ? size : MAX_TRANSFER, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return fail_io(error, file->path, offset, "read");
        if (got == 0)
            return ss_fail_damaged(error, file->path, offset, "the file ends %zu bytes too early", size);
        to += got;
        offset += (uint64_t)got;
        size -= (size_t)got;
    }
    return SSTORE_OK;
}

bool ss_file_try_read(const ss_file *file, uint64_t offset, void *buffer, size_t size)
{
    return ss_platform_read_cached(file->fd, offset, buffer, size);
}

void ss_file_will_need(const ss_file *file, uint64_t offset, uint64_t size)
{
    if (file->fd >= 0)
        ss_platform_will_need(file->fd, offset, size);
}

void ss_file_expect_random(const ss_file *file)
{
    ss_platform_expect_random(file->fd);
}

sstore_status ss_file_write_at(const ss_file *file, uint64_t offset, const void *data, size_t size, sstore_error *error)
{
    const uint8_t *from = data;
    while (size > 0) {
        ssize_t put = pwrite(file->fd, from, size < MAX_TRANSFER ? size : MAX_TRANSFER, (off_t)offset);
        if (put < 0 && errno == EINTR)
            continue;
        if (put == 0) /* a write of 0 bytes sets no errno */
            errno = EIO;
        if (put <= 0)
            return fail_io(error, file->path, offset, "write");
        from += put;
        offset += (uint64_t)put;
        size -= (size_t)put;
    }
    return SSTORE_OK;
}

sstore_status ss_file_write_parts_at(const ss_file *file, uint64_t offset, const ss_file_part *parts, uint32_t count,
                                     sstore_error *error)
{
    struct iovec vectors[MAX_PARTS];
    size_t bytes = 0;
    assert(count <= MAX_PARTS);
    for (uint32_t i = 0; i < count; i++) {
        vectors[i] = (struct iovec){.iov_base = (void *)(uintptr_t)parts[i].data, .iov_len = parts[i].size};
        bytes += parts[i].size;
    }
    ssize_t put = count == 0 ? 0 : pwritev(file->fd, vectors, (int)count, (off_t)offset);
    if (put == (ssize_t)bytes)
        return SSTORE_OK;
    /* Interrupted, short or failed: write the remaining bytes part by part, which also gives the error. */
    size_t done = put < 0 ? 0 : (size_t)put;
    for (uint32_t i = 0; i < count; i++) {
        size_t skipped = done < parts[i].size ? done : parts[i].size;
        const uint8_t *from = (const uint8_t *)parts[i].data + skipped;
        sstore_status status = ss_file_write_at(file, offset + skipped, from, parts[i].size - skipped, error);
        if (status != SSTORE_OK)
            return status;
        offset += parts[i].size;
        done -= skipped;
    }
    return SSTORE_OK;
}

void ss_file_start_writing(const ss_file *file, uint64_t offset, uint64_t size)
{
    ss_platform_start_writing(file->fd, offset, size);
}

void ss_file_punch(const ss_file *file, uint64_t offset, uint64_t size)
{
    if (size > 0)
        ss_platform_punch(file->fd, offset, size);
}

sstore_status ss_file_sync(const ss_file *file, sstore_error *error)
{
    return fsync(file->fd) == 0 ? SSTORE_OK : fail_io(error, file->path, SSTORE_NO_OFFSET, "fsync");
}

sstore_status ss_file_map(const ss_file *file, uint64_t size, const uint8_t **map_out, sstore_error *error)
{
    *map_out = NULL;
    if (size == 0)
        return SSTORE_OK;
    void *map = mmap(NULL, size, PROT_READ, MAP_SHARED, file->fd, 0);
    if (map == MAP_FAILED)
        return fail_io(error, file->path, SSTORE_NO_OFFSET, "mmap");
    if (size > READ_AROUND_BYTES) /* a smaller one is read at once */
        (void)posix_madvise(map, size, POSIX_MADV_RANDOM);
    *map_out = map;
    return SSTORE_OK;
}

static sstore_status fail_closed(const ss_file *file, uint64_t offset, sstore_error *error)
{
    return ss_fail(error, SSTORE_ERROR_IO, EIO, file->path, offset, "the file cannot be read, or was cut short");
}

sstore_status ss_file_map_copy(const ss_file *file, const uint8_t *map, uint64_t offset, void *buffer, size_t size,
                               sstore_error *error)
{
    return ss_platform_copy_mapped(map + offset, size, buffer) ? SSTORE_OK : fail_closed(file, offset, error);
}

sstore_status ss_file_map_read(const ss_file *file, const uint8_t *map, uint64_t offset, size_t size,
                               sstore_error *error)
{
    if (ss_platform_populate(map + offset, size))
        return SSTORE_OK;
    if (file->fd < 0)
        return fail_closed(file, offset, error);
    /* It failed, or the system cannot do this: a read fills the page cache, or gives the error. */
    uint8_t bytes[4096];
    sstore_status status = SSTORE_OK;
    for (size_t done = 0; status == SSTORE_OK && done < size; done += sizeof bytes)
        status = ss_file_read_at(file, offset + done, bytes, (size_t)ss_min_u64(size - done, sizeof bytes), error);
    return status;
}

void ss_unmap(const uint8_t *map, uint64_t size)
{
    if (map != NULL)
        (void)munmap((void *)(uintptr_t)map, size);
}

void ss_file_release(ss_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    file->fd = -1;
}

void ss_file_close(ss_file *file)
{
    ss_file_release(file);
    ss_free(file->path);
    *file = SS_FILE_NONE;
}

sstore_status ss_file_load_sealed(const ss_file *file, uint64_t size, ss_file *memory_out, ss_u128 *hash_out,
                                  sstore_error *error)
{
    *memory_out = SS_FILE_NONE;
    /* RLIMIT_FSIZE also limits files in memory. Beyond it SIGXFSZ would end the process, and a library may not ignore
     * the signal. */
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && size > limit.rlim_cur)
        return ss_fail(error, SSTORE_ERROR_IO, EFBIG, file->path, SSTORE_NO_OFFSET,
                       "cannot copy it into memory: this needs a file of %llu bytes, but this process may create files "
                       "of at most %llu",
                       (unsigned long long)size, (unsigned long long)limit.rlim_cur);
    *memory_out = (ss_file){.fd = ss_platform_create_in_memory(), .path = ss_strdup(file->path)};
    sstore_status status = SSTORE_OK;
    if (memory_out->fd < 0)
        status = fail_io(error, file->path, SSTORE_NO_OFFSET, "creating a file in memory");
    else if (memory_out->path == NULL)
        status = ss_fail_memory(error, strlen(file->path));
    if (status == SSTORE_OK)
        status = ss_file_copy(file, memory_out, size, hash_out, error);
    if (status == SSTORE_OK && !ss_platform_seal(memory_out->fd))
        status = fail_io(error, file->path, SSTORE_NO_OFFSET, "sealing the copy in memory");
    if (status != SSTORE_OK)
        ss_file_close(memory_out);
    return status;
}

/* The calls that end in 64 are these, where offsets have 64 bits anyhow: the headers are not to make one of the
 * other. */
#undef _FILE_OFFSET_BITS
#undef _FORTIFY_SOURCE

#include "faults/interpose.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* ----- hooks ----- */

static const interposer *hooks;
static long live_blocks, live_bytes, first_bytes, peak_bytes;

void interpose_begin(const interposer *wanted)
{
    __atomic_store_n(&hooks, wanted, __ATOMIC_SEQ_CST);
}

void interpose_end(void)
{
    __atomic_store_n(&hooks, NULL, __ATOMIC_SEQ_CST);
}

long interpose_live_blocks(void)
{
    return __atomic_load_n(&live_blocks, __ATOMIC_SEQ_CST);
}

void interpose_watch_peak(void)
{
    first_bytes = __atomic_load_n(&live_bytes, __ATOMIC_SEQ_CST);
    __atomic_store_n(&peak_bytes, first_bytes, __ATOMIC_SEQ_CST);
}

long interpose_peak_bytes(void)
{
    return __atomic_load_n(&peak_bytes, __ATOMIC_SEQ_CST) - first_bytes;
}

/* So many bytes more are held. */
static void count_bytes(long bytes)
{
    const long now = __atomic_add_fetch(&live_bytes, bytes, __ATOMIC_SEQ_CST);
    long peak = __atomic_load_n(&peak_bytes, __ATOMIC_SEQ_CST);
    while (now > peak &&
           !__atomic_compare_exchange_n(&peak_bytes, &peak, now, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        ;
}

/* Whether to do a call, and how much of it: *size may become less. */
static bool may(const system_call *call, size_t *size)
{
    const interposer *now = __atomic_load_n(&hooks, __ATOMIC_SEQ_CST);
    if (now == NULL || now->before == NULL)
        return true;
    const verdict found = now->before(now->context, call);
    if (found.error != 0)
        errno = found.error;
    else if (size != NULL && found.size < *size)
        *size = found.size;
    return found.error == 0;
}

static long done(const system_call *call, long result)
{
    const interposer *now = __atomic_load_n(&hooks, __ATOMIC_SEQ_CST);
    if (now != NULL && now->after != NULL && result >= 0) {
        const int kept = errno;
        now->after(now->context, call, result);
        errno = kept;
    }
    return result;
}

/* ----- memory ----- */

/* A sanitizer has its own allocator: there only calls from the program's own objects are taken over, by the linker. */
#ifdef INTERPOSE_BY_WRAPPING
#define OURS(name) __wrap_##name
#define THEIRS(name) __real_##name
#else
#define OURS(name) name
#define THEIRS(name) __libc_##name
#endif

void *THEIRS(malloc)(size_t size);
void *THEIRS(calloc)(size_t count, size_t size);
void *THEIRS(realloc)(void *memory, size_t size);
void THEIRS(free)(void *memory);
void *OURS(malloc)(size_t size);
void *OURS(calloc)(size_t count, size_t size);
void *OURS(realloc)(void *memory, size_t size);
void *OURS(aligned_alloc)(size_t alignment, size_t size);
int OURS(posix_memalign)(void **memory_out, size_t alignment, size_t size);
void OURS(free)(void *memory);
#ifdef INTERPOSE_BY_WRAPPING
void *__real_aligned_alloc(size_t alignment, size_t size);
#define THEIR_ALIGNED __real_aligned_alloc
#else
void *__libc_memalign(size_t alignment, size_t size);
#define THEIR_ALIGNED __libc_memalign
#endif

static bool may_allocate(size_t size)
{
    return may(&(system_call){.kind = CALL_ALLOCATE, .size = size}, NULL);
}

static void *counted(void *memory)
{
    if (memory != NULL) {
        __atomic_fetch_add(&live_blocks, 1, __ATOMIC_SEQ_CST);
        count_bytes((long)malloc_usable_size(memory));
    }
    return memory;
}

void *OURS(malloc)(size_t size)
{
    return may_allocate(size) ? counted(THEIRS(malloc)(size)) : NULL;
}

void *OURS(calloc)(size_t count, size_t size)
{
    return may_allocate(count * size) ? counted(THEIRS(calloc)(count, size)) : NULL;
}

void *OURS(realloc)(void *memory, size_t size)
{
    if (!may_allocate(size))
        return NULL;
    const size_t before = memory == NULL ? 0 : malloc_usable_size(memory);
    void *moved = THEIRS(realloc)(memory, size);
    if (moved == NULL || memory == NULL)
        return counted(moved);
    count_bytes((long)malloc_usable_size(moved) - (long)before);
    return moved;
}

void *OURS(aligned_alloc)(size_t alignment, size_t size)
{
    return may_allocate(size) ? counted(THEIR_ALIGNED(alignment, size)) : NULL;
}

int OURS(posix_memalign)(void **memory_out, size_t alignment, size_t size)
{
    if (!may_allocate(size))
        return ENOMEM;
    *memory_out = counted(THEIR_ALIGNED(alignment, size));
    return *memory_out != NULL ? 0 : ENOMEM;
}

void OURS(free)(void *memory)
{
    if (memory != NULL) {
        __atomic_fetch_sub(&live_blocks, 1, __ATOMIC_SEQ_CST);
        __atomic_fetch_sub(&live_bytes, (long)malloc_usable_size(memory), __ATOMIC_SEQ_CST);
    }
    THEIRS(free)(memory);
}

#ifdef INTERPOSE_BY_WRAPPING
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
    return may(&(system_call){.kind = CALL_THREAD}, NULL) ? __real_pthread_create(thread, attributes, run, argument)
                                                          : errno;
}
#else
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
    static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    if (real == NULL)
        *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
    return may(&(system_call){.kind = CALL_THREAD}, NULL) ? real(thread, attributes, run, argument) : errno;
}
#endif

static void *map(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    /* The C library and sanitizers also map memory: only files count. */
    if (fd >= 0 && !may(&(system_call){.kind = CALL_MAP, .fd = fd, .size = size}, NULL))
        return MAP_FAILED;
    return (void *)syscall(SYS_mmap, at, size, protection, flags, fd, offset);
}

void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    return map(at, size, protection, flags, fd, offset);
}

void *mmap64(void *at, size_t size, int protection, int flags, int fd, off64_t offset)
{
    return map(at, size, protection, flags, fd, offset);
}

/* ----- files ----- */

static int open_at(int folder, const char *name, int flags, mode_t mode)
{
    const system_call call = {.kind = CALL_OPEN, .fd = folder, .name = name, .flags = flags};
    return may(&call, NULL) ? (int)done(&call, syscall(SYS_openat, folder, name, flags, mode)) : -1;
}

static mode_t mode_of(int flags, va_list arguments)
{
    return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
}

#define OPEN_LIKE(folder)                                                                                              \
    va_list arguments;                                                                                                 \
    va_start(arguments, flags);                                                                                        \
    const mode_t mode = mode_of(flags, arguments);                                                                     \
    va_end(arguments);                                                                                                 \
    return open_at(folder, name, flags, mode)

int open(const char *name, int flags, ...)
{
    OPEN_LIKE(AT_FDCWD);
}

int open64(const char *name, int flags, ...)
{
    OPEN_LIKE(AT_FDCWD);
}

int openat(int folder, const char *name, int flags, ...)
{
    OPEN_LIKE(folder);
}

int openat64(int folder, const char *name, int flags, ...)
{
    OPEN_LIKE(folder);
}

static ssize_t read_at(int fd, void *to, size_t size, off_t offset)
{
    const system_call call = {.kind = CALL_READ, .fd = fd, .offset = (uint64_t)offset, .size = size};
    return may(&call, &size) ? syscall(SYS_pread64, fd, to, size, offset) : -1;
}

ssize_t pread(int fd, void *to, size_t size, off_t offset)
{
    return read_at(fd, to, size, offset);
}

ssize_t pread64(int fd, void *to, size_t size, off64_t offset)
{
    return read_at(fd, to, size, offset);
}

static ssize_t write_at(int fd, const void *from, size_t size, off_t offset)
{
    const system_call call = {.kind = CALL_WRITE, .fd = fd, .offset = (uint64_t)offset, .data = from, .size = size};
    return may(&call, &size) ? done(&call, syscall(SYS_pwrite64, fd, from, size, offset)) : -1;
}

ssize_t pwrite(int fd, const void *from, size_t size, off_t offset)
{
    return write_at(fd, from, size, offset);
}

ssize_t pwrite64(int fd, const void *from, size_t size, off64_t offset)
{
    return write_at(fd, from, size, offset);
}

/* Part by part, so that each is reported; a short or failed one ends it. */
static ssize_t write_parts(int fd, const struct iovec *parts, int count, off_t offset)
{
    ssize_t all = 0;
    for (int i = 0; i < count; i++) {
        const ssize_t put = write_at(fd, parts[i].iov_base, parts[i].iov_len, offset + all);
        if (put < 0)
            return all > 0 ? all : -1;
        all += put;
        if ((size_t)put < parts[i].iov_len)
            break;
    }
    return all;
}

ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t offset)
{
    return write_parts(fd, parts, count, offset);
}

ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t offset)
{
    return write_parts(fd, parts, count, offset);
}

/* LMDB's way to write several pages: at the file's own place. */
ssize_t writev(int fd, const struct iovec *parts, int count)
{
    const off_t offset = lseek(fd, 0, SEEK_CUR);
    if (offset < 0)
        return syscall(SYS_writev, fd, parts, count);
    const ssize_t put = write_parts(fd, parts, count, offset);
    if (put > 0)
        (void)lseek(fd, offset + put, SEEK_SET);
    return put;
}

/* Reported to the hooks; nothing is synced, as in support/no_sync.c. */
static int sync_file(int fd)
{
    const system_call call = {.kind = CALL_SYNC, .fd = fd};
    return may(&call, NULL) ? (int)done(&call, syscall(SYS_fcntl, fd, F_GETFD) >= 0 ? 0 : -1) : -1;
}

int fsync(int fd)
{
    return sync_file(fd);
}

int fdatasync(int fd)
{
    return sync_file(fd);
}

static int resize(int fd, off_t size)
{
    const system_call call = {.kind = CALL_RESIZE, .fd = fd, .offset = (uint64_t)size};
    return may(&call, NULL) ? (int)done(&call, syscall(SYS_ftruncate, fd, size)) : -1;
}

int ftruncate(int fd, off_t size)
{
    return resize(fd, size);
}

int ftruncate64(int fd, off64_t size)
{
    return resize(fd, size);
}

int renameat(int folder, const char *from, int new_folder, const char *to)
{
    const system_call call = {.kind = CALL_RENAME, .fd = folder, .name = from, .new_fd = new_folder, .new_name = to};
    return may(&call, NULL) ? (int)done(&call, syscall(SYS_renameat2, folder, from, new_folder, to, 0)) : -1;
}

int linkat(int folder, const char *from, int new_folder, const char *to, int flags)
{
    const system_call call = {
        .kind = CALL_LINK, .fd = folder, .name = from, .new_fd = new_folder, .new_name = to, .flags = flags};
    return may(&call, NULL) ? (int)done(&call, syscall(SYS_linkat, folder, from, new_folder, to, flags)) : -1;
}

int mkdirat(int folder, const char *name, mode_t mode)
{
    const system_call call = {.kind = CALL_MAKE_FOLDER, .fd = folder, .name = name};
    return may(&call, NULL) ? (int)done(&call, syscall(SYS_mkdirat, folder, name, mode)) : -1;
}

int mkdir(const char *name, mode_t mode)
{
    return mkdirat(AT_FDCWD, name, mode);
}

int unlinkat(int folder, const char *name, int flags)
{
    const system_call call = {.kind = CALL_REMOVE, .fd = folder, .name = name, .flags = flags};
    return may(&call, NULL) ? (int)done(&call, syscall(SYS_unlinkat, folder, name, flags)) : -1;
}

int rmdir(const char *name)
{
    return unlinkat(AT_FDCWD, name, AT_REMOVEDIR);
}

/* One that fails has closed the file all the same, as on Linux. */
int close(int fd)
{
    const system_call call = {.kind = CALL_CLOSE, .fd = fd};
    const bool well = may(&call, NULL);
    const int error = errno;
    const int result = (int)done(&call, syscall(SYS_close, fd));
    if (!well)
        errno = error;
    return well ? result : -1;
}

int flock(int fd, int operation)
{
    return may(&(system_call){.kind = CALL_LOCK, .fd = fd}, NULL) ? (int)syscall(SYS_flock, fd, operation) : -1;
}

int memfd_create(const char *name, unsigned flags)
{
    return may(&(system_call){.kind = CALL_OTHER, .fd = -1, .name = name}, NULL)
               ? (int)syscall(SYS_memfd_create, name, flags)
               : -1;
}

static int control(int fd, int command, long argument)
{
    return may(&(system_call){.kind = CALL_OTHER, .fd = fd}, NULL) ? (int)syscall(SYS_fcntl, fd, command, argument)
                                                                   : -1;
}

#define CONTROL_LIKE                                                                                                   \
    va_list arguments;                                                                                                 \
    va_start(arguments, command);                                                                                      \
    const long argument = va_arg(arguments, long);                                                                     \
    va_end(arguments);                                                                                                 \
    return control(fd, command, argument)

int fcntl(int fd, int command, ...)
{
    CONTROL_LIKE;
}

int fcntl64(int fd, int command, ...)
{
    CONTROL_LIKE;
}

/* ----- listing folders ----- */

DIR *fdopendir(int fd)
{
    static DIR *(*real)(int);
    if (real == NULL)
        *(void **)&real = dlsym(RTLD_NEXT, "fdopendir");
    return may(&(system_call){.kind = CALL_LIST, .fd = fd}, NULL) ? real(fd) : NULL;
}

struct dirent64 *readdir64(DIR *folder)
{
    static struct dirent64 *(*real)(DIR *);
    if (real == NULL)
        *(void **)&real = dlsym(RTLD_NEXT, "readdir64");
    return may(&(system_call){.kind = CALL_LIST, .fd = -1}, NULL) ? real(folder) : NULL;
}

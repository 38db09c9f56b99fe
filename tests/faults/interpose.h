/*
 * interpose.h - replaces the system's calls for memory and files in the entire program, also in LMDB. One hook runs
 * before each call, and may let it fail; another one gets the result after it. Only the tests of faults are linked with
 * it.
 *
 * Between interpose_begin() and interpose_end() the hooks are called in any thread, for calls of the library and of the
 * test alike. `before` must not allocate. `after` is not called for memory, and may allocate. Calls within the C
 * library, which do not use its public names, are not intercepted.
 */
#ifndef FAULTS_INTERPOSE_H
#define FAULTS_INTERPOSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum system_call_kind {
    CALL_ALLOCATE, /* malloc, calloc, realloc, aligned_alloc, posix_memalign */
    CALL_THREAD,   /* pthread_create */
    CALL_MAP,
    CALL_OPEN, /* also that of folders, and creating files */
    CALL_READ,
    CALL_WRITE,
    CALL_SYNC, /* of a file or a folder */
    CALL_RESIZE,
    CALL_RENAME,
    CALL_LINK, /* a second name for a file */
    CALL_MAKE_FOLDER,
    CALL_REMOVE, /* a file or a folder */
    CALL_CLOSE,
    CALL_LIST,  /* fdopendir and readdir */
    CALL_LOCK,  /* flock */
    CALL_OTHER, /* fcntl, memfd_create */
    CALL_KINDS
} system_call_kind;

/* A call. Fields that a kind does not have are 0 or NULL; the second name is that of a rename or a link. */
typedef struct system_call {
    system_call_kind kind;
    int fd, flags;
    const char *name, *new_name;
    int new_fd;
    uint64_t offset;
    const void *data;
    size_t size;
} system_call;

/* The decision about a call. */
typedef struct verdict {
    int error;   /* errno to fail with; 0: do it */
    size_t size; /* of a read or write: how much of it to do */
} verdict;

typedef struct interposer {
    verdict (*before)(void *context, const system_call *call);
    void (*after)(void *context, const system_call *call, long result); /* gets the result; may be NULL */
    void *context;
} interposer;

void interpose_begin(const interposer *hooks);
void interpose_end(void);

/* Allocated blocks that were not freed since the program began. */
long interpose_live_blocks(void);
/* The most bytes that were held at once since interpose_watch_peak(), beyond what was held then. */
void interpose_watch_peak(void);
long interpose_peak_bytes(void);

#endif

/*
 * no_sync.c - fsync(), fdatasync() and syncfs() that write nothing to disk, for test programs. Tests kill processes but
 * never the system, so no data is lost, and tests that build thousands of stores do not wait for a disk. The power cuts
 * that tests/faults simulates check that the library syncs all that it must. A program may define its own functions
 * instead.
 */
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A descriptor that is not open is still an error. */
static int check_open(int fd)
{
    return syscall(SYS_fcntl, fd, F_GETFD) >= 0 ? 0 : -1;
}

__attribute__((weak)) int fsync(int fd)
{
    return check_open(fd);
}

__attribute__((weak)) int fdatasync(int fd)
{
    return check_open(fd);
}

__attribute__((weak)) int syncfs(int fd)
{
    return check_open(fd);
}

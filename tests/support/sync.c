/*
 * sync.c - fsync(), fdatasync() and syncfs() for test programs: they write nothing out. Tests kill processes and never the
 * system, so nothing is lost, and tests that build thousands of stores do not wait for a disk. Whether the library syncs
 * all that it must is the matter of tests/faults, where power cuts are laid out; a program may also define its own.
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

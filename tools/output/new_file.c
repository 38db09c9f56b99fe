#include "output/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* The mode that a new file gets, as by open() with 0666. */
static mode_t new_mode(void)
{
    const mode_t mask = umask(0);
    (void)umask(mask);
    return 0666 & ~mask;
}

static bool set_paths(new_file *self, const char *path)
{
    char *target = realpath(path, NULL);
    self->target = target != NULL ? target : strdup(path);
    const size_t room = self->target != NULL ? strlen(self->target) + sizeof NEW_FILE_SUFFIX : 0;
    self->path = room > 0 ? malloc(room) : NULL;
    if (self->path != NULL)
        snprintf(self->path, room, "%s" NEW_FILE_SUFFIX, self->target);
    return self->path != NULL;
}

/* Does the name still lead to the file that is open? */
static bool is_there(const new_file *self)
{
    struct stat own, there;
    return fstat(self->fd, &own) == 0 && lstat(self->path, &there) == 0 && own.st_dev == there.st_dev &&
           own.st_ino == there.st_ino;
}

static bool lock(int fd, bool waits)
{
    while (flock(fd, waits ? LOCK_EX : LOCK_EX | LOCK_NB) != 0)
        if (errno != EINTR)
            return false;
    return true;
}

/* Create the file beside the other one, with its mode. */
static bool create(new_file *self, mode_t mode, bool waits)
{
    /* Another writer may have put it in the target's place between open() and flock(): then it is not ours. */
    for (;;) {
        self->fd = open(self->path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
        if (self->fd < 0)
            return false;
        const bool locked = lock(self->fd, waits);
        if (locked && is_there(self))
            return ftruncate(self->fd, 0) == 0 && fchmod(self->fd, mode) == 0;
        const int number = errno;
        (void)close(self->fd);
        self->fd = -1;
        errno = number;
        if (!locked)
            return false;
    }
}

bool new_file_open(new_file *self, const char *path, bool waits)
{
    struct stat other;
    const bool exists = stat(path, &other) == 0;
    *self = NEW_FILE_NONE;
    if (exists && !S_ISREG(other.st_mode)) {
        self->fd = open(path, O_WRONLY | O_CLOEXEC);
        return self->fd >= 0;
    }
    return set_paths(self, path) && create(self, exists ? other.st_mode & 0777 : new_mode(), waits);
}

bool file_write(int fd, const void *bytes, size_t size)
{
    const char *at = bytes;
    while (size > 0) {
        const ssize_t written = write(fd, at, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return false;
        at += written;
        size -= (size_t)written;
    }
    return true;
}

bool new_file_commit(new_file *self)
{
    if (self->path != NULL && rename(self->path, self->target) != 0)
        return false;
    const int fd = self->fd;
    self->fd = -1;
    return close(fd) == 0; /* unlocks it */
}

void new_file_close(new_file *self)
{
    if (self->fd >= 0 && self->path != NULL)
        (void)unlink(self->path); /* before it is unlocked */
    if (self->fd >= 0)
        (void)close(self->fd);
    free(self->path);
    free(self->target);
    *self = NEW_FILE_NONE;
}

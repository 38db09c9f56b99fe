#include "output/whole_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output/messages.h"
#include "output/new_file.h"
#include "output/output.h"

/* Write to an open file, and close it. */
static int write_all(int fd, const char *path, const char *bytes, size_t size)
{
    int code = fd >= 0 && file_write(fd, bytes, size) ? EXIT_DONE : message_errno(path, "cannot write the file");
    if (fd >= 0 && close(fd) != 0 && code == EXIT_DONE)
        code = message_errno(path, "cannot write the file");
    return code;
}

/* The mode that a new file gets, as by open() with 0666. */
static mode_t new_file_mode(void)
{
    const mode_t mask = umask(0);
    (void)umask(mask);
    return 0666 & ~mask;
}

/* Write a new file beside `path`, with `mode`, and rename it. */
static int replace_file(const char *path, mode_t mode, const char *bytes, size_t size)
{
    new_file file;
    const bool done = new_file_open(&file, path, true) && fchmod(file.fd, mode) == 0 &&
                      file_write(file.fd, bytes, size) && new_file_commit(&file);
    const int code = done ? EXIT_DONE : message_errno(path, "cannot write the file");
    new_file_close(&file);
    return code;
}

int whole_file_write(const char *path, const char *bytes, size_t size)
{
    struct stat existing;
    if (strcmp(path, "-") == 0)
        return output_bytes(bytes, size) && output_flush() ? EXIT_DONE : EXIT_FAILED;
    if (stat(path, &existing) != 0)
        return replace_file(path, new_file_mode(), bytes, size);
    if (!S_ISREG(existing.st_mode))
        return write_all(open(path, O_WRONLY | O_CLOEXEC), path, bytes, size);
    return replace_file(path, existing.st_mode & 0777, bytes, size);
}

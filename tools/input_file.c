#include "input_file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "cmd.h"
#include "interrupt.h"

/* Opening a named pipe waits for somebody who writes to it. */
static int open_path(const char *path)
{
    int fd;
    do {
        fd = open(path, O_RDONLY | O_CLOEXEC);
    } while (fd < 0 && errno == EINTR && !interrupted());
    return fd;
}

int input_file_open(input_file *file, const char *path)
{
    file->stop_fd = -1;
    file->fd = strcmp(path, "-") == 0 ? STDIN_FILENO : open_path(path);
    if (file->fd < 0 && errno == EINTR)
        return interrupt_exit_code();
    if (file->fd < 0) {
        cmd_complain("%s: cannot open: %s", path, strerror(errno));
        return EXIT_FAILED;
    }
    (void)posix_fadvise(file->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    return EXIT_DONE;
}

/*
 * Wait until there is something to read: where another thread may stop this one, where a signal may end up in another
 * one, or come just before read(), that alone could wait for ever. Returns false if it is not to go on.
 */
static bool wait_for_bytes(const input_file *file)
{
    if (file->stop_fd < 0 && interrupt_fd() < 0)
        return true;
    struct pollfd events[] = {{.fd = file->fd, .events = POLLIN},
                              {.fd = file->stop_fd, .events = POLLIN},
                              {.fd = interrupt_fd(), .events = POLLIN}};
    while (poll(events, sizeof events / sizeof *events, -1) < 0 && errno == EINTR && !interrupted()) {
    }
    return events[1].revents == 0 && !interrupted();
}

static int read_bytes(void *self, char *to, size_t room, size_t *got_out, line_fault *fault)
{
    const input_file *file = self;
    ssize_t got;
    do {
        if (!wait_for_bytes(file))
            return interrupted() ? interrupt_exit_code() : byte_stream_fail(fault, "stopped");
        got = read(file->fd, to, room);
    } while (got < 0 && errno == EINTR && !interrupted());
    if (got < 0 && errno == EINTR)
        return interrupt_exit_code();
    if (got < 0)
        return byte_stream_fail(fault, "cannot read: %s", strerror(errno));
    *got_out = (size_t)got;
    return EXIT_DONE;
}

byte_stream input_file_bytes(input_file *file)
{
    return (byte_stream){read_bytes, file};
}

bool input_file_allow_stop(input_file *file)
{
    file->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return file->stop_fd >= 0;
}

void input_file_stop(const input_file *file)
{
    static const uint64_t once = 1;
    if (file->stop_fd >= 0 && write(file->stop_fd, &once, sizeof once) < 0) {
        /* It was stopped before. */
    }
}

void input_file_close(input_file *file)
{
    if (file->stop_fd >= 0)
        close(file->stop_fd);
    file->stop_fd = -1;
    if (file->fd > STDIN_FILENO)
        close(file->fd);
    file->fd = -1;
}

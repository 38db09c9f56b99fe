#include "input_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"
#include "interrupt.h"

int input_file_open(input_file *file, const char *path)
{
    file->fd = strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (file->fd < 0) {
        cmd_complain("%s: cannot open: %s", path, strerror(errno));
        return EXIT_FAILED;
    }
    (void)posix_fadvise(file->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    return EXIT_DONE;
}

static int read_bytes(void *self, char *to, size_t room, size_t *got_out, line_fault *fault)
{
    const input_file *file = self;
    ssize_t got;
    do {
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

void input_file_close(input_file *file)
{
    if (file->fd > STDIN_FILENO)
        close(file->fd);
    file->fd = -1;
}

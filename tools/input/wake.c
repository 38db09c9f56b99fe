#include "input/wake.h"

#include <fcntl.h>
#include <unistd.h>

bool wake_open(wake *made)
{
    int ends[2];
    *made = WAKE_NONE;
    if (pipe(ends) != 0)
        return false;
    *made = (wake){.fd = ends[0], .write_fd = ends[1]};
    bool well = true;
    for (int i = 0; i < 2; i++)
        well = fcntl(ends[i], F_SETFD, FD_CLOEXEC) == 0 && well;
    /* A full pipe must not hold up a signal handler. */
    well = fcntl(made->write_fd, F_SETFL, O_NONBLOCK) == 0 && well;
    if (!well)
        wake_close(made);
    return well;
}

void wake_up(const wake *self)
{
    if (self->write_fd >= 0 && write(self->write_fd, "", 1) < 0) {
        /* It is readable already. */
    }
}

void wake_close(wake *self)
{
    if (self->fd >= 0)
        close(self->fd);
    if (self->write_fd >= 0)
        close(self->write_fd);
    *self = WAKE_NONE;
}

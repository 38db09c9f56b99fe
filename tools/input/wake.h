/*
 * wake.h - a descriptor for poll() that another thread or a signal handler makes readable, for ever. It is that of a
 * pipe: eventfd() takes one descriptor less, but exists on Linux only.
 */
#ifndef WAKE_H
#define WAKE_H

#include <stdbool.h>

/* `fd` becomes readable; -1: closed. */
typedef struct wake {
    int fd, write_fd;
} wake;

#define WAKE_NONE ((wake){.fd = -1, .write_fd = -1})

/* Returns false if the system has no descriptors left. */
bool wake_open(wake *made);

/* Make it readable. Does nothing if it is closed. May be called by signal handlers, and may change errno. */
void wake_up(const wake *self);

void wake_close(wake *self);

#endif

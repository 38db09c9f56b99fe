/*
 * listener.h - the socket on which a server listens: TCP, a Unix socket, or one that systemd passes.
 */
#ifndef LISTENER_H
#define LISTENER_H

#include <stdbool.h>
#include <stdint.h>

typedef struct listener {
    int fd;
    bool is_local;       /* only this machine can reach it */
    bool is_unix;        /* a Unix socket, which no browser can reach */
    char *unix_path;     /* of the Unix socket, to be removed at the end; or NULL */
    uint64_t unix_inode; /* at this path */
    char name[160];      /* such as "http://127.0.0.1:7464", for messages */
} listener;

/* Listen on "HOST:PORT", "[IPV6]:PORT" or "unix:PATH". Returns an exit code; a failure was reported. A Unix socket that
 * a killed server left is replaced. */
int listener_open(const char *address, listener *listener_out);

/* Whether systemd passes a socket; and take it. Returns an exit code, as above. */
bool listener_is_passed(void);
int listener_take_passed(listener *listener_out);

/* Release what listener_open() made, but for the descriptor, which its user closes. */
void listener_close(listener *self);

#endif

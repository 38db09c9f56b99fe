/*
 * listener.c - opens listening sockets.
 */
#include "serve/listener.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "output/messages.h"

#define WAITING_CLIENTS 1024 /* until they are accepted */
#define FIRST_PASSED_FD 3    /* sd_listen_fds(3) */
#define UNIX_MODE 0660
#define MAX_OWN_NAME_BYTES 8u /* a full stop and the number of a process */

static bool is_loopback(const struct sockaddr *address)
{
    const struct sockaddr_in *four = (const struct sockaddr_in *)(const void *)address;
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)(const void *)address;
    return address->sa_family == AF_UNIX ||
           (address->sa_family == AF_INET && ntohl(four->sin_addr.s_addr) >> 24 == 127) ||
           (address->sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&six->sin6_addr));
}

/* Fill the name and the rest from the socket itself: the system may have chosen the port. */
static void describe(listener *self)
{
    struct sockaddr_storage storage = {.ss_family = AF_UNSPEC};
    struct sockaddr *address = (struct sockaddr *)&storage;
    socklen_t size = sizeof storage;
    char host[64], port[16];
    (void)getsockname(self->fd, address, &size);
    self->is_local = is_loopback(address);
    self->is_unix = address->sa_family == AF_UNIX;
    if (address->sa_family == AF_UNIX)
        snprintf(self->name, sizeof self->name, "unix:%s",
                 self->unix_path != NULL ? self->unix_path
                                         : ((const struct sockaddr_un *)(const void *)address)->sun_path);
    else if (getnameinfo(address, size, host, sizeof host, port, sizeof port, NI_NUMERICHOST | NI_NUMERICSERV) == 0)
        snprintf(self->name, sizeof self->name, address->sa_family == AF_INET6 ? "http://[%s]:%s" : "http://%s:%s",
                 host, port);
    else
        snprintf(self->name, sizeof self->name, "a socket");
}

static int fail(const char *address, int fd, const char *what)
{
    message_errno(address, what);
    if (fd >= 0)
        (void)close(fd);
    return EXIT_FAILED;
}

/* ----- Unix sockets ----- */

#define LOCK_TRIES                                                                                                     \
    100 /* a hundredth of a second apart: whoever else holds the lock must not keep a service from starting */

/* Lock the folder of a path, so that of services which start at once no one takes the new socket of another for an old
 * one. Closing the result unlocks it; -1: there is no such folder. */
static int lock_folder(const char *path)
{
    char *copy = strdup(path);
    const int fd = copy != NULL ? open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    free(copy);
    for (int i = 0; fd >= 0 && i < LOCK_TRIES && flock(fd, LOCK_EX | LOCK_NB) != 0; i++)
        (void)nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    return fd;
}

/* Remove a socket on which nobody listens any more. */
static void remove_stale(const struct sockaddr_un *address)
{
    struct stat status;
    /* A server may be too busy to accept: that is no reason to wait. */
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd >= 0 && lstat(address->sun_path, &status) == 0 && S_ISSOCK(status.st_mode) &&
        connect(fd, (const struct sockaddr *)address, sizeof *address) != 0 && errno == ECONNREFUSED)
        (void)unlink(address->sun_path);
    if (fd >= 0)
        (void)close(fd);
}

/* 0: there is no such file. */
static uint64_t inode_of(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0 ? status.st_ino : 0;
}

/* Who sees the path may connect at once: so a socket gets it only when it listens. Until then it has a name of this
 * process. */
static bool listen_at(int fd, const struct sockaddr_un *address)
{
    struct sockaddr_un own = *address;
    const size_t length = strlen(own.sun_path);
    (void)snprintf(own.sun_path + length, sizeof own.sun_path - length, ".%ld", (long)getpid());
    remove_stale(&own);
    const mode_t before = umask(0777 & ~UNIX_MODE);
    const bool bound = bind(fd, (const struct sockaddr *)&own, sizeof own) == 0;
    (void)umask(before);
    if (!bound)
        return false;
    const bool named = listen(fd, WAITING_CLIENTS) == 0 && link(own.sun_path, address->sun_path) == 0;
    const int number = errno == EEXIST ? EADDRINUSE : errno;
    (void)unlink(own.sun_path);
    errno = number;
    return named;
}

static int open_unix(const char *path, listener *out)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const size_t max_bytes = sizeof address.sun_path - 1 - MAX_OWN_NAME_BYTES;
    if (path[0] == '\0' || strlen(path) > max_bytes)
        message_usage_error("--listen: expected a path of 1 to %zu bytes after 'unix:'", max_bytes);
    memcpy(address.sun_path, path, strlen(path));
    const int folder = lock_folder(path), fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    remove_stale(&address);
    const bool listens = fd >= 0 && listen_at(fd, &address);
    const int number = errno;
    if (folder >= 0)
        (void)close(folder);
    errno = number;
    if (!listens)
        return fail(path, fd, "cannot listen");
    *out = (listener){.fd = fd, .unix_path = strdup(path), .unix_inode = inode_of(path)};
    return EXIT_DONE;
}

/* ----- TCP ----- */

/* "HOST:PORT" as two texts, in memory to be freed; `host` is its beginning. */
static char *split_address(const char *address, char **port_out)
{
    char *host = strdup(address), *colon = host != NULL ? strrchr(host, ':') : NULL;
    if (colon == NULL || colon[1] == '\0' || colon == host) {
        free(host);
        message_usage_error("--listen: expected HOST:PORT, [IPV6]:PORT or unix:PATH, found '%s'", address);
    }
    *colon = '\0';
    *port_out = colon + 1;
    if (host[0] == '[' && colon[-1] == ']') {
        colon[-1] = '\0';
        memmove(host, host + 1, strlen(host)); /* with the zero */
    }
    return host;
}

static int listen_on(const struct addrinfo *self)
{
    const int on = 1, fd = socket(self->ai_family, self->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, self->ai_protocol);
    if (fd < 0)
        return -1;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, self->ai_addr, self->ai_addrlen) == 0 && listen(fd, WAITING_CLIENTS) == 0)
        return fd;
    (void)close(fd);
    return -1;
}

static int open_tcp(const char *address, listener *out)
{
    const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    struct addrinfo *found = NULL;
    char *port, *host = split_address(address, &port);
    const int failure = getaddrinfo(host, port, &hints, &found);
    free(host);
    if (failure != 0)
        return message_print("%s: cannot listen: %s", address, gai_strerror(failure));
    int fd = -1;
    for (const struct addrinfo *at = found; at != NULL && fd < 0; at = at->ai_next)
        fd = listen_on(at);
    const int number = errno;
    freeaddrinfo(found);
    errno = number;
    if (fd < 0 && number == EACCES)
        return message_print("%s: cannot listen: %s; only root can use a port below 1024", address, strerror(number));
    if (fd < 0)
        return fail(address, fd, "cannot listen");
    *out = (listener){.fd = fd};
    return EXIT_DONE;
}

/* ----- all ----- */

int listener_open(const char *address, listener *listener_out)
{
    static const char unix_prefix[] = "unix:";
    const bool is_unix = strncmp(address, unix_prefix, sizeof unix_prefix - 1) == 0;
    const int code = is_unix ? open_unix(address + sizeof unix_prefix - 1, listener_out)
                             : open_tcp(address, listener_out);
    if (code == EXIT_DONE)
        describe(listener_out);
    return code;
}

/* The number of sockets that systemd passes to this process. */
static long passed_count(void)
{
    const char *pid = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");
    return pid != NULL && count != NULL && strtol(pid, NULL, 10) == (long)getpid() ? strtol(count, NULL, 10) : 0;
}

bool listener_is_passed(void)
{
    return passed_count() > 0;
}

int listener_take_passed(listener *listener_out)
{
    const long count = passed_count();
    int is_listening = 0;
    socklen_t size = sizeof is_listening;
    if (count != 1)
        return message_print("LISTEN_FDS: expected one socket, found %ld; give each its own service", count);
    if (getsockopt(FIRST_PASSED_FD, SOL_SOCKET, SO_ACCEPTCONN, &is_listening, &size) != 0 || is_listening == 0)
        return message_print("LISTEN_FDS: descriptor %d is not a socket that listens for streams", FIRST_PASSED_FD);
    (void)fcntl(FIRST_PASSED_FD, F_SETFD, FD_CLOEXEC);
    (void)fcntl(FIRST_PASSED_FD, F_SETFL, O_NONBLOCK);
    *listener_out = (listener){.fd = FIRST_PASSED_FD};
    describe(listener_out);
    return EXIT_DONE;
}

void listener_close(listener *self)
{
    /* Another service may have replaced it. */
    if (self->unix_path != NULL && inode_of(self->unix_path) == self->unix_inode)
        (void)unlink(self->unix_path);
    free(self->unix_path);
    self->unix_path = NULL;
}

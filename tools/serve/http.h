/*
 * http.h - brings the requests of clients to a service, by HTTP/1.1 over sockets, and its answers back. By the library
 * libmicrohttpd; without it http_is_available() is false.
 */
#ifndef HTTP_H
#define HTTP_H

#include "serve/service.h"

typedef struct http_options {
    uint32_t threads; /* of the network; requests that take longer have others */
    uint32_t max_connections;
    uint64_t max_body_bytes;
    uint32_t timeout_seconds; /* for a request, for reading its answer, and for a connection without one */
    const char *token;        /* what clients must show, or NULL */
    bool checks_host;         /* refuse names that may be those of web sites */
} http_options;

typedef struct http_server http_server;

/* Serve the clients of a listening socket, which belongs to the server from now on. NULL: that failed, and a message
 * was printed. */
http_server *http_start(service *server, int listener, const http_options *options);

/* End connections whose time is over. Call this about once a second. */
void http_end_late(http_server *server);

/* Accept no more clients, answer the requests that came, and free the server. */
void http_stop(http_server *server);

#endif

/*
 * reply.h - the answer to a request: an HTTP status and a body, made piece by piece.
 *
 * Without memory for the body, the reply becomes an error with status 500. Further pieces are then ignored.
 */
#ifndef REPLY_H
#define REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sstore.h"

/* The statuses that the service uses. */
enum {
    REPLY_OK = 200,
    REPLY_BAD_REQUEST = 400,
    REPLY_UNAUTHORIZED = 401,
    REPLY_FORBIDDEN = 403,
    REPLY_NOT_FOUND = 404,
    REPLY_BAD_METHOD = 405,
    REPLY_TOO_LARGE = 413,
    REPLY_BAD_TYPE = 415,
    REPLY_TOO_MANY = 422,
    REPLY_FAILED = 500,
    REPLY_BUSY = 503
};

typedef struct reply {
    unsigned status; /* 0: not yet known */
    const char *content_type;
    const char *allow; /* the methods that are allowed instead, or NULL */
    char *body;        /* size bytes, to be freed */
    size_t size, capacity;
} reply;

void reply_free(reply *self);

/* Append bytes, or text as printf() makes it. */
void reply_append(reply *self, const char *bytes, size_t size);
__attribute__((format(printf, 2, 3))) void reply_print(reply *self, const char *format, ...);

/* Append a string literal. */
#define reply_literal(self, text) reply_append(self, "" text, sizeof text - 1)

/* Get room for `size` bytes at the end, to be filled up to reply_fill_end(). NULL: there is no memory. */
char *reply_fill_begin(reply *self, size_t size);
void reply_fill_end(reply *self, const char *end);

/* Replace the reply by an error: {"error":"TEXT"}, the text as printf() makes it. Returns false, for the caller to
 * return. */
__attribute__((format(printf, 3, 4))) bool reply_fail(reply *self, unsigned status, const char *format, ...);

/* Replace the reply by an error of the library. Returns false. */
bool reply_fail_with(reply *self, const sstore_error *error);

#endif

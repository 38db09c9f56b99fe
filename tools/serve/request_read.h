/*
 * request_read.h - reads the arguments and the body of a request.
 */
#ifndef REQUEST_READ_H
#define REQUEST_READ_H

#include "serve/request_settings.h"

/* What a request must know of the stores: all have fingerprints of `bits` bits. */
typedef struct request_stores {
    const store_names *names;
    uint32_t bits;
    const text_rules *texts;
} request_stores;

/* Read the arguments and the body. False: the reply is an error. */
bool request_read(request *self, const char *body, size_t size, const request_stores *stores, reply *reply_out);

#endif

/*
 * plain_query.h - reads the bodies of most queries without a parser of JSON, in a tenth of its time: an object of
 * nothing but "fingerprints", a list of strings of hexadecimal digits, and perhaps "k" and "limit", whole numbers.
 */
#ifndef PLAIN_QUERY_H
#define PLAIN_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct plain_query {
    uint32_t words;         /* of a fingerprint */
    uint64_t *fingerprints; /* to be freed */
    size_t count;
    bool has_distance, has_limit;
    uint64_t distance, limit;
} plain_query;

/* Read fingerprints of `words` words. False: the body is of another form, or there is no memory. The parser reads it
 * then, or says what is wrong. */
bool plain_query_read(plain_query *self, uint32_t words, const char *body, size_t size);

#endif

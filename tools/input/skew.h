/*
 * skew.h - what is unusual about the fingerprints of many records, so that near ones are no duplicates: values and
 * prefixes that many have, words that repeat others, and bits that never change. A sample shows it.
 */
#ifndef SKEW_H
#define SKEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct skew {
    uint32_t words;    /* of a fingerprint; 0: none was seen */
    uint64_t seen;     /* records */
    uint64_t max_hash; /* the hash of a sampled record's number is at most this */
    size_t count;      /* of the sample */
    uint64_t *rows;    /* the sample; NULL: none was seen, or there is no memory */
} skew;

/* Look at the fingerprints of `count` records, of as many words as those before. A zeroed one is at the begin. */
void skew_look(skew *self, const uint64_t *fingerprints, uint32_t words, size_t count);

/* Warn of what is unusual, a line each. `path` is what the records are in. Only the first `bits` of each fingerprint
 * count; 0: all. */
void skew_report(skew *self, const char *path, uint32_t bits);

void skew_free(skew *self);

#endif

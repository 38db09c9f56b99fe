/*
 * query_set.h - what to ask a store: stored fingerprints with up to `distance` bits flipped (hits), and random ones
 * (misses), neither in the store's order, which would be too easy on the caches.
 *
 * A child process reads the store for them and leaves them in shared memory: so they count neither as memory of the
 * process that measures, nor has its heap been used before.
 */
#ifndef BENCH_QUERY_SET_H
#define BENCH_QUERY_SET_H

#include <stddef.h>
#include <stdint.h>

#include "sstore.h"
#include "sstore_statistics.h"

#define BENCH_STORE_DISTANCE UINT64_MAX /* as `distance`: the one that the store was built for */

typedef struct bench_query_set {
    const char *store;
    sstore_statistics *facts; /* about the store */
    char *plan;               /* of the store, as bench_reader_plan() writes it */
    uint64_t *hits, *misses;  /* `count` each, of `words` words */
    size_t words;             /* of a fingerprint */
    size_t count;
    uint32_t distance;
    uint64_t seed;
    size_t mapped_bytes;
} bench_query_set;

/* Make `count` hits and misses for the store at the path, which must hold records. */
bench_query_set bench_query_set_create(const char *store, uint64_t distance, size_t count, uint64_t seed);
void bench_query_set_free(bench_query_set *set);

/* Print what is asked of what, as a line that begins with "# ". */
void bench_query_set_print(const bench_query_set *set);

#endif

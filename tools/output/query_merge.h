/*
 * query_merge.h - the answers to queries in several stores, and to groups of queries, each of which is answered as one.
 *
 * Each store has an iterator of its matches, and these are merged, so that the first matches of all stores come first.
 * A record that is near several queries of a group is reported once, with the nearest of them, which follows from the
 * fingerprints alone. So of each query only its first matches are needed if only the first ones of a group are wanted.
 */
#ifndef QUERY_MERGE_H
#define QUERY_MERGE_H

#include <stdbool.h>

#include "sstore.h"

/* A match in one of the stores. Its query is the first one at the smallest distance, if it is of a group. */
typedef struct merged_match {
    sstore_match match;
    uint32_t store;       /* its index */
    uint64_t query_count; /* of the group, within the distance of the record */
} merged_match;

/* Returns 0 to go on. */
typedef int (*merged_match_fn)(void *context, const merged_match *match);

/* One of the stores. */
typedef struct merged_store {
    const sstore *store; /* all have fingerprints of the same width */
    uint32_t distance;
    sstore_batch_options options; /* the limit is the same for all, on the matches of a query or group; 0: none */
} merged_store;

typedef struct query_merge {
    const merged_store *stores;
    uint32_t store_count;
    const uint64_t *queries;
    size_t count;
    const uint64_t *groups; /* a number for each query: consecutive queries with the same one are a group. NULL: each
                               query is by itself */
    sstore_stop_fn should_stop; /* asked while large groups are compared; or NULL */
    void *stop_context;
} query_merge;

/* Report all matches, in the order of the queries or groups, those of one by (distance, fingerprint, id, store). Those
 * of a group of several queries are in memory at once, without a limit all of them. STOPPED if on_match()
 * or should_stop() says so. */
sstore_status query_merge_run(const query_merge *asked, merged_match_fn on_match, void *context, sstore_error *error);

/* The end of the group that begins with query `begin`. */
size_t query_merge_group_end(const query_merge *self, size_t begin);

#endif

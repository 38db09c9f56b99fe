/*
 * walk.h - goes through the results of an iterator, one by one. If the iterator fails, the results before the failure
 * are passed on first.
 */
#ifndef TOOL_WALK_H
#define TOOL_WALK_H

#include "sstore_join.h"

/* A record and its cluster: see sstore_iterate_clusters(). */
typedef struct cluster_record {
    uint64_t cluster, cluster_size;
    const uint64_t *fingerprint;
    uint64_t id;
    uint32_t distance;
    bool is_representative;
} cluster_record;

typedef int (*cluster_record_fn)(void *context, const cluster_record *record);

/* Answer queries, and call on_match for each match. Otherwise as sstore_iterate_matches(); STOPPED if on_match returns
 * another number than 0. */
sstore_status walk_matches(const sstore *store, const uint64_t *fingerprints, size_t count, uint32_t distance,
                           const sstore_batch_options *options, sstore_match_fn on_match, void *context,
                           sstore_error *error);

/* Find pairs, and call on_pair for each. Otherwise as sstore_iterate_pairs() and walk_matches(). */
sstore_status walk_pairs(const sstore *left, const sstore *right, const sstore_join_options *options,
                         sstore_pair_fn on_pair, void *context, sstore_error *error);

/* Find clusters, and call on_record for each of their records. Otherwise as sstore_iterate_clusters() and
 * walk_matches(). */
sstore_status walk_clusters(const sstore *store, const sstore_cluster_options *options, cluster_record_fn on_record,
                            void *context, sstore_error *error);

#endif

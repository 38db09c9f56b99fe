/*
 * walk_joins.h - goes through the pairs or the clusters of an iterator.
 */
#ifndef TOOL_WALK_JOINS_H
#define TOOL_WALK_JOINS_H

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

/* Find pairs, and call on_pair for each. Otherwise as sstore_iterate_pairs(); STOPPED if on_pair returns another number
 * than 0. */
sstore_status walk_pairs(const sstore *left, const sstore *right, const sstore_join_options *options,
                         sstore_pair_fn on_pair, void *context, sstore_error *error);

/* Find clusters, and call on_record for each of their records. Otherwise as walk_pairs(). */
sstore_status walk_clusters(const sstore *store, const sstore_cluster_options *options, cluster_record_fn on_record,
                            void *context, sstore_error *error);

#endif

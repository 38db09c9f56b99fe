/*
 * walk.h - goes through the results of an iterator, one by one. If the iterator fails, the results before the failure
 * are passed on first. Names of their ids are looked up for many at a time; without `names`, none are.
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

/* Where the names of ids are looked up, before results with these ids are passed on. `expect` takes NULL. */
struct stored_names;
typedef struct walk_names {
    void (*expect)(struct stored_names *names, const uint64_t *ids, size_t count);
    struct stored_names *names, *other_names; /* of ids and of other ids */
} walk_names;

typedef int (*cluster_record_fn)(void *context, const cluster_record *record);

/* Answer queries, and call on_match for each match. Otherwise as sstore_iterate_matches(); STOPPED if on_match returns
 * another number than 0. */
sstore_status walk_named_matches(const sstore *store, const uint64_t *fingerprints, size_t count, uint32_t distance,
                                 const sstore_batch_options *options, const walk_names *names, sstore_match_fn on_match,
                                 void *context, sstore_error *error);

/* Find pairs, and call on_pair for each. Otherwise as sstore_iterate_pairs() and walk_named_matches(). */
sstore_status walk_named_pairs(const sstore *left, const sstore *right, const sstore_join_options *options,
                               const walk_names *names, sstore_pair_fn on_pair, void *context, sstore_error *error);

/* Find clusters, and call on_record for each of their records. Otherwise as sstore_iterate_clusters() and
 * walk_named_matches(). */
sstore_status walk_named_clusters(const sstore *store, const sstore_cluster_options *options, const walk_names *names,
                                  cluster_record_fn on_record, void *context, sstore_error *error);

/* The same without names. */
static inline sstore_status walk_matches(const sstore *store, const uint64_t *fingerprints, size_t count,
                                         uint32_t distance, const sstore_batch_options *options,
                                         sstore_match_fn on_match, void *context, sstore_error *error)
{
    return walk_named_matches(store, fingerprints, count, distance, options, NULL, on_match, context, error);
}

static inline sstore_status walk_pairs(const sstore *left, const sstore *right, const sstore_join_options *options,
                                       sstore_pair_fn on_pair, void *context, sstore_error *error)
{
    return walk_named_pairs(left, right, options, NULL, on_pair, context, error);
}

static inline sstore_status walk_clusters(const sstore *store, const sstore_cluster_options *options,
                                          cluster_record_fn on_record, void *context, sstore_error *error)
{
    return walk_named_clusters(store, options, NULL, on_record, context, error);
}

#endif

/*
 * iterate.h - compares all results of an iterator with the wanted ones; a difference fails the test.
 *
 * Each function calls an iterator until it is at its end, and once more. The capacity is 1, 2, any number, or more than
 * all. It wants all columns or some; those that the results do not have are refused.
 */
#ifndef SUPPORT_ITERATE_H
#define SUPPORT_ITERATE_H

#include "output/walk.h"
#include "support/random.h"
#include "support/record_set.h"

/* `fingerprints` are of the store's words. */
void iterate_records(rng *random, const sstore *store, const uint64_t *fingerprints, const uint64_t *ids, size_t count);

/* `wanted`: what a batch of these queries reports, in this order. */
void iterate_matches(rng *random, const sstore *store, const uint64_t *queries, size_t query_count, uint32_t distance,
                     uint32_t threads, const matches *wanted);

/* `right`: NULL for the pairs of `left` itself. */
void iterate_pairs(rng *random, const sstore *left, const sstore *right, const sstore_join_options *options,
                   const sstore_pair *wanted, size_t count);

void iterate_clusters(rng *random, const sstore *store, const sstore_cluster_options *options,
                      const cluster_record *wanted, size_t count);

#endif

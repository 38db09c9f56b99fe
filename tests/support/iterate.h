/*
 * iterate.h - everything that an iterator gives, held against what it should give.
 *
 * Each goes through an iterator from its beginning to behind its end, and asks for 1, 2, any number or more than all at once, for all
 * columns or some of them. Any difference fails the test.
 */
#ifndef SUPPORT_ITERATE_H
#define SUPPORT_ITERATE_H

#include "support/oracle.h"
#include "support/random.h"

void iterate_records(rng *random, const sstore *store, const sstore_record *wanted, size_t count);

/* `wanted`: what a batch of these queries reports, in this order. */
void iterate_matches(rng *random, const sstore *store, const uint64_t *queries, size_t query_count, uint32_t distance,
                     uint32_t threads, const matches *wanted);

/* `right`: NULL for the pairs of `left` itself. */
void iterate_pairs(rng *random, const sstore *left, const sstore *right, const sstore_join_options *options,
                   const sstore_pair *wanted, size_t count);

void iterate_clusters(rng *random, const sstore *store, const sstore_join_options *options, bool with_singles,
                      const sstore_cluster_record *wanted, size_t count);

#endif

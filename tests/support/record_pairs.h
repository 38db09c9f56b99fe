/*
 * record_pairs.h - the right pairs and clusters of records, found by comparing every two.
 */
#ifndef SUPPORT_RECORD_PAIRS_H
#define SUPPORT_RECORD_PAIRS_H

#include "output/walk.h"
#include "support/record_set.h"

/* In the order in which they are reported; their fingerprints are those of the sets. Free the items. */
typedef struct record_pairs {
    size_t count, capacity;
    sstore_pair *items;
} record_pairs;

typedef struct record_clusters {
    size_t count;
    cluster_record *items;
} record_clusters;

/* All pairs within a distance of two sorted sets, or of one with itself; or more than `max` of them. */
record_pairs record_set_pairs(const record_set *left, const record_set *right, uint32_t distance, size_t max);
/* The clusters of a sorted set. */
record_clusters record_set_clusters(const record_set *set, uint32_t distance, bool with_singles);

/* Fail unless they are equal. `index` says which ones they are. */
void assert_same_pair(const sstore_pair *got, const sstore_pair *wanted, uint32_t words, size_t index);

/* A pair of fingerprints of one word that a call found, and lists of them. Free the items. */
typedef struct found_pair {
    uint64_t fingerprint, id;
    uint64_t other_fingerprint, other_id;
    uint32_t distance;
} found_pair;

typedef struct found_pairs {
    size_t count, capacity;
    found_pair *items;
} found_pairs;

void found_pairs_add(found_pairs *list, const sstore_pair *pair);
/* For qsort(): in the order in which pairs are reported. */
int found_pair_compare(const void *left, const void *right);
bool found_pair_is(const found_pair *found, const sstore_pair *wanted);

/* Components of nodes 0 to `count` - 1, each alone at first. The smallest node of a component is its root. Freed with
 * free(). */
size_t *components_new(size_t count);
void components_unite(size_t *parents, size_t i, size_t j);
size_t components_root(size_t *parents, size_t i);
/* Of the records, by their number. */
size_t *record_set_components(const record_set *set, uint32_t distance);

#endif

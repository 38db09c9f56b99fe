/*
 * row_set.h - records of fingerprints of 1 to 16 words: sets of them, as the truth that a store is compared with, the
 * right answers by comparing every pair, and fingerprints that are skewed as real ones are.
 */
#ifndef SUPPORT_ROW_SET_H
#define SUPPORT_ROW_SET_H

#include "sstore_join.h"
#include "support/random.h"
#include "support/record_set.h"
#include "support/wide_data.h"

/* A record. The words behind those of a fingerprint are 0. */
typedef struct row {
    uint64_t words[SSTORE_MAX_WORDS], id;
} row;

/* Records that grow; zeroed is empty. Free `rows` with free(). */
typedef struct row_set {
    size_t count, capacity;
    row *rows;
} row_set;

void row_set_put(row_set *set, const row *added);
/* Sort by (fingerprint, id), and keep each record once. */
void row_set_sort(row_set *set);

/* Records of one word, with their ids or 0. */
row_set row_set_of_data(const data_set *set);

void row_set_copy(const row_set *from, row_set *to);

/* Below 0, 0 or above 0; rows_compare() is for qsort(). */
int row_words_compare(const uint64_t *a, const uint64_t *b);
int rows_compare(const void *left, const void *right);
uint32_t row_distance(const uint64_t *a, const uint64_t *b);

/* As the library takes them, in their order; free it with record_set_free(). */
record_set row_set_columns(const row_set *set, uint32_t words);

/* ----- right answers, in the order in which they are reported; their words are those of the sets ----- */

typedef struct row_pairs {
    size_t count, capacity;
    sstore_pair *items;
} row_pairs;

typedef struct row_clusters {
    size_t count;
    sstore_cluster_record *items;
} row_clusters;

/* All pairs within a distance of two sorted sets, or of one with itself; or more than `max` of them. Free the items. */
row_pairs row_set_pairs(const row_set *left, const row_set *right, uint32_t words, uint32_t distance, size_t max);
/* The clusters of a sorted set. Free the items. */
row_clusters row_set_clusters(const row_set *set, uint32_t words, uint32_t distance, bool with_singles);

/* Fail unless they are equal. `index` says which ones they are. */
void row_assert_same_pair(const sstore_pair *got, const sstore_pair *wanted, uint32_t words, size_t index);
void row_assert_same_member(const sstore_cluster_record *got, const sstore_cluster_record *wanted, uint32_t words,
                            size_t index);

/* ----- making them ----- */

/* A new fingerprint, one about as far as the distance from one of the set, or one of the set; the id is 0. */
row row_make(rng *random, const wide_form *maker, const row_set *among);

/* Put the records in another order. */
void row_set_shuffle(rng *random, row_set *set);

/* Flip up to `flips` bits. */
void row_flip(rng *random, const wide_form *maker, row *changed, uint64_t flips);

#endif

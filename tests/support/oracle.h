/*
 * oracle.h - the right answers, found by looking at every record, and lists of matches.
 */
#ifndef SUPPORT_ORACLE_H
#define SUPPORT_ORACLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sstore.h"
#include "support/data.h"

/* Matches that grow; zeroed is empty. Freed with matches_free(). */
typedef struct matches {
    sstore_match *items;
    size_t count, capacity;
} matches;

/* Its `words` become NULL; those of support/row_set.h point to a record of a sorted set. */
void matches_add(matches *list, const sstore_match *match);
/* By (query_index, distance, fingerprint, words as pointers, id), for qsort(). */
int compare_matches(const void *left, const void *right);
/* Sort in this order. */
void matches_sort(matches *list);
void matches_free(matches *list);
/* Whether two sorted lists are equal; says where they first differ. */
bool matches_equal(const matches *got, const matches *wanted);
/* Fail unless two sorted lists are equal. `what` names the query. */
void matches_assert_equal(const matches *got, const matches *wanted, const char *what);
/* Whether each one of sorted `got` is in sorted `wanted`, none twice; says which is not. */
bool matches_within(const matches *got, const matches *wanted);

/* By the order in which pairs are reported, for qsort(). */
int compare_pairs(const void *left, const void *right);

/* The set of records that a store of these data holds: sorted by (fingerprint, id), each once. */
typedef struct oracle {
    sstore_record *records;
    size_t count, distinct_count;
} oracle;

void oracle_make(const data_set *set, oracle *oracle_out);
void oracle_free(oracle *truth);

/* Append what a query must find, sorted, under `query_index`. */
void oracle_query(const oracle *truth, uint64_t fingerprint, uint32_t distance, uint64_t query_index, matches *out);
/* Append the matches of sstore_query_nearest(). */
void oracle_nearest(const oracle *truth, uint64_t fingerprint, uint32_t max_distance, matches *out);

#endif

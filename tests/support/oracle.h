/*
 * oracle.h - the right answers, found by looking at every record.
 */
#ifndef SUPPORT_ORACLE_H
#define SUPPORT_ORACLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sstore.h"
#include "support/data.h"
#include "support/matches.h"

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

/*
 * row_pairs.h - the near pairs of records of one store of fingerprints of several words, in order.
 *
 *   find the pairs of fingerprints, by their numbers, and sort them by the second one             (row_join.h)
 *   read all records: for each id of a second fingerprint, add its pairs with this id and its words; sort by the first
 *   read all records again, beside the sorted items: each id of a first fingerprint gives a pair
 *
 * Fingerprints of several ids are also pairs of themselves. Ids that do not fit in memory are read again.
 */
#ifndef SS_ROW_PAIRS_H
#define SS_ROW_PAIRS_H

#include "join/join_call.h"

typedef struct ss_row_pairs ss_row_pairs;

/* Find the pairs. `call` has begun, its left store is also the right one, and it is borrowed. MEMORY, IO, DAMAGED,
 * STOPPED. */
sstore_status ss_row_pairs_create(ss_join_call *call, ss_row_pairs **pairs_out, sstore_error *error);
/* NULL is allowed. */
void ss_row_pairs_free(ss_row_pairs *pairs);

/* Put the next pair, in the order of sstore_iterate_pairs(), at `at` of the columns; *more_out is false after the last
 * one. MEMORY, IO, DAMAGED, STOPPED. */
sstore_status ss_row_pairs_next(ss_row_pairs *pairs, const sstore_columns *columns, size_t at, bool *more_out,
                                sstore_error *error);

#endif

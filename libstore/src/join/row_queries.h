/*
 * row_queries.h - the near pairs of stores of fingerprints of several words, in order. The left fingerprints, in
 * ascending order, are queries of the right store: in rounds, as large as a fixed memory allows. A round whose matches
 * do not fit is repeated with fewer queries. So pairs are found while they are returned, and none waits. A fingerprint
 * with too many matches is compared with all right records instead, which come in the right order.
 *
 *   while there are left fingerprints, read as many, with their ids, as fit:
 *       for each round of these:
 *           query the right store
 *           too many matches: query 1/8 of the round; a single fingerprint: compare it with all right records
 *           many matches: the next round has half as many fingerprints; few: four times as many
 *           for each match and each id of its query: return a pair
 *
 * If the ids of a single fingerprint do not fit, they are read again for each match.
 */
#ifndef SS_ROW_QUERIES_H
#define SS_ROW_QUERIES_H

#include "join/join_call.h"
#include "sstore_join.h"

typedef struct ss_row_queries ss_row_queries;

/* `call` has begun, and is borrowed. MEMORY, IO, DAMAGED. */
sstore_status ss_row_queries_create(ss_join_call *call, ss_row_queries **pairs_out, sstore_error *error);
/* NULL is allowed. */
void ss_row_queries_free(ss_row_queries *pairs);

/* Put the next pair, in the order of sstore_iterate_pairs(), at `at` of the columns; *more_out is false after the last
 * one. MEMORY, IO, DAMAGED, STOPPED. */
sstore_status ss_row_queries_next(ss_row_queries *pairs, const sstore_columns *columns, size_t at, bool *more_out,
                                  sstore_error *error);

#endif

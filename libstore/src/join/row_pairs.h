/*
 * row_pairs.h - the near pairs of stores of fingerprints of several words, in order. The left fingerprints, in
 * ascending order, are queries of the right store: in rounds, as large as a fixed memory allows. A round whose matches
 * do not fit is repeated with fewer queries. So pairs are found while they are returned, and none waits. A fingerprint
 * with too many matches is compared with all right records instead, which come in the right order.
 */
#ifndef SS_ROW_PAIRS_H
#define SS_ROW_PAIRS_H

#include "join/join_call.h"
#include "sstore_join.h"

typedef struct ss_row_pairs ss_row_pairs;

/* `call` has begun, and is borrowed. MEMORY, IO, DAMAGED. */
sstore_status ss_row_pairs_create(ss_join_call *call, ss_row_pairs **pairs_out, sstore_error *error);
/* NULL is allowed. */
void ss_row_pairs_free(ss_row_pairs *pairs);

/* Get the next pair, in the order of sstore_iterate_pairs(); *more_out is false after the last one. The words of the
 * pair are valid until the next call. MEMORY, IO, DAMAGED, STOPPED. */
sstore_status ss_row_pairs_next(ss_row_pairs *pairs, sstore_pair *pair_out, bool *more_out, sstore_error *error);

#endif

/*
 * row_rounds.h - the fingerprints of a store of several words as queries of another one, or of the same: in rounds, as
 * large as a fixed memory allows. A round whose matches do not fit is repeated with fewer queries.
 */
#ifndef SS_ROW_ROUNDS_H
#define SS_ROW_ROUNDS_H

#include "join/join_call.h"
#include "read/batch_round.h"

typedef struct ss_row_rounds {
    ss_batch batch;         /* of the next round, without its queries */
    ss_segment_plan *plans; /* of the store that is searched */
    size_t query_capacity;  /* queries that wait; each takes SS_ROW_QUERY_WORDS words, and its fingerprint */
    size_t size;            /* of the next round */
} ss_row_rounds;

#define SS_ROW_QUERY_WORDS 4u

/* The rounds take `bytes`, of which waiting queries take a quarter. `match_bytes` is what a match takes. MEMORY. */
sstore_status ss_row_rounds_open(ss_row_rounds *rounds, ss_join_call *call, uint64_t bytes, uint64_t match_bytes,
                                 sstore_error *error);
/* A zeroed one is allowed. */
void ss_row_rounds_close(ss_row_rounds *rounds);

/* The next round: of the first of `count` queries. The caller sets what concerns joins of a store with itself. */
ss_batch ss_row_rounds_begin(const ss_row_rounds *rounds, const uint64_t *fingerprints, size_t count);

/* Choose the size of the next round, after one had so many matches or too many. */
void ss_row_rounds_end(ss_row_rounds *rounds, const ss_batch *round, size_t match_count);
void ss_row_rounds_divide(ss_row_rounds *rounds, const ss_batch *round);

/* Whether a round failed only since it had too many matches. */
bool ss_row_rounds_has_too_many(const ss_row_rounds *rounds, sstore_status status);

#endif

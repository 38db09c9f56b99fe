/* pairs.h - pairs of records. */
#ifndef SS_PAIRS_H
#define SS_PAIRS_H

#include "join/join_call.h"

/* ----- pair ids ----- */

/* From pairs of fingerprints to pairs of a fingerprint and a record: each second fingerprint's ids. */

/*
 * `pairs` has records of (second fingerprint, first fingerprint), sealed; *triples, which is open, gets (first
 * fingerprint, second one, id of the second) for each id that the right store has of the second. IO, DAMAGED, MEMORY,
 * STOPPED.
 */
sstore_status ss_pair_ids_add(ss_join_call *call, const ss_sort_stage *pairs, ss_sort_stage *triples, double end_share,
                              sstore_error *error);

/* Give *triples (fingerprint, fingerprint, id) for each id of every fingerprint of the right store that has several. */
sstore_status ss_pair_ids_add_repeated(ss_join_call *call, ss_sort_stage *triples, double end_share,
                                       sstore_error *error);

/* Whether some fingerprint of the store may have several ids. */
bool ss_pair_ids_may_repeat(const sstore *store);

/* ----- pair report ----- */

/* The last step of a join: pairs in their order, with the ids of their first fingerprints, to the caller. */

/*
 * `pairs`, sealed, has triples (first fingerprint, second one, id of the second) or, where the right store has no ids,
 * records (first, second). Report each once for each id of the first one; where a store is joined with itself, of one
 * fingerprint only pairs whose first id is the lower one. IO, DAMAGED, MEMORY, STOPPED.
 */
sstore_status ss_pair_report(ss_join_call *call, const ss_sort_stage *pairs, sstore_pair_fn on_pair, void *context,
                             double end_share, sstore_error *error);

#endif

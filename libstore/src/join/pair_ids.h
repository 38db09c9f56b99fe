/*
 * pair_ids.h - from pairs of fingerprints to pairs of a fingerprint and a record: each second fingerprint's ids.
 */
#ifndef SS_PAIR_IDS_H
#define SS_PAIR_IDS_H

#include "join/join_call.h"
#include "join/sort_stage.h"

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

#endif

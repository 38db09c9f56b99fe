/*
 * pair_report.h - the last step of a join: pairs in their order, with the ids of their first fingerprints, to the caller.
 */
#ifndef SS_PAIR_REPORT_H
#define SS_PAIR_REPORT_H

#include "join/join_call.h"
#include "join/sort_stage.h"

/*
 * `pairs`, sealed, has triples (first fingerprint, second one, id of the second) or, where the right store has no ids,
 * records (first, second). Report each once for each id of the first one; where a store is joined with itself, of one
 * fingerprint only pairs whose first id is the lower one. IO, DAMAGED, MEMORY, STOPPED.
 */
sstore_status ss_pair_report(ss_join_call *call, const ss_sort_stage *pairs, sstore_pair_fn on_pair, void *context,
                             double end_share, sstore_error *error);

#endif

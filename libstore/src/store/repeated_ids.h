/*
 * repeated_ids.h - the records of a segment's fingerprints that have several ids, read off the id column alone.
 */
#ifndef SS_REPEATED_IDS_H
#define SS_REPEATED_IDS_H

#include "store/record_lookup.h"

/* Takes an id of a rank that has several. */
typedef sstore_status (*ss_repeated_id_fn)(void *context, uint64_t rank, uint64_t id, sstore_error *error);

/* Give all ids of those of the ranks first .. end - 1 that have several, ascending. IO, DAMAGED, MEMORY; what on_id
 * returns. */
sstore_status ss_each_repeated_id(const ss_segment *segment, uint64_t first, uint64_t end, ss_repeated_id_fn on_id,
                                  void *context, sstore_error *error);

#endif

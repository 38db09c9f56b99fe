/*
 * repeated_ids.h - the records of a segment's fingerprints that have several ids, read off the id column alone.
 */
#ifndef SS_REPEATED_IDS_H
#define SS_REPEATED_IDS_H

#include "store/record_lookup.h"

/* Takes the ids of records begin .. end - 1 of a block: some of those of a rank that has several in all. */
typedef sstore_status (*ss_repeated_ids_fn)(void *context, uint64_t rank, const ss_ids_block *block, uint32_t begin,
                                            uint32_t end, sstore_error *error);

/* Give all ids of those of the ranks first .. end - 1 that have several, ascending. IO, DAMAGED, MEMORY; what on_ids
 * returns. */
sstore_status ss_each_repeated_ids(const ss_segment *segment, uint64_t first, uint64_t end, ss_repeated_ids_fn on_ids,
                                   void *context, sstore_error *error);

#endif

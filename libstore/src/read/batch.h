/* batch.h - queries in batches, for a caller that takes each match at once. */
#ifndef SS_BATCH_H
#define SS_BATCH_H

#include "base/common.h"

/* Answer queries as sstore_iterate_matches() does, and call on_match for each match. Errors as there; STOPPED. */
sstore_status ss_query_batch(const sstore *store, const uint64_t *fingerprints, size_t count, uint32_t distance,
                             const sstore_batch_options *options, sstore_match_fn on_match, void *context,
                             sstore_error *error);

#endif

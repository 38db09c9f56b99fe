/* query.h - single queries. */
#ifndef SS_QUERY_H
#define SS_QUERY_H

#include "read/search.h"

/* Find every distinct fingerprint of a segment within `distance`. */
sstore_status ss_query_segment(sstore_cursor *cursor, uint32_t segment, uint64_t fingerprint, uint32_t distance,
                               ss_hit_fn on_hit, void *context, sstore_error *error);

/* Find every distinct fingerprint within `distance` in all segments of records, the newest first. */
sstore_status ss_query_fingerprints(sstore_cursor *cursor, uint64_t fingerprint, uint32_t distance, ss_hit_fn on_hit,
                                    void *context, sstore_error *error);

/* Report the records of up to SS_HITS_TOGETHER hits: of each all its ids, or itself where the store has none. Ranks that are
 * not known are filled in. */
sstore_status ss_report_records(sstore_cursor *cursor, ss_hit *hits, uint32_t count, sstore_match_fn on_match,
                                void *context, sstore_error *error);

#endif

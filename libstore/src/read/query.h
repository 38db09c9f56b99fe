/* query.h - what other calls share with queries of one fingerprint. */
#ifndef SS_QUERY_H
#define SS_QUERY_H

#include "read/hit_records.h"

/* Whether the arguments of a call are right. False: *error is filled with ARGUMENT; `call` is for its message. */
bool ss_query_check(const char *call, const sstore_cursor *cursor, const uint64_t *fingerprint, uint32_t distance,
                    bool has_callback, sstore_error *error);

/* Report the records within the distance of a fingerprint. */
sstore_status ss_query_records(const ss_record_sink *sink, const uint64_t *fingerprint, uint32_t distance,
                               sstore_error *error);

/* Fill the sink's selection with the first matches within max_distance, in no order yet. Others are not counted. The
 * distance grows until the selection is full, or until a full scan costs less than that. `sink` has no counts, and the
 * selection has the column of distances. */
sstore_status ss_query_nearest(const ss_record_sink *sink, const uint64_t *fingerprint, uint32_t max_distance,
                               sstore_error *error);

#endif

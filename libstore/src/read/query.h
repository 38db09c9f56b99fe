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

#endif

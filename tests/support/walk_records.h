/*
 * walk_records.h - goes through all records of a store.
 */
#ifndef SUPPORT_WALK_RECORDS_H
#define SUPPORT_WALK_RECORDS_H

#include "sstore.h"

/* Called for each record, with all words of its fingerprint. Returns 0 to continue. */
typedef int (*record_fn)(void *context, const uint64_t *fingerprint, uint64_t id);

/* Otherwise as sstore_iterate_records(); STOPPED if on_record returns another number than 0. */
sstore_status walk_records(const sstore *store, record_fn on_record, void *context, sstore_error *error);

#endif

/*
 * removal_keys.h - fingerprints, or ids, that stand for all records of theirs that a store has. They are gathered up to a
 * fixed number, and looked up together when there are as many, or no more come.
 */
#ifndef SS_REMOVAL_KEYS_H
#define SS_REMOVAL_KEYS_H

#include "store/presence.h"

/* Takes records that were found, a batch at a time. */
typedef sstore_status (*ss_found_records_fn)(void *context, const sstore_record *records, size_t count,
                                             sstore_error *error);

typedef struct ss_removal_keys {
    const sstore *store; /* borrowed */
    bool are_ids;        /* else fingerprints */
    size_t capacity, count;
    uint64_t *keys, *scratch;
    ss_found_records_fn on_found;
    void *context;
} ss_removal_keys;

/* Begin with none; memory for up to `capacity` keys, 16 bytes each and 4 more of ids, is taken with the first. */
void ss_removal_keys_init(ss_removal_keys *keys, const sstore *store, bool are_ids, size_t capacity,
                          ss_found_records_fn on_found, void *context);
/* Also of a zeroed one. */
void ss_removal_keys_free(ss_removal_keys *keys);

/* Add keys; records are found whenever there is no more room. MEMORY, IO, DAMAGED. */
sstore_status ss_removal_keys_add(ss_removal_keys *keys, const uint64_t *added, size_t count, sstore_error *error);

/* Find the records of all that are left. MEMORY, IO, DAMAGED. */
sstore_status ss_removal_keys_flush(ss_removal_keys *keys, sstore_error *error);

#endif

/* removal.h - what a change looks up in the store that it changes: whether a record is there, and which records keys stand for. */
#ifndef SS_REMOVAL_H
#define SS_REMOVAL_H

#include <pthread.h>

#include "store/lookup.h"

/* ===== filter ===== */

/*
 * Thins sorted records out to those that a store has, or to those that it does not have. Several
 * threads may do so at once.
 */

typedef struct ss_membership_filter {
    bool is_open;
    bool keep_present; /* else what is not there */
    bool has_ids;
    uint32_t count;
    ss_membership *memberships; /* one a thread */
    pthread_mutex_t lock;   /* guards the next one */
    bool *is_taken;
} ss_membership_filter;

/* For up to `threads` threads. The store must stay open. MEMORY. */
sstore_status ss_membership_filter_open(ss_membership_filter *filter, const sstore *store, uint32_t threads,
                                      bool keep_present, sstore_error *error);
/* Also of a zeroed one. */
void ss_membership_filter_close(ss_membership_filter *filter);

/* Thin out `*count` items, ascending; fingerprints (u64) in a store without ids, else sstore_record. IO, DAMAGED. */
sstore_status ss_membership_filter_run(ss_membership_filter *filter, void *items, size_t *count, sstore_error *error);

/* ===== keys ===== */

/*
 * Fingerprints, or ids, that stand for all records of theirs that a store has. They are gathered up to a
 * fixed number, and looked up together when there are as many, or no more come.
 */

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

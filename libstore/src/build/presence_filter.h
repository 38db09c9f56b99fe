/*
 * presence_filter.h - thins sorted records out to those that a store has, or to those that it does not have. Several
 * threads may do so at once.
 */
#ifndef SS_PRESENCE_FILTER_H
#define SS_PRESENCE_FILTER_H

#include <pthread.h>

#include "store/presence.h"

typedef struct ss_presence_filter {
    bool is_open;
    bool keep_present; /* else what is not there */
    bool has_ids;
    uint32_t count;
    ss_presence *presences; /* one a thread */
    pthread_mutex_t lock;   /* guards the next one */
    bool *is_taken;
} ss_presence_filter;

/* For up to `threads` threads. The store must stay open. MEMORY. */
sstore_status ss_presence_filter_open(ss_presence_filter *filter, const sstore *store, uint32_t threads,
                                      bool keep_present, sstore_error *error);
/* Also of a zeroed one. */
void ss_presence_filter_close(ss_presence_filter *filter);

/* Thin out `*count` items, ascending; fingerprints (u64) in a store without ids, else sstore_record. IO, DAMAGED. */
sstore_status ss_presence_filter_run(ss_presence_filter *filter, void *items, size_t *count, sstore_error *error);

#endif

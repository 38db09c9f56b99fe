/*
 * call_progress.h - how far a long call is, counted by all its threads and told by the caller's, and whether it is to
 * stop.
 */
#ifndef SS_CALL_PROGRESS_H
#define SS_CALL_PROGRESS_H

#include <stdatomic.h>

#include "base/common.h"

typedef struct ss_progress {
    sstore_progress_fn report; /* NULL: nobody wants to know */
    void *context;
    sstore_progress now;       /* but for `done` and `share` */
    double begin_share, end_share; /* of the whole call's work, where the phase begins and ends */
    atomic_uint_fast64_t done;
    atomic_bool stopped;
} ss_progress;

/* A phase of `total` items begins, the work up to whose end is `end_share` of all. No other thread may be at work. */
void ss_progress_begin(ss_progress *progress, const char *phase, uint32_t table, uint64_t total, double end_share);

/* `count` more items are done. Worker 0, the caller's thread, reports. STOPPED if the call is to end. */
sstore_status ss_progress_add(ss_progress *progress, uint32_t worker, uint64_t count);

#endif

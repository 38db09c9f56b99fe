/* tasks.h - tasks on several threads: run them, put them in order, count how far they are. */
#ifndef SS_TASKS_H
#define SS_TASKS_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/common.h"

/* ===== tasks on threads ===== */

/*
 * Run independent tasks on several threads and wait for all of them. POSIX threads, started for the call and
 * joined before it returns: nothing lives on, so fork() is harmless afterwards.
 */

/* The processors that this process may run on, at least 1. */
uint32_t ss_available_threads(void);

/* The threads that ss_pool_run() uses at most for a wish of `threads`, 0 being all available ones. */
uint32_t ss_pool_threads(uint32_t threads);

/* One task; returns a status, and fills *error where that is an error. `worker` is below the number of threads used, and
 * no two tasks run at once with the same one, so it may index per-thread scratch. */
typedef sstore_status (*ss_task_fn)(void *context, uint64_t task, uint32_t worker, sstore_error *error);

/*
 * Run tasks 0 .. count-1, started in that order, on up to `threads` threads, the caller's among them. After the first
 * failure no further task starts. Returns the status of the failed task with the lowest number, with its error, or
 * SSTORE_OK. Where threads cannot be started, fewer are used.
 */
sstore_status ss_pool_run(uint32_t threads, uint64_t count, ss_task_fn run, void *context, sstore_error *error);

/* ===== sequencer ===== */

/*
 * Lets numbered tasks that run on several threads through a short section one by one, in the order of
 * their numbers. So work done side by side gives what it would give done one after the other.
 */

typedef struct ss_sequencer {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    uint64_t next;
    bool broken;
} ss_sequencer;

/* Begin with task 0. */
void ss_sequencer_init(ss_sequencer *sequencer);
/* Wait until all tasks before `task` have left. False: one of them failed, and this one must not go on. Tasks must be
 * started in order, so that the one that is waited for runs. */
bool ss_sequencer_enter(ss_sequencer *sequencer, uint64_t task);
/* Let the next one in. */
void ss_sequencer_leave(ss_sequencer *sequencer);
/* The same, but the next one is task 0 again. */
void ss_sequencer_restart(ss_sequencer *sequencer);
/* A task failed, within its section or before it: nobody enters any more. */
void ss_sequencer_break(ss_sequencer *sequencer);
void ss_sequencer_destroy(ss_sequencer *sequencer);

/* ===== progress ===== */

/*
 * How far a long call is, counted by all its threads and told by the caller's, and whether it is to
 * stop.
 */

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

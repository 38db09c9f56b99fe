/* tasks.h - tasks on several threads: run them, order them, report their progress. */
#ifndef SS_TASKS_H
#define SS_TASKS_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/common.h"

/* ===== tasks on threads ===== */

/* The processors that this process may run on, at least 1. */
uint32_t ss_available_threads(void);

/* The most threads that ss_pool_run() uses if `threads` are asked for; 0: all available ones. */
uint32_t ss_pool_threads(uint32_t threads);

/* One task; returns a status, and fills *error if that is an error. `worker` is below the number of threads; no two
 * tasks run at the same time with the same one, so it may index scratch memory of a thread. */
typedef sstore_status (*ss_task_fn)(void *context, uint64_t task, uint32_t worker, sstore_error *error);

/* Run tasks 0 .. count-1, started in that order, on up to `threads` threads including the caller's. After the first
 * failure no further task starts. Returns SSTORE_OK, or the status and error of the failed task with the lowest number.
 * If threads cannot be started, fewer are used. All are joined before it returns, so a later fork() is harmless. */
sstore_status ss_pool_run(uint32_t threads, uint64_t count, ss_task_fn run, void *context, sstore_error *error);

/* ===== sequencer ===== */

/* Lets numbered tasks, which run on several threads, through a section one by one in the order of their numbers. So
 * parallel work gives the result of sequential work. */
typedef struct ss_sequencer {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    uint64_t next;
    bool broken;
} ss_sequencer;

/* Begin with task 0. */
void ss_sequencer_init(ss_sequencer *sequencer);
/* Wait until all tasks before `task` have left. False if one of them failed; then this one must not go on. Tasks must
 * start in order, so that the task waited for is running. */
bool ss_sequencer_enter(ss_sequencer *sequencer, uint64_t task);
/* Let the next one in. */
void ss_sequencer_leave(ss_sequencer *sequencer);
/* The same, but the next one is task 0 again. */
void ss_sequencer_restart(ss_sequencer *sequencer);
/* A task failed, in its section or before it: no task enters any more. */
void ss_sequencer_break(ss_sequencer *sequencer);
void ss_sequencer_destroy(ss_sequencer *sequencer);

/* ===== progress ===== */

/* How far a long call is. All its threads count; the caller's thread reports and learns whether to stop. */
typedef struct ss_progress {
    sstore_progress_fn report; /* NULL: no reports */
    void *context;
    sstore_progress now;                 /* without `done` and `fraction` */
    double begin_fraction, end_fraction; /* of the whole call's work, where the phase begins and ends */
    atomic_uint_fast64_t done;
    atomic_bool stopped;
} ss_progress;

/* Begin a phase of `total` items; at its end `end_fraction` of the whole call is done. No other thread may be
 * working. */
void ss_progress_begin(ss_progress *progress, const char *phase, uint32_t table, uint64_t total, double end_fraction);

/* Count `count` more items as done. Worker 0, the caller's thread, reports. STOPPED if the call must end. */
sstore_status ss_progress_add(ss_progress *progress, uint32_t worker, uint64_t count);

#endif

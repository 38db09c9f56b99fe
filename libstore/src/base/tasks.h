/* tasks.h - tasks on several threads: a pool that runs them, a sequencer that orders sections, and their progress. */
#ifndef SS_TASKS_H
#define SS_TASKS_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/common.h"

/* ===== tasks on threads ===== */

/* The maximum number of threads of ss_pool_run() for the option `threads`; 0: all available ones. */
uint32_t ss_pool_threads(uint32_t threads);

/* One task; returns a status, and fills *error if that is an error. `worker` is below the number of threads; no two
 * running tasks have the same one, so it may index the scratch memory of a thread. */
typedef sstore_status (*ss_task_fn)(void *context, uint64_t task, uint32_t worker, sstore_error *error);

/* Run tasks 0 .. count-1, started in that order, on up to `threads` threads including the caller's. After the first
 * failure no further task starts. Returns SSTORE_OK, or the status and error of the failed task with the lowest number.
 * If threads cannot be started, fewer are used. All are joined before it returns, so a later fork() is harmless. */
sstore_status ss_pool_run(uint32_t threads, uint64_t count, ss_task_fn run, void *context, sstore_error *error);

/* ===== sequencer ===== */

/* Admits numbered tasks on several threads to a section one by one, in the order of their numbers. So parallel work
 * gives the result of sequential work. */
typedef struct ss_sequencer {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    uint64_t next;
    bool broken;
} ss_sequencer;

/* Begin with task 0. */
void ss_sequencer_init(ss_sequencer *sequencer);
/* Wait until all tasks before `task` have left. False if one of them failed; then this one must end. Tasks must start
 * in order, so that the task waited for is running. */
bool ss_sequencer_enter(ss_sequencer *sequencer, uint64_t task);
/* Admit the next task. */
void ss_sequencer_leave(ss_sequencer *sequencer);
/* Leave, and make the next task number 0 again. */
void ss_sequencer_restart(ss_sequencer *sequencer);
/* Report that a task failed, in its section or before it. No task enters after that. */
void ss_sequencer_break(ss_sequencer *sequencer);
void ss_sequencer_destroy(ss_sequencer *sequencer);

/* ===== progress ===== */

/* The progress of a long call. All threads count; the caller's thread reports, and may be told to stop. */
typedef struct ss_progress {
    sstore_progress_fn report; /* NULL: no reports */
    void *context;
    sstore_progress now;                 /* without `done` and `fraction` */
    double begin_fraction, end_fraction; /* of the call's work, at the begin and the end of the phase */
    atomic_uint_fast64_t done;
    atomic_bool stopped;
} ss_progress;

/* Begin a phase of `total` items; at its end `end_fraction` of the call is done. No other thread may be working. */
void ss_progress_begin(ss_progress *progress, const char *phase, uint32_t table, uint64_t total, double end_fraction);

/* Count `count` more items as done. Worker 0, the caller's thread, reports. STOPPED if the call must end. */
sstore_status ss_progress_add(ss_progress *progress, uint32_t worker, uint64_t count);

#endif

/*
 * pool.h - run independent tasks on several threads and wait for all of them. POSIX threads, started for the call and
 * joined before it returns: nothing lives on, so fork() is harmless afterwards.
 */
#ifndef SS_POOL_H
#define SS_POOL_H

#include "base/common.h"

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

#endif

/*
 * turnstile.h - lets numbered tasks that run on several threads through a short section one by one, in the order of
 * their numbers. So work done side by side gives what it would give done one after the other.
 */
#ifndef SS_TURNSTILE_H
#define SS_TURNSTILE_H

#include <pthread.h>

#include "base/common.h"

typedef struct ss_turnstile {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    uint64_t next;
    bool broken;
} ss_turnstile;

/* Begin with task 0. */
void ss_turnstile_init(ss_turnstile *turnstile);
/* Wait until all tasks before `task` have left. False: one of them failed, and this one must not go on. Tasks must be
 * started in order, so that the one that is waited for runs. */
bool ss_turnstile_enter(ss_turnstile *turnstile, uint64_t task);
/* Let the next one in. */
void ss_turnstile_leave(ss_turnstile *turnstile);
/* The same, but the next one is task 0 again. */
void ss_turnstile_restart(ss_turnstile *turnstile);
/* A task failed, within its section or before it: nobody enters any more. */
void ss_turnstile_break(ss_turnstile *turnstile);
void ss_turnstile_destroy(ss_turnstile *turnstile);

#endif

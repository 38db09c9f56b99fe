/*
 * handover.h - a ring of slots that one thread fills and another one empties. Each slot belongs to one of the two, and
 * the faster thread waits for the other. handover_start() starts one of the threads; its caller is the other. The two
 * threads decide what the slots hold.
 */
#ifndef HANDOVER_H
#define HANDOVER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct handover {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t slot_count;
    uint64_t filled, emptied; /* number of slots so far */
    uint64_t finished;        /* not 0: the filler is done */
    uint64_t stopped;         /* not 0: the emptier wants no more */
} handover;

/* Start a thread that runs `run` with `context`. Returns false if the system has no thread for it. */
bool handover_start(handover *over, size_t slot_count, void *(*run)(void *), void *context);

/* Wait until the thread has ended. */
void handover_join(handover *over);

/* The filler: wait for the next slot to fill. False: no more are wanted. */
bool handover_take_free(handover *over, size_t *slot_out);
/* The filler: that slot is full. */
void handover_give_full(handover *over);
/* The filler: is the emptier idle, because all slots are empty? */
bool handover_is_idle(handover *over);
/* The filler: there will be no more. */
void handover_finish(handover *over);

/* The emptier: wait for the next full slot. False: there are no more. */
bool handover_take_full(handover *over, size_t *slot_out);
/* The emptier: that slot is empty again. */
void handover_give_free(handover *over);
/* The emptier: no more are wanted. */
void handover_stop(handover *over);

#endif

/*
 * ordered.h - work on several threads whose results come in order. Each thread takes an item, works on it, and gives it
 * away, again and again. Only one thread takes at a time, and only one gives; items are given in the order in which
 * they were taken.
 */
#ifndef ORDERED_H
#define ORDERED_H

#include <stdbool.h>
#include <stdint.h>

typedef struct ordered_work {
    void *context;
    /* Make an item, which a thread uses until the end. NULL: there is no memory. */
    void *(*make)(void *context);
    void (*free)(void *item);
    /* Fill the item. False: there are no more. */
    bool (*take)(void *context, void *item);
    /* At the same time as other threads. */
    void (*work)(void *context, void *item);
    /* Returns an exit code; other than 0 ends all. */
    int (*give)(void *context, void *item);
} ordered_work;

/* Do all of it on `threads` threads (0: one for each processor), or on fewer if the system has no more; one is the
 * caller's. Returns the exit code of the last item that was given, or EXIT_FAILED after saying that there is no
 * memory. */
int ordered_run(const ordered_work *work, uint32_t threads);

/* The number of processors, at least 1. */
uint32_t processor_count(void);

#endif

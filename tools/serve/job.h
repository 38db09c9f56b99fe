/*
 * job.h - a request on its way through threads.
 */
#ifndef JOB_H
#define JOB_H

#include "input/queue.h"
#include "serve/request.h"

typedef struct job {
    queue_item item;
    struct job *next; /* that is written together with it */
    request request;
    reply reply;
    void (*done)(struct job *self); /* called by the thread that has answered it, which then no longer uses it */
} job;

#endif

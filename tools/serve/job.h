/*
 * job.h - a request on its way through threads, and queues of such jobs.
 */
#ifndef JOB_H
#define JOB_H

#include <pthread.h>

#include "serve/request.h"

typedef struct job {
    struct job *next; /* in a queue */
    request request;
    reply reply;
    void (*done)(struct job *self); /* called by the thread that has answered it, which then no longer uses it */
} job;

/* A queue between threads, first in, first out. */
typedef struct job_queue {
    pthread_mutex_t lock;
    pthread_cond_t filled;
    job *first, **end;
    uint32_t count, max_count;
    bool closed;
} job_queue;

void job_queue_init(job_queue *queue, uint32_t max_count);
void job_queue_destroy(job_queue *queue);

/* Append a job. False: the queue is full or closed. */
bool job_queue_push(job_queue *queue, job *pushed);

/* Wait for jobs, and take the first one, or all as a list. NULL: the queue is closed and empty. */
job *job_queue_take(job_queue *queue);
job *job_queue_take_all(job_queue *queue);

/* Let takers end after the last job. */
void job_queue_close(job_queue *queue);

#endif

/*
 * job.c - queues of jobs.
 */
#include "serve/job.h"

#include <stddef.h>

void job_queue_init(job_queue *queue, uint32_t max_count)
{
    *queue = (job_queue){.end = &queue->first, .max_count = max_count};
    pthread_mutex_init(&queue->lock, NULL);
    pthread_cond_init(&queue->filled, NULL);
}

void job_queue_destroy(job_queue *queue)
{
    pthread_mutex_destroy(&queue->lock);
    pthread_cond_destroy(&queue->filled);
}

bool job_queue_push(job_queue *queue, job *pushed)
{
    pthread_mutex_lock(&queue->lock);
    const bool has_room = !queue->closed && queue->count < queue->max_count;
    if (has_room) {
        pushed->next = NULL;
        *queue->end = pushed;
        queue->end = &pushed->next;
        queue->count++;
        pthread_cond_signal(&queue->filled);
    }
    pthread_mutex_unlock(&queue->lock);
    return has_room;
}

static job *take(job_queue *queue, bool all)
{
    pthread_mutex_lock(&queue->lock);
    while (queue->first == NULL && !queue->closed)
        pthread_cond_wait(&queue->filled, &queue->lock);
    job *taken = queue->first;
    if (taken != NULL) {
        queue->first = all ? NULL : taken->next;
        queue->count = all ? 0 : queue->count - 1;
        if (queue->first == NULL)
            queue->end = &queue->first;
        if (!all)
            taken->next = NULL;
    }
    pthread_mutex_unlock(&queue->lock);
    return taken;
}

job *job_queue_take(job_queue *queue)
{
    return take(queue, false);
}

job *job_queue_take_all(job_queue *queue)
{
    return take(queue, true);
}

void job_queue_close(job_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    queue->closed = true;
    pthread_cond_broadcast(&queue->filled);
    pthread_mutex_unlock(&queue->lock);
}

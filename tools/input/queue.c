/*
 * queue.c - a list under a lock.
 */
#include "input/queue.h"

#include <unistd.h>

void queue_init(queue *self, size_t max_count)
{
    *self = (queue){.end = &self->first, .max_count = max_count};
    pthread_mutex_init(&self->lock, NULL);
    pthread_cond_init(&self->changed, NULL);
}

void queue_destroy(queue *self)
{
    pthread_cond_destroy(&self->changed);
    pthread_mutex_destroy(&self->lock);
}

bool queue_put(queue *self, void *item)
{
    queue_item *put = item;
    pthread_mutex_lock(&self->lock);
    const bool has_room = !self->is_closed && self->count < self->max_count;
    if (has_room) {
        put->next = NULL;
        *self->end = put;
        self->end = &put->next;
        self->count++;
        pthread_cond_signal(&self->changed);
    }
    pthread_mutex_unlock(&self->lock);
    return has_room;
}

void *queue_take(queue *self)
{
    pthread_mutex_lock(&self->lock);
    while (self->first == NULL && !self->is_closed)
        pthread_cond_wait(&self->changed, &self->lock);
    queue_item *taken = self->is_stopped ? NULL : self->first;
    if (taken != NULL) {
        self->first = taken->next;
        self->end = self->first != NULL ? self->end : &self->first;
        self->count--;
    }
    pthread_mutex_unlock(&self->lock);
    return taken;
}

size_t queue_count(queue *self)
{
    pthread_mutex_lock(&self->lock);
    const size_t count = self->count;
    pthread_mutex_unlock(&self->lock);
    return count;
}

static void end(queue *self, bool at_once)
{
    pthread_mutex_lock(&self->lock);
    self->is_closed = true;
    self->is_stopped |= at_once;
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->lock);
}

void queue_close(queue *self)
{
    end(self, false);
}

void queue_stop(queue *self)
{
    end(self, true);
}

bool slot_queues_start(slot_queues *self, void *slots, size_t count, size_t size, void *(*run)(void *), void *context)
{
    queue_init(&self->empty, count);
    queue_init(&self->full, count);
    for (size_t i = 0; i < count; i++)
        queue_put(&self->empty, (char *)slots + i * size);
    if (pthread_create(&self->thread, NULL, run, context) == 0)
        return true;
    queue_destroy(&self->full);
    queue_destroy(&self->empty);
    return false;
}

void slot_queues_join(slot_queues *self)
{
    pthread_join(self->thread, NULL);
    queue_destroy(&self->full);
    queue_destroy(&self->empty);
}

uint32_t processor_count(void)
{
    const long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (uint32_t)count : 1;
}

/*
 * queue.h - a queue between threads, first in, first out, whose puts never wait. It allocates nothing: an item is a
 * struct that begins with a queue_item, and is in one queue at a time.
 *
 * Where one thread fills slots that another one empties, the slots go round through two queues. Each slot belongs to
 * one of the two threads, and the faster thread waits for the other one.
 */
#ifndef QUEUE_H
#define QUEUE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct queue_item {
    struct queue_item *next;
} queue_item;

typedef struct queue {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    queue_item *first, **end;
    size_t count, max_count;
    bool is_closed, is_stopped;
} queue;

void queue_init(queue *self, size_t max_count);
void queue_destroy(queue *self);

/* Append an item. False: the queue is full or closed. */
bool queue_put(queue *self, void *item);

/* Wait for an item, and take it out. NULL: the queue is closed and empty, or stopped. */
void *queue_take(queue *self);

size_t queue_count(queue *self);

/* Accept no more items, and let takers end: after the last one, or at once. */
void queue_close(queue *self);
void queue_stop(queue *self);

/* Slots on their way between two threads. The filler takes empty ones and puts full ones, and at the end closes `full`.
 * The emptier does the reverse, and stops `empty` if it wants no more. */
typedef struct slot_queues {
    queue empty, full;
    pthread_t thread;
} slot_queues;

/* Put `count` slots of `size` bytes into the queue of empty ones, and start a thread that runs `run` with `context`, as
 * one of the two threads. Returns false if the system has no thread for it. */
bool slot_queues_start(slot_queues *self, void *slots, size_t count, size_t size, void *(*run)(void *), void *context);

/* Wait until the thread has ended. */
void slot_queues_join(slot_queues *self);

/* The number of processors, at least 1. */
uint32_t processor_count(void);

#endif

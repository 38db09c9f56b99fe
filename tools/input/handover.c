/*
 * handover.c - the ring of slots: two counts under a lock, of slots filled and slots emptied.
 */
#include "input/handover.h"

bool handover_start(handover *over, size_t slot_count, void *(*run)(void *), void *context)
{
    *over = (handover){.slot_count = slot_count,
                       .lock = PTHREAD_MUTEX_INITIALIZER,
                       .changed = PTHREAD_COND_INITIALIZER};
    return pthread_create(&over->thread, NULL, run, context) == 0;
}

void handover_join(handover *over)
{
    pthread_join(over->thread, NULL);
    pthread_cond_destroy(&over->changed);
    pthread_mutex_destroy(&over->lock);
}

bool handover_take_free(handover *over, size_t *slot_out)
{
    pthread_mutex_lock(&over->lock);
    while (over->filled - over->emptied == over->slot_count && !over->stopped)
        pthread_cond_wait(&over->changed, &over->lock);
    bool wanted = !over->stopped;
    *slot_out = (size_t)(over->filled % over->slot_count);
    pthread_mutex_unlock(&over->lock);
    return wanted;
}

bool handover_is_idle(handover *over)
{
    pthread_mutex_lock(&over->lock);
    bool idle = over->filled == over->emptied;
    pthread_mutex_unlock(&over->lock);
    return idle;
}

bool handover_take_full(handover *over, size_t *slot_out)
{
    pthread_mutex_lock(&over->lock);
    while (over->filled == over->emptied && !over->finished)
        pthread_cond_wait(&over->changed, &over->lock);
    bool found = over->filled > over->emptied;
    *slot_out = (size_t)(over->emptied % over->slot_count);
    pthread_mutex_unlock(&over->lock);
    return found;
}

/* Add one to a count, and wake the other thread, the only one that can be waiting. */
static void advance(handover *over, uint64_t *count)
{
    pthread_mutex_lock(&over->lock);
    (*count)++;
    pthread_cond_signal(&over->changed);
    pthread_mutex_unlock(&over->lock);
}

void handover_give_full(handover *over)
{
    advance(over, &over->filled);
}

void handover_give_free(handover *over)
{
    advance(over, &over->emptied);
}

void handover_finish(handover *over)
{
    advance(over, &over->finished);
}

void handover_stop(handover *over)
{
    advance(over, &over->stopped);
}

#include "input/handover.h"

static void destroy_locks(handover *over)
{
    pthread_cond_destroy(&over->changed);
    pthread_mutex_destroy(&over->lock);
}

bool handover_start(handover *over, size_t slot_count, void *(*run)(void *), void *context)
{
    *over = (handover){.slot_count = slot_count};
    if (pthread_mutex_init(&over->lock, NULL) != 0)
        return false;
    if (pthread_cond_init(&over->changed, NULL) != 0) {
        pthread_mutex_destroy(&over->lock);
        return false;
    }
    if (pthread_create(&over->thread, NULL, run, context) == 0)
        return true;
    destroy_locks(over);
    return false;
}

void handover_join(handover *over)
{
    pthread_join(over->thread, NULL);
    destroy_locks(over);
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

/* Only one thread can be waiting: the other one is here. */
static void change(handover *over, uint64_t filled, uint64_t emptied, bool finished, bool stopped)
{
    pthread_mutex_lock(&over->lock);
    over->filled += filled;
    over->emptied += emptied;
    over->finished |= finished;
    over->stopped |= stopped;
    pthread_cond_signal(&over->changed);
    pthread_mutex_unlock(&over->lock);
}

void handover_give_full(handover *over)
{
    change(over, 1, 0, false, false);
}

void handover_give_free(handover *over)
{
    change(over, 0, 1, false, false);
}

void handover_finish(handover *over)
{
    change(over, 0, 0, true, false);
}

void handover_stop(handover *over)
{
    change(over, 0, 0, false, true);
}

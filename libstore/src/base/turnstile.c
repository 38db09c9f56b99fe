#include "base/turnstile.h"

void ss_turnstile_init(ss_turnstile *turnstile)
{
    *turnstile = (ss_turnstile){.next = 0};
    pthread_mutex_init(&turnstile->lock, NULL);
    pthread_cond_init(&turnstile->moved, NULL);
}

bool ss_turnstile_enter(ss_turnstile *turnstile, uint64_t task)
{
    pthread_mutex_lock(&turnstile->lock);
    while (turnstile->next != task && !turnstile->broken)
        pthread_cond_wait(&turnstile->moved, &turnstile->lock);
    bool entered = !turnstile->broken;
    pthread_mutex_unlock(&turnstile->lock);
    return entered;
}

static void move_on(ss_turnstile *turnstile, uint64_t next)
{
    pthread_mutex_lock(&turnstile->lock);
    turnstile->next = next;
    pthread_cond_broadcast(&turnstile->moved);
    pthread_mutex_unlock(&turnstile->lock);
}

void ss_turnstile_leave(ss_turnstile *turnstile)
{
    move_on(turnstile, turnstile->next + 1); /* only who is inside changes it */
}

void ss_turnstile_restart(ss_turnstile *turnstile)
{
    move_on(turnstile, 0);
}

void ss_turnstile_break(ss_turnstile *turnstile)
{
    pthread_mutex_lock(&turnstile->lock);
    turnstile->broken = true;
    pthread_cond_broadcast(&turnstile->moved);
    pthread_mutex_unlock(&turnstile->lock);
}

void ss_turnstile_destroy(ss_turnstile *turnstile)
{
    pthread_cond_destroy(&turnstile->moved);
    pthread_mutex_destroy(&turnstile->lock);
}

#include "documents/ordered.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "output/messages.h"

typedef struct runner {
    const ordered_work *work;
    pthread_mutex_t take_lock, give_lock;
    pthread_cond_t given; /* an item */
    uint64_t taken_count;
    atomic_bool is_over; /* no more items are taken */
    atomic_uint thread_count;
    uint64_t given_count;
    int code; /* of the last item */
} runner;

/* Take an item; its number is set. False: there are no more, or an earlier one failed. */
static bool take(runner *self, void *item, uint64_t *number_out)
{
    pthread_mutex_lock(&self->take_lock);
    if (!self->is_over && !self->work->take(self->work->context, item))
        self->is_over = true;
    const bool taken = !self->is_over;
    *number_out = taken ? self->taken_count++ : 0;
    pthread_mutex_unlock(&self->take_lock);
    return taken;
}

/* Give an item when its turn comes. False: it or an earlier one failed. */
static bool give(runner *self, void *item, uint64_t number)
{
    pthread_mutex_lock(&self->give_lock);
    while (self->given_count != number)
        pthread_cond_wait(&self->given, &self->give_lock);
    if (self->code == EXIT_DONE)
        self->code = self->work->give(self->work->context, item);
    const bool done = self->code == EXIT_DONE;
    self->given_count++;
    pthread_cond_broadcast(&self->given);
    pthread_mutex_unlock(&self->give_lock);
    return done;
}

static void *run_items(void *context)
{
    runner *self = context;
    void *item = self->work->make(self->work->context);
    uint64_t number;
    if (item == NULL)
        return NULL; /* the other threads do the work */
    self->thread_count++;
    while (take(self, item, &number)) {
        self->work->work(self->work->context, item);
        if (!give(self, item, number))
            self->is_over = true;
    }
    self->work->free(item);
    return NULL;
}

uint32_t processor_count(void)
{
    const long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (uint32_t)count : 1;
}

int ordered_run(const ordered_work *work, uint32_t threads)
{
    runner self = {.work = work, .code = EXIT_DONE};
    const uint32_t count = threads > 0 ? threads : processor_count();
    uint32_t started = 0;
    pthread_t *others = calloc(count, sizeof *others);
    if (others == NULL)
        return message_print("out of memory");
    pthread_mutex_init(&self.take_lock, NULL);
    pthread_mutex_init(&self.give_lock, NULL);
    pthread_cond_init(&self.given, NULL);
    while (started + 1 < count && pthread_create(&others[started], NULL, run_items, &self) == 0)
        started++;
    run_items(&self);
    for (uint32_t i = 0; i < started; i++)
        pthread_join(others[i], NULL);
    pthread_cond_destroy(&self.given);
    pthread_mutex_destroy(&self.give_lock);
    pthread_mutex_destroy(&self.take_lock);
    free(others);
    return self.thread_count > 0 ? self.code : message_print("out of memory");
}

#include "base/tasks.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/error.h"
#include "base/platform.h"

/* ===== tasks on threads ===== */

#define MAX_THREADS 256u

typedef struct pool {
    ss_task_fn run;
    void *context;
    uint64_t task_count;
    atomic_uint_fast64_t next_task;
    atomic_bool stop;
    pthread_mutex_t failure_lock; /* guards the three below */
    uint64_t failed_task;
    sstore_status failure;
    sstore_error error;
} pool;

typedef struct pool_thread {
    pool *pool;
    uint32_t index;
    pthread_t thread;
} pool_thread;

uint32_t ss_pool_threads(uint32_t threads)
{
    threads = threads != 0 ? threads : ss_platform_processors();
    return threads < MAX_THREADS ? threads : MAX_THREADS;
}

static void *work(void *argument)
{
    pool_thread *self = argument;
    pool *shared = self->pool;
    while (!atomic_load(&shared->stop)) {
        uint64_t task = atomic_fetch_add(&shared->next_task, 1);
        if (task >= shared->task_count)
            break;
        sstore_error error = {.status = SSTORE_OK};
        sstore_status status = shared->run(shared->context, task, self->index, &error);
        if (status == SSTORE_OK)
            continue;
        atomic_store(&shared->stop, true);
        pthread_mutex_lock(&shared->failure_lock);
        if (shared->failure == SSTORE_OK || task < shared->failed_task) {
            shared->failed_task = task;
            shared->failure = status;
            shared->error = error;
        }
        pthread_mutex_unlock(&shared->failure_lock);
    }
    return NULL;
}

sstore_status ss_pool_run(uint32_t threads, uint64_t count, ss_task_fn run, void *context, sstore_error *error)
{
    pool shared = {.run = run, .context = context, .task_count = count, .failure_lock = PTHREAD_MUTEX_INITIALIZER};
    pool_thread workers[MAX_THREADS];
    threads = (uint32_t)ss_min_u64(ss_min_u64(threads, count), MAX_THREADS);
    uint32_t started = 1; /* worker 0 is the caller */
    for (uint32_t i = 0; i < threads || i == 0; i++)
        workers[i] = (pool_thread){.pool = &shared, .index = i};
    while (started < threads && pthread_create(&workers[started].thread, NULL, work, &workers[started]) == 0)
        started++;
    work(&workers[0]);
    for (uint32_t i = 1; i < started; i++)
        pthread_join(workers[i].thread, NULL);
    pthread_mutex_destroy(&shared.failure_lock);
    return shared.failure > SSTORE_STOPPED ? ss_fail_as(error, &shared.error) : shared.failure;
}

/* ===== sequencer ===== */

void ss_sequencer_init(ss_sequencer *sequencer)
{
    *sequencer = (ss_sequencer){.next = 0};
    pthread_mutex_init(&sequencer->lock, NULL);
    pthread_cond_init(&sequencer->moved, NULL);
}

bool ss_sequencer_enter(ss_sequencer *sequencer, uint64_t task)
{
    pthread_mutex_lock(&sequencer->lock);
    while (sequencer->next != task && !sequencer->broken)
        pthread_cond_wait(&sequencer->moved, &sequencer->lock);
    bool entered = !sequencer->broken;
    pthread_mutex_unlock(&sequencer->lock);
    return entered;
}

static void move_on(ss_sequencer *sequencer, uint64_t next)
{
    pthread_mutex_lock(&sequencer->lock);
    sequencer->next = next;
    pthread_cond_broadcast(&sequencer->moved);
    pthread_mutex_unlock(&sequencer->lock);
}

void ss_sequencer_leave(ss_sequencer *sequencer)
{
    move_on(sequencer, sequencer->next + 1); /* only the task inside changes it */
}

void ss_sequencer_restart(ss_sequencer *sequencer)
{
    move_on(sequencer, 0);
}

void ss_sequencer_break(ss_sequencer *sequencer)
{
    pthread_mutex_lock(&sequencer->lock);
    sequencer->broken = true;
    pthread_cond_broadcast(&sequencer->moved);
    pthread_mutex_unlock(&sequencer->lock);
}

void ss_sequencer_destroy(ss_sequencer *sequencer)
{
    pthread_cond_destroy(&sequencer->moved);
    pthread_mutex_destroy(&sequencer->lock);
}

/* ===== progress ===== */

void ss_progress_begin(ss_progress *progress, const char *phase, uint32_t table, uint64_t total, double end_fraction)
{
    progress->now.struct_size = sizeof progress->now;
    progress->now.phase = phase;
    progress->now.table = table;
    progress->now.total = total;
    progress->begin_fraction = progress->end_fraction;
    progress->end_fraction = end_fraction;
    atomic_store(&progress->done, 0);
}

sstore_status ss_progress_add(ss_progress *progress, uint32_t worker, uint64_t count)
{
    uint64_t done = atomic_fetch_add_explicit(&progress->done, count, memory_order_relaxed) + count;
    if (worker == 0 && progress->report != NULL) {
        sstore_progress now = progress->now;
        double part = now.total > 0 ? (double)done / (double)now.total : 1;
        now.done = ss_min_u64(done, now.total);
        now.fraction = progress->begin_fraction +
                       (part < 1 ? part : 1) * (progress->end_fraction - progress->begin_fraction);
        if (progress->report(progress->context, &now) != 0)
            atomic_store(&progress->stopped, true);
    }
    return atomic_load_explicit(&progress->stopped, memory_order_relaxed) ? SSTORE_STOPPED : SSTORE_OK;
}

#include "base/pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

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

typedef struct worker {
    pool *pool;
    uint32_t index;
    pthread_t thread;
} worker;

uint32_t ss_available_threads(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) {
        int count = CPU_COUNT(&set);
        return count < 1 ? 1 : (uint32_t)count;
    }
    long count = sysconf(_SC_NPROCESSORS_ONLN); /* more than 1024 processors: the set above is too small */
    return count < 1 ? 1 : (uint32_t)count;
}

uint32_t ss_pool_threads(uint32_t threads)
{
    threads = threads != 0 ? threads : ss_available_threads();
    return threads < MAX_THREADS ? threads : MAX_THREADS;
}

static void *work(void *argument)
{
    worker *self = argument;
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
    worker workers[MAX_THREADS];
    threads = (uint32_t)ss_min_u64(ss_min_u64(threads, count), MAX_THREADS);
    uint32_t started = 1; /* worker 0 is the caller */
    for (uint32_t i = 0; i < threads || i == 0; i++)
        workers[i] = (worker){.pool = &shared, .index = i};
    while (started < threads && pthread_create(&workers[started].thread, NULL, work, &workers[started]) == 0)
        started++;
    work(&workers[0]);
    for (uint32_t i = 1; i < started; i++)
        pthread_join(workers[i].thread, NULL);
    pthread_mutex_destroy(&shared.failure_lock);
    if (shared.failure != SSTORE_OK && error != NULL)
        *error = shared.error;
    return shared.failure;
}

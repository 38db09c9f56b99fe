/* Tasks on several threads: each runs once, and the failure of the lowest failing task is reported. */
#include "base/tasks.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "support/random.h"
#include "support/testing.h"

#define MAX_TASKS 400
#define MAX_THREADS 8

/* What tasks do, and their observations. */
typedef struct job {
    uint32_t threads;
    atomic_uint runs[MAX_TASKS];
    atomic_bool busy[MAX_THREADS]; /* by worker */
    atomic_uint workers_met;       /* tasks whose worker was busy or out of range */
    const bool *fails;             /* by task; NULL: none */
    bool waits;                    /* some tasks take longer than others */
} job;

static void wait_a_little(uint64_t task)
{
    struct timespec some = {.tv_nsec = (long)(rng_mix(task) % 100000)};
    nanosleep(&some, NULL);
}

static sstore_status run_task(void *context, uint64_t task, uint32_t worker, sstore_error *error)
{
    job *self = context;
    atomic_fetch_add(&self->runs[task], 1);
    if (worker >= self->threads || atomic_exchange(&self->busy[worker], true)) {
        atomic_fetch_add(&self->workers_met, 1);
        return SSTORE_OK;
    }
    if (self->waits)
        wait_a_little(task);
    atomic_store(&self->busy[worker], false);
    if (self->fails == NULL || !self->fails[task])
        return SSTORE_OK;
    *error = (sstore_error){.status = SSTORE_ERROR_IO, .offset = task};
    snprintf(error->message, sizeof error->message, "task %llu", (unsigned long long)task);
    return SSTORE_ERROR_IO;
}

static void test_all_tasks_run_once(void **state)
{
    static const uint64_t counts[] = {0, 1, 2, 7, 8, 9, 100, MAX_TASKS};
    for (uint32_t threads = 0; threads <= MAX_THREADS; threads++) {
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
            job self = {.threads = threads == 0 ? 1 : threads, .waits = counts[i] <= 100};
            sstore_error error = {.status = SSTORE_OK, .message = "untouched"};
            testing_doing("%llu tasks on %u threads", (unsigned long long)counts[i], threads);
            assert_ok(ss_pool_run(threads, counts[i], run_task, &self, &error), &error);
            assert_string_equal(error.message, "untouched");
            for (uint64_t task = 0; task < MAX_TASKS; task++)
                assert_int_equal(self.runs[task], task < counts[i]);
            assert_int_equal(self.workers_met, 0);
        }
    }
    testing_done();
}

/* Tasks start in order, so every one below the lowest that fails has run. */
static void test_lowest_failure_is_told(void **state)
{
    rng random = rng_seeded(run_seed);
    for (uint32_t i = 0; i < 300; i++) {
        bool fails[MAX_TASKS] = {false};
        const uint64_t count = rng_between(&random, 1, MAX_TASKS);
        job self = {.threads = 1 + i % MAX_THREADS, .fails = fails, .waits = i % 3 == 0};
        uint64_t lowest = count;
        for (uint64_t left = rng_between(&random, 1, 5); left > 0; left--) {
            const uint64_t task = rng_below(&random, count);
            fails[task] = true;
            lowest = task < lowest ? task : lowest;
        }
        sstore_error error = {.status = SSTORE_OK};
        testing_doing("%llu tasks on %u threads, the first to fail is %llu", (unsigned long long)count, self.threads,
                      (unsigned long long)lowest);
        sstore_status status = ss_pool_run(self.threads, count, run_task, &self, i % 2 == 0 ? &error : NULL);
        assert_status(status, SSTORE_ERROR_IO, i % 2 == 0 ? &error : NULL);
        if (i % 2 == 0)
            assert_int_equal(error.offset, lowest);
        for (uint64_t task = 0; task <= lowest; task++)
            assert_int_equal(self.runs[task], 1);
        for (uint64_t task = lowest + 1; task < count; task++)
            assert_true(self.runs[task] <= 1);
        if (self.threads == 1 && lowest + 1 < count)
            assert_int_equal(self.runs[lowest + 1], 0); /* nothing starts after a failure */
    }
    testing_done();
}

/* Threads run in parallel: each waits for the other. */
static sstore_status meet(void *context, uint64_t task, uint32_t worker, sstore_error *error)
{
    pthread_barrier_wait(context);
    return SSTORE_OK;
}

static void test_threads_run_side_by_side(void **state)
{
    for (uint32_t threads = 2; threads <= MAX_THREADS; threads++) {
        pthread_barrier_t barrier;
        assert_int_equal(pthread_barrier_init(&barrier, NULL, threads), 0);
        assert_ok(ss_pool_run(threads, threads, meet, &barrier, NULL), NULL);
        pthread_barrier_destroy(&barrier);
    }
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_all_tasks_run_once, testing_teardown),
        cmocka_unit_test_teardown(test_lowest_failure_is_told, testing_teardown),
        cmocka_unit_test(test_threads_run_side_by_side),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

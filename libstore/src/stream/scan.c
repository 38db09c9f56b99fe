/*
 * scan.c - fingerprints that stream past a batch of queries, which an index in memory holds.
 *
 * What is fed is cut into tasks, which threads take one after the other; each thread keeps the matches it finds until
 * its list is full. Then all pause where they are, the matches are handed over in the caller's thread, and the tasks go
 * on. A task goes on by whole steps: of one that finds more than fits nothing is kept, and it is taken again when the
 * list is empty, and in smaller steps if that is not enough.
 */
#include "base/error.h"
#include "base/memory.h"
#include "base/tasks.h"
#include "sort/radix.h"
#include "stream/memory_index.h"

#define TASK_FINGERPRINTS ((size_t)1 << 18) /* at most: what a thread's order has room for */
#define TASKS_PER_THREAD 2u                 /* so that none waits long for the last one */
#define LIST_MATCHES ((size_t)1 << 18)

typedef struct found {
    uint64_t query;
    size_t number; /* of the fingerprint, among those that were fed */
} found;

typedef struct scan_worker {
    ss_index_order order;
    found *list;
    size_t count, capacity;
    size_t begin;  /* of the step that is being taken */
    uint32_t step; /* fingerprints in one */
    bool full;
} scan_worker;

struct sstore_scan {
    ss_fingerprint_index index;
    uint32_t threads;
    scan_worker *workers;
    size_t *done; /* of each task: its fingerprints that were looked up */
    size_t task_capacity;

    /* What is being fed. */
    const uint64_t *fingerprints;
    size_t count, task_count;
};

/* ----- beginning ----- */

/* A sorted copy of the queries, each once. */
static sstore_status copy_queries(const uint64_t *queries, size_t count, uint64_t **values_out, uint32_t *count_out,
                                  sstore_error *error)
{
    uint64_t *values = ss_realloc(NULL, count, sizeof *values), *scratch = ss_realloc(NULL, count, sizeof *scratch);
    *values_out = values;
    if (values == NULL || scratch == NULL) {
        ss_free(scratch);
        return ss_fail_memory(error, 2 * (uint64_t)count * sizeof *values);
    }
    for (size_t i = 0; i < count; i++)
        values[i] = queries[i];
    *count_out = (uint32_t)ss_sort_unique_keys(values, scratch, count);
    ss_free(scratch);
    return SSTORE_OK;
}

static sstore_status open_scan(sstore_scan *scan, const uint64_t *queries, size_t count, uint32_t distance,
                               sstore_error *error)
{
    uint64_t *values;
    uint32_t distinct = 0;
    scan->workers = ss_alloc(scan->threads, sizeof *scan->workers);
    if (scan->workers == NULL)
        return ss_fail_memory(error, scan->threads * sizeof *scan->workers);
    sstore_status status = copy_queries(queries, count, &values, &distinct, error);
    if (status == SSTORE_OK)
        status = ss_fingerprint_index_open(&scan->index, values, distinct, distance, scan->threads, error);
    else
        ss_free(values);
    return status;
}

sstore_status sstore_scan_create(const uint64_t *queries, size_t count, uint32_t distance, uint32_t threads,
                                 sstore_scan **scan_out, sstore_error *error)
{
    if (scan_out != NULL)
        *scan_out = NULL;
    if (scan_out == NULL || (queries == NULL && count > 0))
        return ss_fail_argument(error, "sstore_scan_create: queries and scan_out must not be NULL");
    if (distance > SSTORE_MAX_BUILD_DISTANCE)
        return ss_fail_argument(error, "a scan's distance must be from 0 to %d, and %u is not",
                                SSTORE_MAX_BUILD_DISTANCE, distance);
    if (count > UINT32_MAX)
        return ss_fail_argument(error, "a scan holds at most 2^32 - 1 queries");
    sstore_scan *scan = ss_alloc(1, sizeof *scan);
    if (scan == NULL)
        return ss_fail_memory(error, sizeof *scan);
    scan->threads = ss_pool_threads(threads);
    sstore_status status = open_scan(scan, queries, count, distance, error);
    if (status == SSTORE_OK)
        *scan_out = scan;
    else
        sstore_scan_free(scan);
    return status;
}

void sstore_scan_free(sstore_scan *scan)
{
    if (scan == NULL)
        return;
    for (uint32_t i = 0; scan->workers != NULL && i < scan->threads; i++) {
        ss_free(scan->workers[i].order.fingerprints);
        ss_free(scan->workers[i].order.numbers);
        ss_free(scan->workers[i].list);
    }
    ss_free(scan->workers);
    ss_free(scan->done);
    ss_fingerprint_index_close(&scan->index);
    ss_free(scan);
}

/* ----- finding ----- */

/* When it has something to do for the first time. */
static sstore_status open_worker(scan_worker *worker, sstore_error *error)
{
    if (worker->list != NULL)
        return SSTORE_OK;
    if (worker->order.fingerprints == NULL)
        worker->order.fingerprints = ss_realloc(NULL, TASK_FINGERPRINTS, sizeof *worker->order.fingerprints);
    if (worker->order.numbers == NULL)
        worker->order.numbers = ss_realloc(NULL, TASK_FINGERPRINTS, sizeof *worker->order.numbers);
    worker->list = ss_realloc(NULL, LIST_MATCHES, sizeof *worker->list);
    worker->capacity = LIST_MATCHES;
    worker->step = TASK_FINGERPRINTS;
    if (worker->order.fingerprints != NULL && worker->order.numbers != NULL && worker->list != NULL)
        return SSTORE_OK;
    return ss_fail_memory(error, LIST_MATCHES * sizeof *worker->list);
}

static sstore_status keep(void *context, uint32_t number, uint64_t query, sstore_error *error)
{
    scan_worker *self = context;
    (void)error;
    if (self->count == self->capacity)
        return SSTORE_STOPPED;
    self->list[self->count++] = (found){.query = query, .number = self->begin + number};
    return SSTORE_OK;
}

/* A step found more than there is room for: what can be done about it? */
static sstore_status make_room(scan_worker *worker, size_t kept, uint32_t step, sstore_error *error)
{
    worker->count = kept;
    worker->full = kept > 0;
    if (worker->full)
        return SSTORE_OK;
    worker->step = (step + 3) / 4;
    if (step > 1)
        return SSTORE_OK;
    found *larger = ss_realloc(worker->list, 2 * worker->capacity, sizeof *larger);
    if (larger == NULL)
        return ss_fail_memory(error, 2 * worker->capacity * sizeof *larger);
    worker->list = larger;
    worker->capacity *= 2;
    return SSTORE_OK;
}

/* Go on with a task until it is done or the worker's list is full. */
static sstore_status work(void *context, uint64_t task, uint32_t number, sstore_error *error)
{
    sstore_scan *scan = context;
    scan_worker *worker = &scan->workers[number];
    const size_t begin = scan->count * task / scan->task_count, end = scan->count * (task + 1) / scan->task_count;
    sstore_status status = open_worker(worker, error);
    while (status == SSTORE_OK && !worker->full && begin + scan->done[task] < end) {
        const size_t kept = worker->count;
        worker->begin = begin + scan->done[task];
        const uint32_t step = (uint32_t)ss_min_u64(worker->step, end - worker->begin);
        status = ss_fingerprint_index_search(&scan->index, scan->fingerprints + worker->begin, step,
                                             scan->index.distance, &worker->order, keep, worker, error);
        if (status == SSTORE_STOPPED) {
            status = make_room(worker, kept, step, error);
        } else if (status == SSTORE_OK) {
            scan->done[task] += step;
            worker->step = (uint32_t)ss_min_u64(2 * (uint64_t)worker->step, TASK_FINGERPRINTS);
        }
    }
    return status;
}

/* Hand all matches over that were found so far. *paused_out: a list was full. */
static sstore_status hand_over(sstore_scan *scan, const uint64_t *ids, bool *paused_out, sstore_scan_match_fn on_match,
                               void *context)
{
    *paused_out = false;
    for (uint32_t i = 0; i < scan->threads; i++) {
        scan_worker *worker = &scan->workers[i];
        for (size_t at = 0; at < worker->count; at++) {
            const found *of = &worker->list[at];
            const uint64_t fingerprint = scan->fingerprints[of->number];
            const sstore_scan_match match = {.query = of->query,
                                             .fingerprint = fingerprint,
                                             .id = ids != NULL ? ids[of->number] : 0,
                                             .distance = ss_popcount(fingerprint ^ of->query)};
            if (on_match(context, &match) != 0)
                return SSTORE_STOPPED;
        }
        *paused_out |= worker->full;
        worker->count = 0;
        worker->full = false;
    }
    return SSTORE_OK;
}

static sstore_status set_tasks(sstore_scan *scan, sstore_error *error)
{
    size_t tasks = (scan->count + TASK_FINGERPRINTS - 1) / TASK_FINGERPRINTS;
    if (tasks < TASKS_PER_THREAD * scan->threads && scan->threads > 1)
        tasks = TASKS_PER_THREAD * scan->threads;
    if (tasks > scan->task_capacity) {
        ss_free(scan->done);
        scan->task_capacity = 0;
        scan->done = ss_alloc(tasks, sizeof *scan->done);
        if (scan->done == NULL)
            return ss_fail_memory(error, tasks * sizeof *scan->done);
        scan->task_capacity = tasks;
    }
    scan->task_count = tasks;
    for (size_t task = 0; task < tasks; task++)
        scan->done[task] = 0;
    return SSTORE_OK;
}

sstore_status sstore_scan_feed(sstore_scan *scan, const uint64_t *fingerprints, const uint64_t *ids, size_t count,
                               sstore_scan_match_fn on_match, void *context, sstore_error *error)
{
    if (scan == NULL || on_match == NULL || (fingerprints == NULL && count > 0))
        return ss_fail_argument(error, "sstore_scan_feed: scan, fingerprints and on_match must not be NULL");
    scan->fingerprints = fingerprints;
    scan->count = count;
    for (uint32_t i = 0; i < scan->threads; i++) {
        scan->workers[i].count = 0; /* a call before may have been stopped */
        scan->workers[i].full = false;
    }
    sstore_status status = set_tasks(scan, error);
    bool paused = true;
    while (status == SSTORE_OK && paused && scan->index.count > 0) {
        status = ss_pool_run(scan->threads, scan->task_count, work, scan, error);
        sstore_status handed = hand_over(scan, ids, &paused, on_match, context);
        status = status == SSTORE_OK ? handed : status;
    }
    return status;
}

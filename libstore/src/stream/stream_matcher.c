/*
 * stream_matcher.c - matches fingerprints that stream past a batch of queries, which an index in memory holds.
 *
 * The fingerprints that are fed are cut into tasks for the threads. Each thread gathers its matches until its list is
 * full. Then all threads pause, the caller's thread reports the matches, and the tasks continue. A task advances in
 * steps. If the matches of a step do not fit into the list, they are dropped, and the step is repeated with an empty
 * list, or as smaller steps.
 */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/tasks.h"
#include "base/words.h"
#include "sort/radix.h"
#include "sstore_stream.h"
#include "stream/memory_index.h"

#define TASK_FINGERPRINTS ((size_t)1 << 18) /* the maximum, which is the size of a thread's scratch */
#define TASKS_PER_THREAD 2u                 /* so that none waits long for the last one */
#define LIST_MATCHES ((size_t)1 << 18)

typedef struct found {
    const uint64_t *query;
    size_t number; /* of the fingerprint, among those that were fed */
} found;

typedef struct matcher_worker {
    ss_memory_scratch scratch;
    found *list;
    size_t count, capacity;
    size_t begin;  /* of the current step */
    uint32_t step; /* fingerprints in the next step at most */
    bool full;
} matcher_worker;

struct sstore_stream_matcher {
    uint32_t words, distance;
    ss_memory_index queries;
    uint32_t threads;
    matcher_worker *workers;
    size_t *done; /* of each task: how many of its fingerprints were looked up */
    size_t task_capacity;

    /* The current input. */
    const uint64_t *fingerprints;
    size_t count, task_count;
};

/* ----- beginning ----- */

/* Make the index of the queries, each once. */
static sstore_status index_queries(sstore_stream_matcher *matcher, const uint64_t *queries, size_t count,
                                   sstore_error *error)
{
    const uint32_t words = matcher->words;
    const size_t query_bytes = words * sizeof *queries;
    uint64_t *values = ss_realloc(NULL, count, query_bytes), *scratch = ss_realloc(NULL, count, query_bytes);
    if (values == NULL || scratch == NULL) {
        ss_free(values);
        ss_free(scratch);
        return ss_fail_memory(error, 2 * (uint64_t)count * query_bytes);
    }
    if (count > 0)
        memcpy(values, queries, count * query_bytes);
    const uint32_t distinct = (uint32_t)ss_sort_unique_items(values, scratch, count, words);
    ss_free(scratch);
    return ss_memory_index_open(&matcher->queries, values, distinct, words, matcher->distance, matcher->threads, error);
}

sstore_status sstore_stream_matcher_create(const uint64_t *queries, size_t count, const sstore_stream_options *options,
                                           sstore_stream_matcher **matcher_out, sstore_error *error)
{
    sstore_stream_options taken = SSTORE_STREAM_OPTIONS_INIT;
    if (matcher_out != NULL)
        *matcher_out = NULL;
    if (matcher_out == NULL || (queries == NULL && count > 0))
        return ss_fail_argument(error, "sstore_stream_matcher_create: queries and matcher_out must not be NULL");
    sstore_status status = ss_take_options(&taken, sizeof taken, options, SS_STREAM_OPTIONS_SIZE_1, error);
    if (status == SSTORE_OK)
        status = ss_take_fingerprint_bits(&taken.fingerprint_bits, error);
    taken.distance = ss_distance_or_default(taken.distance);
    if (status == SSTORE_OK)
        status = ss_check_distance(taken.fingerprint_bits / SS_WORD_BITS, taken.distance, error);
    if (status != SSTORE_OK)
        return status;
    if (count > UINT32_MAX)
        return ss_fail_argument(error, "there are %zu queries; there can be at most 2^32 - 1", count);
    sstore_stream_matcher *matcher = ss_alloc(1, sizeof *matcher);
    if (matcher == NULL)
        return ss_fail_memory(error, sizeof *matcher);
    matcher->words = taken.fingerprint_bits / SS_WORD_BITS;
    matcher->distance = taken.distance;
    matcher->threads = ss_pool_threads(taken.threads);
    matcher->workers = ss_alloc(matcher->threads, sizeof *matcher->workers);
    status = matcher->workers != NULL ? index_queries(matcher, queries, count, error)
                                      : ss_fail_memory(error, matcher->threads * sizeof *matcher->workers);
    if (status == SSTORE_OK)
        *matcher_out = matcher;
    else
        sstore_stream_matcher_free(matcher);
    return status;
}

void sstore_stream_matcher_free(sstore_stream_matcher *matcher)
{
    if (matcher == NULL)
        return;
    for (uint32_t i = 0; matcher->workers != NULL && i < matcher->threads; i++) {
        ss_memory_scratch_close(&matcher->workers[i].scratch);
        ss_free(matcher->workers[i].list);
    }
    ss_free(matcher->workers);
    ss_free(matcher->done);
    ss_memory_index_close(&matcher->queries);
    ss_free(matcher);
}

/* ----- finding ----- */

/* Allocate a worker's memory, before its first task. */
static sstore_status open_worker(const sstore_stream_matcher *matcher, matcher_worker *worker, sstore_error *error)
{
    if (worker->step != 0)
        return SSTORE_OK;
    ss_memory_scratch_close(&worker->scratch); /* of a failed attempt */
    const sstore_status status = ss_memory_scratch_open(&worker->scratch, matcher->words, TASK_FINGERPRINTS, error);
    if (status != SSTORE_OK)
        return status;
    if (worker->list == NULL)
        worker->list = ss_realloc(NULL, LIST_MATCHES, sizeof *worker->list);
    if (worker->list == NULL)
        return ss_fail_memory(error, LIST_MATCHES * sizeof *worker->list);
    worker->capacity = LIST_MATCHES;
    worker->step = TASK_FINGERPRINTS;
    return SSTORE_OK;
}

static sstore_status add_match(void *context, uint32_t number, const uint64_t *query, sstore_error *error)
{
    matcher_worker *self = context;
    (void)error;
    if (self->count == self->capacity)
        return SSTORE_STOPPED;
    self->list[self->count++] = (found){.query = query, .number = self->begin + number};
    return SSTORE_OK;
}

/* Search for some of the fingerprints, from the worker's begin on. */
static sstore_status search(const sstore_stream_matcher *matcher, matcher_worker *worker, uint32_t count,
                            sstore_error *error)
{
    const uint64_t *fingerprints = matcher->fingerprints + worker->begin * matcher->words;
    return ss_memory_index_search(&matcher->queries, fingerprints, count, matcher->distance, &worker->scratch,
                                  add_match, worker, error);
}

/* After a step whose matches do not fit: drop them. Then the list is reported, or the next step is smaller, or the list
 * becomes larger. */
static sstore_status make_room(matcher_worker *worker, size_t before, uint32_t step, sstore_error *error)
{
    worker->count = before;
    worker->full = before > 0;
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

/* Continue a task until it is done or the worker's list is full. */
static sstore_status work(void *context, uint64_t task, uint32_t number, sstore_error *error)
{
    sstore_stream_matcher *matcher = context;
    matcher_worker *worker = &matcher->workers[number];
    const size_t begin = matcher->count * task / matcher->task_count,
                 end = matcher->count * (task + 1) / matcher->task_count;
    sstore_status status = open_worker(matcher, worker, error);
    while (status == SSTORE_OK && !worker->full && begin + matcher->done[task] < end) {
        const size_t before = worker->count;
        worker->begin = begin + matcher->done[task];
        const uint32_t step = (uint32_t)ss_min_u64(worker->step, end - worker->begin);
        status = search(matcher, worker, step, error);
        if (status == SSTORE_STOPPED) {
            status = make_room(worker, before, step, error);
        } else if (status == SSTORE_OK) {
            matcher->done[task] += step;
            worker->step = (uint32_t)ss_min_u64(2 * (uint64_t)worker->step, TASK_FINGERPRINTS);
        }
    }
    return status;
}

/* Report all matches that were found so far. *paused_out: a list was full. */
static sstore_status hand_over(sstore_stream_matcher *matcher, const uint64_t *ids, bool *paused_out,
                               sstore_stream_match_fn on_match, void *context)
{
    *paused_out = false;
    for (uint32_t i = 0; i < matcher->threads; i++) {
        matcher_worker *worker = &matcher->workers[i];
        for (size_t at = 0; at < worker->count; at++) {
            const found *next = &worker->list[at];
            const uint64_t *words = matcher->fingerprints + next->number * matcher->words;
            const sstore_stream_match match = {.query = next->query,
                                               .fingerprint = words,
                                               .id = ids != NULL ? ids[next->number] : 0,
                                               .distance = ss_words_distance(words, next->query, matcher->words)};
            if (on_match(context, &match) != 0)
                return SSTORE_STOPPED;
        }
        *paused_out |= worker->full;
        worker->count = 0;
        worker->full = false;
    }
    return SSTORE_OK;
}

static sstore_status set_tasks(sstore_stream_matcher *matcher, sstore_error *error)
{
    size_t tasks = (matcher->count + TASK_FINGERPRINTS - 1) / TASK_FINGERPRINTS;
    if (tasks < TASKS_PER_THREAD * matcher->threads && matcher->threads > 1)
        tasks = TASKS_PER_THREAD * matcher->threads;
    if (tasks > matcher->task_capacity) {
        ss_free(matcher->done);
        matcher->task_capacity = 0;
        matcher->done = ss_alloc(tasks, sizeof *matcher->done);
        if (matcher->done == NULL)
            return ss_fail_memory(error, tasks * sizeof *matcher->done);
        matcher->task_capacity = tasks;
    }
    matcher->task_count = tasks;
    for (size_t task = 0; task < tasks; task++)
        matcher->done[task] = 0;
    return SSTORE_OK;
}

sstore_status sstore_stream_matcher_feed(sstore_stream_matcher *matcher, const uint64_t *fingerprints,
                                         const uint64_t *ids, size_t count, sstore_stream_match_fn on_match,
                                         void *context, sstore_error *error)
{
    if (matcher == NULL || on_match == NULL || (fingerprints == NULL && count > 0))
        return ss_fail_argument(error,
                                "sstore_stream_matcher_feed: matcher, fingerprints and on_match must not be NULL");
    matcher->fingerprints = fingerprints;
    matcher->count = count;
    for (uint32_t i = 0; i < matcher->threads; i++) {
        matcher->workers[i].count = 0; /* a call before may have been stopped */
        matcher->workers[i].full = false;
    }
    sstore_status status = set_tasks(matcher, error);
    bool paused = true;
    while (status == SSTORE_OK && paused && matcher->queries.count > 0) {
        status = ss_pool_run(matcher->threads, matcher->task_count, work, matcher, error);
        sstore_status handed = hand_over(matcher, ids, &paused, on_match, context);
        status = status == SSTORE_OK ? handed : status;
    }
    return status;
}

/*
 * batch.c - many queries on several threads, with results in the order of the queries and within a bounded memory: the
 * queries are answered in rounds, each worker gathers its queries' matches, and the caller hands them on after the round.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/pool.h"
#include "engine/query.h"

#define TASK_QUERIES 64u  /* one worker's share */
#define TASKS_A_ROUND 64u /* so a round holds the matches of 4,096 queries */

/* The matches of one task's queries, in their order. */
typedef struct match_list {
    sstore_match *matches;
    size_t count, capacity;
    bool out_of_memory;
} match_list;

typedef struct batch {
    const sstore *store;
    const uint64_t *fingerprints;
    size_t count, first; /* of all; of this round */
    uint32_t distance;
    sstore_cursor **cursors; /* one a worker, made when first needed */
    match_list *lists;       /* one a task of the round */
} batch;

static int keep_match(void *context, const sstore_match *match)
{
    match_list *list = context;
    if (list->count == list->capacity) {
        size_t capacity = list->capacity == 0 ? 64 : 2 * list->capacity;
        sstore_match *matches = ss_realloc(list->matches, capacity, sizeof *matches);
        list->out_of_memory = matches == NULL;
        if (matches == NULL)
            return 1;
        list->matches = matches;
        list->capacity = capacity;
    }
    list->matches[list->count++] = *match;
    return 0;
}

static int compare_matches(const void *left, const void *right)
{
    const sstore_match *a = left, *b = right;
    if (a->distance != b->distance)
        return a->distance < b->distance ? -1 : 1;
    if (a->fingerprint != b->fingerprint)
        return a->fingerprint < b->fingerprint ? -1 : 1;
    return (a->id > b->id) - (a->id < b->id);
}

static sstore_status answer(sstore_cursor *cursor, const batch *self, size_t query, match_list *list,
                            sstore_error *error)
{
    size_t before = list->count;
    sstore_status status =
        sstore_query(cursor, self->fingerprints[query], self->distance, keep_match, list, error);
    if (list->out_of_memory)
        return ss_fail_memory(error, 2 * list->capacity * sizeof *list->matches);
    if (list->count > before)
        qsort(list->matches + before, list->count - before, sizeof *list->matches, compare_matches);
    for (size_t i = before; i < list->count; i++)
        list->matches[i].query_index = query;
    return status;
}

static sstore_status run_task(void *context, uint64_t task, uint32_t worker, sstore_error *error)
{
    batch *self = context;
    sstore_status status = SSTORE_OK;
    if (self->cursors[worker] == NULL)
        status = sstore_cursor_create(self->store, &self->cursors[worker], error);
    size_t first = self->first + task * TASK_QUERIES;
    for (size_t i = first; status == SSTORE_OK && i < self->count && i < first + TASK_QUERIES; i++)
        status = answer(self->cursors[worker], self, i, &self->lists[task], error);
    return status;
}

/* Hand on the matches of a round, and empty the lists. */
static sstore_status deliver(batch *self, sstore_match_fn on_match, void *context)
{
    for (uint32_t task = 0; task < TASKS_A_ROUND; task++) {
        match_list *list = &self->lists[task];
        for (size_t i = 0; i < list->count; i++)
            if (on_match(context, &list->matches[i]) != 0)
                return SSTORE_STOPPED;
        list->count = 0;
    }
    return SSTORE_OK;
}

static sstore_status run_rounds(batch *self, uint32_t threads, sstore_match_fn on_match, void *context,
                                sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    const size_t round = (size_t)TASK_QUERIES * TASKS_A_ROUND;
    for (self->first = 0; status == SSTORE_OK && self->first < self->count; self->first += round) {
        size_t left = self->count - self->first;
        size_t tasks = left >= round ? TASKS_A_ROUND : (left + TASK_QUERIES - 1) / TASK_QUERIES;
        status = ss_pool_run(threads, tasks, run_task, self, error);
        if (status == SSTORE_OK)
            status = deliver(self, on_match, context);
    }
    return status;
}

sstore_status sstore_query_batch(const sstore *store, const uint64_t *fingerprints, size_t count, uint32_t distance,
                                 uint32_t threads, sstore_match_fn on_match, void *context, sstore_error *error)
{
    if (store == NULL || (fingerprints == NULL && count > 0) || on_match == NULL || distance > SSTORE_MAX_DISTANCE)
        return ss_fail_argument(error, "sstore_query_batch: store, fingerprints and on_match must not be NULL, nor the "
                                       "distance above 64");
    threads = threads == 0 ? ss_available_threads() : threads;
    threads = (uint32_t)ss_min_u64(threads, TASKS_A_ROUND);
    batch self = {.store = store, .fingerprints = fingerprints, .count = count, .distance = distance};
    self.cursors = ss_alloc(threads, sizeof *self.cursors);
    self.lists = ss_alloc(TASKS_A_ROUND, sizeof *self.lists);
    sstore_status status = SSTORE_OK;
    if (self.cursors == NULL || self.lists == NULL)
        status = ss_fail_memory(error, TASKS_A_ROUND * sizeof *self.lists);
    else
        status = run_rounds(&self, threads, on_match, context, error);
    for (uint32_t i = 0; self.cursors != NULL && i < threads; i++)
        sstore_cursor_free(self.cursors[i]);
    for (uint32_t i = 0; self.lists != NULL && i < TASKS_A_ROUND; i++)
        ss_free(self.lists[i].matches);
    ss_free(self.cursors);
    ss_free(self.lists);
    return status;
}

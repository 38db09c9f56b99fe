#include "read/batch.h"

#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/tasks.h"
#include "read/search.h"

#define FIRST_CAPACITY 1024u /* of a list of hits */
#define TASK_QUERIES 64u     /* one worker's share of queries that are answered one by one */

/* Nanoseconds that it takes to allocate, start threads and order the matches, for queries that are answered together; measured by
 * bench_batch (bench/README.md). */
#define TOGETHER_NS 4e4

/* ----- hits ----- */

sstore_status ss_batch_add_hit(const ss_batch *batch, uint32_t worker, ss_batch_hit hit, sstore_error *error)
{
    ss_hit_list *list = &batch->lists[worker];
    if (list->count == list->capacity) {
        size_t capacity = list->capacity == 0 ? FIRST_CAPACITY : 2 * list->capacity;
        long long more = (long long)(capacity - list->capacity);
        if (batch->room != NULL && atomic_fetch_sub_explicit(batch->room, more, memory_order_relaxed) < more)
            return SSTORE_STOPPED;
        ss_batch_hit *hits = ss_realloc(list->hits, capacity, sizeof *hits);
        if (hits == NULL)
            return ss_fail_memory(error, capacity * sizeof *hits);
        list->hits = hits;
        list->capacity = capacity;
    }
    hit.segment = batch->segment_index;
    list->hits[list->count++] = hit;
    return SSTORE_OK;
}

void ss_batch_clear_hits(const ss_batch *batch)
{
    for (uint32_t i = 0; i < batch->threads; i++) {
        ss_free(batch->lists[i].hits);
        batch->lists[i] = (ss_hit_list){.count = 0};
    }
}

/* ----- one by one ----- */

typedef struct singles {
    const ss_batch *batch;
    sstore_cursor **cursors; /* one a worker, made when first needed */
} singles;

/* Where the hits of one query go. */
typedef struct hit_sink {
    const ss_batch *batch;
    uint32_t worker, query;
} hit_sink;

static sstore_status keep_hit(void *context, const ss_hit *hit, sstore_error *error)
{
    const hit_sink *sink = context;
    ss_batch_hit kept = {.fingerprint = hit->fingerprint,
                         .rank = hit->has_rank ? hit->rank : SS_NO_RANK,
                         .query = sink->query};
    return ss_batch_add_hit(sink->batch, sink->worker, kept, error);
}

static sstore_status run_singles(void *context, uint64_t task, uint32_t worker, sstore_error *error)
{
    singles *self = context;
    const ss_batch *batch = self->batch;
    sstore_status status = SSTORE_OK;
    if (self->cursors[worker] == NULL)
        status = sstore_cursor_create(batch->store, &self->cursors[worker], error);
    uint64_t end = ss_min_u64((task + 1) * TASK_QUERIES, batch->count);
    for (uint64_t query = task * TASK_QUERIES; status == SSTORE_OK && query < end; query++) {
        ss_cursor_renew(self->cursors[worker]);
        hit_sink sink = {.batch = batch, .worker = worker, .query = (uint32_t)query};
        status = ss_query_segment(self->cursors[worker], batch->segment_index, batch->fingerprints[query],
                                  batch->distance, keep_hit, &sink, error);
    }
    return status;
}

static sstore_status find_one_by_one(const ss_batch *batch, sstore_error *error)
{
    singles self = {.batch = batch, .cursors = ss_alloc(batch->threads, sizeof *self.cursors)};
    if (self.cursors == NULL)
        return ss_fail_memory(error, batch->threads * sizeof *self.cursors);
    uint64_t tasks = (batch->count + TASK_QUERIES - 1) / TASK_QUERIES;
    sstore_status status = ss_pool_run(batch->threads, tasks, run_singles, &self, error);
    for (uint32_t i = 0; i < batch->threads; i++)
        sstore_cursor_free(self.cursors[i]);
    ss_free(self.cursors);
    return status;
}

/* ----- choosing ----- */

typedef enum way { ONE_BY_ONE, IN_PASSES, SCANNED } way;

#define SAMPLED_QUERIES 16u

/* What one query is expected to take, by some of them. */
static double mean_cost(const ss_batch *batch)
{
    const uint32_t sampled = (uint32_t)ss_min_u64(batch->count, SAMPLED_QUERIES);
    double sum = 0;
    for (uint32_t i = 0; i < sampled; i++)
        sum += ss_search_cost(batch->segment, batch->plan, batch->fingerprints[(uint64_t)i * batch->count / sampled]);
    return sum / sampled;
}

static way choose_way(const ss_batch *batch)
{
    sstore_strategy strategy = batch->store->options.strategy;
    const ss_query_plan *plan = batch->plan;
    if (batch->count == 1 || batch->segment->metadata.distinct_count == 0)
        return ONE_BY_ONE;
    double single = batch->count * fmin(plan->scan_cost, mean_cost(batch));
    double scanned = TOGETHER_NS + ss_batch_pass_cost(batch, true);
    if (strategy == SSTORE_STRATEGY_SCAN || (plan->scan && scanned < single))
        return SCANNED;
    if (plan->scan)
        return ONE_BY_ONE;
    double in_passes = TOGETHER_NS + ss_batch_pass_cost(batch, false);
    if (strategy == SSTORE_STRATEGY_AUTO && scanned < single && scanned < in_passes)
        return SCANNED;
    return in_passes < single ? IN_PASSES : ONE_BY_ONE;
}

/* ----- rounds ----- */

static sstore_status find_in_segment(const ss_batch *batch, sstore_error *error)
{
    const way chosen = choose_way(batch);
    return chosen == ONE_BY_ONE ? find_one_by_one(batch, error) : ss_batch_pass(batch, chosen == SCANNED, error);
}

/* Find the hits in all segments of records. */
static sstore_status find_hits(ss_batch *batch, sstore_error *error)
{
    const sstore *store = batch->store;
    sstore_status status = SSTORE_OK;
    for (uint32_t i = 0; status == SSTORE_OK && i < store->manifest.segment_count; i++) {
        if (ss_segment_removes(store->segments[i]))
            continue;
        batch->segment_index = i;
        batch->segment = store->segments[i];
        batch->plan = &batch->plans[i];
        status = find_in_segment(batch, error);
    }
    return status;
}

/* ----- the iterator ----- */

#define MAX_PENDING                                                                                                    \
    (SS_ROUND_QUERY_BITS + 1) /* ranges: a round is halved so often at most, and each time the other half waits */

/* Queries first .. first + count - 1. */
typedef struct query_range {
    size_t first;
    uint32_t count;
} query_range;

struct sstore_match_iterator {
    ss_batch batch;
    const uint64_t *fingerprints;
    size_t count, next;               /* queries from `next` on have not come into a round */
    query_range pending[MAX_PENDING]; /* parts of a round that found too much, the next one last */
    uint32_t pending_count;
    sstore_match *matches; /* of the present part of a round */
    size_t match_count, match_index;
    sstore_status status; /* of an earlier call */
};

/* Get the matches of some queries. If they are too many together, put the two halves of the queries on the pending ones. */
static sstore_status answer_range(sstore_match_iterator *self, query_range range, sstore_error *error)
{
    ss_batch *batch = &self->batch;
    bool too_many = false;
    atomic_llong room = (long long)SS_ROUND_MATCHES;
    batch->fingerprints = self->fingerprints + range.first;
    batch->count = range.count;
    batch->room = range.count > 1 ? &room : NULL;
    sstore_status status = find_hits(batch, error);
    if (status == SSTORE_STOPPED)
        too_many = true;
    else if (status == SSTORE_OK)
        status = ss_batch_report(batch, range.first, &too_many, &self->matches, &self->match_count, error);
    ss_batch_clear_hits(batch);
    batch->room = NULL;
    if (!too_many)
        return status;
    const uint32_t half = range.count / 2;
    self->pending[self->pending_count++] = (query_range){.first = range.first + half, .count = range.count - half};
    self->pending[self->pending_count++] = (query_range){.first = range.first, .count = half};
    return SSTORE_OK;
}

/* Get the next matches, of as many queries as it takes for there to be some; none are left if match_count is 0 then. */
static sstore_status answer_more(sstore_match_iterator *self, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    ss_free(self->matches);
    self->matches = NULL;
    self->match_count = self->match_index = 0;
    while (status == SSTORE_OK && self->match_count == 0 && (self->pending_count > 0 || self->next < self->count)) {
        query_range range = {.first = self->next,
                             .count = (uint32_t)ss_min_u64(self->count - self->next, SS_ROUND_QUERIES)};
        if (self->pending_count > 0)
            range = self->pending[--self->pending_count];
        else
            self->next += range.count;
        status = answer_range(self, range, error);
    }
    return status;
}

static void close_iterator(sstore_match_iterator *self)
{
    ss_free(self->matches);
    ss_free(self->batch.lists);
    ss_free(self->batch.plans);
}

static sstore_status open_iterator(sstore_match_iterator *self, const sstore *store, const uint64_t *fingerprints,
                                   size_t count, uint32_t distance, const sstore_batch_options *options,
                                   sstore_error *error)
{
    sstore_batch_options taken = SSTORE_BATCH_OPTIONS_INIT;
    ss_steps planning = {.left = SS_CALL_STEPS};
    if (store == NULL || (fingerprints == NULL && count > 0) || distance > SSTORE_MAX_DISTANCE)
        return ss_fail_argument(error, "store and fingerprints must not be NULL, nor the distance above 64");
    const sstore_status status = ss_take_options(&taken, sizeof taken, options, SS_BATCH_OPTIONS_SIZE_1, error);
    if (status != SSTORE_OK)
        return status;
    const uint32_t threads = ss_pool_threads(taken.threads), segments = store->manifest.segment_count;
    *self = (sstore_match_iterator){.batch = {.store = store, .distance = distance, .threads = threads},
                                    .fingerprints = fingerprints,
                                    .count = segments > 0 ? count : 0};
    ss_batch *batch = &self->batch;
    batch->lists = ss_alloc(threads, sizeof *batch->lists);
    batch->plans = ss_alloc(segments, sizeof *batch->plans);
    if (batch->lists == NULL || batch->plans == NULL)
        return ss_fail_memory(error, threads * sizeof *batch->lists + segments * sizeof *batch->plans);
    ss_plan_queries(store, distance, &planning, batch->plans);
    return SSTORE_OK;
}

sstore_status sstore_query_batch(const sstore *store, const uint64_t *fingerprints, size_t count, uint32_t distance,
                                 const sstore_batch_options *options, sstore_match_fn on_match, void *context,
                                 sstore_error *error)
{
    sstore_match_iterator self = {.matches = NULL};
    if (on_match == NULL)
        return ss_fail_argument(error, "sstore_query_batch: on_match must not be NULL");
    sstore_status status = open_iterator(&self, store, fingerprints, count, distance, options, error);
    if (status == SSTORE_OK)
        status = answer_more(&self, error);
    while (status == SSTORE_OK && self.match_count > 0) {
        for (size_t i = 0; status == SSTORE_OK && i < self.match_count; i++)
            status = on_match(context, &self.matches[i]) == 0 ? SSTORE_OK : SSTORE_STOPPED;
        if (status == SSTORE_OK)
            status = answer_more(&self, error);
    }
    close_iterator(&self);
    return status;
}

sstore_status sstore_match_iterator_create(const sstore *store, const uint64_t *fingerprints, size_t count,
                                           uint32_t distance, const sstore_batch_options *options,
                                           sstore_match_iterator **iterator_out, sstore_error *error)
{
    if (iterator_out == NULL)
        return ss_fail_argument(error, "sstore_match_iterator_create: iterator_out must not be NULL");
    *iterator_out = NULL;
    sstore_match_iterator *iterator = ss_alloc(1, sizeof *iterator);
    if (iterator == NULL)
        return ss_fail_memory(error, sizeof *iterator);
    const sstore_status status = open_iterator(iterator, store, fingerprints, count, distance, options, error);
    if (status == SSTORE_OK)
        *iterator_out = iterator;
    else
        sstore_match_iterator_free(iterator);
    return status;
}

sstore_status sstore_match_iterator_next(sstore_match_iterator *iterator, const sstore_match_columns *columns,
                                         size_t capacity, size_t *count_out, sstore_error *error)
{
    sstore_match_columns to;
    if (iterator == NULL || capacity == 0 || count_out == NULL || iterator->status != SSTORE_OK)
        return ss_fail_argument(
            error, "sstore_match_iterator_next: iterator and count_out must not be NULL, nor the capacity 0; "
                   "and no call may follow one that failed");
    *count_out = 0;
    sstore_status status = ss_take_match_columns(&to, columns, error);
    if (status != SSTORE_OK)
        return status;
    while (*count_out < capacity) {
        if (iterator->match_index == iterator->match_count) {
            status = iterator->status = answer_more(iterator, error);
            if (status != SSTORE_OK || iterator->match_count == 0)
                return status;
        }
        ss_set_match(&to, (*count_out)++, &iterator->matches[iterator->match_index++]);
    }
    return SSTORE_OK;
}

void sstore_match_iterator_free(sstore_match_iterator *iterator)
{
    if (iterator == NULL)
        return;
    close_iterator(iterator);
    ss_free(iterator);
}

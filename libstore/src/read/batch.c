#include "read/batch.h"

#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/tasks.h"
#include "read/search.h"

#define FIRST_CAPACITY 1024u /* of a list of hits */
#define TASK_QUERIES 64u /* one worker's share of queries that are answered one by one */

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

typedef enum way { ONE_BY_ONE, SWEPT, SCANNED } way;

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
    if (batch->count == 1 || batch->segment->facts.distinct_count == 0)
        return ONE_BY_ONE;
    double single = batch->count * fmin(plan->scan_cost, mean_cost(batch));
    double scanned = TOGETHER_NS + ss_batch_sweep_cost(batch, true);
    if (strategy == SSTORE_STRATEGY_SCAN || (plan->scan && scanned < single))
        return SCANNED;
    if (plan->scan)
        return ONE_BY_ONE;
    double swept = TOGETHER_NS + ss_batch_sweep_cost(batch, false);
    if (strategy == SSTORE_STRATEGY_AUTO && scanned < single && scanned < swept)
        return SCANNED;
    return swept < single ? SWEPT : ONE_BY_ONE;
}

/* ----- rounds ----- */

static sstore_status find_in_segment(const ss_batch *batch, sstore_error *error)
{
    const way chosen = choose_way(batch);
    return chosen == ONE_BY_ONE ? find_one_by_one(batch, error) : ss_batch_sweep(batch, chosen == SCANNED, error);
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

/* Where the matches go. */
typedef struct delivery {
    sstore_match_fn on_match;
    void *context;
} delivery;

/* Answer the queries first .. first + batch->count - 1; in halves where they find too much together. */
static sstore_status run_round(ss_batch *batch, const uint64_t *all, uint64_t first, uint32_t count, const delivery *to,
                               sstore_error *error)
{
    bool too_many = false;
    atomic_llong room = (long long)SS_ROUND_MATCHES;
    batch->fingerprints = all + first;
    batch->count = count;
    batch->room = count > 1 ? &room : NULL;
    sstore_status status = find_hits(batch, error);
    if (status == SSTORE_STOPPED)
        too_many = true;
    else if (status == SSTORE_OK)
        status = ss_batch_report(batch, first, &too_many, to->on_match, to->context, error);
    ss_batch_clear_hits(batch);
    batch->room = NULL;
    if (!too_many)
        return status;
    status = run_round(batch, all, first, count / 2, to, error);
    return status == SSTORE_OK ? run_round(batch, all, first + count / 2, count - count / 2, to, error) : status;
}

static sstore_status run_batch(const sstore *store, const uint64_t *fingerprints, size_t count, uint32_t distance,
                               uint32_t threads, const delivery *to, sstore_error *error)
{
    const uint32_t segments = store->manifest.segment_count;
    sstore_status status = SSTORE_OK;
    ss_steps planning = {.left = SS_CALL_STEPS};
    ss_batch batch = {.store = store, .distance = distance, .threads = threads};
    batch.lists = ss_alloc(threads, sizeof *batch.lists);
    batch.plans = ss_alloc(segments, sizeof *batch.plans);
    if (batch.lists == NULL || batch.plans == NULL)
        status = ss_fail_memory(error, threads * sizeof *batch.lists + segments * sizeof *batch.plans);
    else
        ss_plan_queries(store, distance, &planning, batch.plans);
    for (size_t first = 0; status == SSTORE_OK && first < count; first += SS_ROUND_QUERIES)
        status = run_round(&batch, fingerprints, first, (uint32_t)ss_min_u64(count - first, SS_ROUND_QUERIES), to,
                           error);
    ss_free(batch.lists);
    ss_free(batch.plans);
    return status;
}

sstore_status sstore_query_batch(const sstore *store, const uint64_t *fingerprints, size_t count, uint32_t distance,
                                 uint32_t threads, sstore_match_fn on_match, void *context, sstore_error *error)
{
    if (store == NULL || (fingerprints == NULL && count > 0) || on_match == NULL || distance > SSTORE_MAX_DISTANCE)
        return ss_fail_argument(error, "sstore_query_batch: store, fingerprints and on_match must not be NULL, nor the "
                                       "distance above 64");
    if (count == 0 || store->manifest.segment_count == 0)
        return SSTORE_OK;
    delivery to = {.on_match = on_match, .context = context};
    threads = ss_pool_threads(threads);
    return run_batch(store, fingerprints, count, distance, threads, &to, error);
}

/* index_batch.c - chooses how to answer many queries on an index, and answers them one by one if that is best. */
#include "read/index_batch.h"

#include <math.h>

#include "plan/durations.h"
#include "read/search.h"

#define TASK_QUERIES 64u /* in a task, if queries are answered one by one */
#define SAMPLED_QUERIES 16u

/* ----- one by one ----- */

/* The destination of one query's hits. */
typedef struct hit_sink {
    const ss_index_batch *batch;
    uint32_t worker, query;
} hit_sink;

static sstore_status pass_on(void *context, const ss_hit *hit, sstore_error *error)
{
    const hit_sink *sink = context;
    const ss_index_hit found = {.fingerprint = hit->fingerprint,
                                .rank = hit->has_rank ? hit->rank : SS_NO_RANK,
                                .query = sink->query};
    return sink->batch->on_hit(sink->batch->context, sink->worker, &found, error);
}

/* Answer the queries of one task. */
static sstore_status query_one_by_one(void *context, uint64_t task, uint32_t worker, sstore_error *error)
{
    const ss_index_batch *batch = context;
    hit_sink sink = {.batch = batch, .worker = worker, .query = (uint32_t)task * TASK_QUERIES};
    const uint32_t end = ss_min_u32(sink.query + TASK_QUERIES, batch->count);
    sstore_cursor *cursor;
    sstore_status status = ss_cursors_get(batch->cursors, worker, &cursor, error);
    for (; status == SSTORE_OK && sink.query < end; sink.query++) {
        const uint64_t blocks = cursor->steps.block_count;
        const ss_search search = {.cursor = cursor,
                                  .segment = batch->index,
                                  .plan = batch->plan,
                                  .fingerprint = batch->queries[sink.query],
                                  .distance = batch->distance,
                                  .on_hit = pass_on,
                                  .context = &sink,
                                  .error = error};
        ss_cursor_renew(cursor);
        status = ss_search_run(&search);
        if (status == SSTORE_OK)
            status = ss_index_batch_spend(batch, (cursor->steps.block_count - blocks) * SS_QUERY_BLOCK_NS);
    }
    return status == SSTORE_OK ? ss_progress_add(batch->progress, worker, 0) : status;
}

sstore_status ss_index_batch_run(const ss_index_batch *batch, ss_index_way way, sstore_error *error)
{
    ss_index_batch shared = *batch;
    if (way != SS_ONE_BY_ONE)
        return ss_batch_pass(batch, way == SS_FULL_SCAN, error);
    return ss_pool_run(batch->threads, (batch->count + TASK_QUERIES - 1) / TASK_QUERIES, query_one_by_one, &shared,
                       error);
}

/* ----- choosing ----- */

/* The expected cost of one query: the mean of some of them. */
static double mean_cost(const ss_index_batch *batch)
{
    const uint32_t sampled = ss_min_u32(batch->count, SAMPLED_QUERIES);
    double sum = 0;
    for (uint32_t i = 0; i < sampled; i++)
        sum += ss_search_cost(batch->index, batch->plan, batch->queries[(uint64_t)i * batch->count / sampled]);
    return sum / sampled;
}

ss_index_way ss_index_batch_choose(const ss_index_batch *batch, double *cost_out)
{
    const sstore_strategy strategy = batch->index->costs.strategy;
    const ss_query_plan *plan = batch->plan;
    /* Only a full scan for all queries narrows their distances to what they still need. */
    const bool narrows = plan->full_scan && batch->first != NULL && batch->first->bounds != NULL;
    *cost_out = batch->count * fmin(plan->full_scan_cost, mean_cost(batch));
    if ((batch->count == 1 && !narrows) || batch->index->metadata.distinct_count == 0)
        return SS_ONE_BY_ONE;
    const double single_cost = narrows ? INFINITY : *cost_out,
                 full_scan_cost = SS_BATCH_START_NS + ss_batch_pass_cost(batch, true);
    const bool may_scan = plan->full_scan || strategy == SSTORE_STRATEGY_AUTO;
    const double pass_cost = plan->full_scan ? INFINITY : SS_BATCH_START_NS + ss_batch_pass_cost(batch, false);
    if (strategy == SSTORE_STRATEGY_FULL_SCAN ||
        (may_scan && full_scan_cost < single_cost && full_scan_cost < pass_cost)) {
        *cost_out = full_scan_cost;
        return SS_FULL_SCAN;
    }
    *cost_out = fmin(pass_cost, single_cost);
    return pass_cost < single_cost ? SS_TABLE_PASS : SS_ONE_BY_ONE;
}

/*
 * explain.c - what a query was expected to read of each table, and what it read.
 */
#include <math.h>

#include "base/error.h"
#include "query/search.h"

static sstore_status ignore_hit(void *context, const ss_hit *hit, sstore_error *error)
{
    (void)context, (void)hit, (void)error;
    return SSTORE_OK;
}

/* A query of one segment, done and counted. */
typedef struct explained {
    const ss_segment *segment;
    uint64_t number;
    const ss_query_plan *plan;
    uint64_t fingerprint;
    bool scanned;
    double probe_ns;
    ss_search_counts counts[SS_MAX_TABLES];
} explained;

static sstore_table_explanation explain_table(const explained *of, uint32_t number)
{
    const ss_plan_table *table = &of->segment->facts.plan.tables[number];
    const ss_search_counts *counts = &of->counts[number];
    const int32_t radius = of->scanned ? SS_NO_PROBE : of->plan->radii[number];
    ss_table_cost expected = {.probe_count = 0};
    if (radius != SS_NO_PROBE)
        expected = ss_search_table_cost(of->segment, of->plan, of->fingerprint, number);
    sstore_table_explanation explanation = {
        .struct_size = sizeof explanation,
        .segment = of->number,
        .table = number,
        .key_mask = table->key_mask,
        .prefix_bits = radius != SS_NO_PROBE ? ss_query_prefix_bits(of->plan, &of->segment->facts.plan, number)
                                             : table->prefix_bits,
        .radius = radius,
        .scanned = of->scanned && number == 0,
        .expected_block_count = expected.block_count,
        .expected_candidate_count = expected.candidate_count,
        .probe_count = counts->probes,
        .block_count = counts->blocks,
        .candidate_count = counts->candidates,
        .match_count = counts->matches,
        .probe_ns = of->probe_ns,
        .scan_ns = of->plan->scan_cost,
    };
    if (explanation.scanned) {
        explanation.expected_block_count = of->segment->costs.block_count;
        explanation.expected_candidate_count = of->segment->costs.fingerprint_count;
    }
    return explanation;
}

static sstore_status report_segment(const explained *of, sstore_explain_fn on_table, void *context)
{
    for (uint32_t i = 0; i < of->segment->facts.plan.table_count; i++) {
        sstore_table_explanation explanation = explain_table(of, i);
        if (on_table(context, &explanation) != 0)
            return SSTORE_STOPPED;
    }
    return SSTORE_OK;
}

sstore_status sstore_explain(sstore_cursor *cursor, uint64_t fingerprint, uint32_t distance, sstore_explain_fn on_table,
                             void *context, sstore_error *error)
{
    if (cursor == NULL || on_table == NULL || distance > SSTORE_MAX_DISTANCE)
        return ss_fail_argument(error,
                                "sstore_explain: cursor and on_table must not be NULL, nor the distance above 64");
    const sstore *store = cursor->store;
    ss_cursor_begin(cursor);
    const ss_query_plan *plans = ss_cursor_plans(cursor, distance);
    sstore_status status = SSTORE_OK;
    for (uint32_t i = 0; status == SSTORE_OK && i < store->manifest.segment_count; i++) {
        if (ss_segment_removes(store->segments[i]))
            continue;
        explained done = {.segment = store->segments[i], .number = i, .plan = &plans[i], .fingerprint = fingerprint};
        done.probe_ns = plans[i].scan ? plans[i].probe_cost : ss_search_cost(done.segment, done.plan, fingerprint);
        ss_search search = {.cursor = cursor,
                            .segment = done.segment,
                            .segment_number = i,
                            .plan = done.plan,
                            .fingerprint = fingerprint,
                            .distance = distance,
                            .on_hit = ignore_hit,
                            .counts = done.counts,
                            .error = error};
        status = ss_search_run(&search);
        done.scanned = cursor->scanned;
        if (done.scanned && !plans[i].scan) /* the probes led to more blocks than a scan has */
            done.probe_ns = fmax(done.probe_ns, plans[i].scan_cost);
        if (status == SSTORE_OK)
            status = report_segment(&done, on_table, context);
    }
    return status;
}

/* explain.c - searches as a query does, counts the work in each table, and compares it with what was expected. */
#include <math.h>

#include "base/error.h"
#include "read/query.h"
#include "read/row_search.h"
#include "read/search.h"
#include "sstore_statistics.h"

static sstore_status ignore_hit(void *context, const ss_hit *hit, sstore_error *error)
{
    (void)context, (void)hit, (void)error;
    return SSTORE_OK;
}

/* The expected and the actual work of a counted search in a table. */
static sstore_table_explanation explain_table(const ss_search *search, uint32_t number, double probe_ns)
{
    const ss_segment *segment = search->segment;
    const ss_plan_table *table = &segment->metadata.plan.tables[number];
    const ss_search_counts *counts = &search->counts[number];
    const bool scanned = search->cursor->is_full_scan;
    sstore_table_explanation explanation = {
        .radius = scanned ? SS_NO_PROBE : search->plan->radii[number],
        .is_full_scan = scanned && number == 0,
        .prefix_bits = table->prefix_bits,
        .probe_count = counts->probes,
        .block_count = counts->blocks,
        .candidate_count = counts->candidates,
        .hit_count = counts->found,
        .probe_ns = probe_ns,
        .full_scan_ns = search->plan->full_scan_cost,
    };
    if (explanation.radius != SS_NO_PROBE) {
        const ss_table_cost expected = ss_search_table_cost(segment, search->plan, search->fingerprint, number);
        explanation.prefix_bits = ss_query_prefix_bits(search->plan, &segment->metadata.plan, number);
        explanation.expected_block_count = expected.block_count;
        explanation.expected_candidate_count = expected.candidate_count;
    } else if (explanation.is_full_scan) {
        explanation.expected_block_count = segment->costs.block_count;
        explanation.expected_candidate_count = segment->costs.fingerprint_count;
    }
    return explanation;
}

/* An index whose search is explained. */
typedef struct explained_index {
    const ss_segment *index;
    uint32_t number;      /* of the segment in the store */
    uint32_t first_table; /* the number of the index's first one in the segment */
    uint32_t word;
    const ss_query_plan *plan; /* not read if the index is left out */
    uint64_t fingerprint;
    uint32_t distance;
    bool is_left_out;                /* it is not searched */
    const ss_segment_plan *reported; /* the times of this plan are reported; NULL: those of the index */
    sstore_explain_fn on_table;
    void *context;
} explained_index;

/* Search an index, and report its work in each table. */
static sstore_status explain_index(sstore_cursor *cursor, const explained_index *part, sstore_error *error)
{
    const ss_query_plan *plan = part->plan;
    const ss_plan *tables = &part->index->metadata.plan;
    ss_search_counts counts[SS_MAX_TABLES] = {{.probes = 0}};
    const ss_search search = {.cursor = cursor,
                              .segment = part->index,
                              .segment_number = part->number,
                              .plan = plan,
                              .fingerprint = part->fingerprint,
                              .distance = part->distance,
                              .on_hit = ignore_hit,
                              .counts = counts,
                              .error = error};
    double probe_ns = 0;
    sstore_status status = SSTORE_OK;
    if (!part->is_left_out) {
        probe_ns = plan->full_scan ? plan->probe_cost : ss_search_cost(search.segment, plan, part->fingerprint);
        status = ss_search_run(&search);
        if (cursor->is_full_scan && !plan->full_scan) /* the probes led to more blocks than a full scan reads */
            probe_ns = fmax(probe_ns, plan->full_scan_cost);
    }
    for (uint32_t i = 0; status == SSTORE_OK && i < tables->table_count; i++) {
        sstore_table_explanation explanation = {.radius = SS_NO_PROBE, .prefix_bits = tables->tables[i].prefix_bits};
        if (!part->is_left_out)
            explanation = explain_table(&search, i, probe_ns);
        explanation.struct_size = sizeof explanation;
        explanation.segment = part->number;
        explanation.table = part->first_table + i;
        explanation.word = part->word;
        explanation.key_mask = tables->tables[i].key_mask;
        if (part->reported != NULL) {
            explanation.probe_ns = part->reported->probe_cost;
            explanation.full_scan_ns = part->reported->full_scan_cost;
        }
        status = part->on_table(part->context, &explanation) == 0 ? SSTORE_OK : SSTORE_STOPPED;
    }
    return status;
}

static sstore_status count_hit(void *context, const ss_hit *hit, sstore_error *error)
{
    uint64_t *hit_count = context;
    (void)hit, (void)error;
    ++*hit_count;
    return SSTORE_OK;
}

/* Scan the whole fingerprints of a segment, and report that. */
static sstore_status explain_scan(sstore_cursor *cursor, uint32_t segment, const uint64_t *fingerprint,
                                  uint32_t distance, sstore_explain_fn on_table, void *context, sstore_error *error)
{
    const ss_segment *opened = cursor->store->segments[segment];
    const ss_segment_plan *plan = ss_cursor_plan(cursor, segment, distance);
    const uint64_t blocks = opened->tables[0].checked.reader->header.block_count,
                   rows = opened->metadata.distinct_count;
    sstore_table_explanation explanation = {.struct_size = sizeof explanation,
                                            .expected_block_count = (double)blocks,
                                            .expected_candidate_count = (double)rows,
                                            .block_count = blocks,
                                            .candidate_count = rows,
                                            .probe_ns = plan->probe_cost,
                                            .full_scan_ns = plan->full_scan_cost,
                                            .segment = segment,
                                            .table = UINT32_MAX,
                                            .radius = SS_NO_PROBE,
                                            .word = UINT32_MAX,
                                            .is_full_scan = true};
    const sstore_status status = ss_row_search_segment(cursor, segment, fingerprint, distance, count_hit,
                                                       &explanation.hit_count, error);
    return status == SSTORE_OK && on_table(context, &explanation) != 0 ? SSTORE_STOPPED : status;
}

/* Search the indexes of a segment, or all its whole fingerprints. */
static sstore_status explain_segment(sstore_cursor *cursor, uint32_t segment, const uint64_t *fingerprint,
                                     uint32_t distance, sstore_explain_fn on_table, void *context, sstore_error *error)
{
    const ss_segment *opened = cursor->store->segments[segment];
    const ss_segment_plan *plan = ss_cursor_plan(cursor, segment, distance);
    const uint32_t words = opened->metadata.words;
    sstore_status status = SSTORE_OK;
    uint32_t table = 0;
    if (words > 1 && plan->full_scan)
        status = explain_scan(cursor, segment, fingerprint, distance, on_table, context, error);
    for (uint32_t word = 0; status == SSTORE_OK && word < words; word++) {
        const int32_t radius = plan->radii[word];
        const explained_index index = {.index = ss_segment_index(opened, word),
                                       .number = segment,
                                       .first_table = table,
                                       .word = word,
                                       .plan = &plan->indexes[word],
                                       .fingerprint = fingerprint[word],
                                       .is_left_out = words > 1 && (plan->full_scan || radius == SS_NO_PROBE),
                                       .distance = radius == SS_NO_PROBE ? 0 : (uint32_t)radius,
                                       .reported = words > 1 ? plan : NULL,
                                       .on_table = on_table,
                                       .context = context};
        status = explain_index(cursor, &index, error);
        table += index.index->metadata.plan.table_count;
    }
    return status;
}

sstore_status sstore_explain(sstore_cursor *cursor, const uint64_t *fingerprint, uint32_t distance,
                             sstore_explain_fn on_table, void *context, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    if (!ss_query_check("sstore_explain", cursor, fingerprint, distance, on_table != NULL, error) || on_table == NULL)
        return SSTORE_ERROR_ARGUMENT;
    ss_cursor_begin(cursor);
    for (uint32_t i = 0; status == SSTORE_OK && i < cursor->store->manifest.segment_count; i++)
        if (!ss_segment_removes(cursor->store->segments[i]))
            status = explain_segment(cursor, i, fingerprint, distance, on_table, context, error);
    return status;
}

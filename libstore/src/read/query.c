/*
 * query.c - queries of one fingerprint: searches all segments, the newest first, and reports the records of hits. A
 * query allocates nothing.
 */
#include "read/search.h"

#include <math.h>

#include "base/error.h"
#include "base/words.h"

sstore_status ss_query_segment(sstore_cursor *cursor, uint32_t segment, uint64_t fingerprint, uint32_t distance,
                               ss_hit_fn on_hit, void *context, sstore_error *error)
{
    const sstore *store = cursor->store;
    ss_search search = {.cursor = cursor,
                        .segment = store->segments[segment],
                        .segment_number = segment,
                        .plan = &ss_cursor_plans(cursor, distance)[segment],
                        .fingerprint = fingerprint,
                        .distance = distance,
                        .on_hit = on_hit,
                        .context = context,
                        .error = error};
    return ss_search_run(&search);
}

sstore_status ss_query_segments(sstore_cursor *cursor, uint64_t fingerprint, uint32_t distance, ss_hit_fn on_hit,
                                void *context, sstore_error *error)
{
    const sstore *store = cursor->store;
    sstore_status status = SSTORE_OK;
    for (uint32_t i = store->manifest.segment_count; status == SSTORE_OK && i-- > 0;)
        if (!ss_segment_removes(store->segments[i]))
            status = ss_query_segment(cursor, i, fingerprint, distance, on_hit, context, error);
    return status;
}

/* ----- the public functions ----- */

static sstore_status report_found(const ss_record_sink *sink, sstore_error *error)
{
    sstore_cursor *cursor = sink->cursor;
    uint32_t count = cursor->found_count;
    cursor->found_count = 0;
    return ss_report_records(sink, cursor->found, count, error);
}

/* Add a fingerprint. Returns whether it may have been added before. */
static bool add_seen(ss_seen *seen, uint64_t fingerprint)
{
    const uint64_t hash = fingerprint * UINT64_C(0x9e3779b97f4a7c15) >> (64 - SS_SEEN_BITS); /* Fibonacci hashing */
    uint64_t *word = &seen->words[hash / 64], bit = UINT64_C(1) << hash % 64;
    const bool was_there = (*word & bit) != 0;
    *word |= bit;
    seen->any = true;
    return was_there;
}

static sstore_status add_hit(void *context, const ss_hit *hit, sstore_error *error)
{
    const ss_record_sink *sink = context;
    sstore_cursor *cursor = sink->cursor;
    ss_hit *added = &cursor->found[cursor->found_count++];
    *added = *hit;
    added->maybe_in_newer = cursor->store->several_add && add_seen(&cursor->seen, hit->fingerprint);
    return cursor->found_count == SS_HITS_TOGETHER ? report_found(sink, error) : SSTORE_OK;
}

sstore_status ss_query_word_records(const ss_record_sink *sink, uint64_t fingerprint, uint32_t distance,
                                    sstore_error *error)
{
    sstore_cursor *cursor = sink->cursor;
    ss_record_sink context = *sink;
    cursor->found_count = 0;
    if (cursor->seen.any)
        cursor->seen = (ss_seen){.any = false};
    const sstore_status status = ss_query_segments(cursor, fingerprint, distance, add_hit, &context, error);
    return status == SSTORE_OK && cursor->found_count > 0 ? report_found(sink, error) : status;
}

/* Check the arguments of a call, whose name is for the error. */
static sstore_status check(const char *call, const sstore_cursor *cursor, bool has_callback, uint32_t distance,
                           sstore_error *error)
{
    if (cursor == NULL || !has_callback)
        return ss_fail_argument(error, "%s: cursor and callback or count_out must not be NULL", call);
    const uint32_t words = cursor->store->manifest.words;
    if (SS_UNLIKELY(words != 1))
        return ss_fail_argument(error, "%s: the store has fingerprints of %u bits; call %s_words()", call,
                                SS_WORD_BITS * words, call);
    return distance <= SSTORE_MAX_DISTANCE ? SSTORE_OK
                                           : ss_fail_argument(error, "%s: the distance must be at most 64", call);
}

sstore_status sstore_query(sstore_cursor *cursor, uint64_t fingerprint, uint32_t distance, sstore_match_fn on_match,
                           void *context, sstore_error *error)
{
    const sstore_status status = check("sstore_query", cursor, on_match != NULL, distance, error);
    if (status != SSTORE_OK)
        return status;
    const ss_record_sink sink = {.cursor = cursor, .on_match = on_match, .context = context};
    ss_cursor_begin(cursor);
    return ss_query_records(&sink, &fingerprint, distance, error);
}

/* ----- the nearest ----- */

/* Note a smaller distance. Returns whether none can be smaller. */
static bool note_distance(uint32_t *smallest, uint32_t distance)
{
    *smallest = ss_min_u32(*smallest, distance);
    return *smallest == 0;
}

static sstore_status note_hit(void *context, const ss_hit *hit, sstore_error *error)
{
    (void)error;
    return note_distance(context, hit->distance) ? SSTORE_STOPPED : SSTORE_OK;
}

static int note_match(void *context, const sstore_match *match)
{
    return note_distance(context, match->distance);
}

/* Note the smallest distance of a record. If nothing was removed, the fingerprints tell it, and no ids are read. */
static sstore_status find_smallest(sstore_cursor *cursor, uint64_t fingerprint, uint32_t distance, uint32_t *smallest,
                                   sstore_error *error)
{
    const ss_record_sink sink = {.cursor = cursor, .on_match = note_match, .context = smallest, .limit = 1};
    ss_cursor_renew(cursor);
    const sstore_status status = cursor->store->removal_end > 0
                                     ? ss_query_word_records(&sink, fingerprint, distance, error)
                                     : ss_query_segments(cursor, fingerprint, distance, note_hit, smallest, error);
    /* A hit at distance 0 also stops the search. */
    return status == SSTORE_STOPPED && *smallest == 0 ? SSTORE_OK : status;
}

/* The distance to try after `tried` found nothing: one more, as long as all tries together cost less than a full scan;
 * then the largest, because a full scan finds the nearest at any distance. */
static uint32_t next_distance(sstore_cursor *cursor, uint32_t tried, uint32_t max_distance, double *spent)
{
    const ss_query_plan *plans = ss_cursor_plans(cursor, tried + 1);
    double full_scan_cost = 0;
    for (uint32_t i = 0; i < cursor->store->manifest.segment_count; i++) {
        if (ss_segment_removes(cursor->store->segments[i]))
            continue;
        *spent += plans[i].full_scan ? plans[i].full_scan_cost : plans[i].probe_cost;
        full_scan_cost += plans[i].full_scan_cost;
    }
    return *spent >= full_scan_cost ? max_distance : tried + 1;
}

sstore_status ss_query_nearest_word_records(const ss_record_sink *sink, uint64_t fingerprint, uint32_t max_distance,
                                            sstore_error *error)
{
    sstore_cursor *cursor = sink->cursor;
    uint32_t smallest = UINT32_MAX; /* distance of a record that was found */
    double spent = 0;               /* estimated nanoseconds */
    uint32_t distance = ss_min_u32(max_distance, cursor->store->manifest.distance);
    for (;; distance = next_distance(cursor, distance, max_distance, &spent)) {
        const sstore_status status = find_smallest(cursor, fingerprint, distance, &smallest, error);
        if (status != SSTORE_OK)
            return status;
        if (smallest <= distance)
            return ss_query_records(sink, &fingerprint, smallest, error);
        if (distance == max_distance)
            return SSTORE_OK;
    }
}

sstore_status sstore_query_nearest(sstore_cursor *cursor, uint64_t fingerprint, uint32_t max_distance,
                                   sstore_match_fn on_match, void *context, sstore_error *error)
{
    const sstore_status status = check("sstore_query_nearest", cursor, on_match != NULL, max_distance, error);
    if (status != SSTORE_OK)
        return status;
    const ss_record_sink sink = {.cursor = cursor, .on_match = on_match, .context = context};
    ss_cursor_begin(cursor);
    return ss_query_nearest_records(&sink, &fingerprint, max_distance, error);
}

/* ----- columns ----- */

sstore_status sstore_query_columns(sstore_cursor *cursor, uint64_t fingerprint, uint32_t distance,
                                   const sstore_match_columns *columns, size_t capacity, uint64_t *count_out,
                                   sstore_error *error)
{
    const sstore_status status = check("sstore_query_columns", cursor, count_out != NULL, distance, error);
    return status == SSTORE_OK
               ? ss_query_columns(ss_query_records, cursor, &fingerprint, distance, columns, capacity, count_out, error)
               : status;
}

sstore_status sstore_query_nearest_columns(sstore_cursor *cursor, uint64_t fingerprint, uint32_t max_distance,
                                           const sstore_match_columns *columns, size_t capacity, uint64_t *count_out,
                                           sstore_error *error)
{
    const sstore_status status = check("sstore_query_nearest_columns", cursor, count_out != NULL, max_distance, error);
    return status == SSTORE_OK ? ss_query_columns(ss_query_nearest_records, cursor, &fingerprint, max_distance, columns,
                                                  capacity, count_out, error)
                               : status;
}

/* ----- explanation ----- */

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
        .found_count = counts->found,
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

sstore_status ss_explain_part(sstore_cursor *cursor, const ss_explained_part *part, sstore_explain_fn on_table,
                              void *context, sstore_error *error)
{
    const ss_query_plan *plan = part->plan;
    const ss_plan *tables = &part->segment->metadata.plan;
    ss_search_counts counts[SS_MAX_TABLES] = {{.probes = 0}};
    const ss_search search = {.cursor = cursor,
                              .segment = part->segment,
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
        if (part->segment_plan != NULL) {
            explanation.probe_ns = part->segment_plan->probe_cost;
            explanation.full_scan_ns = part->segment_plan->full_scan_cost;
        }
        status = on_table(context, &explanation) == 0 ? SSTORE_OK : SSTORE_STOPPED;
    }
    return status;
}

sstore_status sstore_explain(sstore_cursor *cursor, uint64_t fingerprint, uint32_t distance, sstore_explain_fn on_table,
                             void *context, sstore_error *error)
{
    sstore_status status = check("sstore_explain", cursor, on_table != NULL, distance, error);
    if (status != SSTORE_OK)
        return status;
    assert(on_table != NULL);
    const sstore *store = cursor->store;
    ss_cursor_begin(cursor);
    const ss_query_plan *plans = ss_cursor_plans(cursor, distance);
    for (uint32_t i = 0; status == SSTORE_OK && i < store->manifest.segment_count; i++) {
        const ss_explained_part part = {.segment = store->segments[i],
                                        .number = i,
                                        .plan = &plans[i],
                                        .fingerprint = fingerprint,
                                        .distance = distance};
        if (!ss_segment_removes(store->segments[i]))
            status = ss_explain_part(cursor, &part, on_table, context, error);
    }
    return status;
}

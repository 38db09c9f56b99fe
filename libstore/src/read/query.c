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

/* Find every distinct fingerprint within the distance in all segments of records, the newest first. */
static sstore_status query_segments(sstore_cursor *cursor, uint64_t fingerprint, uint32_t distance, ss_hit_fn on_hit,
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
    return ss_report_records(cursor, cursor->found, count, sink->on_match, sink->context, error);
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

/* Report all records within the distance. */
static sstore_status query(sstore_cursor *cursor, uint64_t fingerprint, uint32_t distance, sstore_match_fn on_match,
                           void *context, sstore_error *error)
{
    ss_record_sink sink = {.cursor = cursor, .on_match = on_match, .context = context};
    cursor->found_count = 0;
    if (cursor->seen.any)
        cursor->seen = (ss_seen){.any = false};
    ss_cursor_renew(cursor);
    sstore_status status = query_segments(cursor, fingerprint, distance, add_hit, &sink, error);
    return status == SSTORE_OK && cursor->found_count > 0 ? report_found(&sink, error) : status;
}

/* Check the arguments of a call, whose name is for the error. */
static sstore_status check(const char *call, const sstore_cursor *cursor, bool has_callback, uint32_t distance,
                           sstore_error *error)
{
    if (cursor == NULL || !has_callback)
        return ss_fail_argument(error, "%s: cursor and callback must not be NULL", call);
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
    ss_cursor_begin(cursor);
    return query(cursor, fingerprint, distance, on_match, context, error);
}

static sstore_status note_distance(void *context, const ss_hit *hit, sstore_error *error)
{
    uint32_t *smallest = context;
    (void)error;
    if (hit->distance < *smallest)
        *smallest = hit->distance;
    return *smallest == 0 ? SSTORE_STOPPED : SSTORE_OK;
}

static int note_match(void *context, const sstore_match *match)
{
    uint32_t *smallest = context;
    if (match->distance < *smallest)
        *smallest = match->distance;
    return *smallest == 0;
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

sstore_status sstore_query_nearest(sstore_cursor *cursor, uint64_t fingerprint, uint32_t max_distance,
                                   sstore_match_fn on_match, void *context, sstore_error *error)
{
    uint32_t smallest = UINT32_MAX; /* distance of a record that was found */
    double spent = 0;               /* estimated nanoseconds */
    const sstore_status can_ask = check("sstore_query_nearest", cursor, on_match != NULL, max_distance, error);
    if (can_ask != SSTORE_OK)
        return can_ask;
    uint32_t distance = ss_min_u32(max_distance, cursor->store->manifest.distance);
    ss_cursor_begin(cursor);
    for (;; distance = next_distance(cursor, distance, max_distance, &spent)) {
        ss_cursor_renew(cursor);
        /* If nothing was removed, the fingerprints tell the smallest distance, and no ids are looked up. */
        const sstore_status status = cursor->store->removal_end == 0
                                         ? query_segments(cursor, fingerprint, distance, note_distance, &smallest,
                                                          error)
                                         : query(cursor, fingerprint, distance, note_match, &smallest, error);
        /* A hit at distance 0 also stops the search. */
        if (status != SSTORE_OK && !(status == SSTORE_STOPPED && smallest == 0))
            return status;
        if (smallest <= distance)
            return query(cursor, fingerprint, smallest, on_match, context, error);
        if (distance == max_distance)
            return SSTORE_OK;
    }
}

/* ----- columns ----- */

sstore_status ss_take_match_columns(sstore_match_columns *to, const sstore_match_columns *from, sstore_error *error)
{
    *to = (sstore_match_columns)SSTORE_MATCH_COLUMNS_INIT;
    return ss_take_options(to, sizeof *to, from, SS_MATCH_COLUMNS_SIZE_1, error);
}

void ss_set_match(const sstore_match_columns *columns, size_t at, uint32_t words, const sstore_match *match)
{
    if (columns->query_index != NULL)
        columns->query_index[at] = match->query_index;
    if (columns->fingerprint != NULL && words == 1)
        columns->fingerprint[at] = match->fingerprint;
    else if (columns->fingerprint != NULL)
        ss_words_copy(columns->fingerprint + at * words, match->words, words);
    if (columns->id != NULL)
        columns->id[at] = match->id;
    if (columns->distance != NULL)
        columns->distance[at] = match->distance;
}

typedef struct column_sink {
    sstore_match_columns columns;
    uint32_t words;
    size_t capacity;
    uint64_t count;
} column_sink;

static int set_match(void *context, const sstore_match *match)
{
    column_sink *sink = context;
    if (sink->count < sink->capacity)
        ss_set_match(&sink->columns, (size_t)sink->count, sink->words, match);
    sink->count++;
    return 0;
}

sstore_status ss_query_columns(ss_query_fn *run, sstore_cursor *cursor, const uint64_t *fingerprint, uint32_t distance,
                               const sstore_match_columns *columns, size_t capacity, uint64_t *count_out,
                               sstore_error *error)
{
    if (cursor == NULL || count_out == NULL)
        return ss_fail_argument(error, "a query into columns: cursor and count_out must not be NULL");
    column_sink sink = {.words = cursor->store->manifest.words, .capacity = capacity};
    sstore_status status = ss_take_match_columns(&sink.columns, columns, error);
    if (status == SSTORE_OK)
        status = run(cursor, fingerprint, distance, set_match, &sink, error);
    *count_out = sink.count;
    return status;
}

static sstore_status query_one(sstore_cursor *cursor, const uint64_t *fingerprint, uint32_t distance,
                               sstore_match_fn on_match, void *context, sstore_error *error)
{
    return sstore_query(cursor, *fingerprint, distance, on_match, context, error);
}

static sstore_status query_nearest_one(sstore_cursor *cursor, const uint64_t *fingerprint, uint32_t max_distance,
                                       sstore_match_fn on_match, void *context, sstore_error *error)
{
    return sstore_query_nearest(cursor, *fingerprint, max_distance, on_match, context, error);
}

sstore_status sstore_query_columns(sstore_cursor *cursor, uint64_t fingerprint, uint32_t distance,
                                   const sstore_match_columns *columns, size_t capacity, uint64_t *count_out,
                                   sstore_error *error)
{
    return ss_query_columns(query_one, cursor, &fingerprint, distance, columns, capacity, count_out, error);
}

sstore_status sstore_query_nearest_columns(sstore_cursor *cursor, uint64_t fingerprint, uint32_t max_distance,
                                           const sstore_match_columns *columns, size_t capacity, uint64_t *count_out,
                                           sstore_error *error)
{
    return ss_query_columns(query_nearest_one, cursor, &fingerprint, max_distance, columns, capacity, count_out, error);
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

/* query_words.c - queries of one fingerprint in stores of any width: its records, and the nearest ones. The segments of
 * 64-bit fingerprints are left to query.c. */
#include <math.h>

#include "base/error.h"
#include "read/row_search.h"

/* Check the arguments of a call, whose name is for the error. */
static sstore_status check(const char *call, const sstore_cursor *cursor, const uint64_t *fingerprint,
                           uint32_t distance, bool has_callback, sstore_error *error)
{
    if (cursor == NULL || fingerprint == NULL || !has_callback) {
        (void)ss_fail_argument(error, "%s: cursor, fingerprint, and callback or count_out, must not be NULL", call);
        return SSTORE_ERROR_ARGUMENT;
    }
    const uint32_t max = SSTORE_MAX_DISTANCE * cursor->store->manifest.words;
    return distance <= max ? SSTORE_OK : ss_fail_argument(error, "%s: the distance must be at most %u", call, max);
}

static bool has_rows(const sstore_cursor *cursor)
{
    return cursor->store->manifest.words > 1;
}

/* ----- records ----- */

static sstore_status report_hit(void *context, const ss_row_hit *hit, sstore_error *error)
{
    return ss_row_search_report(context, hit, 0, error);
}

/* Find every distinct fingerprint within the distance in all segments of records, the newest first. With a limit, test
 * all of them, as ss_row_search_scan(). */
static sstore_status query_segments(sstore_cursor *cursor, const uint64_t *fingerprint, uint32_t distance,
                                    const uint32_t *limit, ss_row_hit_fn on_hit, void *context, sstore_error *error)
{
    const sstore *store = cursor->store;
    sstore_status status = SSTORE_OK;
    for (uint32_t i = store->manifest.segment_count; status == SSTORE_OK && i-- > 0;)
        if (!ss_segment_removes(store->segments[i]))
            status = limit == NULL ? ss_row_search_segment(cursor, i, fingerprint, distance, on_hit, context, error)
                                   : ss_row_search_scan(cursor, i, fingerprint, limit, on_hit, context, error);
    return status;
}

sstore_status ss_query_records(const ss_record_sink *sink, const uint64_t *fingerprint, uint32_t distance,
                               sstore_error *error)
{
    ss_record_sink context = *sink;
    ss_cursor_renew(sink->cursor);
    return has_rows(sink->cursor)
               ? query_segments(sink->cursor, fingerprint, distance, NULL, report_hit, &context, error)
               : ss_query_word_records(sink, *fingerprint, distance, error);
}

sstore_status sstore_query_words(sstore_cursor *cursor, const uint64_t *fingerprint, uint32_t distance,
                                 sstore_match_fn on_match, void *context, sstore_error *error)
{
    const sstore_status status = check("sstore_query_words", cursor, fingerprint, distance, on_match != NULL, error);
    if (status != SSTORE_OK)
        return status;
    const ss_record_sink sink = {.cursor = cursor, .on_match = on_match, .context = context};
    ss_cursor_begin(cursor);
    return ss_query_records(&sink, fingerprint, distance, error);
}

/* ----- the nearest ----- */

#define BLOCK_NS 200.0 /* of a try, for each block that it reads */

/* The search for the nearest. */
typedef struct nearest {
    sstore_cursor *cursor;
    uint32_t smallest; /* distance of a record; UINT32_MAX: none was found */
    uint32_t limit;    /* only smaller distances than the smallest are of interest */
    uint64_t blocks;   /* read before the current try */
    double spent;      /* on the tries, in estimated nanoseconds */
} nearest;

static int stop_at_first(void *context, const sstore_match *match)
{
    (void)context, (void)match;
    return 1;
}

/* Note the distance of a nearer fingerprint, if it has a record that was not removed. */
static sstore_status note_hit(void *context, const ss_row_hit *hit, sstore_error *error)
{
    nearest *self = context;
    if (hit->distance >= self->smallest)
        return SSTORE_OK;
    const ss_record_sink first = {.cursor = self->cursor, .on_match = stop_at_first};
    const sstore_status status = ss_row_search_report(&first, hit, 0, error);
    if (status != SSTORE_STOPPED)
        return status;
    self->smallest = hit->distance;
    self->limit = hit->distance - (hit->distance > 0);
    return hit->distance == 0 ? SSTORE_STOPPED : SSTORE_OK;
}

/* Whether to try one distance more, after `tried` found nothing: as long as all tries together cost less than a full
 * scan, which finds the nearest at any distance. */
static bool may_try(nearest *self, uint32_t tried)
{
    const sstore_cursor *cursor = self->cursor;
    const ss_row_plan *plans = ss_cursor_row_plans(self->cursor, tried + 1);
    double full_scan_cost = 0, probe_cost = 0;
    for (uint32_t i = 0; i < cursor->store->manifest.segment_count; i++) {
        if (ss_segment_removes(cursor->store->segments[i]))
            continue;
        probe_cost += plans[i].full_scan ? plans[i].full_scan_cost : plans[i].probe_cost;
        full_scan_cost += plans[i].full_scan_cost;
    }
    self->spent += fmax(probe_cost, BLOCK_NS * (double)(cursor->steps.block_count - self->blocks));
    self->blocks = cursor->steps.block_count;
    return self->spent < full_scan_cost;
}

/* Find the nearest ones at any distance up to the maximum by full scans: one for the smallest distance, and one for all
 * that have it. */
static sstore_status scan_nearest(nearest *self, const ss_record_sink *sink, const uint64_t *fingerprint,
                                  uint32_t max_distance, sstore_error *error)
{
    ss_record_sink context = *sink;
    self->limit = max_distance;
    const sstore_status status = query_segments(self->cursor, fingerprint, max_distance, &self->limit, note_hit, self,
                                                error);
    if (status != SSTORE_OK && !(status == SSTORE_STOPPED && self->smallest == 0))
        return status;
    return self->smallest <= max_distance
               ? query_segments(self->cursor, fingerprint, max_distance, &self->smallest, report_hit, &context, error)
               : SSTORE_OK;
}

sstore_status ss_query_nearest_records(const ss_record_sink *sink, const uint64_t *fingerprint, uint32_t max_distance,
                                       sstore_error *error)
{
    sstore_cursor *cursor = sink->cursor;
    nearest self = {.cursor = cursor, .smallest = UINT32_MAX, .blocks = cursor->steps.block_count};
    if (!has_rows(cursor))
        return ss_query_nearest_word_records(sink, *fingerprint, max_distance, error);
    for (uint32_t distance = ss_min_u32(max_distance, cursor->store->manifest.distance);; distance++) {
        ss_cursor_renew(cursor);
        /* A hit at distance 0 also stops the search. */
        const sstore_status status = query_segments(cursor, fingerprint, distance, NULL, note_hit, &self, error);
        if (status != SSTORE_OK && !(status == SSTORE_STOPPED && self.smallest == 0))
            return status;
        if (self.smallest <= distance)
            return ss_query_records(sink, fingerprint, self.smallest, error);
        if (distance == max_distance)
            return SSTORE_OK;
        if (!may_try(&self, distance))
            return scan_nearest(&self, sink, fingerprint, max_distance, error);
    }
}

sstore_status sstore_query_nearest_words(sstore_cursor *cursor, const uint64_t *fingerprint, uint32_t max_distance,
                                         sstore_match_fn on_match, void *context, sstore_error *error)
{
    const sstore_status status = check("sstore_query_nearest_words", cursor, fingerprint, max_distance,
                                       on_match != NULL, error);
    if (status != SSTORE_OK)
        return status;
    const ss_record_sink sink = {.cursor = cursor, .on_match = on_match, .context = context};
    ss_cursor_begin(cursor);
    return ss_query_nearest_records(&sink, fingerprint, max_distance, error);
}

/* ----- columns ----- */

sstore_status ss_query_columns(ss_query_fn *run, sstore_cursor *cursor, const uint64_t *fingerprint, uint32_t distance,
                               const sstore_match_columns *columns, size_t capacity, uint64_t *count_out,
                               sstore_error *error)
{
    ss_selection selection = {.words = cursor->store->manifest.words, .capacity = columns != NULL ? capacity : 0};
    const ss_record_sink sink = {.cursor = cursor, .selection = &selection, .counts = count_out};
    *count_out = 0;
    sstore_status status = ss_take_match_columns(&selection.to, columns, error);
    if (status != SSTORE_OK)
        return status;
    ss_cursor_begin(cursor);
    status = run(&sink, fingerprint, distance, error);
    ss_selection_sort(&selection);
    return status;
}

sstore_status sstore_query_words_columns(sstore_cursor *cursor, const uint64_t *fingerprint, uint32_t distance,
                                         const sstore_match_columns *columns, size_t capacity, uint64_t *count_out,
                                         sstore_error *error)
{
    const sstore_status status = check("sstore_query_words_columns", cursor, fingerprint, distance, count_out != NULL,
                                       error);
    return status == SSTORE_OK
               ? ss_query_columns(ss_query_records, cursor, fingerprint, distance, columns, capacity, count_out, error)
               : status;
}

sstore_status sstore_query_nearest_words_columns(sstore_cursor *cursor, const uint64_t *fingerprint,
                                                 uint32_t max_distance, const sstore_match_columns *columns,
                                                 size_t capacity, uint64_t *count_out, sstore_error *error)
{
    const sstore_status status = check("sstore_query_nearest_words_columns", cursor, fingerprint, max_distance,
                                       count_out != NULL, error);
    return status == SSTORE_OK ? ss_query_columns(ss_query_nearest_records, cursor, fingerprint, max_distance, columns,
                                                  capacity, count_out, error)
                               : status;
}

/* ----- explanation ----- */

static sstore_status count_hit(void *context, const ss_row_hit *hit, sstore_error *error)
{
    uint64_t *found_count = context;
    (void)hit, (void)error;
    ++*found_count;
    return SSTORE_OK;
}

/* Scan the whole fingerprints of a segment, and report that. */
static sstore_status explain_scan(sstore_cursor *cursor, uint32_t segment, const uint64_t *fingerprint,
                                  uint32_t distance, sstore_explain_fn on_table, void *context, sstore_error *error)
{
    const ss_segment *of = cursor->store->segments[segment];
    const ss_row_plan *plan = &ss_cursor_row_plans(cursor, distance)[segment];
    const uint64_t blocks = of->tables[0].checked.reader->header.block_count, rows = of->metadata.distinct_count;
    assert(on_table != NULL);
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
                                                       &explanation.found_count, error);
    return status == SSTORE_OK && on_table(context, &explanation) != 0 ? SSTORE_STOPPED : status;
}

sstore_status sstore_explain_words(sstore_cursor *cursor, const uint64_t *fingerprint, uint32_t distance,
                                   sstore_explain_fn on_table, void *context, sstore_error *error)
{
    sstore_status status = check("sstore_explain_words", cursor, fingerprint, distance, on_table != NULL, error);
    if (status != SSTORE_OK)
        return status;
    if (!has_rows(cursor))
        return sstore_explain(cursor, *fingerprint, distance, on_table, context, error);
    const sstore *store = cursor->store;
    ss_cursor_begin(cursor);
    const ss_row_plan *plans = ss_cursor_row_plans(cursor, distance);
    for (uint32_t i = 0; status == SSTORE_OK && i < store->manifest.segment_count; i++) {
        uint32_t table = 0;
        if (ss_segment_removes(store->segments[i]))
            continue;
        if (plans[i].full_scan)
            status = explain_scan(cursor, i, fingerprint, distance, on_table, context, error);
        for (uint32_t word = 0; status == SSTORE_OK && word < store->manifest.words; word++) {
            const int32_t radius = plans[i].radii[word];
            const ss_explained_part part = {.segment = store->segments[i]->indexes[word],
                                            .number = i,
                                            .first_table = table,
                                            .word = word,
                                            .plan = &plans[i].words[word],
                                            .fingerprint = fingerprint[word],
                                            .is_left_out = plans[i].full_scan || radius == SS_NO_PROBE,
                                            .distance = radius == SS_NO_PROBE ? 0 : (uint32_t)radius,
                                            .segment_plan = &plans[i]};
            status = ss_explain_part(cursor, &part, on_table, context, error);
            table += part.segment->metadata.plan.table_count;
        }
    }
    return status;
}

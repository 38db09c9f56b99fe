/*
 * query.c - queries of one fingerprint, of one word or several: searches all segments, the newest first, and reports
 * the records of hits, SS_HIT_BATCH at a time. A segment of one word is an index of its fingerprints; one of
 * several has an index for each word, and whole fingerprints (read/row_search.h). A query allocates nothing.
 */
#include "read/query.h"

#include <math.h>

#include "base/error.h"
#include "base/iterator.h"
#include "base/words.h"
#include "plan/durations.h"
#include "read/row_search.h"

/* ----- segments ----- */

/* Search a segment of fingerprints of one word. */
static sstore_status search_segment(sstore_cursor *cursor, uint32_t segment, uint64_t fingerprint, uint32_t distance,
                                    ss_hit_fn on_hit, void *context, sstore_error *error)
{
    const sstore *store = cursor->store;
    ss_search search = {.cursor = cursor,
                        .segment = store->segments[segment],
                        .segment_number = segment,
                        .plan = ss_cursor_plan(cursor, segment, distance)->indexes,
                        .fingerprint = fingerprint,
                        .distance = distance,
                        .on_hit = on_hit,
                        .context = context,
                        .error = error};
    return ss_search_run(&search);
}

/* A fingerprint that is searched for. If `limit` is not NULL, every fingerprint of several words is tested, within
 * *limit, which on_hit() may lower. */
typedef struct distance_query {
    const uint64_t *fingerprint;
    uint32_t distance;
    const uint32_t *limit;
} distance_query;

/* Find every distinct fingerprint within the distance in all segments of records, the newest first. */
static sstore_status search_segments(sstore_cursor *cursor, const distance_query *query, ss_hit_fn on_hit,
                                     void *context, sstore_error *error)
{
    const sstore *store = cursor->store;
    sstore_status status = SSTORE_OK;
    for (uint32_t i = store->manifest.segment_count; status == SSTORE_OK && i-- > 0;) {
        if (ss_segment_removes(store->segments[i]))
            continue;
        if (store->manifest.words == 1)
            status = search_segment(cursor, i, *query->fingerprint, query->distance, on_hit, context, error);
        else if (query->limit == NULL)
            status = ss_row_search_segment(cursor, i, query->fingerprint, query->distance, on_hit, context, error);
        else
            status = ss_row_search_scan(cursor, i, query->fingerprint, query->limit, on_hit, context, error);
    }
    return status;
}

/* ----- records ----- */

/* Add a fingerprint. Returns whether it may have been added before. */
static bool add_seen(ss_seen *seen, const ss_hit *hit, uint32_t words)
{
    uint64_t hash = hit->fingerprint * UINT64_C(0x9e3779b97f4a7c15); /* Fibonacci hashing */
    for (uint32_t i = 1; i < words; i++)
        hash = (hash ^ hit->words[i]) * UINT64_C(0x9e3779b97f4a7c15);
    hash >>= 64 - SS_SEEN_BITS;
    uint64_t *word = &seen->words[hash / 64], bit = UINT64_C(1) << hash % 64;
    const bool was_there = (*word & bit) != 0;
    *word |= bit;
    seen->any = true;
    return was_there;
}

static sstore_status report_found(const ss_record_sink *sink, sstore_error *error)
{
    ss_hits *found = &sink->cursor->found;
    const uint32_t count = found->count;
    found->count = 0;
    return ss_report_records(sink, found->hits, count, error);
}

static sstore_status add_hit(void *context, const ss_hit *hit, sstore_error *error)
{
    const ss_record_sink *sink = context;
    sstore_cursor *cursor = sink->cursor;
    const uint32_t words = cursor->store->manifest.words, at = cursor->found.count++;
    ss_hit *added = &cursor->found.hits[at];
    *added = *hit;
    if (words > 1) {
        ss_words_copy(cursor->found_rows[at], hit->words, words);
        added->words = cursor->found_rows[at];
    }
    added->maybe_in_newer = cursor->store->several_add && add_seen(&cursor->seen, hit, words);
    return at + 1 == SS_HIT_BATCH ? report_found(sink, error) : SSTORE_OK;
}

/* Begin to collect the hits of a query. */
static void begin_hits(sstore_cursor *cursor)
{
    ss_cursor_renew(cursor);
    cursor->found.count = 0;
    if (cursor->seen.any)
        cursor->seen = (ss_seen){.any = false};
}

static sstore_status report_near(const ss_record_sink *sink, const distance_query *query, sstore_error *error)
{
    ss_record_sink context = *sink;
    begin_hits(sink->cursor);
    const sstore_status status = search_segments(sink->cursor, query, add_hit, &context, error);
    return status == SSTORE_OK && sink->cursor->found.count > 0 ? report_found(sink, error) : status;
}

sstore_status ss_query_records(const ss_record_sink *sink, const uint64_t *fingerprint, uint32_t distance,
                               sstore_error *error)
{
    return report_near(sink, &(distance_query){.fingerprint = fingerprint, .distance = distance}, error);
}

/* ----- the nearest ----- */

/* The search for the nearest. */
typedef struct nearest_search {
    sstore_cursor *cursor;
    ss_record_sink first_records; /* takes the first record of a hit, to learn whether it has one; used only if segments
                                   * remove records */
    uint32_t smallest;            /* distance of a record; UINT32_MAX: none was found */
    uint32_t limit;               /* a distance that is still of interest: smallest - 1 */
    uint64_t blocks_before;       /* read before the current try */
    double spent_ns;              /* on the tries, estimated */
} nearest_search;

/* Note a distance. Returns whether none can be smaller. */
static bool note_distance(nearest_search *self, uint32_t distance)
{
    if (distance < self->smallest) {
        self->smallest = distance;
        self->limit = distance - (distance > 0);
    }
    return self->smallest == 0;
}

static int note_match(void *context, const sstore_match *match)
{
    return note_distance(context, match->distance);
}

/* Note the distance of a nearer fingerprint that has a record. If nothing was removed, all do, and no ids are read. */
static sstore_status note_hit(void *context, const ss_hit *hit, sstore_error *error)
{
    nearest_search *self = context;
    if (hit->distance >= self->smallest)
        return SSTORE_OK;
    if (self->cursor->store->removal_end > 0)
        return add_hit(&self->first_records, hit, error);
    return note_distance(self, hit->distance) ? SSTORE_STOPPED : SSTORE_OK;
}

/* Note the smallest distance of a record. */
static sstore_status find_smallest(nearest_search *self, const distance_query *query, sstore_error *error)
{
    begin_hits(self->cursor);
    sstore_status status = search_segments(self->cursor, query, note_hit, self, error);
    if (status == SSTORE_OK && self->cursor->found.count > 0)
        status = report_found(&self->first_records, error);
    /* A hit at distance 0 also stops the search. */
    return status == SSTORE_STOPPED && self->smallest == 0 ? SSTORE_OK : status;
}

/* Add the estimated costs of a query of the store at a distance, and of a full scan. */
static void add_costs(sstore_cursor *cursor, uint32_t distance, double *query_cost, double *full_scan_cost)
{
    for (uint32_t i = 0; i < cursor->store->manifest.segment_count; i++) {
        if (ss_segment_removes(cursor->store->segments[i]))
            continue;
        const ss_segment_plan *plan = ss_cursor_plan(cursor, i, distance);
        *query_cost += plan->full_scan ? plan->full_scan_cost : plan->probe_cost;
        *full_scan_cost += plan->full_scan_cost;
    }
}

/* Whether to try one distance more, after `tried` found nothing: as long as all tries together cost less than a full
 * scan, which finds the nearest at any distance. */
static bool may_try(nearest_search *self, uint32_t tried)
{
    double query_cost = 0, full_scan_cost = 0;
    add_costs(self->cursor, tried + 1, &query_cost, &full_scan_cost);
    const uint64_t blocks = self->cursor->steps.block_count;
    self->spent_ns += fmax(query_cost, SS_TRY_BLOCK_NS * (double)(blocks - self->blocks_before));
    self->blocks_before = blocks;
    return self->spent_ns < full_scan_cost;
}

static sstore_status query_nearest(const ss_record_sink *sink, const uint64_t *fingerprint, uint32_t max_distance,
                                   sstore_error *error)
{
    sstore_cursor *cursor = sink->cursor;
    nearest_search self = {.cursor = cursor, .smallest = UINT32_MAX, .limit = max_distance};
    distance_query query = {.fingerprint = fingerprint,
                            .distance = ss_min_u32(max_distance, cursor->store->manifest.distance)};
    self.first_records = (ss_record_sink){.cursor = cursor, .on_match = note_match, .context = &self, .limit = 1};
    self.blocks_before = cursor->steps.block_count;
    for (;; query.distance++) {
        const sstore_status status = find_smallest(&self, &query, error);
        if (status != SSTORE_OK)
            return status;
        if (self.smallest <= query.distance) {
            query.distance = self.smallest;
            query.limit = query.limit != NULL ? &self.smallest : NULL;
            return report_near(sink, &query, error);
        }
        if (query.distance == max_distance)
            return SSTORE_OK;
        if (!may_try(&self, query.distance)) { /* so nothing remains to be tried */
            query.distance = max_distance - 1;
            query.limit = &self.limit;
        }
    }
}

/* ----- the public functions ----- */

/* Report the records that a query of a fingerprint asks for: those within the distance; and of these, the nearest. */
typedef sstore_status query_fn(const ss_record_sink *sink, const uint64_t *fingerprint, uint32_t distance,
                               sstore_error *error);

bool ss_query_check(const char *call, const sstore_cursor *cursor, const uint64_t *fingerprint, uint32_t distance,
                    bool has_callback, sstore_error *error)
{
    if (cursor == NULL || fingerprint == NULL || !has_callback) {
        (void)ss_fail_argument(error, "%s: cursor, fingerprint, and callback or match_count_out, must not be NULL",
                               call);
        return false;
    }
    const uint32_t max = SSTORE_MAX_DISTANCE * cursor->store->manifest.words;
    if (distance > max)
        (void)ss_fail_argument(error, "%s: the distance must be at most %u", call, max);
    return distance <= max;
}

static sstore_status run_query(const char *call, query_fn *run, sstore_cursor *cursor, const uint64_t *fingerprint,
                               uint32_t distance, sstore_match_fn on_match, void *context, sstore_error *error)
{
    if (!ss_query_check(call, cursor, fingerprint, distance, on_match != NULL, error))
        return SSTORE_ERROR_ARGUMENT;
    const ss_record_sink sink = {.cursor = cursor, .on_match = on_match, .context = context};
    ss_cursor_begin(cursor);
    return run(&sink, fingerprint, distance, error);
}

sstore_status sstore_query(sstore_cursor *cursor, const uint64_t *fingerprint, uint32_t distance,
                           sstore_match_fn on_match, void *context, sstore_error *error)
{
    return run_query("sstore_query", ss_query_records, cursor, fingerprint, distance, on_match, context, error);
}

sstore_status sstore_query_nearest(sstore_cursor *cursor, const uint64_t *fingerprint, uint32_t max_distance,
                                   sstore_match_fn on_match, void *context, sstore_error *error)
{
    return run_query("sstore_query_nearest", query_nearest, cursor, fingerprint, max_distance, on_match, context,
                     error);
}

/* ----- columns ----- */

static sstore_status query_columns(const char *call, query_fn *run, sstore_cursor *cursor, const uint64_t *fingerprint,
                                   uint32_t distance, const sstore_columns *columns, size_t capacity,
                                   uint64_t *match_count_out, sstore_error *error)
{
    if (!ss_query_check(call, cursor, fingerprint, distance, match_count_out != NULL, error))
        return SSTORE_ERROR_ARGUMENT;
    ss_selection selection = {.words = cursor->store->manifest.words, .capacity = columns != NULL ? capacity : 0};
    const ss_record_sink sink = {.cursor = cursor, .selection = &selection, .counts = match_count_out};
    *match_count_out = 0;
    sstore_status status = ss_take_columns(&selection.to, columns, SS_MATCH_COLUMNS, error);
    if (status != SSTORE_OK)
        return status;
    ss_cursor_begin(cursor);
    status = run(&sink, fingerprint, distance, error);
    ss_selection_sort(&selection);
    return status;
}

sstore_status sstore_query_columns(sstore_cursor *cursor, const uint64_t *fingerprint, uint32_t distance,
                                   const sstore_columns *columns, size_t capacity, uint64_t *match_count_out,
                                   sstore_error *error)
{
    return query_columns("sstore_query_columns", ss_query_records, cursor, fingerprint, distance, columns, capacity,
                         match_count_out, error);
}

sstore_status sstore_query_nearest_columns(sstore_cursor *cursor, const uint64_t *fingerprint, uint32_t max_distance,
                                           const sstore_columns *columns, size_t capacity, uint64_t *match_count_out,
                                           sstore_error *error)
{
    return query_columns("sstore_query_nearest_columns", query_nearest, cursor, fingerprint, max_distance, columns,
                         capacity, match_count_out, error);
}

/*
 * query.c - queries of one fingerprint, of one word or several: searches all segments, the newest first, and reports
 * the records of hits, SS_HIT_BATCH at a time. A segment of one word is an index of its fingerprints; one of
 * several has an index for each word, and whole fingerprints (read/row_search.h). A query allocates nothing.
 */
#include "read/query.h"

#include "base/error.h"
#include "base/iterator.h"
#include "base/words.h"
#include "read/growth.h"
#include "read/row_search.h"

/* ----- segments ----- */

/* A fingerprint that is searched for. If `limit` is not NULL, every fingerprint is tested, within *limit, which
 * on_hit() may lower. */
typedef struct distance_query {
    const uint64_t *fingerprint;
    uint32_t distance;
    const uint32_t *limit;
} distance_query;

/* Search a segment of fingerprints of one word. */
static sstore_status search_segment(sstore_cursor *cursor, uint32_t segment, const distance_query *query,
                                    ss_hit_fn on_hit, void *context, sstore_error *error)
{
    const bool scans = query->limit != NULL;
    const ss_search search = {.cursor = cursor,
                              .segment = cursor->store->segments[segment],
                              .segment_number = segment,
                              .plan = scans ? NULL : ss_cursor_plan(cursor, segment, query->distance)->indexes,
                              .fingerprint = *query->fingerprint,
                              .distance = query->distance,
                              .limit = query->limit,
                              .on_hit = on_hit,
                              .context = context,
                              .error = error};
    return ss_search_run(&search);
}

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
            status = search_segment(cursor, i, query, on_hit, context, error);
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

/* The search for the first matches of a selection. */
typedef struct nearest_search {
    ss_record_sink sink;
    uint32_t limit; /* a distance that is still of interest */
} nearest_search;

/* Add a hit, unless all its records are behind a full selection. Nothing above its last distance is of interest. */
static sstore_status add_nearest(void *context, const ss_hit *hit, sstore_error *error)
{
    nearest_search *self = context;
    ss_selection *selection = self->sink.selection;
    const sstore_match first = {.fingerprint = hit->words != NULL ? hit->words : &hit->fingerprint,
                                .distance = hit->distance};
    if (!ss_selection_may_take(selection, &first))
        return SSTORE_OK;
    const sstore_status status = add_hit(&self->sink, hit, error);
    if (status == SSTORE_OK && self->sink.cursor->found.count == 0)
        self->limit = ss_selection_bound(selection, self->limit);
    return status;
}

/* Select the first matches within the distance. */
static sstore_status select_within(nearest_search *self, const distance_query *query, sstore_error *error)
{
    sstore_cursor *cursor = self->sink.cursor;
    begin_hits(cursor);
    ss_selection_clear(self->sink.selection);
    self->limit = query->distance;
    const sstore_status status = search_segments(cursor, query, add_nearest, self, error);
    return status == SSTORE_OK && cursor->found.count > 0 ? report_found(&self->sink, error) : status;
}

sstore_status ss_query_nearest(const ss_record_sink *sink, const uint64_t *fingerprint, uint32_t max_distance,
                               sstore_error *error)
{
    sstore_cursor *cursor = sink->cursor;
    const ss_selection *selection = sink->selection;
    nearest_search self = {.sink = *sink};
    distance_query query = {.fingerprint = fingerprint};
    ss_growth growth;
    uint32_t begin = cursor->store->manifest.distance;
    if (selection->after != NULL)
        begin = ss_max_u32(begin, selection->after->distance);
    bool may_try = ss_growth_begin(&growth, cursor, ss_min_u32(begin, max_distance), max_distance, selection->capacity);
    for (;;) {
        const uint64_t blocks = cursor->steps.block_count;
        query.distance = may_try ? growth.distance : max_distance;
        query.limit = may_try ? NULL : &self.limit;
        const sstore_status status = select_within(&self, &query, error);
        if (status != SSTORE_OK || selection->count == selection->capacity || query.distance == max_distance)
            return status;
        may_try = ss_growth_next(&growth, cursor->steps.block_count - blocks);
    }
}

/* ----- the public functions ----- */

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

sstore_status sstore_query(sstore_cursor *cursor, const uint64_t *fingerprint, uint32_t distance,
                           sstore_match_fn on_match, void *context, sstore_error *error)
{
    if (!ss_query_check("sstore_query", cursor, fingerprint, distance, on_match != NULL, error))
        return SSTORE_ERROR_ARGUMENT;
    const ss_record_sink sink = {.cursor = cursor, .on_match = on_match, .context = context, .filter = cursor->filter};
    ss_cursor_begin(cursor);
    return ss_query_records(&sink, fingerprint, distance, error);
}

sstore_status sstore_query_columns(sstore_cursor *cursor, const uint64_t *fingerprint, uint32_t distance,
                                   const sstore_columns *columns, size_t capacity, uint64_t *match_count_out,
                                   sstore_error *error)
{
    if (!ss_query_check("sstore_query_columns", cursor, fingerprint, distance, match_count_out != NULL, error))
        return SSTORE_ERROR_ARGUMENT;
    ss_selection selection = {.words = cursor->store->manifest.words, .capacity = columns != NULL ? capacity : 0};
    const ss_record_sink sink = {.cursor = cursor,
                                 .selection = &selection,
                                 .counts = match_count_out,
                                 .filter = cursor->filter};
    *match_count_out = 0;
    sstore_status status = ss_take_columns(&selection.to, columns, SS_MATCH_COLUMNS, error);
    if (status != SSTORE_OK)
        return status;
    ss_cursor_begin(cursor);
    status = ss_query_records(&sink, fingerprint, distance, error);
    ss_selection_sort(&selection);
    return status;
}

sstore_status sstore_query_nearest(sstore_cursor *cursor, const uint64_t *fingerprint, uint32_t max_distance,
                                   const sstore_columns *columns, size_t capacity, uint64_t *count_out,
                                   sstore_error *error)
{
    if (!ss_query_check("sstore_query_nearest", cursor, fingerprint, max_distance, count_out != NULL, error))
        return SSTORE_ERROR_ARGUMENT;
    ss_selection selection = {.words = cursor->store->manifest.words, .capacity = capacity};
    const ss_record_sink sink = {.cursor = cursor, .selection = &selection, .filter = cursor->filter};
    *count_out = 0;
    sstore_status status = ss_take_columns(&selection.to, columns, SS_MATCH_COLUMNS, error);
    if (status == SSTORE_OK && capacity > 0 && selection.to.distance == NULL)
        status = ss_fail_argument(error, "sstore_query_nearest: the column distance must not be NULL");
    if (status != SSTORE_OK)
        return status;
    ss_cursor_begin(cursor);
    status = ss_query_nearest(&sink, fingerprint, max_distance, error);
    ss_selection_sort(&selection);
    *count_out = selection.count;
    return status;
}

#include "output/query_merge.h"

#include <stdlib.h>
#include <string.h>

#include "output/messages.h"

#define ROWS 512u              /* of a store that are read together */
#define EXTRA 64u              /* matches beyond the limit that a group keeps for a while */
#define COMPARISONS (1u << 20) /* with queries of a group before should_stop() is asked */

/* ----- the matches of a store ----- */

typedef struct store_stream {
    sstore_iterator *iterator;
    uint32_t words;
    size_t at, count; /* the current row, and those that were read; none are left if they are equal */
    uint64_t *fingerprints, ids[ROWS], queries[ROWS];
    uint32_t distances[ROWS];
} store_stream;

static sstore_status read_rows(store_stream *self, sstore_error *error)
{
    const sstore_columns columns = {.struct_size = sizeof columns,
                                    .fingerprint = self->fingerprints,
                                    .id = self->ids,
                                    .distance = self->distances,
                                    .query_index = self->queries};
    self->at = 0;
    return sstore_iterator_next(self->iterator, &columns, ROWS, &self->count, error);
}

static sstore_status advance(store_stream *self, sstore_error *error)
{
    return ++self->at < self->count ? SSTORE_OK : read_rows(self, error);
}

static sstore_match current(const store_stream *self)
{
    return (sstore_match){.query_index = self->queries[self->at],
                          .fingerprint = self->fingerprints + self->at * self->words,
                          .id = self->ids[self->at],
                          .distance = self->distances[self->at]};
}

/* ----- order ----- */

static int compare_numbers(const uint64_t *a, const uint64_t *b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

static bool is_before(const sstore_match *a, const sstore_match *b, uint32_t words)
{
    if (a->query_index != b->query_index)
        return a->query_index < b->query_index;
    if (a->distance != b->distance)
        return a->distance < b->distance;
    const int order = compare_numbers(a->fingerprint, b->fingerprint, words);
    return order != 0 ? order < 0 : a->id < b->id;
}

/* ----- groups ----- */

/* A match of a group: numbers, of which the first ones are its order: distance, fingerprint, id and store; then the
 * query and the number of queries. */
#define ITEM_NUMBERS(words) ((size_t)(words) + 5)
#define ORDER_NUMBERS(words) ((size_t)(words) + 3)

typedef struct merge {
    const query_merge *asked;
    uint32_t words;
    uint64_t limit; /* UINT64_MAX: none */
    store_stream *streams;
    uint64_t *rows;    /* the fingerprints of all streams */
    size_t begin, end; /* the queries of the current group */
    uint64_t passed;   /* matches of the group, if that is a single query */
    uint64_t compared; /* since should_stop() was asked */
    uint64_t *items;   /* of a group of several */
    size_t item_count, capacity;
    merged_match_fn on_match;
    void *context;
} merge;

size_t query_merge_group_end(const query_merge *self, size_t begin)
{
    size_t end = begin + 1;
    while (self->groups != NULL && end < self->count && self->groups[end] == self->groups[begin])
        end++;
    return end;
}

static int compare_items(const void *a, const void *b, void *words)
{
    return compare_numbers(a, b, ORDER_NUMBERS(*(const uint32_t *)words));
}

/* Sort the items, and drop those behind the limit. */
static void cut_items(merge *self)
{
    if (self->item_count > 0)
        qsort_r(self->items, self->item_count, ITEM_NUMBERS(self->words) * sizeof *self->items, compare_items,
                &self->words);
    if (self->item_count > self->limit)
        self->item_count = (size_t)self->limit;
}

/* Whether the match of a query is that of its group: no other query is nearer, nor as near and before it. Counts the
 * queries within the distance. */
static bool is_nearest(const merge *self, const sstore_match *match, uint32_t max_distance, uint64_t *query_count_out)
{
    const query_merge *asked = self->asked;
    *query_count_out = 0;
    for (size_t i = self->begin; i < self->end; i++) {
        const uint32_t distance = sstore_hamming_distance(match->fingerprint, asked->queries + i * self->words,
                                                          64 * self->words);
        if (distance < match->distance || (distance == match->distance && i < match->query_index))
            return false;
        *query_count_out += distance <= max_distance;
    }
    return true;
}

static sstore_status fail_memory(sstore_error *error)
{
    *error = (sstore_error){.status = SSTORE_ERROR_MEMORY,
                            .offset = SSTORE_NO_OFFSET,
                            .message = "out of memory for the matches of a group; --limit leaves the first ones"};
    return error->status;
}

static sstore_status add_item(merge *self, const merged_match *match, sstore_error *error)
{
    const size_t numbers = ITEM_NUMBERS(self->words);
    if (self->limit < SIZE_MAX / 2 && self->item_count >= 2 * self->limit + EXTRA)
        cut_items(self);
    if (!grow(&self->items, &self->capacity, (self->item_count + 1) * numbers, sizeof *self->items))
        return fail_memory(error);
    uint64_t *to = self->items + self->item_count++ * numbers;
    to[0] = match->match.distance;
    memcpy(to + 1, match->match.fingerprint, self->words * sizeof *to);
    to += 1 + self->words;
    to[0] = match->match.id;
    to[1] = match->store;
    to[2] = match->match.query_index;
    to[3] = match->query_count;
    return SSTORE_OK;
}

/* Report the items of the group. */
static sstore_status finish_group(merge *self)
{
    int stopped = 0;
    cut_items(self);
    for (size_t i = 0; i < self->item_count && stopped == 0; i++) {
        const uint64_t *item = self->items + i * ITEM_NUMBERS(self->words), *rest = item + 1 + self->words;
        const merged_match match = {
            .match = {.distance = (uint32_t)item[0], .fingerprint = item + 1, .id = rest[0], .query_index = rest[2]},
            .store = (uint32_t)rest[1],
            .query_count = rest[3]};
        stopped = self->on_match(self->context, &match);
    }
    self->item_count = 0;
    return stopped == 0 ? SSTORE_OK : SSTORE_STOPPED;
}

static bool should_stop(merge *self)
{
    self->compared += self->end - self->begin;
    if (self->compared < COMPARISONS)
        return false;
    self->compared = 0;
    return self->asked->should_stop != NULL && self->asked->should_stop(self->asked->stop_context) != 0;
}

/* Take the next match in the order of the queries. */
static sstore_status take(merge *self, const sstore_match *match, uint32_t store, sstore_error *error)
{
    merged_match found = {.match = *match, .store = store, .query_count = 1};
    if (match->query_index >= self->end) {
        const sstore_status status = finish_group(self);
        if (status != SSTORE_OK)
            return status;
        while (match->query_index >= self->end) {
            self->begin = self->end;
            self->end = query_merge_group_end(self->asked, self->begin);
        }
        self->passed = 0;
    }
    if (self->end - self->begin == 1)
        return self->passed++ >= self->limit || self->on_match(self->context, &found) == 0 ? SSTORE_OK : SSTORE_STOPPED;
    if (should_stop(self))
        return SSTORE_STOPPED;
    const uint32_t distance = self->asked->stores[store].distance;
    return is_nearest(self, match, distance, &found.query_count) ? add_item(self, &found, error) : SSTORE_OK;
}

/* ----- merging ----- */

static sstore_status open_streams(merge *self, sstore_error *error)
{
    const query_merge *asked = self->asked;
    sstore_status status = SSTORE_OK;
    self->streams = calloc(asked->store_count, sizeof *self->streams);
    self->rows = malloc((size_t)asked->store_count * ROWS * self->words * sizeof *self->rows);
    if (self->streams == NULL || self->rows == NULL)
        return fail_memory(error);
    for (uint32_t i = 0; i < asked->store_count && status == SSTORE_OK; i++) {
        store_stream *stream = &self->streams[i];
        stream->words = self->words;
        stream->fingerprints = self->rows + (size_t)i * ROWS * self->words;
        const merged_store *from = &asked->stores[i];
        status = sstore_iterate_matches(from->store, asked->queries, asked->count, from->distance, &from->options,
                                        &stream->iterator, error);
        if (status == SSTORE_OK)
            status = read_rows(stream, error);
    }
    return status;
}

static void close_streams(merge *self)
{
    for (uint32_t i = 0; self->streams != NULL && i < self->asked->store_count; i++)
        sstore_iterator_free(self->streams[i].iterator);
    free(self->streams);
    free(self->rows);
    free(self->items);
}

/* Choose the store with the next match. False: there is none. */
static bool choose_next(const merge *self, uint32_t *store_out, sstore_match *match_out)
{
    bool any = false;
    for (uint32_t i = 0; i < self->asked->store_count; i++) {
        const store_stream *stream = &self->streams[i];
        if (stream->at == stream->count)
            continue;
        const sstore_match match = current(stream);
        if (any && !is_before(&match, match_out, self->words))
            continue;
        any = true;
        *store_out = i;
        *match_out = match;
    }
    return any;
}

sstore_status query_merge_run(const query_merge *asked, merged_match_fn on_match, void *context, sstore_error *error)
{
    merge self = {.asked = asked,
                  .words = sstore_fingerprint_bits(asked->stores->store) / 64,
                  .limit = asked->stores->options.limit > 0 ? asked->stores->options.limit : UINT64_MAX,
                  .on_match = on_match,
                  .context = context};
    sstore_match match;
    uint32_t store = 0;
    sstore_status status = open_streams(&self, error);
    while (status == SSTORE_OK && choose_next(&self, &store, &match)) {
        status = take(&self, &match, store, error);
        if (status == SSTORE_OK)
            status = advance(&self.streams[store], error);
    }
    if (status == SSTORE_OK)
        status = finish_group(&self);
    close_streams(&self);
    return status;
}

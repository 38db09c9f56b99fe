#include "serve/find_together.h"

#include <stdlib.h>
#include <string.h>

#include "output/messages.h"
#include "output/query_merge.h"

/* Fewer queries than these are answered on one thread: starting others would take longer. */
#define MANY_QUERIES 10000u

#define MEMORY_BYTES (UINT64_C(512) << 20) /* of all stores together, if they are several */

/* Some of the queries of a request. */
typedef struct query_set {
    const uint64_t *fingerprints, *excluded_ids, *groups; /* the latter two are NULL if there are none */
    const size_t *places;                                 /* in the request; NULL: from `begin` on */
    size_t begin, count;
} query_set;

/* Room for a set whose queries do not follow each other. */
typedef struct chosen_queries {
    uint64_t *fingerprints, *excluded_ids, *groups;
    size_t *places;
} chosen_queries;

typedef struct together {
    service *self;
    const request *req;
    const queried_stores *stores;
    match_list *list;
    merged_store *merged; /* one a store, as the next two */
    sstore_id_filter *filters;
    uint64_t *blocks;
    uint64_t *counts;         /* of all matches of each query, in one store after the other */
    bool counts_all;          /* otherwise no query searches farther than to its limit */
    const query_set *queries; /* that are being answered */
    uint32_t *distances;      /* the smallest one of each of them; UINT32_MAX: it has no match */
} together;

static int check_time(void *context, const sstore_progress *progress)
{
    (void)progress;
    return match_list_should_stop(context);
}

/* Begin to ask store number `number`, up to `distance` or its own maximum. */
static void ask_store(together *self, uint32_t number, uint32_t distance, uint64_t limit)
{
    const queried_store *from = &self->stores->items[number];
    const query_set *queries = self->queries;
    merged_store *to = &self->merged[number];
    sstore_batch_options *options = &to->options;
    sstore_id_filter *filter = &self->filters[number];
    *to = (merged_store){.store = from->use.store,
                         .distance = distance < from->distance ? distance : from->distance,
                         .options = SSTORE_BATCH_OPTIONS_INIT};
    options->threads = queries->count < MANY_QUERIES ? 1 : self->self->options.threads;
    options->memory_bytes = self->stores->count > 1 ? MEMORY_BYTES / self->stores->count : 0;
    options->block_count = &self->blocks[number];
    options->on_progress = check_time;
    options->progress_context = self->list;
    options->limit = limit;
    options->match_counts = self->counts_all ? self->counts + number * queries->count : NULL;
    options->filter = queried_store_filter(from, self->req, 0, filter) != NULL ? filter : NULL;
    if (filter->excluded_ids != NULL)
        filter->excluded_ids = queries->excluded_ids;
}

/* Pass on the first matches of some queries in all stores, up to `distance` or the stores' own maximum. */
static sstore_status merge_matches(together *self, const query_set *queries, uint32_t distance, uint64_t limit,
                                   merged_match_fn on_match, sstore_error *error)
{
    self->queries = queries;
    for (uint32_t i = 0; i < self->stores->count; i++)
        ask_store(self, i, distance, limit);
    const query_merge merge = {.stores = self->merged,
                               .store_count = self->stores->count,
                               .queries = queries->fingerprints,
                               .count = queries->count,
                               .groups = queries->groups,
                               .should_stop = match_list_should_stop,
                               .stop_context = self->list};
    return query_merge_run(&merge, on_match, self, error);
}

/* Take the next match of a query or a group. Without a limit, drop all of one for which there is no room. */
static int take_match(void *context, const merged_match *found)
{
    const together *self = context;
    const queried_store *from = &self->stores->items[found->store];
    const size_t index = (size_t)found->match.query_index, *places = self->queries->places;
    const size_t nearest = places != NULL ? places[index] : self->queries->begin + index;
    const size_t query = request_group(self->req, nearest);
    match_list *list = self->list;
    query_count *counted = &list->queries[query];
    sstore_match match = found->match;
    match.query_index = 0; /* the list adds that of the current query */
    if (query != list->first_query)
        match_list_begin_query(list, query);
    queried_store_begin(list, from->index, &from->use);
    if (!list->is_limited && list->count == list->max) {
        counted->has_no_answer = true;
        list->count = list->query_begin;
    }
    counted->count++;
    if (counted->has_no_answer)
        return 0;
    const int stopped = match_list_take(list, &match);
    if (stopped == 0 && list->grouped != NULL)
        match_list_note_group(list, nearest, found->query_count);
    return stopped;
}

/* ----- the nearest ----- */

static int take_distance(void *context, const merged_match *found)
{
    const together *self = context;
    const query_set *asked = self->queries;
    const size_t nearest = asked->begin + (size_t)found->match.query_index, first = request_group(self->req, nearest);
    for (size_t i = first; i < asked->begin + asked->count && request_group(self->req, i) == first; i++)
        self->distances[i - asked->begin] = found->match.distance;
    return 0;
}

/* Choose the queries whose smallest distance is the next one above `distance`, or the first one if that is UINT32_MAX.
 * There may be none. */
static query_set choose_next(const together *self, const query_set *all, uint32_t *distance, chosen_queries *room)
{
    query_set chosen = {.fingerprints = room->fingerprints, .places = room->places};
    const uint32_t words = self->req->words, last = *distance;
    uint32_t next = UINT32_MAX;
    for (size_t i = 0; i < all->count; i++)
        if ((last == UINT32_MAX || self->distances[i] > last) && self->distances[i] < next)
            next = self->distances[i];
    for (size_t i = 0; i < all->count && next != UINT32_MAX; i++) {
        if (self->distances[i] != next)
            continue;
        memcpy(room->fingerprints + chosen.count * words, all->fingerprints + i * words,
               words * sizeof *all->fingerprints);
        if (all->excluded_ids != NULL)
            room->excluded_ids[chosen.count] = all->excluded_ids[i];
        if (all->groups != NULL)
            room->groups[chosen.count] = all->groups[i];
        room->places[chosen.count++] = all->begin + i;
    }
    chosen.excluded_ids = all->excluded_ids != NULL ? room->excluded_ids : NULL;
    chosen.groups = all->groups != NULL ? room->groups : NULL;
    *distance = next;
    return chosen;
}

/* Find the smallest distance of each query, and then take all matches at each of these. `room` is for all queries. */
static sstore_status take_by_distance(together *self, const query_set *all, chosen_queries *room, sstore_error *error)
{
    memset(self->distances, 0xff, all->count * sizeof *self->distances);
    self->counts_all = false;
    sstore_status status = merge_matches(self, all, UINT32_MAX, 1, take_distance, error);
    self->counts_all = true;
    for (uint32_t distance = UINT32_MAX; status == SSTORE_OK;) {
        const query_set chosen = choose_next(self, all, &distance, room);
        if (chosen.count == 0)
            break;
        status = merge_matches(self, &chosen, distance, self->list->max + 1, take_match, error);
    }
    return status;
}

/* Take all matches of some queries at their smallest distances, those of one distance together. */
static sstore_status take_nearest(together *self, const query_set *all, sstore_error *error)
{
    const size_t count = all->count + 1, words = self->req->words;
    uint64_t *memory = malloc(count * (words + 2) * sizeof *memory);
    size_t *places = malloc(count * sizeof *places);
    uint32_t *distances = malloc(count * sizeof *distances);
    sstore_status status;
    if (memory == NULL || places == NULL || distances == NULL) {
        status = error_no_memory(error);
    } else {
        chosen_queries room = {.fingerprints = memory,
                               .excluded_ids = memory + count * words,
                               .groups = memory + count * (words + 1),
                               .places = places};
        self->distances = distances;
        status = take_by_distance(self, all, &room, error);
    }
    free(memory);
    free(places);
    free(distances);
    return status;
}

/* ----- all queries ----- */

static query_set choose_range(const request *self, size_t begin, size_t count)
{
    return (query_set){.fingerprints = self->fingerprints + begin * self->words,
                       .excluded_ids = self->excluded_ids != NULL ? self->excluded_ids + begin : NULL,
                       .groups = self->groups != NULL ? self->groups + begin : NULL,
                       .begin = begin,
                       .count = count};
}

/* Of the nearest, the matches of one distance come before those of another. If some have no room, take them again in
 * the order of the queries. */
static sstore_status take_all_nearest(together *self, sstore_error *error)
{
    const request *req = self->req;
    const query_set all = choose_range(req, 0, req->count);
    sstore_status status = take_nearest(self, &all, error);
    if (status != SSTORE_OK || match_list_has_room(self->list, req->count))
        return status;
    match_list_empty(self->list, req->count);
    for (size_t begin = 0, end; begin < req->count && status == SSTORE_OK; begin = end) {
        for (end = begin + 1; end < req->count && request_group(req, end) == begin;)
            end++;
        const query_set one = choose_range(req, begin, end - begin);
        status = take_nearest(self, &one, error);
    }
    return status;
}

/* Take the first matches of each query or group. Those of queries of ROUTE_QUERY are counted beyond the limit. */
static sstore_status take_first(together *self, sstore_error *error)
{
    const request *req = self->req;
    const query_set all = choose_range(req, 0, req->count);
    match_list *list = self->list;
    self->counts_all = req->route == ROUTE_QUERY && (req->groups == NULL || !list->is_limited);
    const sstore_status status = merge_matches(self, &all, UINT32_MAX, list->limit + !list->is_limited, take_match,
                                               error);
    for (size_t i = 0; i < req->count; i++) {
        uint64_t *count = &list->queries[i].count;
        const bool is_counted = self->counts_all && req->groups == NULL;
        *count = is_counted ? 0 : *count < req->limit ? *count : req->limit;
        for (uint32_t j = 0; is_counted && j < self->stores->count; j++)
            *count += self->counts[j * req->count + i];
    }
    return status;
}

bool find_together(service *self, const request *req, const queried_stores *stores, match_list *list, reply *reply_out)
{
    together all = {.self = self,
                    .req = req,
                    .stores = stores,
                    .list = list,
                    .merged = calloc(stores->count, sizeof *all.merged),
                    .filters = calloc(stores->count, sizeof *all.filters),
                    .blocks = calloc(stores->count, sizeof *all.blocks),
                    .counts = calloc(stores->count * (req->count + 1), sizeof *all.counts)};
    sstore_error error;
    sstore_status status = SSTORE_OK;
    if (all.merged == NULL || all.filters == NULL || all.blocks == NULL || all.counts == NULL)
        status = error_no_memory(&error);
    else if (req->route == ROUTE_NEAREST && !list->is_limited)
        status = take_all_nearest(&all, &error);
    else
        status = take_first(&all, &error);
    for (uint32_t i = 0; all.blocks != NULL && i < stores->count; i++)
        metrics_add(&self->metrics.blocks, all.blocks[i]);
    free(all.merged);
    free(all.filters);
    free(all.blocks);
    free(all.counts);
    return queried_store_finish(list, status, &error, reply_out);
}

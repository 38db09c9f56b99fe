#include "serve/find_matches.h"

#include <stdlib.h>

#include "output/messages.h"
#include "serve/find_together.h"

#define MEAN_OF 64u /* queries count for the average */

/* Lower the distance to that of the nearest record in a store, and drop the matches that are farther. *found_out: there
 * is one. */
static sstore_status find_smallest(const uint64_t *query, uint32_t *distance, sstore_cursor *cursor, match_list *list,
                                   bool *found_out, sstore_error *error)
{
    const uint32_t max_distance = *distance;
    const sstore_columns columns = {.struct_size = sizeof columns, .distance = distance};
    uint64_t count;
    const sstore_status status = sstore_query_nearest(cursor, query, max_distance, &columns, 1, &count, error);
    *found_out = status == SSTORE_OK && count > 0;
    if (*found_out)
        match_list_drop_farther(list, *distance);
    return status;
}

/* Take all matches of a query, or none if there is no room for them. */
static sstore_status query_all(const request *self, const uint64_t *query, uint32_t distance, sstore_cursor *cursor,
                               match_list *list, sstore_error *error)
{
    query_count *found = &list->queries[list->first_query];
    bool has_any = true;
    sstore_status status = SSTORE_OK;
    if (self->route == ROUTE_NEAREST)
        status = find_smallest(query, &distance, cursor, list, &has_any, error);
    if (status == SSTORE_OK && has_any)
        status = sstore_query(cursor, query, distance, match_list_take, list, error);
    found->count = list->count - list->query_begin;
    if (status != SSTORE_STOPPED || !list->is_full)
        return status;
    found->has_no_answer = true;
    list->is_full = false;
    list->count = list->query_begin;
    return SSTORE_OK;
}

/* Take the first matches of a query, through columns with room for as many. The nearest are only counted as far as they
 * are listed. */
static sstore_status query_first(const request *self, const uint64_t *query, uint32_t distance, sstore_cursor *cursor,
                                 const sstore_columns *columns, match_list *list, sstore_error *error)
{
    const size_t capacity = (size_t)list->limit;
    query_count *found = &list->queries[list->first_query];
    uint64_t count;
    const bool nearest = self->route == ROUTE_NEAREST;
    sstore_status status = nearest ? sstore_query_nearest(cursor, query, distance, columns, capacity, &count, error)
                                   : sstore_query_columns(cursor, query, distance, columns, capacity, &count, error);
    if (status != SSTORE_OK)
        return status;
    found->count += count;
    for (size_t i = 0; i < capacity && i < count && status == SSTORE_OK; i++) {
        const sstore_match match = {.fingerprint = columns->fingerprint + i * self->words,
                                    .id = columns->id[i],
                                    .distance = columns->distance[i]};
        status = match_list_take_anyway(list, &match) == 0 ? SSTORE_OK : SSTORE_STOPPED;
    }
    return status;
}

/* Search a store for what could still be an answer to the current query. Of the nearest records, without a limit, those
 * are that are as near as what other stores have found, or nearer than what has no room. */
static sstore_status query_store(const request *self, const queried_store *from, const sstore_columns *columns,
                                 match_list *list, sstore_error *error)
{
    const query_count *found = &list->queries[list->first_query];
    const uint64_t *query = self->fingerprints + list->first_query * self->words;
    uint32_t distance = from->distance;
    queried_store_begin(list, from->index, &from->use);
    if (columns->id != NULL)
        return query_first(self, query, distance, from->use.cursor, columns, list, error);
    if (found->has_no_answer && (self->route != ROUTE_NEAREST || found->distance == 0))
        return SSTORE_OK;
    if (self->route == ROUTE_NEAREST && (found->count > 0 || found->has_no_answer)) {
        const uint32_t useful = found->distance - found->has_no_answer;
        distance = useful < distance ? useful : distance;
    }
    return query_all(self, query, distance, from->use.cursor, list, error);
}

/* Cut the matches of the current query, of several stores, to its limit. */
static void cut_query(const request *self, match_list *list)
{
    match_list_cut(list);
    const uint64_t listed = list->count - list->query_begin;
    if (self->route == ROUTE_NEAREST)
        list->queries[list->first_query].count = listed < self->limit ? listed : self->limit;
}

/* Filter the matches of a query in a store. */
static sstore_status set_filter(const request *self, const queried_store *from, size_t query, sstore_error *error)
{
    sstore_id_filter filter;
    return sstore_cursor_set_filter(from->use.cursor, queried_store_filter(from, self, query, &filter), error);
}

static sstore_status query_each(const request *self, const queried_store *stores, uint32_t store_count,
                                match_list *list, sstore_error *error)
{
    const size_t capacity = (size_t)list->limit;
    uint64_t *memory = list->is_limited ? calloc(capacity, (self->words + 2) * sizeof *memory) : NULL;
    sstore_columns columns = SSTORE_COLUMNS_INIT;
    sstore_status status = list->is_limited && memory == NULL ? error_no_memory(error) : SSTORE_OK;
    if (memory != NULL) {
        columns.fingerprint = memory;
        columns.id = memory + capacity * self->words;
        columns.distance = (void *)(columns.id + capacity);
    }
    for (size_t i = 0; i < self->count && status == SSTORE_OK; i++) {
        match_list_begin_query(list, i);
        for (uint32_t j = 0; j < store_count && status == SSTORE_OK; j++) {
            if (self->excluded_ids != NULL)
                status = set_filter(self, &stores[j], i, error);
            if (status == SSTORE_OK)
                status = query_store(self, &stores[j], &columns, list, error);
        }
        if (list->is_limited)
            cut_query(self, list);
        list->is_full |= list->count > list->max;
        status = list->is_full && status == SSTORE_OK ? SSTORE_STOPPED : status;
    }
    free(memory);
    return status;
}

static uint64_t count_blocks(const queried_store *stores, uint32_t count)
{
    uint64_t blocks = 0;
    for (uint32_t i = 0; i < count; i++)
        blocks += sstore_cursor_block_count(stores[i].use.cursor);
    return blocks;
}

/* Answer queries one by one, each in all stores. */
static sstore_status query_singly(service *self, const request *req, const queried_store *stores, uint32_t store_count,
                                  match_list *list, sstore_error *error)
{
    const uint64_t blocks = count_blocks(stores, store_count), begin = time_now_ns();
    sstore_status status = SSTORE_OK;
    for (uint32_t i = 0; i < store_count && status == SSTORE_OK; i++) {
        sstore_cursor_set_stop(stores[i].use.cursor, match_list_should_stop, list);
        status = set_filter(req, &stores[i], 0, error);
    }
    if (status == SSTORE_OK)
        status = query_each(req, stores, store_count, list, error);
    metrics_add(&self->metrics.blocks, count_blocks(stores, store_count) - blocks);
    if (req->count > 0) {
        const uint64_t mean = atomic_load_explicit(&self->mean_ns, memory_order_relaxed);
        const uint64_t now = (time_now_ns() - begin) / req->count;
        atomic_store_explicit(&self->mean_ns, mean - mean / MEAN_OF + now / MEAN_OF, memory_order_relaxed);
    }
    return status;
}

static bool find_singly(service *self, const request *req, const queried_stores *stores, match_list *list,
                        reply *reply_out)
{
    sstore_error error;
    return queried_store_finish(list, query_singly(self, req, stores->items, stores->count, list, &error), &error,
                                reply_out);
}

static bool is_singly(const request *self)
{
    return self->count <= NOW_QUERIES && self->groups == NULL;
}

static bool find_in_stores(service *self, const request *req, const queried_stores *stores, match_list *list,
                           reply *reply_out)
{
    return is_singly(req) ? find_singly(self, req, stores, list, reply_out)
                          : find_together(self, req, stores, list, reply_out);
}

/* Begin a list. Without a limit, a query has all its matches or fails. */
static bool open_list(const service *self, const request *req, match_list *list, reply *reply_out)
{
    const uint64_t max = self->options.max_matches, limit = req->limit < max ? req->limit : max;
    *list = (match_list){.words = req->words,
                         .max = max,
                         .is_limited = req->limit != UINT64_MAX,
                         .limit = limit > 0 ? limit : 1,
                         .queries = calloc(req->count + 1, sizeof *list->queries),
                         .grouped = req->groups != NULL ? req : NULL,
                         .deadline_ns = req->deadline_ns};
    return list->queries != NULL || reply_fail(reply_out, REPLY_FAILED, "out of memory");
}

bool find_matches(service *self, const request *req, const queried_stores *stores, match_list *list, reply *reply_out)
{
    bool found = open_list(self, req, list, reply_out) && find_in_stores(self, req, stores, list, reply_out);
    if (found && list->is_full) {
        match_list_share(list, req->count, request_answer_count(req));
        found = find_in_stores(self, req, stores, list, reply_out);
    }
    if (found && (is_singly(req) || req->route == ROUTE_NEAREST)) /* others come in order */
        match_list_order(list);
    return found;
}

/*
 * service.c - a service's stores, and the answers to all requests but those that write.
 */
#include "serve/service.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "output/json.h"
#include "output/messages.h"
#include "output/store_report.h"
#include "output/walk.h"
#include "serve/request_matches.h"

#define NOW_QUERIES 16u /* at most in a request that the thread of the network answers, */
#define NOW_NS 50000u   /* if a query takes no longer on average */
#define MEAN_OF 64u     /* queries count for the average */
#define WRITES_WAITING 10000u

/* ----- opening and closing ----- */

/* The last part of a path, without slashes behind it, to be freed. As UTF-8, since answers quote it. */
static char *name_of(const char *path)
{
    size_t size;
    const char *last = store_name(path, &size);
    const size_t length = sstore_escape(last, size, false, NULL, 0);
    char *name = malloc(length + 1);
    if (name != NULL)
        sstore_escape(last, size, false, name, length + 1);
    return name;
}

static bool allocate(service *self, uint32_t count)
{
    self->names = (store_names){.items = calloc(count, sizeof *self->names.items), .count = count};
    self->stores = calloc(count, sizeof *self->stores);
    self->writers = self->options.allows_writes ? calloc(count, sizeof *self->writers) : NULL;
    self->failures = calloc(count, sizeof *self->failures);
    return self->failures != NULL && self->names.items != NULL && self->stores != NULL &&
           (self->writers != NULL || !self->options.allows_writes);
}

static int take_recipe(service *self, uint32_t index)
{
    sstore_error error;
    store_use use;
    if (served_store_acquire(self->stores[index], false, &use, &error) != SSTORE_OK)
        return message_error(&error);
    text_rules_add(&self->texts, store_use_statistics(&use)->recipe);
    served_store_release(self->stores[index], &use);
    return EXIT_DONE;
}

static int open_store(service *self, uint32_t index, const char *path)
{
    sstore_error error;
    char **names = self->names.items;
    if (served_store_open(path, &self->options.open, &self->stores[index], &error) != SSTORE_OK)
        return message_error(&error);
    const uint32_t bits = served_store_bits(self->stores[index]);
    if (index > 0 && bits != self->bits)
        return message_print("%s: its fingerprints have %" PRIu32 " bits, those of the stores before it %" PRIu32
                             "; a service's stores have the same width",
                             path, bits, self->bits);
    self->bits = bits;
    if ((names[index] = name_of(path)) == NULL)
        return message_print("out of memory");
    for (uint32_t i = 0; i < index; i++)
        if (strcmp(names[i], names[index]) == 0)
            return message_print("%s: another store has the same name '%s'; requests choose stores by their names",
                                 path, names[index]);
    if (self->writers == NULL)
        return EXIT_DONE;
    const store_writer_options options = {.memory_bytes = self->options.memory_bytes,
                                          .threads = self->options.threads,
                                          .max_matches = self->options.max_matches,
                                          .max_waiting = WRITES_WAITING,
                                          .metrics = &self->metrics};
    self->writers[index] = store_writer_start(self->stores[index], &options);
    return self->writers[index] != NULL ? EXIT_DONE : message_print("%s: cannot start a thread that writes", path);
}

int service_open(service *self, char *const *paths, uint32_t count, const service_options *options)
{
    *self = (service){.options = *options};
    int code = allocate(self, count) ? EXIT_DONE : message_print("out of memory");
    for (uint32_t i = 0; i < count && code == EXIT_DONE; i++)
        if ((code = open_store(self, i, paths[i])) == EXIT_DONE)
            code = take_recipe(self, i);
    return code;
}

void service_close(service *self)
{
    for (uint32_t i = 0; i < self->names.count; i++) {
        if (self->writers != NULL)
            store_writer_stop(self->writers[i]);
        if (self->stores != NULL)
            served_store_close(self->stores[i]);
        if (self->names.items != NULL)
            free(self->names.items[i]);
    }
    free(self->names.items);
    free(self->failures);
    free(self->stores);
    free(self->writers);
}

void service_refuse_offers(service *self)
{
    for (uint32_t i = 0; self->writers != NULL && i < self->names.count; i++)
        store_writer_refuse_offers(self->writers[i]);
}

void service_refresh(service *self)
{
    for (uint32_t i = 0; i < self->names.count; i++) {
        sstore_error error = {.status = SSTORE_OK}, *last = &self->failures[i];
        if (served_store_refresh(self->stores[i], &error) != SSTORE_OK) {
            metrics_add(&self->metrics.refresh_failures, 1);
            if (strcmp(error.message, last->message) != 0)
                message_problem(&error);
        }
        *last = error;
    }
}

/* ----- which stores ----- */

/* The stores of a request: begin .. end - 1. */
typedef struct store_range {
    uint32_t begin, end;
} store_range;

static store_range stores_of(const service *self, const request *req)
{
    if (req->store != REQUEST_ALL_STORES)
        return (store_range){req->store, req->store + 1};
    return (store_range){0, self->names.count};
}

/* ----- queries ----- */

/* The distance of a request in a store. */
static bool choose_distance(const service *self, const request *req, const sstore_statistics *statistics,
                            uint32_t *distance_out, reply *reply_out)
{
    const uint32_t max = self->options.has_max_distance ? self->options.max_distance : statistics->distance;
    const uint32_t usual = req->route == ROUTE_NEAREST || statistics->distance > max ? max : statistics->distance;
    *distance_out = req->has_distance ? req->distance : usual;
    if (*distance_out <= max)
        return true;
    return reply_fail(reply_out, REPLY_BAD_REQUEST, "k: this service answers up to distance %" PRIu32 ", not %" PRIu32,
                      max, *distance_out);
}

static bool finish_store(const match_list *list, sstore_status status, const sstore_error *error, reply *reply_out)
{
    if (status == SSTORE_OK || (status == SSTORE_STOPPED && list->is_full))
        return true;
    if (status != SSTORE_STOPPED)
        return reply_fail_with(reply_out, error);
    if (list->is_late)
        return reply_fail(reply_out, REPLY_BUSY, "the time of the request is over");
    return reply_fail(reply_out, REPLY_FAILED, "out of memory");
}

/* A store that answers a request, and its distance. */
typedef struct queried_store {
    store_use use;
    uint32_t index, distance;
} queried_store;

/* The stores that a request asks, each in one state. */
typedef struct queried_stores {
    queried_store *items;
    uint32_t count;
} queried_stores;

static void release_stores(service *self, queried_stores *stores)
{
    while (stores->count-- > 0)
        served_store_release(self->stores[stores->items[stores->count].index], &stores->items[stores->count].use);
    free(stores->items);
}

static bool acquire_store(service *self, const request *req, uint32_t index, queried_stores *stores, reply *reply_out)
{
    sstore_error error;
    queried_store *to = &stores->items[stores->count];
    *to = (queried_store){.index = index};
    if (served_store_acquire(self->stores[index], true, &to->use, &error) != SSTORE_OK)
        return reply_fail_with(reply_out, &error);
    stores->count++;
    return choose_distance(self, req, store_use_statistics(&to->use), &to->distance, reply_out);
}

/* Release them in any case. */
static bool acquire_stores(service *self, const request *req, queried_stores *stores_out, reply *reply_out)
{
    const store_range range = stores_of(self, req);
    assert(range.end > range.begin);
    *stores_out = (queried_stores){.items = calloc(range.end - range.begin, sizeof *stores_out->items)};
    if (stores_out->items == NULL)
        return reply_fail(reply_out, REPLY_FAILED, "out of memory");
    bool done = true;
    for (uint32_t i = range.begin; i < range.end && done; i++)
        done = acquire_store(self, req, i, stores_out, reply_out);
    return done;
}

static void begin_store(match_list *list, uint32_t index, const store_use *use)
{
    list->store = index;
    list->has_ids = store_use_statistics(use)->has_ids;
}

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
    begin_store(list, from->index, &from->use);
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

/* The filter of a request's matches, or NULL. */
static const sstore_id_filter *filter_of(const request *req)
{
    return req->has_filter ? &req->filter : NULL;
}

/* Let a cursor leave out the own id of a query. */
static sstore_status exclude_own(const request *self, size_t query, sstore_cursor *cursor, sstore_error *error)
{
    sstore_id_filter filter = self->filter;
    if (filter.excluded_ids == NULL)
        return SSTORE_OK;
    filter.excluded_ids += query;
    return sstore_cursor_set_filter(cursor, &filter, error);
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
            status = exclude_own(self, i, stores[j].use.cursor, error);
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
        status = sstore_cursor_set_filter(stores[i].use.cursor, filter_of(req), error);
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

static int check_time(void *context, const sstore_progress *progress)
{
    (void)progress;
    return match_list_should_stop(context);
}

/* Fewer queries than these are answered on one thread: starting others would take longer. */
#define MANY_QUERIES 10000u

static sstore_status query_together(service *self, const request *req, const queried_store *from, match_list *list,
                                    sstore_error *error)
{
    uint64_t blocks = 0;
    sstore_batch_options options = SSTORE_BATCH_OPTIONS_INIT;
    options.threads = req->count < MANY_QUERIES ? 1 : self->options.threads;
    options.block_count = &blocks;
    options.on_progress = check_time;
    options.progress_context = list;
    options.limit = list->limit;
    options.match_counts = list->found;
    options.filter = filter_of(req);
    begin_store(list, from->index, &from->use);
    list->first_query = 0;
    const sstore_status status = walk_matches(from->use.store, req->fingerprints, req->count, from->distance, &options,
                                              list->is_limited ? match_list_take : match_list_take_counted, list,
                                              error);
    for (size_t i = 0; i < req->count && status == SSTORE_OK; i++)
        list->queries[i].count += list->found[i];
    metrics_add(&self->metrics.blocks, blocks);
    return status;
}

static bool is_singly(const request *self)
{
    return self->count <= NOW_QUERIES || self->route == ROUTE_NEAREST || self->filter.excluded_ids != NULL;
}

/* Answer all queries together, in one store after the other. */
static bool find_together(service *self, const request *req, const queried_stores *stores, match_list *list,
                          reply *reply_out)
{
    bool found = true;
    for (uint32_t i = 0; i < stores->count && found && !list->is_full; i++) {
        sstore_error error;
        found = finish_store(list, query_together(self, req, &stores->items[i], list, &error), &error, reply_out);
    }
    return found;
}

static bool find_singly(service *self, const request *req, const queried_stores *stores, match_list *list,
                        reply *reply_out)
{
    sstore_error error;
    return finish_store(list, query_singly(self, req, stores->items, stores->count, list, &error), &error, reply_out);
}

/* Of several stores, only queries that are answered one by one show which of them have room, or how much of their lists
 * is within the limit. */
static bool find_in_stores(service *self, const request *req, const queried_stores *stores, match_list *list,
                           reply *reply_out)
{
    if (is_singly(req))
        return find_singly(self, req, stores, list, reply_out);
    if (!find_together(self, req, stores, list, reply_out))
        return false;
    if (stores->count == 1 || match_list_has_room(list, req->count))
        return true;
    match_list_empty(list, req->count);
    return find_singly(self, req, stores, list, reply_out);
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
                         .found = calloc(req->count + 1, sizeof *list->found),
                         .deadline_ns = req->deadline_ns};
    return (list->queries != NULL && list->found != NULL) || reply_fail(reply_out, REPLY_FAILED, "out of memory");
}

/* ----- records by id or name ----- */

/* Whether a store is asked for the names of a request, and not for its ids. */
static bool asks_names(const request *req, const queried_store *from)
{
    return req->names != NULL && (req->ids == NULL || store_use_statistics(&from->use)->has_names);
}

static bool get_records(const request *req, const queried_store *from, match_list *list, reply *reply_out)
{
    sstore_error error;
    sstore_cursor *cursor = from->use.cursor;
    begin_store(list, from->index, &from->use);
    sstore_cursor_set_stop(cursor, match_list_should_stop, list);
    const sstore_status status = asks_names(req, from)
                                     ? sstore_get_named(cursor, req->names, req->count, match_list_take, list, &error)
                                     : sstore_get(cursor, req->ids, req->count, match_list_take, list, &error);
    return finish_store(list, status, &error, reply_out);
}

/* List the records of the request's key in order. False: there are none, or the list is not complete. */
static bool find_records(const service *self, const request *req, const queried_stores *stores, match_list *list,
                         reply *reply_out)
{
    const char *kind = asks_names(req, &stores->items[0]) ? "name" : "id";
    bool found = true;
    *list = (match_list){.words = req->words,
                         .max = self->options.max_matches,
                         .deadline_ns = req->deadline_ns,
                         .are_records = true};
    for (uint32_t i = 0; i < stores->count && found && !list->is_full; i++)
        found = get_records(req, &stores->items[i], list, reply_out);
    if (found && list->is_full)
        return reply_fail(reply_out, REPLY_TOO_MANY, "more than %" PRIu64 " records have the %s '%.200s'", list->max,
                          kind, req->key);
    if (found && list->count == 0)
        return reply_fail(reply_out, REPLY_NOT_FOUND, "no record has the %s '%.200s'", kind, req->key);
    match_list_order(list, found);
    return found;
}

/* Look up the names of all matches in the list. */
static bool find_names(service *self, const queried_stores *stores, match_list *list, reply *reply_out)
{
    bool found = true;
    for (uint32_t i = 0; i < stores->count && found; i++) {
        const queried_store *from = &stores->items[i];
        if (!store_use_statistics(&from->use)->has_names)
            continue;
        const stored_names source = {.path = served_store_path(self->stores[from->index]), .cursor = from->use.cursor};
        sstore_cursor_set_stop(from->use.cursor, NULL, NULL);
        found = match_list_find_names(list, from->index, self->names.count, &source);
    }
    return found || reply_fail(reply_out, REPLY_FAILED, "the names of records cannot be read; the service said why");
}

static void answer_record(service *self, job *queued)
{
    queried_stores stores;
    match_list list = {.items = NULL};
    reply *to = &queued->reply;
    if (acquire_stores(self, &queued->request, &stores, to) &&
        find_records(self, &queued->request, &stores, &list, to) && find_names(self, &stores, &list, to)) {
        reply_literal(to, "{\"records\":");
        matches_print_list(&list, 0, list.count, self->names.count > 1 ? self->names.items : NULL, to);
        reply_literal(to, "}\n");
    }
    match_list_free(&list);
    release_stores(self, &stores);
}

/* Take the fingerprints of records as the queries, and their ids as those that are left out. */
static bool take_queries(request *req, const match_list *list, reply *reply_out)
{
    const size_t count = list->count;
    req->fingerprints = malloc((count + 1) * req->words * sizeof *req->fingerprints);
    req->own_ids = malloc((count + 1) * sizeof *req->own_ids);
    if (req->fingerprints == NULL || req->own_ids == NULL)
        return reply_fail(reply_out, REPLY_FAILED, "out of memory");
    for (req->count = 0; req->count < count; req->count++) {
        memcpy(req->fingerprints + req->count * req->words, match_list_fingerprint(list, req->count),
               req->words * sizeof *req->fingerprints);
        req->own_ids[req->count] = match_list_id(list, req->count);
    }
    return true;
}

/* If the request has a key, ask for what is near its records. */
static bool resolve_key(const service *self, request *req, const queried_stores *stores, reply *reply_out)
{
    match_list list;
    if (req->key == NULL)
        return true;
    if (req->store == REQUEST_ALL_STORES && self->names.count > 1)
        return reply_fail(reply_out, REPLY_BAD_REQUEST, "this service has several stores; choose one with 'store'");
    const bool found = find_records(self, req, stores, &list, reply_out) && take_queries(req, &list, reply_out);
    match_list_free(&list);
    if (found && req->excludes_self) {
        req->filter.excluded_ids = req->own_ids;
        req->has_filter = true;
    }
    return found;
}

/* ----- answers to queries ----- */

static bool find_matches(service *self, const request *req, const queried_stores *stores, match_list *list,
                         reply *reply_out)
{
    bool found = open_list(self, req, list, reply_out) && find_in_stores(self, req, stores, list, reply_out);
    if (found && list->is_full) {
        match_list_share(list, req->count);
        found = find_in_stores(self, req, stores, list, reply_out);
    }
    match_list_order(list, found && (stores->count > 1 || is_singly(req)));
    return found;
}

static void answer_query(service *self, job *queued)
{
    request *req = &queued->request;
    reply *to = &queued->reply;
    queried_stores stores;
    match_list list = {.items = NULL};
    if (acquire_stores(self, req, &stores, to) && resolve_key(self, req, &stores, to) &&
        find_matches(self, req, &stores, &list, to) && find_names(self, &stores, &list, to)) {
        metrics_add(&self->metrics.queries, req->count);
        metrics_add(&self->metrics.matches, match_list_total(&list, req->count));
        matches_print(&list, req, self->names.count > 1 ? self->names.items : NULL, to);
    }
    match_list_free(&list);
    release_stores(self, &stores);
}

/* ----- other answers ----- */

static bool append_stat(service *self, uint32_t index, json_value **list, reply *reply_out)
{
    store_report report = STORE_REPORT_INIT;
    store_use use;
    sstore_error error;
    if (served_store_acquire(self->stores[index], false, &use, &error) != SSTORE_OK)
        return reply_fail_with(reply_out, &error);
    const bool read = store_report_read(use.store, &report, &error) == SSTORE_OK || reply_fail_with(reply_out, &error);
    if (read)
        json_value_append(list,
                          json_value_make("{s:s, s:I, s:o}", "store", self->names.items[index], "generation",
                                          (long long)store_use_generation(&use), "stat", store_report_value(&report)));
    store_report_free(&report);
    served_store_release(self->stores[index], &use);
    return read;
}

static void answer_stat(service *self, job *queued)
{
    const store_range range = stores_of(self, &queued->request);
    json_value *list = json_value_make("[]");
    bool filled = true;
    for (uint32_t i = range.begin; i < range.end && filled; i++)
        filled = append_stat(self, i, &list, &queued->reply);
    if (!filled) {
        json_value_free(list);
        return;
    }
    char *text = json_value_text(json_value_make("{s:o}", "stores", list));
    if (text == NULL) {
        reply_fail(&queued->reply, REPLY_FAILED, "out of memory");
        return;
    }
    reply_append(&queued->reply, text, strlen(text));
    reply_literal(&queued->reply, "\n");
    free(text);
}

enum { STORE_GAUGES = 5 };

/* What is measured of a store at one moment. */
static bool read_gauges(served_store *served, uint64_t values[STORE_GAUGES])
{
    store_use use;
    sstore_error error;
    if (served_store_acquire(served, false, &use, &error) != SSTORE_OK)
        return false;
    const sstore_statistics *statistics = store_use_statistics(&use);
    values[0] = statistics->record_count;
    values[1] = statistics->segment_count;
    values[2] = statistics->total_bytes;
    values[3] = store_use_generation(&use);
    values[4] = served_store_open_count(served);
    served_store_release(served, &use);
    return true;
}

static void answer_metrics(service *self, job *queued)
{
    static const struct {
        const char *name, *help;
    } rows[STORE_GAUGES] = {{"records", "Records of a store."},
                            {"segments", "Segments of a store."},
                            {"bytes", "Bytes of all files of a store."},
                            {"generation", "States of a store that were opened since the start."},
                            {"open_states", "States of a store that are open: the newest one, and older ones in use."}};
    uint64_t(*values)[STORE_GAUGES] = calloc(self->names.count, sizeof *values);
    bool read = values != NULL;
    for (uint32_t i = 0; i < self->names.count && read; i++)
        read = read_gauges(self->stores[i], values[i]);
    queued->reply.content_type = "text/plain; version=0.0.4; charset=utf-8";
    metrics_print(&self->metrics, &queued->reply);
    for (size_t row = 0; row < STORE_GAUGES && read; row++) {
        reply_print(&queued->reply, "# HELP sstore_store_%s %s\n# TYPE sstore_store_%s gauge\n", rows[row].name,
                    rows[row].help, rows[row].name);
        for (uint32_t i = 0; i < self->names.count; i++)
            metrics_print_store(&queued->reply, rows[row].name, self->names.items[i], values[i][row]);
    }
    free(values);
}

/* Name the paths, for somebody who looks with a browser. */
static void answer_index(job *queued)
{
    reply_literal(&queued->reply, "{\"service\":\"sstore\",\"paths\":[");
    for (route i = 0; i < ROUTE_UNKNOWN; i++)
        reply_print(&queued->reply, "%s\"%s\"", i > 0 ? "," : "", route_path(i));
    reply_literal(&queued->reply, "]}\n");
}

void service_answer(service *self, job *queued)
{
    queued->reply.content_type = "application/json";
    switch (queued->request.route) {
    case ROUTE_QUERY:
    case ROUTE_NEAREST: answer_query(self, queued); break;
    case ROUTE_RECORD: answer_record(self, queued); break;
    case ROUTE_STAT: answer_stat(self, queued); break;
    case ROUTE_METRICS: answer_metrics(self, queued); break;
    case ROUTE_INDEX: answer_index(queued); break;
    default: reply_literal(&queued->reply, "{\"status\":\"ok\"}\n"); break;
    }
    if (queued->reply.status == 0)
        queued->reply.status = REPLY_OK;
}

/* ----- requests ----- */

service_lane service_read(service *self, job *queued, const char *body, size_t size)
{
    request *req = &queued->request;
    const request_stores stores = {.names = &self->names, .bits = self->bits, .texts = &self->texts};
    if (!request_read(req, body, size, &stores, &queued->reply))
        return SERVICE_NOW;
    if (request_writes(req))
        return SERVICE_WRITE;
    if (req->key != NULL)
        return SERVICE_LATER; /* without an id index, all records are read */
    if (!request_is_query(req))
        return SERVICE_NOW;
    const bool near = !req->has_distance || !self->options.has_max_distance;
    const bool few = req->count <= NOW_QUERIES && req->route == ROUTE_QUERY && near;
    return few && atomic_load_explicit(&self->mean_ns, memory_order_relaxed) <= NOW_NS ? SERVICE_NOW : SERVICE_LATER;
}

/* An offer is also a query, with the same limit on its distance. */
static bool limit_offer(service *self, request *req, uint32_t index, reply *reply_out)
{
    store_use use;
    sstore_error error;
    if (served_store_acquire(self->stores[index], false, &use, &error) != SSTORE_OK)
        return reply_fail_with(reply_out, &error);
    req->has_distance = choose_distance(self, req, store_use_statistics(&use), &req->distance, reply_out);
    served_store_release(self->stores[index], &use);
    return req->has_distance;
}

bool service_write(service *self, job *queued)
{
    request *req = &queued->request;
    if (self->writers == NULL)
        return reply_fail(&queued->reply, REPLY_FORBIDDEN, "this service only reads; the option --write allows writes");
    if (req->store == REQUEST_ALL_STORES && self->names.count > 1)
        return reply_fail(&queued->reply, REPLY_BAD_REQUEST, "store: this service has several stores; choose one");
    const uint32_t index = req->store == REQUEST_ALL_STORES ? 0 : req->store;
    if (req->route == ROUTE_OFFER && !limit_offer(self, req, index, &queued->reply))
        return false;
    return store_writer_push(self->writers[index], queued) ||
           reply_fail(&queued->reply, REPLY_BUSY, "too many requests wait to be written; try again later");
}

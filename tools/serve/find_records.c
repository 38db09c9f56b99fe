#include "serve/find_records.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Whether a store is asked for the names of a request, and not for its ids. */
static bool asks_names(const request *req, const queried_store *from)
{
    return req->names != NULL && (req->ids == NULL || store_use_statistics(&from->use)->has_names);
}

static bool get_records(const request *req, const queried_store *from, match_list *list, reply *reply_out)
{
    sstore_error error;
    sstore_cursor *cursor = from->use.cursor;
    queried_store_begin(list, from->index, &from->use);
    sstore_cursor_set_stop(cursor, match_list_should_stop, list);
    const sstore_status status = asks_names(req, from)
                                     ? sstore_get_named(cursor, req->names, req->count, match_list_take, list, &error)
                                     : sstore_get(cursor, req->ids, req->count, match_list_take, list, &error);
    return queried_store_finish(list, status, &error, reply_out);
}

bool find_records(const service *self, const request *req, const queried_stores *stores, match_list *list,
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
    if (found)
        match_list_order(list);
    return found;
}

bool find_names(service *self, const queried_stores *stores, match_list *list, reply *reply_out)
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

/* The lowest id of a name, if it has several. */
static int take_own_id(void *context, const sstore_match *record)
{
    uint64_t *id = (uint64_t *)context + record->query_index;
    *id = record->id < *id ? record->id : *id;
    return 0;
}

/* Look up the ids of the names of queries. A name that the store does not have gets an id that no record has. */
static bool find_own_ids(request *req, const queried_store *from, reply *reply_out)
{
    sstore_error error;
    match_list none = {.deadline_ns = req->deadline_ns};
    req->own_ids = malloc((req->count + 1) * sizeof *req->own_ids);
    if (req->own_ids == NULL)
        return reply_fail(reply_out, REPLY_FAILED, "out of memory");
    for (size_t i = 0; i < req->count; i++)
        req->own_ids[i] = store_use_statistics(&from->use)->next_id;
    sstore_cursor_set_stop(from->use.cursor, match_list_should_stop, &none);
    const sstore_status status = sstore_get_named(from->use.cursor, req->names, req->count, take_own_id, req->own_ids,
                                                  &error);
    sstore_cursor_set_stop(from->use.cursor, NULL, NULL);
    return queried_store_finish(&none, status, &error, reply_out);
}

/* Find the records of the request's key, or those that its queries leave out. */
static bool find_own_records(const service *self, request *req, const queried_stores *stores, reply *reply_out)
{
    queried_stores first = {.items = stores->items, .count = 1};
    if (req->store_count == 0 && self->names.count > 1)
        return reply_fail(reply_out, REPLY_BAD_REQUEST, "this service has several stores; choose one with 'store'");
    while (!first.items->is_first)
        first.items++;
    bool found = true;
    if (req->key != NULL) {
        match_list list;
        found = find_records(self, req, &first, &list, reply_out) && take_queries(req, &list, reply_out);
        match_list_free(&list);
    } else if (req->names != NULL) {
        found = find_own_ids(req, first.items, reply_out);
    }
    if (req->excludes_self)
        req->excluded_ids = req->own_ids != NULL ? req->own_ids : req->ids;
    return found;
}

bool find_queries(const service *self, request *req, const queried_stores *stores, reply *reply_out)
{
    if ((req->key != NULL || req->excludes_self) && !find_own_records(self, req, stores, reply_out))
        return false;
    return !req->is_grouped || request_form_groups(req) || reply_fail(reply_out, REPLY_FAILED, "out of memory");
}

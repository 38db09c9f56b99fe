#include "serve/queried_stores.h"

#include <inttypes.h>
#include <stdlib.h>

bool queried_store_distance(const service *self, const request *req, const sstore_statistics *statistics,
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

const sstore_id_filter *queried_store_filter(const queried_store *self, const request *req, size_t query,
                                             sstore_id_filter *to)
{
    *to = req->filter;
    to->excluded_ids = self->is_first && req->excluded_ids != NULL ? req->excluded_ids + query : NULL;
    return req->has_id_range || to->excluded_ids != NULL ? to : NULL;
}

bool queried_store_finish(const match_list *list, sstore_status status, const sstore_error *error, reply *reply_out)
{
    if (status == SSTORE_OK || (status == SSTORE_STOPPED && list->is_full))
        return true;
    if (status != SSTORE_STOPPED)
        return reply_fail_with(reply_out, error);
    if (list->is_late)
        return reply_fail(reply_out, REPLY_BUSY, "the time of the request is over");
    return reply_fail(reply_out, REPLY_FAILED, "out of memory");
}

void queried_stores_release(service *self, queried_stores *stores)
{
    while (stores->count-- > 0)
        served_store_release(self->stores[stores->items[stores->count].index], &stores->items[stores->count].use);
    free(stores->items);
}

static bool acquire_store(service *self, const request *req, uint32_t index, queried_stores *stores, reply *reply_out)
{
    sstore_error error;
    queried_store *to = &stores->items[stores->count];
    *to = (queried_store){.index = index, .is_first = req->store_count == 0 || req->stores[0] == index};
    if (served_store_acquire(self->stores[index], true, &to->use, &error) != SSTORE_OK)
        return reply_fail_with(reply_out, &error);
    stores->count++;
    return queried_store_distance(self, req, store_use_statistics(&to->use), &to->distance, reply_out);
}

bool queried_stores_acquire(service *self, const request *req, queried_stores *stores_out, reply *reply_out)
{
    *stores_out = (queried_stores){.items = calloc(self->names.count, sizeof *stores_out->items)};
    if (stores_out->items == NULL)
        return reply_fail(reply_out, REPLY_FAILED, "out of memory");
    bool done = true;
    for (uint32_t i = 0; i < self->names.count && done; i++)
        if (request_asks_store(req, i))
            done = acquire_store(self, req, i, stores_out, reply_out);
    return done;
}

void queried_store_begin(match_list *list, uint32_t index, const store_use *use)
{
    list->store = index;
    list->has_ids = store_use_statistics(use)->has_ids;
}

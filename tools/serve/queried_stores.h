/*
 * queried_stores.h - the stores that a request asks, each in one state while it is answered.
 */
#ifndef QUERIED_STORES_H
#define QUERIED_STORES_H

#include "serve/request_matches.h"
#include "serve/service.h"

typedef struct queried_store {
    store_use use;
    uint32_t index, distance; /* of the request in this store */
    bool is_first;            /* that the request names: the ids of its queries are of this one */
} queried_store;

/* They are in the order of the service. */
typedef struct queried_stores {
    queried_store *items;
    uint32_t count;
} queried_stores;

/* Begin to use the stores of a request. Release them in any case. False, here and below: the reply is an error. */
bool queried_stores_acquire(service *self, const request *req, queried_stores *stores_out, reply *reply_out);
void queried_stores_release(service *self, queried_stores *stores);

/* The distance of a request in a store with these statistics. */
bool queried_store_distance(const service *self, const request *req, const sstore_statistics *statistics,
                            uint32_t *distance_out, reply *reply_out);

/* Make the filter of the matches of a request's queries, from `query` on, in a store. NULL: there is none. */
const sstore_id_filter *queried_store_filter(const queried_store *self, const request *req, size_t query,
                                             sstore_id_filter *to);

/* Let the next matches of a list be those of a store. */
void queried_store_begin(match_list *list, uint32_t index, const store_use *use);

/* Whether a call filled the list, or as much of it as there is room for. */
bool queried_store_finish(const match_list *list, sstore_status status, const sstore_error *error, reply *reply_out);

#endif

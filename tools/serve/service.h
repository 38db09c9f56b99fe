/*
 * service.h - the stores of a service, and what the answers to all requests share.
 */
#ifndef SERVICE_H
#define SERVICE_H

#include "serve/metrics.h"
#include "serve/request_settings.h"
#include "serve/served_store.h"
#include "serve/store_writer.h"

typedef struct service_options {
    sstore_open_options open;
    bool has_max_distance; /* otherwise each store's own distance is its maximum */
    uint32_t max_distance;
    uint64_t max_matches; /* of a request */
    bool allows_writes;
    uint64_t memory_bytes; /* of a call that writes */
    uint32_t threads;      /* of a large batch, and of a call that writes */
} service_options;

typedef struct service {
    service_options options;
    store_names names;
    uint32_t bits;          /* of a fingerprint of each store, without those that --pad fills up */
    text_rules texts;       /* of all stores, if they have one recipe */
    served_store **stores;  /* names.count of them */
    store_writer **writers; /* as many, or NULL */
    sstore_error *failures; /* of each store: the last refresh, to report a failure once */
    metrics metrics;
    atomic_ullong mean_ns; /* of recent queries, one by one */
} service;

/* Open the stores. Their names are the last parts of their paths, and must differ. Their fingerprints must have one
 * width. Returns an exit code; messages were printed. Free the service in any case. */
int service_open(service *self, char *const *paths, uint32_t count, const service_options *options);
void service_close(service *self);

/* End all offers, since the service ends. Other writes do not take as long. */
void service_refuse_offers(service *self);

/* Open the newest states. Failures are counted, and each is printed once. One thread may call this. */
void service_refresh(service *self);

#endif

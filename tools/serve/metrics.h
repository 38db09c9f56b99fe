/*
 * metrics.h - what a service counts, and its text in the format of Prometheus, version 0.0.4. Any thread may count.
 */
#ifndef METRICS_H
#define METRICS_H

#include <stdatomic.h>

#include "serve/request.h"

#define METRICS_STATUSES 11u
#define METRICS_BUCKETS 16u /* of a histogram, without the last one, which has no upper bound */

typedef struct route_metrics {
    atomic_ullong statuses[METRICS_STATUSES];
    atomic_ullong buckets[METRICS_BUCKETS + 1]; /* answered requests by time, each in one bucket */
    atomic_ullong total_ns;
} route_metrics;

typedef struct metrics {
    route_metrics routes[ROUTE_COUNT];
    atomic_ullong queries, matches, blocks;
    atomic_ullong added_records, removed_records;
    atomic_ullong refresh_failures;
    atomic_ullong suspended_requests;
    atomic_uint connections, waiting_requests;
} metrics;

/* Count a request that was answered with a status after a time. */
void metrics_count(metrics *self, route which, unsigned status, uint64_t elapsed_ns);

static inline void metrics_add(atomic_ullong *to, uint64_t count)
{
    atomic_fetch_add_explicit(to, count, memory_order_relaxed);
}

/* Append the counters and histograms. */
void metrics_print(metrics *self, reply *to);

/* Append the value of a store, as sstore_store_NAME{store="STORE"}. */
void metrics_print_store(reply *to, const char *name, const char *store, uint64_t value);

#endif

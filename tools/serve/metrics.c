/*
 * metrics.c - counters and histograms.
 */
#include "serve/metrics.h"

#include <inttypes.h>

static const unsigned statuses[METRICS_STATUSES] = {REPLY_OK,        REPLY_BAD_REQUEST, REPLY_UNAUTHORIZED,
                                                    REPLY_FORBIDDEN, REPLY_NOT_FOUND,   REPLY_BAD_METHOD,
                                                    REPLY_TOO_LARGE, REPLY_BAD_TYPE,    REPLY_TOO_MANY,
                                                    REPLY_FAILED,    REPLY_BUSY};

/* The upper bounds of the buckets. */
static const struct bucket_row {
    uint64_t ns;
    const char *seconds;
} bounds[METRICS_BUCKETS] = {
    {5000, "5e-06"},     {10000, "1e-05"},    {25000, "2.5e-05"},  {50000, "5e-05"},
    {100000, "0.0001"},  {250000, "0.00025"}, {500000, "0.0005"},  {1000000, "0.001"},
    {2500000, "0.0025"}, {5000000, "0.005"},  {10000000, "0.01"},  {25000000, "0.025"},
    {100000000, "0.1"},  {500000000, "0.5"},  {2500000000, "2.5"}, {10000000000, "10"},
};

void metrics_count(metrics *self, route which, unsigned status, uint64_t elapsed_ns)
{
    route_metrics *to = &self->routes[which];
    uint32_t bucket = 0;
    while (bucket < METRICS_BUCKETS && elapsed_ns > bounds[bucket].ns)
        bucket++;
    for (uint32_t i = 0; i < METRICS_STATUSES; i++)
        if (statuses[i] == status)
            metrics_add(&to->statuses[i], 1);
    metrics_add(&to->buckets[bucket], 1);
    metrics_add(&to->total_ns, elapsed_ns);
}

/* ----- text ----- */

static uint64_t load(const atomic_ullong *from)
{
    return atomic_load_explicit(from, memory_order_relaxed);
}

static void print_head(reply *to, const char *name, const char *kind, const char *help)
{
    reply_print(to, "# HELP sstore_%s %s\n# TYPE sstore_%s %s\n", name, help, name, kind);
}

static void print_counter(reply *to, const char *name, const char *help, const atomic_ullong *value)
{
    print_head(to, name, "counter", help);
    reply_print(to, "sstore_%s %" PRIu64 "\n", name, load(value));
}

static void print_gauge(reply *to, const char *name, const char *help, uint64_t value)
{
    print_head(to, name, "gauge", help);
    reply_print(to, "sstore_%s %" PRIu64 "\n", name, value);
}

static void print_requests(const metrics *self, reply *to)
{
    print_head(to, "requests_total", "counter", "Requests that were answered, by path and HTTP status.");
    for (route which = 0; which < ROUTE_COUNT; which++)
        for (uint32_t i = 0; i < METRICS_STATUSES; i++)
            if (load(&self->routes[which].statuses[i]) > 0)
                reply_print(to, "sstore_requests_total{path=\"%s\",status=\"%u\"} %" PRIu64 "\n", route_path(which),
                            statuses[i], load(&self->routes[which].statuses[i]));
}

static void print_histogram(const route_metrics *self, const char *path, reply *to)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i <= METRICS_BUCKETS; i++) {
        count += load(&self->buckets[i]);
        reply_print(to, "sstore_request_duration_seconds_bucket{path=\"%s\",le=\"%s\"} %" PRIu64 "\n", path,
                    i < METRICS_BUCKETS ? bounds[i].seconds : "+Inf", count);
    }
    reply_print(to, "sstore_request_duration_seconds_sum{path=\"%s\"} %.9f\n", path,
                (double)load(&self->total_ns) / 1e9);
    reply_print(to, "sstore_request_duration_seconds_count{path=\"%s\"} %" PRIu64 "\n", path, count);
}

void metrics_print(metrics *self, reply *to)
{
    print_requests(self, to);
    print_head(to, "request_duration_seconds", "histogram", "Time from a complete request to its answer, by path.");
    for (route which = 0; which < ROUTE_COUNT; which++)
        print_histogram(&self->routes[which], route_path(which), to);
    print_counter(to, "queries_total", "Queries that were answered.", &self->queries);
    print_counter(to, "matches_total", "Matches of these queries.", &self->matches);
    print_counter(to, "blocks_read_total", "Blocks that these queries read.", &self->blocks);
    print_counter(to, "records_added_total", "Records that requests added.", &self->added_records);
    print_counter(to, "records_removed_total", "Records that requests removed.", &self->removed_records);
    print_counter(to, "refresh_failures_total", "Newer states that could not be opened.", &self->refresh_failures);
    print_gauge(to, "connections", "Open connections.", atomic_load(&self->connections));
    print_gauge(to, "suspended_requests", "Requests that were read, and that other threads answer.",
                load(&self->suspended_requests));
    print_gauge(to, "waiting_requests", "Requests that wait for a thread.", atomic_load(&self->waiting_requests));
}

/* The format escapes three characters of a label's value. */
static void print_label(reply *to, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '\n')
            reply_literal(to, "\\n");
        else
            reply_print(to, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
    }
}

void metrics_print_store(reply *to, const char *name, const char *store, uint64_t value)
{
    reply_print(to, "sstore_store_%s{store=\"", name);
    print_label(to, store);
    reply_print(to, "\"} %" PRIu64 "\n", value);
}

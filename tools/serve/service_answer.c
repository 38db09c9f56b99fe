#include "serve/service_answer.h"

#include <stdlib.h>
#include <string.h>

#include "output/json.h"
#include "output/store_report.h"
#include "serve/find_matches.h"
#include "serve/find_records.h"
#include "serve/request_read.h"

#define NOW_NS 50000u /* of a query on average, which the thread of the network answers */

/* ----- records and matches ----- */

static void answer_record(service *self, job *queued)
{
    queried_stores stores;
    match_list list = {.items = NULL};
    reply *to = &queued->reply;
    if (queried_stores_acquire(self, &queued->request, &stores, to) &&
        find_records(self, &queued->request, &stores, &list, to) && find_names(self, &stores, &list, to)) {
        reply_literal(to, "{\"records\":");
        matches_print_list(&list, 0, list.count, self->names.count > 1 ? self->names.items : NULL, to);
        reply_literal(to, "}\n");
    }
    match_list_free(&list);
    queried_stores_release(self, &stores);
}

static void answer_query(service *self, job *queued)
{
    request *req = &queued->request;
    reply *to = &queued->reply;
    queried_stores stores;
    match_list list = {.items = NULL};
    if (queried_stores_acquire(self, req, &stores, to) && find_queries(self, req, &stores, to) &&
        find_matches(self, req, &stores, &list, to) && find_names(self, &stores, &list, to)) {
        metrics_add(&self->metrics.queries, req->count);
        metrics_add(&self->metrics.matches, match_list_total(&list, req->count));
        matches_print(&list, req, self->names.count > 1 ? self->names.items : NULL, to);
    }
    match_list_free(&list);
    queried_stores_release(self, &stores);
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
    json_value *list = json_value_make("[]");
    bool filled = true;
    for (uint32_t i = 0; i < self->names.count && filled; i++)
        if (request_asks_store(&queued->request, i))
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
    if (req->key != NULL || req->names != NULL)
        return SERVICE_LATER; /* without an id index, all records are read */
    if (!request_is_query(req))
        return SERVICE_NOW;
    const bool near = !req->has_distance || !self->options.has_max_distance;
    const bool few = req->count <= NOW_QUERIES && req->route == ROUTE_QUERY && near && !req->is_grouped;
    return few && atomic_load_explicit(&self->mean_ns, memory_order_relaxed) <= NOW_NS ? SERVICE_NOW : SERVICE_LATER;
}

/* An offer is also a query, with the same limit on its distance. */
static bool limit_offer(service *self, request *req, uint32_t index, reply *reply_out)
{
    store_use use;
    sstore_error error;
    if (served_store_acquire(self->stores[index], false, &use, &error) != SSTORE_OK)
        return reply_fail_with(reply_out, &error);
    req->has_distance = queried_store_distance(self, req, store_use_statistics(&use), &req->distance, reply_out);
    served_store_release(self->stores[index], &use);
    return req->has_distance;
}

bool service_write(service *self, job *queued)
{
    request *req = &queued->request;
    if (self->writers == NULL)
        return reply_fail(&queued->reply, REPLY_FORBIDDEN, "this service only reads; the option --write allows writes");
    if (req->store_count == 0 && self->names.count > 1)
        return reply_fail(&queued->reply, REPLY_BAD_REQUEST, "store: this service has several stores; choose one");
    const uint32_t index = req->store_count > 0 ? req->stores[0] : 0;
    if (req->route == ROUTE_OFFER && !limit_offer(self, req, index, &queued->reply))
        return false;
    return store_writer_push(self->writers[index], queued) ||
           reply_fail(&queued->reply, REPLY_BUSY, "too many requests wait to be written; try again later");
}

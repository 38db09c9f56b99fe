#include "serve/request.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "output/stored_names.h"

#define BINARY_TYPE "application/octet-stream"
#define JSON_TYPE "application/json"
#define KEY_PART "{id}" /* the rest of a path */

static const struct route_row {
    const char *path; /* up to KEY_PART */
    const char *allow;
    unsigned methods;   /* a bit for each */
    unsigned arguments; /* and for each argument of the query string */
} routes[ROUTE_COUNT] = {
#define GET (1u << METHOD_GET)
#define POST (1u << METHOD_POST)
#define PUT (1u << METHOD_PUT)
#define DELETE (1u << METHOD_DELETE)
#define BIT(argument) (1u << ARGUMENT_##argument)
#define ROWS_BITS (BIT(STORE) | BIT(SKIP_BAD) | BIT(MAX_BAD))
#define QUERY_BITS                                                                                                     \
    (BIT(FP) | BIT(ID) | BIT(NAME) | BIT(TEXT) | BIT(K) | BIT(LIMIT) | BIT(ALSO) | BIT(IDS) | BIT(EXCLUDE_SELF) |      \
     BIT(GROUP) | ROWS_BITS)
    [ROUTE_QUERY] = {"/v1/query", "GET, HEAD, POST", GET | POST, QUERY_BITS},
    [ROUTE_NEAREST] = {"/v1/nearest", "GET, HEAD, POST", GET | POST, QUERY_BITS},
    [ROUTE_RECORDS] = {"/v1/records", "POST", POST, ROWS_BITS},
    [ROUTE_RECORD] = {"/v1/records/" KEY_PART, "GET, HEAD, PUT, DELETE", GET | PUT | DELETE, BIT(STORE)},
    [ROUTE_REPLACE] = {"/v1/replace", "POST", POST, ROWS_BITS},
    [ROUTE_OFFER] = {"/v1/offer", "POST", POST, BIT(K) | BIT(LIMIT) | ROWS_BITS},
    [ROUTE_REMOVE] = {"/v1/remove", "POST", POST, ROWS_BITS},
    [ROUTE_STAT] = {"/v1/stat", "GET, HEAD", GET, BIT(STORE)},
    [ROUTE_HEALTH] = {"/healthz", "GET, HEAD", GET, 0},
    [ROUTE_INDEX] = {"/", "GET, HEAD", GET, 0},
    [ROUTE_METRICS] = {"/metrics", "GET, HEAD", GET, 0},
    [ROUTE_UNKNOWN] = {.path = "other"},
#undef QUERY_BITS
#undef ROWS_BITS
#undef BIT
#undef DELETE
#undef PUT
#undef POST
#undef GET
};

static const char *const argument_names[ARGUMENT_COUNT] = {"fp",    "id",       "name",   "text", "k",
                                                           "limit", "store",    "also",   "ids",  "exclude_self",
                                                           "group", "skip_bad", "max_bad"};

const char *route_path(route which)
{
    return routes[which].path;
}

const char *request_argument_name(request_argument argument)
{
    return argument_names[argument];
}

bool request_route_has(route which, request_argument argument)
{
    return (routes[which].arguments >> argument & 1) != 0;
}

bool request_has_body(const request *self)
{
    return self->method == METHOD_POST || self->method == METHOD_PUT;
}

bool request_writes(const request *self)
{
    return self->method != METHOD_GET && !request_is_query(self);
}

bool request_is_query(const request *self)
{
    return self->route == ROUTE_QUERY || self->route == ROUTE_NEAREST;
}

static bool is_of_one_group(const request *self, size_t a, size_t b)
{
    if (self->key != NULL || (self->ids == NULL && self->names == NULL))
        return true;
    if (self->names == NULL)
        return self->ids[a] == self->ids[b];
    return name_equal(&self->names[a], &self->names[b]);
}

bool request_form_groups(request *self)
{
    self->groups = malloc((self->count + 1) * sizeof *self->groups);
    for (size_t i = 0; self->groups != NULL && i < self->count; i++)
        self->groups[i] = i > 0 && is_of_one_group(self, i - 1, i) ? self->groups[i - 1] : i;
    return self->groups != NULL;
}

size_t request_answer_count(const request *self)
{
    size_t count = 0;
    for (size_t i = 0; i < self->count; i++)
        count += request_group(self, i) == i;
    return count;
}

bool request_asks_store(const request *self, uint32_t index)
{
    bool asks = self->store_count == 0;
    for (uint32_t i = 0; i < self->store_count; i++)
        asks |= self->stores[i] == index;
    return asks;
}

static uint64_t read_clock(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t time_now_ns(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

uint64_t time_coarse_ns(void)
{
    return read_clock(CLOCK_MONOTONIC_COARSE);
}

/* ----- request line and headers ----- */

static bool has_type(const char *header, const char *type)
{
    const size_t length = strlen(type);
    return header != NULL && strncasecmp(header, type, length) == 0 && strchr(" \t;,", header[length]) != NULL;
}

/* Whether a path is that of a route; *key_out: what it has in the place of KEY_PART, or NULL. */
static bool is_path(const char *path, const char *expected, const char **key_out)
{
    const char *part = strstr(expected, KEY_PART);
    const size_t length = part != NULL ? (size_t)(part - expected) : strlen(expected);
    *key_out = part != NULL ? path + length : NULL;
    return strncmp(path, expected, length) == 0 && (path[length] == '\0') == (part == NULL);
}

/* The bit of a method, or 0. */
static unsigned find_method(const char *name, request_method *method_out)
{
    static const struct method_row {
        const char *name;
        request_method method;
    } methods[] = {{"GET", METHOD_GET},
                   {"HEAD", METHOD_GET},
                   {"POST", METHOD_POST},
                   {"PUT", METHOD_PUT},
                   {"DELETE", METHOD_DELETE}};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (strcmp(name, methods[i].name) == 0)
            return 1u << (*method_out = methods[i].method);
    return 0;
}

bool request_begin(request *self, const char *method, const char *path, const char *content_type, const char *accept,
                   reply *reply_out)
{
    *self = (request){.route = ROUTE_QUERY, .limit = UINT64_MAX, .skipped.max = UINT64_MAX};
    while (self->route < ROUTE_UNKNOWN && !is_path(path, routes[self->route].path, &self->key))
        self->route++;
    if (self->route == ROUTE_UNKNOWN)
        return reply_fail(
            reply_out, REPLY_NOT_FOUND,
            "there is no '%.200s'; the paths are /v1/query, /v1/nearest, /v1/stat, /v1/records, /v1/replace, "
            "/v1/offer, /v1/remove, /healthz and /metrics",
            path);
    const struct route_row *row = &routes[self->route];
    if ((find_method(method, &self->method) & row->methods) == 0) {
        reply_fail(reply_out, REPLY_BAD_METHOD, "'%s' does not allow %.20s, only %s", row->path, method, row->allow);
        reply_out->allow = row->allow;
        return false;
    }
    self->is_binary = has_type(content_type, BINARY_TYPE);
    self->wants_binary = accept != NULL && strcmp(accept, "*/*") != 0 ? has_type(accept, BINARY_TYPE) : self->is_binary;
    /* A page in a browser cannot send these types to other hosts without asking them first. */
    if (request_has_body(self) && !self->is_binary && !has_type(content_type, JSON_TYPE))
        return reply_fail(reply_out, REPLY_BAD_TYPE, "expected Content-Type %s or %s, found '%.100s'", JSON_TYPE,
                          BINARY_TYPE, content_type != NULL ? content_type : "");
    return true;
}

bool request_is_safe_host(const char *host)
{
    static const char local[] = "localhost";
    const size_t local_length = sizeof local - 1, length = strcspn(host, ":");
    const bool is_address = host[0] == '[' || (length > 0 && strspn(host, "0123456789.") == length);
    const bool ends_local = length >= local_length &&
                            strncasecmp(host + length - local_length, local, local_length) == 0;
    return is_address || (ends_local && (length == local_length || host[length - local_length - 1] == '.'));
}

/* ----- the query string ----- */

bool request_fail_twice(const char *name, reply *reply_out)
{
    return reply_fail(reply_out, REPLY_BAD_REQUEST, "the parameter '%s' is given twice", name);
}

bool request_take_argument(request *self, const char *name, const char *value, reply *reply_out)
{
    request_argument argument = 0;
    while (argument < ARGUMENT_COUNT && strcmp(argument_names[argument], name) != 0)
        argument++;
    if (argument == ARGUMENT_COUNT || !request_route_has(self->route, argument))
        return reply_fail(reply_out, REPLY_BAD_REQUEST, "'%s' has no parameter '%.100s'", routes[self->route].path,
                          name);
    if (argument == ARGUMENT_ALSO && self->also_count < REQUEST_MAX_STORES)
        self->also[self->also_count++] = value != NULL ? value : "";
    else if (self->arguments[argument] != NULL)
        return request_fail_twice(name, reply_out);
    self->arguments[argument] = value != NULL ? value : "";
    return true;
}

void request_free(request *self)
{
    if (self->fingerprints != self->single)
        free(self->fingerprints);
    if (self->ids != &self->single_id)
        free(self->ids);
    if (self->names != &self->single_name)
        free(self->names);
    free(self->name_texts);
    free(self->own_ids);
    free(self->groups);
    text_reader_free(&self->texts);
    skipped_rows_free(&self->skipped);
    self->fingerprints = self->ids = self->own_ids = self->groups = NULL;
    self->names = NULL;
    self->name_texts = NULL;
}

/*
 * request.h - what a request asks for: its route, by method and path; and its fingerprints, ids and settings, from the
 * query string and the body, in JSON or in binary. docs/service.md describes both. Knows no network and no stores.
 */
#ifndef REQUEST_H
#define REQUEST_H

#include "serve/request_text.h"
#include "serve/skipped_rows.h"

typedef enum route {
    ROUTE_QUERY,
    ROUTE_NEAREST,
    ROUTE_RECORDS,
    ROUTE_RECORD, /* by id */
    ROUTE_REPLACE,
    ROUTE_OFFER,
    ROUTE_REMOVE,
    ROUTE_STAT,
    ROUTE_HEALTH,
    ROUTE_INDEX,
    ROUTE_METRICS,
    ROUTE_UNKNOWN, /* any other path */
    ROUTE_COUNT
} route;

/* The path of a route; "other" for ROUTE_UNKNOWN. */
const char *route_path(route which);

typedef enum request_method {
    METHOD_GET,
    METHOD_POST,
    METHOD_PUT,
    METHOD_DELETE
} request_method; /* HEAD is like GET */

typedef enum request_argument {
    ARGUMENT_FP,
    ARGUMENT_ID,
    ARGUMENT_NAME,
    ARGUMENT_TEXT,
    ARGUMENT_K, /* here the settings begin, which a body can also have */
    ARGUMENT_LIMIT,
    ARGUMENT_STORE,
    ARGUMENT_ALSO, /* can be repeated */
    ARGUMENT_IDS,
    ARGUMENT_EXCLUDE_SELF,
    ARGUMENT_GROUP,
    ARGUMENT_SKIP_BAD,
    ARGUMENT_MAX_BAD,
    ARGUMENT_COUNT
} request_argument;

const char *request_argument_name(request_argument argument);
bool request_route_has(route which, request_argument argument);

#define REQUEST_MAX_STORES 64u /* that are named in one request */

/* What a record of a body has. */
enum { RECORD_HAS_FINGERPRINT = 1, RECORD_HAS_ID = 2, RECORD_HAS_NAME = 4 };

typedef struct request {
    route route;
    request_method method;
    const char *key;                       /* an id or a name: of the path or the query string, not owned; or NULL */
    bool is_binary;                        /* the body */
    bool wants_binary;                     /* matches */
    const char *arguments[ARGUMENT_COUNT]; /* of the query string, not owned; NULL: not given */
    const char *also[REQUEST_MAX_STORES];  /* all that are given */
    uint32_t also_count;

    /* Set by request_read(), see request_read.h: */
    uint32_t bits, words;              /* of a fingerprint; bits: without the zeros that fill the last word */
    uint64_t *fingerprints;            /* NULL: none were given */
    uint64_t *ids;                     /* NULL: none were given */
    sstore_name *names;                /* NULL: none were given. A key may be an id and a name: the store decides */
    unsigned members;                  /* of records in JSON: what the first one has */
    size_t count;                      /* of the rows that are not skipped */
    skipped_rows skipped;              /* malformed ones */
    uint64_t single[SSTORE_MAX_WORDS]; /* the room of a single fingerprint */
    uint64_t single_id;                /* the room of a single id */
    sstore_name single_name;           /* the room of a single name */
    char *name_texts;                  /* of all names of a body */
    size_t name_bytes;
    uint64_t *own_ids;            /* of the records that are the queries, or that have the names of queries */
    const uint64_t *excluded_ids; /* in the first store, of each query: these, or `ids`; NULL: none */
    uint32_t distance;
    bool has_distance;                   /* otherwise `distance` is not set */
    uint64_t limit;                      /* on the listed matches of a fingerprint */
    uint32_t stores[REQUEST_MAX_STORES]; /* their indexes: of 'store', then of 'also' */
    uint32_t store_count;                /* 0: all stores */
    sstore_id_filter filter;             /* of matches, without excluded ids */
    bool has_id_range;                   /* the filter has one */
    bool excludes_self;                  /* the records with the id or the name of a query are not its matches */
    bool is_grouped;                     /* the queries of each group are answered as one */
    uint64_t *groups;                    /* of each query: the first one of its group; NULL: there are no groups */

    uint64_t deadline_ns; /* by the clock of time_now_ns() */

    text_reader texts;
} request;

/* Begin with a request line and the headers Content-Type and Accept, which may be NULL. False, here and below: the
 * reply is an error. */
bool request_begin(request *self, const char *method, const char *path, const char *content_type, const char *accept,
                   reply *reply_out);

/* Fail because a parameter is given twice. */
bool request_fail_twice(const char *name, reply *reply_out);

/* Take an argument of the query string. It must stay until the request is freed; `value` may be NULL. */
bool request_take_argument(request *self, const char *name, const char *value, reply *reply_out);

void request_free(request *self);

/* Whether a request has a body. */
bool request_has_body(const request *self);

/* Whether a request changes a store. */
bool request_writes(const request *self);

/* Whether it asks for the records near others. */
bool request_is_query(const request *self);

/* Form the groups of consecutive queries with the same id or name; if queries have none, or those of one stored record,
 * all are a group. False: there is no memory. */
bool request_form_groups(request *self);

/* The first query that is answered together with this one. */
static inline size_t request_group(const request *self, size_t query)
{
    return self->groups != NULL ? (size_t)self->groups[query] : query;
}

/* The number of its queries and groups, each of which is answered by itself. */
size_t request_answer_count(const request *self);

/* Whether it asks the store with this index. */
bool request_asks_store(const request *self, uint32_t index);

/* Whether a header Host has an address or a name that is always this machine's. A web page can let the name of its own
 * site lead to this machine, and a browser then gives it the answers (DNS rebinding). */
bool request_is_safe_host(const char *host);

uint64_t time_now_ns(void);

/* What time_now_ns() was some milliseconds ago, for deadlines: it takes a tenth of the time to read. */
uint64_t time_coarse_ns(void);

#endif

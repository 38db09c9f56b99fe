/*
 * query_session.h - an open store and the answering of queries from it, one by one or many at a time.
 */
#ifndef QUERY_SESSION_H
#define QUERY_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "match_list.h"
#include "output.h"
#include "sstore.h"

/* What is asked of every query. */
typedef struct query_options {
    sstore_open_options open;
    bool has_distance;
    uint32_t distance; /* without has_distance: the store's own; for nearest 64 */
    bool nearest;      /* only the matches at the smallest distance */
    bool count;        /* only how many */
    bool json;
    uint64_t limit;    /* the most matches that are printed of a query */
    uint32_t threads;  /* 0: as many as the process may use */
} query_options;

#define QUERY_OPTIONS_INIT                                                                                             \
    {                                                                                                                  \
        .open = SSTORE_OPEN_OPTIONS_INIT, .limit = UINT64_MAX                                                          \
    }

typedef struct query_session {
    const query_options *options;
    sstore *store;
    sstore_cursor *cursor;
    output_style style;
    uint32_t distance;
    match_list matches;

    /* The queries being answered, and how far their results have been printed. */
    const uint64_t *queries;
    uint64_t current; /* the query whose matches come now */
    uint64_t seen;    /* how many of them have come */
} query_session;

/* Open the store at `path`. Returns an exit code; the session is to be closed in any case. */
int query_session_open(query_session *session, const char *path, const query_options *options);

/* Answer queries in order. Returns an exit code; failures have been reported. */
int query_session_answer(query_session *session, const uint64_t *queries, size_t count);

/* The same for one query, which is then seen at once by whoever reads stdout. */
int query_session_answer_now(query_session *session, uint64_t query);

void query_session_close(query_session *session);

#endif

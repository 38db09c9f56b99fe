/*
 * query_session.c - an open store and the answering of queries from it.
 *
 * Whichever way they are found, a query's matches reach print_match() sorted, and the queries come in order.
 */
#include "query_session.h"

#include "cmd.h"

int query_session_open(query_session *session, const char *path, const query_options *options)
{
    sstore_error error;
    *session = (query_session){.options = options};
    sstore_statistics facts = {.struct_size = sizeof facts};
    if (sstore_open(path, &options->open, &session->store, &error) != SSTORE_OK ||
        sstore_stat(session->store, &facts, &error) != SSTORE_OK ||
        sstore_cursor_create(session->store, &session->cursor, &error) != SSTORE_OK)
        return cmd_fail(&error);
    session->style = (output_style){.json = options->json, .has_ids = facts.has_ids != 0};
    session->distance = options->has_distance ? options->distance
                        : options->nearest    ? SSTORE_MAX_DISTANCE
                                              : facts.distance;
    return EXIT_DONE;
}

/* ----- printing ----- */

static void begin_results(query_session *session, const uint64_t *queries)
{
    session->queries = queries;
    session->current = 0;
    session->seen = 0;
}

/* The current query has no more matches: print what can be said only now, and go on to the next one. */
static bool end_query(query_session *session)
{
    uint64_t limit = session->options->limit;
    uint64_t count = session->seen < limit ? session->seen : limit;
    bool printed = !session->options->count ||
                   output_count(&session->style, session->queries[session->current], count);
    session->current++;
    session->seen = 0;
    return printed;
}

static bool end_queries(query_session *session, uint64_t until)
{
    while (session->current < until) {
        if (!end_query(session))
            return false;
    }
    return true;
}

static int print_match(void *context, const sstore_match *match)
{
    query_session *session = context;
    if (!end_queries(session, match->query_index))
        return 1;
    if (session->seen++ >= session->options->limit || session->options->count)
        return 0;
    return !output_match(&session->style, session->queries[session->current], match);
}

/* ----- finding ----- */

static int keep_match(void *context, const sstore_match *match)
{
    return !match_list_add(context, match);
}

static int find_matches(query_session *session, uint64_t query)
{
    sstore_error error;
    match_list *matches = &session->matches;
    matches->count = 0;
    sstore_status status =
        session->options->nearest
            ? sstore_query_nearest(session->cursor, query, session->distance, keep_match, matches, &error)
            : sstore_query(session->cursor, query, session->distance, keep_match, matches, &error);
    if (status == SSTORE_OK)
        return EXIT_DONE;
    if (status != SSTORE_STOPPED)
        return cmd_fail(&error);
    cmd_complain("out of memory for the matches of a query; a smaller distance (-k) finds fewer");
    return EXIT_FAILED;
}

static int answer_one(query_session *session, uint64_t query)
{
    int code = find_matches(session, query);
    if (code != EXIT_DONE)
        return code;
    match_list *matches = &session->matches;
    match_list_sort(matches);
    begin_results(session, &query);
    for (size_t i = 0; i < matches->count; i++) {
        sstore_match match = matches->items[i];
        match.query_index = 0;
        if (print_match(session, &match) != 0)
            return EXIT_FAILED;
    }
    return end_queries(session, 1) ? EXIT_DONE : EXIT_FAILED;
}

int query_session_answer_now(query_session *session, uint64_t query)
{
    int code = answer_one(session, query);
    return code == EXIT_DONE && !output_flush() ? EXIT_FAILED : code;
}

static int answer_batch(query_session *session, const uint64_t *queries, size_t count)
{
    sstore_error error;
    begin_results(session, queries);
    sstore_status status = sstore_query_batch(session->store, queries, count, session->distance,
                                              session->options->threads, print_match, session, &error);
    if (status != SSTORE_OK)
        return status == SSTORE_STOPPED ? EXIT_FAILED : cmd_fail(&error);
    return end_queries(session, count) ? EXIT_DONE : EXIT_FAILED;
}

int query_session_answer(query_session *session, const uint64_t *queries, size_t count)
{
    if (!session->options->nearest)
        return answer_batch(session, queries, count);
    int code = EXIT_DONE;
    for (size_t i = 0; i < count && code == EXIT_DONE; i++)
        code = answer_one(session, queries[i]);
    return code;
}

void query_session_close(query_session *session)
{
    match_list_free(&session->matches);
    sstore_cursor_free(session->cursor);
    sstore_close(session->store);
}

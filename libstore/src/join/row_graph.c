#include "join/row_graph.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/words.h"
#include "join/row_iterator.h"

#define GATHERED 1024u
#define DONE_DIVISOR 4u /* of memory: the bits take 1/4 at most */
#define SPARE_PLACES 2u /* in the filter, as many more as make it faster */

/* The memory of one thread. */
struct ss_row_graph_worker {
    sstore_cursor *cursor; /* NULL until it is needed */
    size_t count;
    ss_fingerprint_pair edges[GATHERED];
};

sstore_status ss_row_graph_open(ss_row_graph *graph, ss_join_call *call, ss_components *components, uint64_t bytes,
                                sstore_error *error)
{
    const uint64_t numbers = ss_row_number_max(call->left) + 1;
    const uint64_t done_words = (numbers + SS_WORD_BITS - 1) / SS_WORD_BITS;
    *graph = (ss_row_graph){.call = call,
                            .store = call->left,
                            .components = components,
                            .words = call->left->manifest.words};
    graph->workers = ss_alloc(call->threads, sizeof *graph->workers);
    if (graph->workers == NULL)
        return ss_fail_memory(error, call->threads * sizeof *graph->workers);
    if (done_words * sizeof *graph->done <= bytes / DONE_DIVISOR) {
        graph->done = ss_alloc(done_words, sizeof *graph->done);
        if (graph->done == NULL)
            return ss_fail_memory(error, done_words * sizeof *graph->done);
    }
    const uint64_t left = bytes - (graph->done != NULL ? done_words * sizeof *graph->done : 0);
    const uint64_t places = ss_min_u64(SPARE_PLACES * numbers, left / ss_edge_filter_bytes(1));
    return ss_edge_filter_open(&graph->filter, (size_t)places, error);
}

void ss_row_graph_close(ss_row_graph *graph)
{
    for (uint32_t i = 0; graph->workers != NULL && i < graph->call->threads; i++)
        sstore_cursor_free(graph->workers[i].cursor);
    ss_free(graph->workers);
    ss_free(graph->done);
    ss_edge_filter_close(&graph->filter);
    *graph = (ss_row_graph){.workers = NULL};
}

/* ----- edges ----- */

static sstore_status flush_worker(ss_row_graph *graph, uint32_t worker, sstore_error *error)
{
    ss_row_graph_worker *of = &graph->workers[worker];
    const size_t count = of->count;
    of->count = 0;
    return ss_components_add(graph->components, worker, of->edges, count, error);
}

sstore_status ss_row_graph_add(ss_row_graph *graph, uint32_t worker, uint64_t a, uint64_t b, sstore_error *error)
{
    ss_row_graph_worker *of = &graph->workers[worker];
    if (a == b || !ss_edge_filter_pass(&graph->filter, a, b))
        return SSTORE_OK;
    of->edges[of->count++] = (ss_fingerprint_pair){a, b};
    return of->count == GATHERED ? flush_worker(graph, worker, error) : SSTORE_OK;
}

sstore_status ss_row_graph_flush(ss_row_graph *graph, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    for (uint32_t i = 0; status == SSTORE_OK && i < graph->call->threads; i++)
        status = flush_worker(graph, i, error);
    return status;
}

bool ss_row_graph_knows(ss_row_graph *graph, uint64_t a, uint64_t b)
{
    uint32_t roots[2];
    ss_edge_filter_roots(&graph->filter, (const uint64_t[]){a, b}, 2, roots);
    return roots[0] == roots[1] && roots[0] != SS_EDGE_FILTER_UNKNOWN;
}

/* ----- fingerprints ----- */

sstore_status ss_row_graph_cursor(ss_row_graph *graph, uint32_t worker, sstore_cursor **cursor_out, sstore_error *error)
{
    ss_row_graph_worker *of = &graph->workers[worker];
    const sstore_status status = ss_cursor_prepare(graph->store, &of->cursor, error);
    *cursor_out = of->cursor;
    return status;
}

static int stop_at_first(void *context, const sstore_match *match)
{
    (void)context;
    (void)match;
    return 1;
}

sstore_status ss_row_graph_identify(ss_row_graph *graph, uint32_t worker, uint32_t segment, uint64_t rank,
                                    const uint64_t *fingerprint, uint64_t *number_out, bool *is_there_out,
                                    sstore_error *error)
{
    const sstore *store = graph->store;
    sstore_cursor *cursor;
    *number_out = rank;
    *is_there_out = true;
    if (ss_only_segment(store) != NULL)
        return SSTORE_OK;
    sstore_status status = ss_row_graph_cursor(graph, worker, &cursor, error);
    if (status == SSTORE_OK && segment < store->removal_end) {
        ss_row_hit hit = {.segment = store->segments[segment], .segment_number = segment, .rank = rank};
        const ss_record_sink first = {.cursor = cursor, .on_match = stop_at_first};
        ss_words_copy(hit.fingerprint, fingerprint, graph->words);
        status = ss_row_search_report(&first, &hit, 0, error);
        *is_there_out = status == SSTORE_STOPPED;
        status = *is_there_out ? SSTORE_OK : status;
    }
    return status == SSTORE_OK && *is_there_out ? ss_row_number(cursor, fingerprint, number_out, error) : status;
}

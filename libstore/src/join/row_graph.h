/*
 * row_graph.h - the graph of near fingerprints of several words, while several threads add its edges: which
 * fingerprints are known to be connected, and which ones are done, since all edges that they need were added.
 */
#ifndef SS_ROW_GRAPH_H
#define SS_ROW_GRAPH_H

#include "join/components.h"
#include "join/edge_filter.h"
#include "join/join_call.h"
#include "read/row_search.h"

typedef struct ss_row_graph_worker ss_row_graph_worker;

typedef struct ss_row_graph {
    ss_join_call *call; /* borrowed, as the components */
    const sstore *store;
    ss_components *components;
    uint32_t words;
    ss_edge_filter filter; /* of numbers (row_iterator.h), as all edges */
    uint64_t *done;        /* a bit for each number; NULL: it would take too much memory */
    ss_row_graph_worker *workers;
} ss_row_graph;

/* Takes at most `bytes`. Close it also after a failure; a zeroed one is allowed. MEMORY. */
sstore_status ss_row_graph_open(ss_row_graph *graph, ss_join_call *call, ss_components *components, uint64_t bytes,
                                sstore_error *error);
void ss_row_graph_close(ss_row_graph *graph);

/* Add an edge, unless the two are known to be connected. The workers are threads of ss_pool_run(). IO, MEMORY. */
sstore_status ss_row_graph_add(ss_row_graph *graph, uint32_t worker, uint64_t a, uint64_t b, sstore_error *error);
/* Add what the workers have gathered. */
sstore_status ss_row_graph_flush(ss_row_graph *graph, sstore_error *error);

/* Whether the two are known to be connected. */
bool ss_row_graph_knows(ss_row_graph *graph, uint64_t a, uint64_t b);

/* Whether a fingerprint is done. Not while another thread marks some. */
static inline bool ss_row_graph_is_done(const ss_row_graph *graph, uint64_t number)
{
    return graph->done != NULL && (graph->done[number / SS_WORD_BITS] >> number % SS_WORD_BITS & 1) != 0;
}

static inline void ss_row_graph_set_done(ss_row_graph *graph, uint64_t number)
{
    if (graph->done != NULL)
        graph->done[number / SS_WORD_BITS] |= UINT64_C(1) << number % SS_WORD_BITS;
}

/* The cursor of a worker, renewed. As sstore_cursor_create(). */
sstore_status ss_row_graph_cursor(ss_row_graph *graph, uint32_t worker, sstore_cursor **cursor_out,
                                  sstore_error *error);

/* Get the number of a fingerprint of a segment, which has it at this rank. *is_there_out: it is in the store, as far as
 * this segment tells: a newer one may remove its records, or have them too. IO, DAMAGED. */
sstore_status ss_row_graph_identify(ss_row_graph *graph, uint32_t worker, uint32_t segment, uint64_t rank,
                                    const uint64_t *fingerprint, uint64_t *number_out, bool *is_there_out,
                                    sstore_error *error);

#endif

/*
 * search.h - finds the fingerprints of a segment within a distance of one, by probing its tables or by a full scan of
 * table 0, and their records. Source: the paper, section 3.1.
 *
 * Probes go through stages together: the keys of their blocks are looked up, the blocks opened, the groups that may
 * have the fingerprints found, and the lower halves of these groups tested. Each stage prefetches the memory that the
 * next one reads, so that cache misses overlap. Only groups with a lower half near the query's are decoded.
 */
#ifndef SS_SEARCH_H
#define SS_SEARCH_H

#include "store/cursor.h"

/* Called once for every distinct fingerprint of a segment within the distance; a status other than OK ends the
 * search. */
typedef sstore_status (*ss_hit_fn)(void *context, const ss_hit *hit, sstore_error *error);

/* The work of a search in one table. */
typedef struct ss_search_counts {
    uint64_t probes, blocks, candidates, found;
} ss_search_counts;

/* One query on one segment. */
typedef struct ss_search {
    sstore_cursor *cursor;
    const ss_segment *segment;
    uint32_t segment_number;
    const ss_query_plan *plan;
    uint64_t fingerprint;
    uint32_t distance;
    ss_hit_fn on_hit;
    void *context;
    ss_search_counts *counts; /* one a table, added to; NULL: not wanted. A full scan counts as table 0's */
    sstore_error *error;
} ss_search;

/* Run the search. cursor->is_full_scan tells whether it was a full scan, which also happens if the directory shows that
 * probes would take longer. */
sstore_status ss_search_run(const ss_search *search);

/* Whether a group may have new matches: whether some of its fingerprints in `mask`, whose lower halves are near that of
 * the permuted `query`, may not have been found in a table before `table`. */
bool ss_may_be_new(const ss_segment *segment, const ss_query_plan *plan, uint32_t table, const ss_block *block,
                   uint32_t group, uint32_t query, uint64_t mask);

/* The expected cost of a search: of one probed table, and in nanoseconds of all tables. It follows from how many
 * fingerprints share the query's prefixes, as the directory shows. */
ss_table_cost ss_search_table_cost(const ss_segment *segment, const ss_query_plan *plan, uint64_t fingerprint,
                                   uint32_t table);
double ss_search_cost(const ss_segment *segment, const ss_query_plan *plan, uint64_t fingerprint);

/* ----- hit_records.c ----- */

/* The destination of the records of hits. */
typedef struct ss_record_sink {
    sstore_cursor *cursor;
    sstore_match_fn on_match;
    void *context;
} ss_record_sink;

/* Report the records of up to SS_HITS_TOGETHER hits: all ids of each, or itself if the store has no ids. Unknown
 * ranks are filled in. */
sstore_status ss_report_records(sstore_cursor *cursor, ss_hit *hits, uint32_t count, sstore_match_fn on_match,
                                void *context, sstore_error *error);

/* ----- query.c ----- */

/* Find every distinct fingerprint of a segment within `distance`. */
sstore_status ss_query_segment(sstore_cursor *cursor, uint32_t segment, uint64_t fingerprint, uint32_t distance,
                               ss_hit_fn on_hit, void *context, sstore_error *error);

/* A part of a segment whose search is explained: itself, or a word index. */
typedef struct ss_explained_part {
    const ss_segment *segment;
    uint32_t number;      /* of the segment in the store */
    uint32_t first_table; /* the number of the part's first one in the segment */
    uint32_t word;
    const ss_query_plan *plan; /* not read if the part is left out */
    uint64_t fingerprint;
    uint32_t distance;
    bool is_left_out; /* it is not searched */
    const ss_row_plan *segment_plan; /* of a word index: that of its segment, whose times are reported */
} ss_explained_part;

/* Search a part, and report its work in each table; as sstore_explain(). */
sstore_status ss_explain_part(sstore_cursor *cursor, const ss_explained_part *part, sstore_explain_fn on_table,
                              void *context, sstore_error *error);

/* A query of a fingerprint of any number of words. */
typedef sstore_status ss_query_fn(sstore_cursor *cursor, const uint64_t *fingerprint, uint32_t distance,
                                  sstore_match_fn on_match, void *context, sstore_error *error);

/* Run a query into columns, as sstore_query_columns(). */
sstore_status ss_query_columns(ss_query_fn *run, sstore_cursor *cursor, const uint64_t *fingerprint, uint32_t distance,
                               const sstore_match_columns *columns, size_t capacity, uint64_t *count_out,
                               sstore_error *error);

/* Take the caller's columns; NULL stands for none. Errors as ss_take_options(). */
sstore_status ss_take_match_columns(sstore_match_columns *to, const sstore_match_columns *from, sstore_error *error);
void ss_set_match(const sstore_match_columns *columns, size_t at, uint32_t words, const sstore_match *match);

#endif

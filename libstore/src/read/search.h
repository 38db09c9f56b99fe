/*
 * search.h - finds the fingerprints of a segment that lie within a distance of one: by probing its tables, or by a
 * scan of table 0. Source: the paper, section 3.1.
 *
 * Probes go through stages together: their blocks' keys are looked up, the blocks opened and the groups found where
 * their fingerprints can be, and the lower halves of these groups tested. Each stage asks for the memory that the next one
 * reads, so that cache misses overlap. Only groups that have a lower half near the query's are decoded.
 */
#ifndef SS_SEARCH_H
#define SS_SEARCH_H

#include "store/cursor.h"

/* Called once for every distinct fingerprint of a segment within the distance; a status other than OK ends the search. */
typedef sstore_status (*ss_hit_fn)(void *context, const ss_hit *hit, sstore_error *error);

/* What a search did in one table. */
typedef struct ss_search_counts {
    uint64_t probes, blocks, candidates, matches;
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
    ss_search_counts *counts; /* one a table, added to; NULL: not wanted. A scan counts as table 0's */
    sstore_error *error;
} ss_search;

/* Find them. Whether it was by a scan is in cursor->scanned: that is also chosen where the directory shows that probing would
 * take longer. */
sstore_status ss_search_run(const ss_search *search);

/* Whether any of a group's fingerprints `which`, whose lower halves are near the query's, permuted, may not have been found in a table
 * before `table`, so that decoding the group can tell something. */
bool ss_may_be_new(const ss_segment *segment, const ss_query_plan *plan, uint32_t table, const ss_block *block, uint32_t group,
                   uint32_t query, uint64_t which);

/* What a search is expected to take in a table that is probed, and in all of them in nanoseconds, by the fingerprints that share
 * the query's prefixes as the directory shows. */
ss_table_cost ss_search_table_cost(const ss_segment *segment, const ss_query_plan *plan, uint64_t fingerprint, uint32_t table);
double ss_search_cost(const ss_segment *segment, const ss_query_plan *plan, uint64_t fingerprint);

/* ----- columns of matches, in query.c ----- */

/* Take the caller's columns; NULL stands for none. Errors as ss_take_options(). */
sstore_status ss_take_match_columns(sstore_match_columns *to, const sstore_match_columns *from, sstore_error *error);
void ss_set_match(const sstore_match_columns *columns, size_t at, const sstore_match *match);

/* ----- query.c: all segments of a store, and the records of what was found ----- */

/* Find every distinct fingerprint of a segment within `distance`. */
sstore_status ss_query_segment(sstore_cursor *cursor, uint32_t segment, uint64_t fingerprint, uint32_t distance,
                               ss_hit_fn on_hit, void *context, sstore_error *error);

/* Find every distinct fingerprint within `distance` in all segments of records, the newest first. */
sstore_status ss_query_fingerprints(sstore_cursor *cursor, uint64_t fingerprint, uint32_t distance, ss_hit_fn on_hit,
                                    void *context, sstore_error *error);

/* Report the records of up to SS_HITS_TOGETHER hits: of each all its ids, or itself where the store has none. Ranks that are
 * not known are filled in. */
sstore_status ss_report_records(sstore_cursor *cursor, ss_hit *hits, uint32_t count, sstore_match_fn on_match,
                                void *context, sstore_error *error);

#endif

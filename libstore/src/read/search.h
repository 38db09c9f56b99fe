/*
 * search.h - finds the fingerprints of a segment within a distance of one, by probing its tables or by a full scan of
 * table 0. Source: the paper, section 3.1.
 *
 * Probes go through stages together: the keys of their blocks are looked up, the blocks opened, the groups that may
 * have the fingerprints found, and the lower halves of these groups tested. Each stage prefetches the memory that the
 * next one reads, so that cache misses overlap. Only groups with a lower half near the query's are decoded.
 */
#ifndef SS_SEARCH_H
#define SS_SEARCH_H

#include "read/cursor.h"

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
    const uint32_t *limit; /* not NULL: test all of table 0 within *limit, which on_hit() may lower; without a plan */
    ss_hit_fn on_hit;
    void *context;
    ss_search_counts *counts; /* one a table, added to; NULL: not wanted. A full scan counts as table 0's */
    sstore_error *error;
} ss_search;

/* Run the search. cursor->is_full_scan tells whether it was a full scan, which also happens if the directory shows that
 * probes would take longer. */
sstore_status ss_search_run(const ss_search *search);

/* Whether a group may have new matches: whether some of its fingerprints in `mask`, whose lower halves are near
 * `lower_query`, may not have been found in a table before `table`. */
bool ss_may_be_new(const ss_segment *segment, const ss_query_plan *plan, uint32_t table, const ss_block *block,
                   uint32_t group, uint32_t lower_query, uint64_t mask);

/* The expected cost of a search: of one probed table, and in nanoseconds of all tables. It follows from how many
 * fingerprints share the query's prefixes, as the directory shows. */
ss_table_cost ss_search_table_cost(const ss_segment *segment, const ss_query_plan *plan, uint64_t fingerprint,
                                   uint32_t table);
double ss_search_cost(const ss_segment *segment, const ss_query_plan *plan, uint64_t fingerprint);

#endif

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

#include "read/selection.h"
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

/* What is wanted of the records of hits. */
typedef struct ss_record_sink {
    sstore_cursor *cursor;
    sstore_match_fn on_match; /* NULL: records are only counted */
    void *context;
    ss_selection *selection; /* takes the matches instead, if not NULL */
    uint64_t limit;          /* only the first records of each hit are wanted; 0: all */
    uint64_t *counts;        /* one a query: the number of all records is added to it; NULL: not wanted */
} ss_record_sink;

/* A fingerprint of a segment, of any number of words, whose records are reported. */
typedef struct ss_found {
    const ss_segment *segment;
    uint32_t segment_number, distance;
    uint64_t query, rank;
    const uint64_t *words;
    bool maybe_in_newer; /* as in ss_hit */
} ss_found;

/* Report the records of a hit: all ids of its rank, or itself if the store has no ids; as far as no newer segment has
 * them. They are read through the slot of `ids`, which keeps the last block open. So `ids` must not be those of a hit
 * whose records are being reported. */
sstore_status ss_report_found(const ss_record_sink *sink, const ss_found *hit, ss_rank_ids *ids, sstore_error *error);

/* Report the records of up to SS_HITS_TOGETHER hits of one word. Fills in unknown ranks. */
sstore_status ss_report_records(const ss_record_sink *sink, ss_hit *hits, uint32_t count, sstore_error *error);

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
    bool is_left_out;                /* it is not searched */
    const ss_row_plan *segment_plan; /* of a word index: that of its segment, whose times are reported */
} ss_explained_part;

/* Search a part, and report its work in each table; as sstore_explain(). */
sstore_status ss_explain_part(sstore_cursor *cursor, const ss_explained_part *part, sstore_explain_fn on_table,
                              void *context, sstore_error *error);

/* Find every distinct fingerprint within the distance in all segments of records, the newest first. */
sstore_status ss_query_segments(sstore_cursor *cursor, uint64_t fingerprint, uint32_t distance, ss_hit_fn on_hit,
                                void *context, sstore_error *error);

/* Report the records within the distance, in a store of 64-bit fingerprints. */
sstore_status ss_query_word_records(const ss_record_sink *sink, uint64_t fingerprint, uint32_t distance,
                                    sstore_error *error);

/* Report the records at the smallest distance up to a maximum, in a store of 64-bit fingerprints. */
sstore_status ss_query_nearest_word_records(const ss_record_sink *sink, uint64_t fingerprint, uint32_t max_distance,
                                            sstore_error *error);

/* ----- query_words.c ----- */

/* Report the records that a query of a fingerprint asks for. */
typedef sstore_status ss_query_fn(const ss_record_sink *sink, const uint64_t *fingerprint, uint32_t distance,
                                  sstore_error *error);

/* Those within the distance; and of these, those at the smallest distance. */
ss_query_fn ss_query_records, ss_query_nearest_records;

/* Run a query into columns, as sstore_query_columns(). `cursor` and `count_out` must not be NULL. */
sstore_status ss_query_columns(ss_query_fn *run, sstore_cursor *cursor, const uint64_t *fingerprint, uint32_t distance,
                               const sstore_match_columns *columns, size_t capacity, uint64_t *count_out,
                               sstore_error *error);

#endif

/*
 * cursor.h - the scratch memory of one thread's queries: the probes and blocks that are processed together, and the
 * query plans for the last distance. A query allocates nothing.
 */
#ifndef SS_CURSOR_H
#define SS_CURSOR_H

#include "read/candidates.h"
#include "read/segment_plan.h"
#include "store/lookup.h"
#include "store/name_column.h"

/* A prefix to search for in a table: the fingerprints first .. last (permuted). */
typedef struct ss_probe {
    uint64_t first, last;
    uint32_t table;
    uint32_t lower_distance;    /* the distance that the flipped bits of the prefix leave */
    uint64_t block, blocks_end; /* the blocks that may have them; set by find_blocks() */
} ss_probe;

/* A block that is searched. */
typedef struct ss_open_block {
    uint32_t table;
    bool opened; /* `block` is set */
    ss_block_slot slot;
    ss_block block;
} ss_open_block;

/* The part of a probe, or of several in a row, in one block. */
typedef struct ss_block_range {
    uint64_t first, last;
    uint32_t lower_distance;
    uint32_t open;
    uint32_t group, end; /* the groups that may have them */
} ss_block_range;

/* Fingerprints of a group whose lower halves are near the query's. */
typedef struct ss_near_group {
    const ss_block_range *range;
    uint32_t group;
    uint64_t mask; /* a bit for each fingerprint of the group */
} ss_near_group;

/* The number of probes or blocks that pass a stage before the next stage begins, so that their cache misses overlap. */
#define SS_STAGE_MAX 64u

/* A distinct fingerprint of a segment within the distance of a query. */
typedef struct ss_hit {
    const ss_segment *segment;
    uint64_t query_index;  /* in a batch, else 0; of a word index, the number of the word */
    uint64_t fingerprint;  /* the first word of several */
    const uint64_t *words; /* all of several; NULL: `fingerprint` is all */
    uint64_t rank;
    uint32_t segment_number;
    uint32_t distance;
    bool has_rank;       /* it was found in table 0, so its rank is known */
    bool maybe_in_newer; /* a newer segment that adds may also have the fingerprint */
} ss_hit;

/* The number of hits whose records are looked up together. */
#define SS_HIT_BATCH 16u

/* Hits whose records were not looked up yet. */
typedef struct ss_hits {
    uint32_t count;
    ss_hit hits[SS_HIT_BATCH];
} ss_hits;

/* The blocks of table 0 and ids through which records of hits are looked up. */
typedef struct ss_hit_slots {
    ss_block_slot slots[SS_HIT_BATCH];
    ss_rank_ids ids; /* of the last hit */
} ss_hit_slots;

/* A Bloom filter with one hash function. */
#define SS_SEEN_BITS 12u
typedef struct ss_seen {
    bool any;
    uint64_t words[1u << (SS_SEEN_BITS - 6)];
} ss_seen;

/* Which records are reported, by id. Zeroed: all. */
typedef struct ss_id_filter {
    bool any;                     /* else the others are not read */
    uint64_t min_id, max_id;      /* both are included */
    const uint64_t *excluded_ids; /* one a query; NULL: none */
} ss_id_filter;

/* Take a caller's filter of queries of the store; NULL: none. ARGUMENT. */
sstore_status ss_id_filter_take(ss_id_filter *to, const sstore_id_filter *from, const sstore *store,
                                sstore_error *error);

/* The number of records of a rank. */
typedef struct ss_rank_count {
    bool is_set;
    uint64_t rank, count;
} ss_rank_count;

struct sstore_cursor {
    const sstore *store;
    ss_rank_count *counts;     /* one a segment: of the rank that was counted last */
    ss_segment_plan *plans;    /* one a segment, for planned_distance */
    uint32_t planned_distance; /* SS_NO_DISTANCE at first */
    bool plans_cut;            /* the steps did not suffice for the plans; the next call plans again */
    uint64_t query_steps;      /* a query's budget for prefixes and blocks; hits add to it */
    uint64_t row_hit_steps;    /* steps that a hit adds in a store with word indexes, to look up its rank and ids in all
                                 * segments */
    ss_steps planning, steps;  /* left for a call, and for its current query */
    sstore_stop_fn should_stop; /* or NULL */
    void *stop_context;
    ss_id_filter filter;  /* of queries of a single fingerprint */
    uint64_t excluded_id; /* of the filter */
    uint32_t probe_count, range_count, open_block_count, open_block_capacity, near_group_count;
    ss_probe probes[SS_STAGE_MAX];
    ss_block_range ranges[SS_STAGE_MAX];
    ss_open_block open_blocks[SS_STAGE_MAX];
    ss_near_group near_groups[SS_STAGE_MAX];
    uint64_t permuted_queries[SS_MAX_TABLES]; /* the query's fingerprint, for each table */
    bool any_probed;                          /* of the query in the segment */
    bool is_full_scan;                        /* the last search was a full scan */
    uint32_t last_table;                      /* with the last hit; SS_MAX_TABLES: none */
    uint64_t last_found;                      /* the last hit, permuted */
    uint64_t values[SS_GROUP_SIZE];           /* of a group with near lower halves */
    ss_hits found;
    ss_hit_slots slots;
    uint8_t *buffers;    /* of all open blocks and slots */
    ss_membership newer; /* to leave out records that newer segments also have */
    ss_seen seen;        /* hits of the query in newer segments */
    /* In a store with word indexes: */
    uint64_t found_rows[SS_HIT_BATCH][SSTORE_MAX_WORDS]; /* the words of `found` */
    ss_hits found_words;                                 /* of the word indexes of a segment */
    ss_hit_slots index_slots;                            /* for these */
    uint32_t candidate_count;
    ss_candidate candidates[SS_HIT_BATCH]; /* not confirmed yet */
    ss_block_slot row_slot;                /* of table 0 of the segment */
    ss_name_room name;                     /* in a store with names */
};

/* The bytes that a cursor of a store takes. */
uint64_t ss_cursor_bytes(const ss_manifest *manifest, sstore_io io);

/* Begin a call with new steps. */
void ss_cursor_begin(sstore_cursor *cursor);
/* Begin a query of a call, with new steps. */
static inline void ss_cursor_renew(sstore_cursor *cursor)
{
    cursor->steps.left = cursor->query_steps;
}

/* Cursors of several threads, each made when it is first needed. */
typedef struct ss_cursors {
    const sstore *store;
    uint32_t count;
    sstore_cursor **cursors;
} ss_cursors;

/* Close them even if this fails. MEMORY. */
sstore_status ss_cursors_open(ss_cursors *cursors, const sstore *store, uint32_t count, sstore_error *error);
/* Free them; zeroed ones are allowed. The blocks that they read are added to *block_count, unless it is NULL. */
void ss_cursors_close(ss_cursors *cursors, uint64_t *block_count);

/* Get the cursor of a thread, with new steps. MEMORY. */
sstore_status ss_cursors_get(const ss_cursors *cursors, uint32_t index, sstore_cursor **cursor_out,
                             sstore_error *error);

/* STOPPED if the cursor's user wants the query to end. */
static inline sstore_status ss_cursor_check_stop(const sstore_cursor *cursor)
{
    const bool stop = SS_UNLIKELY(cursor->should_stop != NULL) && cursor->should_stop(cursor->stop_context) != 0;
    return stop ? SSTORE_STOPPED : SSTORE_OK;
}

/* The plan of a segment for a distance. Those of the last distance are kept. */
const ss_segment_plan *ss_cursor_plan(sstore_cursor *cursor, uint32_t segment, uint32_t distance);

#endif

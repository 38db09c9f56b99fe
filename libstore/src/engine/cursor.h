/*
 * cursor.h - the scratch memory of one thread's queries: the probes and block visits that are under way together, the
 * values of a few groups, and how to query at the distance that was asked last.
 */
#ifndef SS_CURSOR_H
#define SS_CURSOR_H

#include "engine/store.h"

/* A prefix that a table is searched for: the fingerprints first .. last (permuted). */
typedef struct ss_probe {
    uint64_t first, last;
    uint32_t table;
} ss_probe;

/* One block in which a probe's fingerprints are looked for. */
typedef struct ss_visit {
    ss_probe probe;
    uint64_t number; /* of the block */
    ss_block block;
    uint32_t first_group, last_group; /* where they can be */
} ss_visit;

/* So many probes, or visits, go through a stage before the next stage begins, so that their cache misses overlap. */
#define SS_TOGETHER 32u

/* Groups that are decoded at once. */
#define SS_GROUPS_AT_ONCE 4u

/* A place for one block; remembers which it holds. */
typedef struct ss_block_slot {
    const ss_block_reader *reader; /* NULL: empty */
    uint64_t number;
    const uint8_t *bytes; /* `buffer` or memory of the reader */
    uint8_t *buffer;
} ss_block_slot;

struct sstore_cursor {
    const sstore *store;
    ss_query_plan *plans;      /* one a segment, for the distance asked last */
    uint32_t planned_distance; /* NOT_PLANNED at first */
    uint32_t probe_count, visit_count, visit_capacity;
    ss_probe probes[SS_TOGETHER];
    ss_visit visits[SS_TOGETHER];
    uint64_t queries[SS_MAX_TABLES]; /* the query's fingerprint, permuted for each table */
    uint8_t *buffers; /* a block for each visit; in pread mode only more than one */
    size_t buffer_bytes;
    uint64_t *values; /* of SS_GROUPS_AT_ONCE groups */
    uint32_t *hits;   /* indices of those within the distance */
    ss_block_slot ranked;     /* the block of table 0 where a match's rank is looked up */
    ss_block_slot identified; /* the block of ids */
};

/* Make sure that the slot holds the reader's block. */
sstore_status ss_block_slot_load(ss_block_slot *slot, const ss_block_reader *reader, uint64_t number,
                                 sstore_error *error);

/* The plans for a distance, one a segment. */
const ss_query_plan *ss_cursor_plans(sstore_cursor *cursor, uint32_t distance);

#endif

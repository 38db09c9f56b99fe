/*
 * memory_index.h - two indexes of fingerprints in memory, searched by distance: a static one, which holds the queries
 * of a stream matcher, and a growing one of static parts, which holds the new records of a dedup. Both find all
 * fingerprints within the distance, each once.
 */
#ifndef SS_MEMORY_INDEX_H
#define SS_MEMORY_INDEX_H

#include "codec/kernels.h"
#include "plan/plan.h"

/* ===== index of fingerprints ===== */

/*
 * The 64 bits are cut into equal bit groups, and the key of each table is the first `key_bits` of one group. A table
 * has the fingerprints ordered by key, and the place where each key begins: a probe takes two reads. The tables are
 * those of a disjoint plan (plan/plan.h): table j is probed with every key within radius[j] flips, and counts only the
 * fingerprints whose error pattern no table before it covers. So each is found once, without remembering matches.
 *
 * Some dozens of probes are looked up together, stage by stage. Each stage prefetches the memory that the next one
 * reads.
 */

#define SS_INDEX_MAX_DISTANCE 16u
#define SS_INDEX_MAX_TABLES (SS_INDEX_MAX_DISTANCE + 1)

typedef struct ss_index_table {
    uint32_t shift;      /* of the key's last bit, counted from the least significant one */
    uint32_t flip_count; /* how many of flips[], from the first on, a key is probed with */
    uint32_t *begins;    /* of each key's values, and one more */
    uint64_t *values;    /* ascending by key; of table 0 altogether */
} ss_index_table;

/* Immutable once it is open: any number of threads may search it. */
typedef struct ss_fingerprint_index {
    uint32_t count, distance, key_bits;
    ss_plan plan; /* the tables' masks and radii */
    int32_t radii[SS_INDEX_MAX_TABLES];
    ss_index_table tables[SS_INDEX_MAX_TABLES];
    uint32_t *flips; /* all masks of key_bits bits that any table is probed with, those with fewer ones first */
    uint32_t flip_count;
    const ss_kernels *kernels;
} ss_fingerprint_index;

/*
 * Open an index of `count` distinct fingerprints in ascending order, for searches within `distance` (0 to
 * SS_INDEX_MAX_DISTANCE). `values` comes from ss_realloc(); the index owns it from now on, also after a failure. Tables
 * are built on up to `threads` threads (0: all). Close the index also after a failure. MEMORY.
 */
sstore_status ss_fingerprint_index_open(ss_fingerprint_index *index, uint64_t *values, uint32_t count,
                                        uint32_t distance, uint32_t threads, sstore_error *error);
/* A zeroed one, and one that could not be opened, are allowed. */
void ss_fingerprint_index_close(ss_fingerprint_index *index);

/* `value` of the index is within the distance of the searched fingerprint `number`. Any status but SSTORE_OK ends the
 * search, which returns it. */
typedef sstore_status (*ss_index_hit_fn)(void *context, uint32_t number, uint64_t value, sstore_error *error);

/* Scratch memory of one thread. Both arrays have a value for each fingerprint of a search. */
typedef struct ss_index_order {
    uint64_t *fingerprints;
    uint32_t *numbers;
} ss_index_order;

/* Report all values that are within `distance`, at most the index's own, of each of `count` fingerprints, in any order.
 * Without `order` (NULL) the fingerprints are looked up as they come, which is slower for many. */
sstore_status ss_fingerprint_index_search(const ss_fingerprint_index *index, const uint64_t *fingerprints,
                                          uint32_t count, uint32_t distance, ss_index_order *order,
                                          ss_index_hit_fn on_hit, void *context, sstore_error *error);

/* The index's values in ascending order. */
static inline const uint64_t *ss_fingerprint_index_values(const ss_fingerprint_index *index)
{
    return index->tables[0].values;
}

/* How many of the index's values are below `value`. */
uint32_t ss_fingerprint_index_rank(const ss_fingerprint_index *index, uint64_t value);

/* Its size in bytes: for each table and fingerprint 8, and up to 8 for the places of keys. */
uint64_t ss_fingerprint_index_bytes(const ss_fingerprint_index *index);

/* ===== growing index ===== */

/*
 * Records in memory. New ones can be added, and all records near a fingerprint found, at any time. For dedup.
 *
 * The newest records are in an array, which a search tests completely. A full array becomes a part with a static index,
 * together with the parts before it that are less than twice as large as all later records. So each part has at most
 * half the size of the one before: there are at most about log2(n) parts, and a record is indexed about as often.
 *
 * No two records have the same fingerprint: the caller searches before it adds.
 */

typedef struct ss_growing_index ss_growing_index;

/* For searches within up to `distance` (0 to SS_INDEX_MAX_DISTANCE). MEMORY. */
sstore_status ss_growing_index_create(uint32_t distance, ss_growing_index **index_out, sstore_error *error);
/* NULL is allowed. */
void ss_growing_index_free(ss_growing_index *index);

/* Add a record with a fingerprint that no record has. Now and then this merges parts, which takes some 100 ns for
 * each of their records. MEMORY: the record was not added, and the index is unchanged. */
sstore_status ss_growing_index_add(ss_growing_index *index, uint64_t fingerprint, uint64_t id, sstore_error *error);

/*
 * Report all records added so far whose fingerprints are within `distance`, at most the index's own, of `fingerprint`:
 * each once, in any order, with query_index 0. Several threads may search at once while none adds. Allocates nothing.
 * STOPPED if on_match stops it.
 */
sstore_status ss_growing_index_find(const ss_growing_index *index, uint64_t fingerprint, uint32_t distance,
                                    sstore_match_fn on_match, void *context);

/* Takes some records at a time. */
typedef sstore_status (*ss_records_fn)(void *context, const uint64_t *fingerprints, const uint64_t *ids, size_t count,
                                       sstore_error *error);

/* Pass all records to on_records, in any order. Returns its first status that is not OK. */
sstore_status ss_growing_index_each(const ss_growing_index *index, ss_records_fn on_records, void *context,
                                    sstore_error *error);

/* The number of records that were added. */
uint64_t ss_growing_index_count(const ss_growing_index *index);

/*
 * Its current size in bytes. Each record of a part takes 8 bytes for its id, and in each of up to distance + 1 tables 8
 * bytes and up to 8 for the places of keys: at distance 3 about 40 to 65 bytes a record in all, from 100,000 on. Adding
 * takes up to as much again while parts are merged.
 */
uint64_t ss_growing_index_bytes(const ss_growing_index *index);

#endif

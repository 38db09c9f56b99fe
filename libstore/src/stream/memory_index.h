/* memory_index.h - fingerprints in memory: a static index that is searched by distance, and a growing one. */
#ifndef SS_MEMORY_INDEX_H
#define SS_MEMORY_INDEX_H

#include "codec/kernels.h"
#include "plan/plan.h"

/* ===== index of fingerprints ===== */

/*
 * Fingerprints in memory, with tables that find all those near a given one. A stream matcher has its queries in one;
 * a growing index is made of several.
 *
 * The 64 bits are cut into equal groups, and the key of each table is the first `key_bits` of one group. A table is
 * the fingerprints ordered by key, and where each key begins: a probe is two reads, one of them of neighbours. The
 * tables are those of a disjoint plan (plan/plan.h): table j is probed with every key within radius[j] flips, and
 * counts only the fingerprints whose error pattern no table before it covers. So each is found once, and nothing has
 * to be remembered.
 *
 * Some dozens of probes are looked up together, stage by stage, and each stage prefetches what the next one reads.
 */

#define SS_INDEX_MAX_DISTANCE 16u
#define SS_INDEX_MAX_TABLES (SS_INDEX_MAX_DISTANCE + 1)

typedef struct ss_index_table {
    uint32_t shift;      /* of the key's last bit, counted from the least significant one */
    uint32_t flip_count; /* a key is probed with the first so many of flips[] */
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
 * SS_INDEX_MAX_DISTANCE). `values` comes from ss_realloc() and is the index's from now on, whatever is returned. Tables
 * are made on up to `threads` threads (0: all). MEMORY; the index is to be closed in any case.
 */
sstore_status ss_fingerprint_index_open(ss_fingerprint_index *index, uint64_t *values, uint32_t count,
                                        uint32_t distance, uint32_t threads, sstore_error *error);
/* Also allowed for a zeroed one, or one that could not be opened. */
void ss_fingerprint_index_close(ss_fingerprint_index *index);

/* `value` of the index lies within the distance of searched fingerprint `number`. Anything but SSTORE_OK ends the
 * search, which then returns it. */
typedef sstore_status (*ss_index_hit_fn)(void *context, uint32_t number, uint64_t value, sstore_error *error);

/* Scratch memory of one thread. Both arrays have room for all fingerprints of a search. */
typedef struct ss_index_order {
    uint64_t *fingerprints;
    uint32_t *numbers;
} ss_index_order;

/* Report all that lie within `distance`, at most the index's own, of each of `count` fingerprints, in any order.
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

/* The bytes that it takes: for each table and fingerprint 8, and up to 8 for where keys begin. */
uint64_t ss_fingerprint_index_bytes(const ss_fingerprint_index *index);

/* ===== growing index ===== */

/*
 * Records in memory: new ones are added at any time, and all those near a fingerprint are found at any time. For
 * dedup.
 *
 * The newest records lie in an array, which a search tests from end to end. When it is full it becomes a part with a
 * static index, together with the parts before it that are less than twice as large as all that follows them. So
 * parts at least halve in size from one to the next: there are at most about log2(n) of them, and a record is indexed
 * about as often.
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
 * Report all records added so far whose fingerprints lie within `distance`, at most the index's own, of `fingerprint`:
 * each once, in any order, with query_index 0. Several threads may search at once while none adds. Allocates nothing.
 * STOPPED if on_match asks for it.
 */
sstore_status ss_growing_index_find(const ss_growing_index *index, uint64_t fingerprint, uint32_t distance,
                                    sstore_match_fn on_match, void *context);

/* Takes records, some at a time. */
typedef sstore_status (*ss_records_fn)(void *context, const uint64_t *fingerprints, const uint64_t *ids, size_t count,
                                       sstore_error *error);

/* Give all records to on_records, in any order. Returns its first status that is not OK. */
sstore_status ss_growing_index_each(const ss_growing_index *index, ss_records_fn on_records, void *context,
                                    sstore_error *error);

/* How many records were added. */
uint64_t ss_growing_index_count(const ss_growing_index *index);

/*
 * The bytes that it takes now. Each record of a part takes 8 bytes for its id, and in each of up to distance + 1
 * tables 8 bytes and up to 8 for where keys begin: at distance 3 about 40 to 65 bytes a record in all, from 100,000
 * on. Adding takes up to as much again while parts are merged.
 */
uint64_t ss_growing_index_bytes(const ss_growing_index *index);

#endif

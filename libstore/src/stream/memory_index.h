/* memory_index.h - fingerprints in memory. */
#ifndef SS_MEMORY_INDEX_H
#define SS_MEMORY_INDEX_H

#include "codec/kernels.h"
#include "plan/plan.h"

/* ===== index of fingerprints ===== */

/*
 * Fingerprints in memory, with tables over them by which all those near a given one are found:
 * the static index that a scan holds its queries in, and that a growing index is made of.
 *
 * The 64 bits are cut into equal groups, and each table has the first `key_bits` of one group for its key. A table is
 * the fingerprints ordered by key, and where each key begins: a probe is two reads, one of them of neighbours. The
 * tables are those of a disjoint plan (plan/plan.h): table j is probed with every key within radius[j] flips, and
 * counts only those it finds whose error pattern it is the first one to cover. So each is found once, and nothing has
 * to be remembered.
 *
 * Probes do not wait for one another: some dozens are looked up together, stage by stage, and what a stage is going to
 * read is prefetched by the one before.
 */

#define SS_INDEX_MAX_DISTANCE 16u
#define SS_INDEX_MAX_TABLES (SS_INDEX_MAX_DISTANCE + 1)

typedef struct ss_index_table {
    uint32_t shift;      /* the key's last bit is this one, counted from the least significant */
    uint32_t flip_count; /* keys that are probed: one for each of the first flips[] */
    uint32_t *begins;    /* of each key's values, and one more */
    uint64_t *values;    /* ascending by key; of table 0 altogether */
} ss_index_table;

/* Immutable once it is open: any number of threads may search it. */
typedef struct ss_fingerprint_index {
    uint32_t count, distance, key_bits;
    ss_plan plan; /* the tables' masks and radii */
    int32_t radii[SS_INDEX_MAX_TABLES];
    ss_index_table tables[SS_INDEX_MAX_TABLES];
    uint32_t *flips; /* all masks over key_bits bits that any table is probed with, those of fewer bits first */
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
/* Also of one that is zeroed, or that could not be opened. */
void ss_fingerprint_index_close(ss_fingerprint_index *index);

/* `value` of the index lies within the distance of searched fingerprint `number`. Anything but SSTORE_OK ends the
 * search, which then returns it. */
typedef sstore_status (*ss_index_hit_fn)(void *context, uint32_t number, uint64_t value, sstore_error *error);

/* Scratch of one thread, of which both arrays have room for all fingerprints of a search. */
typedef struct ss_index_order {
    uint64_t *fingerprints;
    uint32_t *numbers;
} ss_index_order;

/* Report all that lie within `distance`, at most the index's own, of each of `count` fingerprints, in any order. */
sstore_status ss_fingerprint_index_search(const ss_fingerprint_index *index, const uint64_t *fingerprints,
                                          uint32_t count, uint32_t distance, ss_index_order *order,
                                          ss_index_hit_fn on_hit, void *context, sstore_error *error);

/* The index's values in ascending order. */
static inline const uint64_t *ss_fingerprint_index_values(const ss_fingerprint_index *index)
{
    return index->tables[0].values;
}

/* How many of its values are below `value`. */
uint32_t ss_fingerprint_index_rank(const ss_fingerprint_index *index, uint64_t value);

/* What it takes of memory: 8 bytes a table and fingerprint, up to 8 a table and fingerprint for where keys begin. */
uint64_t ss_fingerprint_index_bytes(const ss_fingerprint_index *index);

/* ===== growing index ===== */

/*
 * Records in memory, added at any time, of which all those near a fingerprint are found at any time:
 * by whoever asks of each new record whether there is one like it already.
 *
 * The newest records lie in an array that is simply tested through. When it is full it becomes a part with a static
 * index (fingerprint_index.h), together with those parts before it that are less than twice as large as all that
 * follows them. So parts at least halve in size from one to the next: there are about log2(n) of them at most, and a
 * record is indexed again about as often.
 *
 * No two records have the same fingerprint: whoever adds one has asked before.
 */

typedef struct ss_growing_index ss_growing_index;

/* For searches within up to `distance` (0 to SS_INDEX_MAX_DISTANCE). MEMORY. */
sstore_status ss_growing_index_create(uint32_t distance, ss_growing_index **index_out, sstore_error *error);
/* NULL is allowed. */
void ss_growing_index_free(ss_growing_index *index);

/* Add a record, whose fingerprint none has that was added before. Now and then this puts parts together, which takes some 100 ns for
 * each record in these. MEMORY: it was not added, and the index goes on as it was. */
sstore_status ss_growing_index_add(ss_growing_index *index, uint64_t fingerprint, uint64_t id, sstore_error *error);

/*
 * Report all records added so far whose fingerprints lie within `distance`, at most the index's own, of `fingerprint`:
 * each once, in any order, with query_index 0. Several threads may search at once while none adds. Allocates nothing.
 * STOPPED where on_match asked for it.
 */
sstore_status ss_growing_index_find(const ss_growing_index *index, uint64_t fingerprint, uint32_t distance,
                                    sstore_match_fn on_match, void *context);

/* Takes records, some at a time. */
typedef sstore_status (*ss_records_fn)(void *context, const uint64_t *fingerprints, const uint64_t *ids, size_t count,
                                       sstore_error *error);

/* Give all records to on_records, in any order. Returns what it does where that is not OK. */
sstore_status ss_growing_index_each(const ss_growing_index *index, ss_records_fn on_records, void *context,
                                    sstore_error *error);

/* How many records were added. */
uint64_t ss_growing_index_count(const ss_growing_index *index);

/*
 * What it takes of memory now. For each record of a part 8 bytes for its id, and in each of up to distance + 1 tables 8 bytes
 * and up to 8 more for where keys begin: at distance 3 about 40 to 65 bytes a record in all, from 100,000 on. Adding takes up
 * to as much again while parts are put together.
 */
uint64_t ss_growing_index_bytes(const ss_growing_index *index);

#endif

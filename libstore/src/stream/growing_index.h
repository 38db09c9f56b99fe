/*
 * growing_index.h - records in memory, for dedup. New ones can be added, and all records near a fingerprint found, at
 * any time.
 *
 * The newest records are in an array, which a search tests completely. A full array becomes a level with a static
 * index, together with the levels before it that are less than twice as large as all later records. So each level
 * has at most half the size of the one before: there are at most about log2(n) levels, and a record is indexed about
 * as often.
 *
 * No two records have the same fingerprint: the caller searches before it adds.
 */
#ifndef SS_GROWING_INDEX_H
#define SS_GROWING_INDEX_H

#include "base/common.h"

typedef struct ss_growing_index ss_growing_index;

/* For fingerprints of `words` words, and searches within up to `distance`, at most SSTORE_MAX_BUILD_DISTANCE a word.
 * Up to `threads` threads (0: all) index large levels. MEMORY. */
sstore_status ss_growing_index_create(uint32_t words, uint32_t distance, uint32_t threads, ss_growing_index **index_out,
                                      sstore_error *error);
/* NULL is allowed. */
void ss_growing_index_free(ss_growing_index *index);

/* Add a record with a fingerprint that no record has. Now and then this merges levels, which takes some 100 ns for
 * each word of their records. MEMORY: the record was not added, and the index is unchanged. */
sstore_status ss_growing_index_add(ss_growing_index *index, const uint64_t *fingerprint, uint64_t id,
                                   sstore_error *error);

/*
 * Report all records added so far whose fingerprints are within `distance`, at most the index's own, of `fingerprint`:
 * each once, in any order, with query_index 0. Several threads may search at once while none adds. Allocates nothing.
 * STOPPED if on_match stops it.
 */
sstore_status ss_growing_index_find(const ss_growing_index *index, const uint64_t *fingerprint, uint32_t distance,
                                    sstore_match_fn on_match, void *context);

/* Takes some records at a time. */
typedef sstore_status (*ss_records_fn)(void *context, const uint64_t *fingerprints, const uint64_t *ids, size_t count,
                                       sstore_error *error);

/* Pass all records to on_records, fingerprints one after the other, in any order. Returns its first status that is not
 * OK. */
sstore_status ss_growing_index_each(const ss_growing_index *index, ss_records_fn on_records, void *context,
                                    sstore_error *error);

/* The number of records that were added. */
uint64_t ss_growing_index_count(const ss_growing_index *index);

/*
 * Its current size in bytes. Each record of a level takes 8 bytes for its id, and in each of up to distance + 1
 * tables 8 bytes and up to 8 for the places of keys: at distance 3 about 40 to 65 bytes a record in all, from
 * 100,000 on. A record of several words also takes 8 bytes a word, and 4 to 8 for each word with a radius, which has
 * tables of its own: 256 bits at distance 31 about 180 to 320 bytes a record. Adding takes up to as much again while
 * levels are merged.
 */
uint64_t ss_growing_index_bytes(const ss_growing_index *index);

#endif

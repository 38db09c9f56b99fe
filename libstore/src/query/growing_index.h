/*
 * growing_index.h - records in memory, added at any time, of which all those near a fingerprint are found at any time:
 * by whoever asks of each new record whether there is one like it already.
 *
 * The newest records lie in an array that is simply tested through. When it is full it becomes a part with a static
 * index (fingerprint_index.h), together with those parts before it that are less than twice as large as all that
 * follows them. So parts at least halve in size from one to the next: there are about log2(n) of them at most, and a
 * record is indexed again about as often.
 *
 * No two records have the same fingerprint: whoever adds one has asked before.
 */
#ifndef SS_GROWING_INDEX_H
#define SS_GROWING_INDEX_H

#include "query/fingerprint_index.h"

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

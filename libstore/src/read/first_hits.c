#include "read/first_hits.h"

#include "base/error.h"
#include "base/memory.h"
#include "store/lookup.h"

/* A bound, and the hits kept below it since it was set, packed into 64 bits: the bound + 1 (0: none is set), the
 * largest distance of these hits, and their number. */
#define DISTANCE_BITS 12u
#define DISTANCE_MASK ((UINT64_C(1) << DISTANCE_BITS) - 1)
#define COUNT_SHIFT (2 * DISTANCE_BITS)

#define MAX_RECORDS (UINT64_C(1) << 20) /* of a segment whose ranks' records are counted, */
#define RECORDS_A_QUERY UINT64_C(4096)  /* and for each query: so that takes less time than a full scan */

static uint64_t pack(uint64_t end, uint64_t largest, uint64_t count)
{
    return end | largest << DISTANCE_BITS | count << COUNT_SHIFT;
}

sstore_status ss_first_hits_open(ss_first_hits *first, uint32_t count, uint64_t limit, uint64_t *counts,
                                 sstore_error *error)
{
    *first = (ss_first_hits){.limit = limit, .count = count, .counts = counts};
    if (limit == 0)
        return SSTORE_OK;
    first->bounds = ss_alloc(count, sizeof *first->bounds);
    return first->bounds != NULL ? SSTORE_OK : ss_fail_memory(error, count * sizeof *first->bounds);
}

void ss_first_hits_close(ss_first_hits *first)
{
    ss_free(first->bounds);
    ss_free(first->records);
    *first = (ss_first_hits){.limit = 0};
}

/* Count the records of each rank. */
static sstore_status count_rank_records(ss_first_hits *first, sstore_cursor *cursor, const ss_segment *segment,
                                        sstore_error *error)
{
    const uint64_t count = segment->metadata.distinct_count;
    first->records = ss_alloc(count, sizeof *first->records);
    if (first->records == NULL)
        return ss_fail_memory(error, count * sizeof *first->records);
    ss_cursor_renew(cursor);
    cursor->steps.left += segment->ids.header.block_count;
    return ss_count_ids(segment, &cursor->slots.slots[0], first->records, error);
}

/* A hit that is counted here is not decided by a newer segment. One that is only left out may be in a newer segment
 * that adds it again: so the hits of each segment are numbered anew. */
sstore_status ss_first_hits_begin(ss_first_hits *first, sstore_cursor *cursor, const sstore *store, uint32_t segment,
                                  sstore_error *error)
{
    const ss_manifest_segment *metadata = &store->manifest.segments[segment];
    const bool is_one_record = !store->manifest.has_ids || metadata->record_count == metadata->distinct_count;
    const bool is_small = metadata->record_count <= ss_min_u64(first->count * RECORDS_A_QUERY, MAX_RECORDS);
    ss_free(first->records);
    first->records = NULL;
    for (uint32_t i = 0; first->bounds != NULL && i < first->count; i++)
        atomic_store(&first->bounds[i], atomic_load(&first->bounds[i]) & DISTANCE_MASK);
    if (first->counts == NULL) {
        first->skips = segment >= store->removal_end;
        return SSTORE_OK;
    }
    first->skips = segment + 1 == store->manifest.segment_count && (is_one_record || (cursor != NULL && is_small));
    return first->skips && !is_one_record ? count_rank_records(first, cursor, store->segments[segment], error)
                                          : SSTORE_OK;
}

int32_t ss_first_hits_bound(const ss_first_hits *first, uint32_t query, uint32_t max)
{
    if (first->bounds == NULL)
        return -1;
    const uint64_t end = atomic_load_explicit(&first->bounds[query], memory_order_relaxed) & DISTANCE_MASK;
    return end == 0 ? (int32_t)max : (int32_t)ss_min_u64(end - 1, max);
}

/* Note that a hit is kept, at a distance that the query still needs. */
static void note_kept(const ss_first_hits *first, uint32_t query, uint32_t distance)
{
    const uint64_t state = atomic_load_explicit(&first->bounds[query], memory_order_relaxed);
    const uint64_t end = state & DISTANCE_MASK, count = (state >> COUNT_SHIFT) + 1;
    const uint64_t largest = ss_max_u64(state >> DISTANCE_BITS & DISTANCE_MASK, distance);
    if (end != 0 && distance + 1 >= end)
        return; /* it is not below the bound */
    const uint64_t next = count < first->limit ? pack(end, largest, count) : pack(largest + 1, 0, 0);
    atomic_store_explicit(&first->bounds[query], next, memory_order_relaxed);
}

bool ss_first_hits_keep_or_count(const ss_first_hits *first, uint32_t query, uint32_t distance, uint32_t max,
                                 uint64_t rank)
{
    const bool may_count = first->records == NULL || rank != SS_NO_RANK;
    if (may_count && (int32_t)distance > ss_first_hits_bound(first, query, max)) {
        ss_first_hits_skip(first, query, ss_first_hits_records(first, rank));
        return false;
    }
    if (first->bounds != NULL)
        note_kept(first, query, distance);
    return true;
}

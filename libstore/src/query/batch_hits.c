/*
 * batch_hits.c - the lists of hits that the workers of a batch gather.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "query/batch.h"

#define FIRST_CAPACITY 1024u /* of a list */

sstore_status ss_batch_add_hit(const ss_batch *batch, uint32_t worker, ss_batch_hit hit, sstore_error *error)
{
    ss_hit_list *list = &batch->lists[worker];
    if (list->count == list->capacity) {
        size_t capacity = list->capacity == 0 ? FIRST_CAPACITY : 2 * list->capacity;
        long long more = (long long)(capacity - list->capacity);
        if (batch->room != NULL && atomic_fetch_sub_explicit(batch->room, more, memory_order_relaxed) < more)
            return SSTORE_STOPPED;
        ss_batch_hit *hits = ss_realloc(list->hits, capacity, sizeof *hits);
        if (hits == NULL)
            return ss_fail_memory(error, capacity * sizeof *hits);
        list->hits = hits;
        list->capacity = capacity;
    }
    hit.segment = batch->segment_index;
    list->hits[list->count++] = hit;
    return SSTORE_OK;
}

void ss_batch_clear_hits(const ss_batch *batch)
{
    for (uint32_t i = 0; i < batch->threads; i++) {
        ss_free(batch->lists[i].hits);
        batch->lists[i] = (ss_hit_list){.count = 0};
    }
}

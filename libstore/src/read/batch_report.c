/*
 * batch_report.c - turns hits in any order into matches in the order of the queries. Hits are looked up in the order of
 * their fingerprints, so that each block of table 0 and of the ids is read once. Their matches are then sorted.
 */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/tasks.h"
#include "read/batch.h"
#include "read/search.h"
#include "sort/radix.h"

#define PARTS 32u      /* of the hits at most, one a task */
#define PART_HITS 256u /* in each at least */
#define DISTANCE_BITS 7u
#define DISTANCE_MASK ((1u << DISTANCE_BITS) - 1)

/* The matches of one part. An item's first word is the query's index and the distance, the others are fingerprint and
 * id, so they are sorted as they are reported. */
typedef struct match_list {
    ss_triple *items;
    size_t count, capacity;
    bool out_of_memory;
} match_list;

typedef struct report {
    const ss_batch *batch;
    ss_batch_hit *hits;
    sstore_record *order; /* fingerprint, and the hit's index as id: sorted */
    size_t hit_count;
    uint32_t part_count;
    match_list lists[PARTS];
    atomic_llong room; /* how many more matches all parts together may have */
} report;

/* The destination of a look-up's matches. */
typedef struct match_sink {
    report *of;
    match_list *list;
} match_sink;

static int add_match(void *context, const sstore_match *match)
{
    const match_sink *sink = context;
    match_list *list = sink->list;
    if (atomic_fetch_sub_explicit(&sink->of->room, 1, memory_order_relaxed) < 1)
        return 1;
    ss_triple *items = ss_grow(list->items, list->count, &list->capacity, 256, sizeof *items);
    list->out_of_memory = items == NULL;
    if (items == NULL)
        return 1;
    list->items = items;
    items[list->count++] = (ss_triple){match->query_index << DISTANCE_BITS | match->distance, match->fingerprint,
                                       match->id};
    return 0;
}

/* The hit at a place of the order, as ss_report_records() takes it. */
static ss_hit hit_at(const report *self, size_t place)
{
    const ss_batch *batch = self->batch;
    const ss_batch_hit *found = &self->hits[self->order[place].id];
    return (ss_hit){.segment = batch->store->segments[found->segment],
                    .segment_number = found->segment,
                    .query = found->query,
                    .fingerprint = found->fingerprint,
                    .distance = ss_popcount(found->fingerprint ^ batch->fingerprints[found->query]),
                    .has_rank = found->rank != SS_NO_RANK,
                    .rank = found->rank,
                    .maybe_in_newer = found->maybe_in_newer};
}

/* Whether a hit may be looked up together with the `count` before it. One of the same fingerprint may not: it reads all
 * ids again, and the steps of one query would not suffice. */
static bool may_join(const report *self, uint32_t count, size_t place)
{
    return count == 0 ||
           (count < SS_HITS_TOGETHER && self->order[place].fingerprint != self->order[place - 1].fingerprint);
}

/* Look up the records of one part of the hits. STOPPED if the parts have too many together. */
static sstore_status look_up_part(void *context, uint64_t task, uint32_t worker, sstore_error *error)
{
    report *self = context;
    match_sink sink = {.of = self, .list = &self->lists[task]};
    const size_t end = self->hit_count * (task + 1) / self->part_count;
    sstore_cursor *cursor;
    sstore_status status = ss_cursors_get(&self->batch->cursors, worker, &cursor, error);
    const ss_record_sink records = {.cursor = cursor,
                                    .on_match = self->batch->counts_only ? NULL : add_match,
                                    .context = &sink,
                                    .limit = self->batch->limit,
                                    .counts = self->batch->match_counts};
    for (size_t i = self->hit_count * task / self->part_count; status == SSTORE_OK && i < end;) {
        ss_hit hits[SS_HITS_TOGETHER];
        uint32_t count = 0;
        ss_cursor_renew(cursor);
        while (i < end && may_join(self, count, i))
            hits[count++] = hit_at(self, i++);
        status = ss_report_records(&records, hits, count, error);
        if (sink.list->out_of_memory)
            status = ss_fail_memory(error, 2 * sink.list->capacity * sizeof *sink.list->items);
    }
    return status;
}

/* Gather all workers' hits, and sort their order by fingerprint. */
static sstore_status order_hits(report *self, sstore_error *error)
{
    const ss_batch *batch = self->batch;
    size_t count = 0, at = 0;
    for (uint32_t i = 0; i < batch->threads; i++)
        count += batch->workers[i].count;
    self->hit_count = count;
    self->hits = ss_realloc(NULL, count, sizeof *self->hits);
    self->order = ss_realloc(NULL, count, sizeof *self->order);
    sstore_record *scratch = ss_realloc(NULL, count, sizeof *scratch);
    if (self->hits == NULL || self->order == NULL || scratch == NULL) {
        ss_free(scratch);
        return ss_fail_memory(error, count * (sizeof *self->hits + 2 * sizeof *scratch));
    }
    for (uint32_t i = 0; i < batch->threads; i++) {
        const ss_batch_worker *worker = &batch->workers[i];
        if (worker->count > 0)
            memcpy(self->hits + at, worker->hits, worker->count * sizeof *worker->hits);
        at += worker->count;
    }
    for (size_t i = 0; i < count; i++)
        self->order[i] = (sstore_record){.fingerprint = self->hits[i].fingerprint, .id = i};
    ss_sort_records(self->order, scratch, count);
    ss_free(scratch);
    return SSTORE_OK;
}

/* Note which hits have a fingerprint that was also found in a newer segment, which may add the same records. */
static void note_newer(const report *self)
{
    for (size_t begin = 0, end; begin < self->hit_count; begin = end) {
        const uint64_t fingerprint = self->order[begin].fingerprint;
        uint32_t newest = 0;
        for (end = begin; end < self->hit_count && self->order[end].fingerprint == fingerprint; end++)
            newest = ss_max_u32(newest, self->hits[self->order[end].id].segment);
        for (size_t i = begin; i < end; i++) {
            ss_batch_hit *hit = &self->hits[self->order[i].id];
            hit->maybe_in_newer = hit->segment < newest;
        }
    }
}

/* Gather all parts' matches, which are freed, and sort them. */
static sstore_status sort_matches(report *self, ss_triple **items_out, size_t *count_out, sstore_error *error)
{
    size_t count = 0;
    for (uint32_t i = 0; i < self->part_count; i++)
        count += self->lists[i].count;
    ss_triple *items = ss_realloc(NULL, count, sizeof *items);
    if (items == NULL)
        return ss_fail_memory(error, count * sizeof *items);
    *items_out = items;
    *count_out = 0;
    for (uint32_t i = 0; i < self->part_count; i++) {
        match_list *list = &self->lists[i];
        if (list->count > 0)
            memcpy(items + *count_out, list->items, list->count * sizeof *items);
        *count_out += list->count;
        ss_free(list->items);
        *list = (match_list){.items = NULL};
    }
    ss_triple *scratch = ss_realloc(NULL, count, sizeof *scratch);
    if (scratch == NULL)
        return ss_fail_memory(error, count * sizeof *scratch);
    ss_sort_triples(items, scratch, count);
    ss_free(scratch);
    return SSTORE_OK;
}

/* Keep only the first items of each query, at most `limit`. Returns their number. */
static size_t cut_items(ss_triple *items, size_t count, uint64_t limit)
{
    uint64_t taken = 0;
    size_t kept = 0;
    for (size_t i = 0; limit > 0 && i < count; i++) {
        const bool is_same = i > 0 && items[i].first >> DISTANCE_BITS == items[i - 1].first >> DISTANCE_BITS;
        taken = is_same ? taken + 1 : 1;
        if (taken <= limit)
            items[kept++] = items[i];
    }
    return limit > 0 ? kept : count;
}

static sstore_status order_matches(report *self, uint64_t first_index, sstore_match **matches_out, size_t *count_out,
                                   sstore_error *error)
{
    ss_triple *items = NULL;
    size_t count;
    sstore_status status = sort_matches(self, &items, &count, error);
    if (status == SSTORE_OK)
        count = cut_items(items, count, self->batch->limit);
    sstore_match *matches = status == SSTORE_OK ? ss_realloc(NULL, count, sizeof *matches) : NULL;
    if (status == SSTORE_OK && matches == NULL)
        status = ss_fail_memory(error, count * sizeof *matches);
    for (size_t i = 0; status == SSTORE_OK && i < count; i++)
        matches[i] = (sstore_match){.query_index = first_index + (items[i].first >> DISTANCE_BITS),
                                    .fingerprint = items[i].second,
                                    .id = items[i].third,
                                    .distance = (uint32_t)(items[i].first & DISTANCE_MASK)};
    ss_free(items);
    *matches_out = matches;
    *count_out = status == SSTORE_OK ? count : 0;
    return status;
}

sstore_status ss_batch_report(const ss_batch *batch, uint64_t first_index, sstore_match **matches_out,
                              size_t *count_out, sstore_error *error)
{
    report self = {.batch = batch, .room = batch->max_matches};
    *matches_out = NULL;
    *count_out = 0;
    sstore_status status = order_hits(&self, error);
    if (status == SSTORE_OK && batch->store->several_add)
        note_newer(&self);
    self.part_count = (uint32_t)ss_min_u64(PARTS, (self.hit_count + PART_HITS - 1) / PART_HITS);
    if (status == SSTORE_OK)
        status = ss_pool_run(batch->threads, self.part_count, look_up_part, &self, error);
    if (status == SSTORE_OK)
        status = order_matches(&self, first_index, matches_out, count_out, error);
    for (uint32_t i = 0; i < PARTS; i++)
        ss_free(self.lists[i].items);
    ss_free(self.hits);
    ss_free(self.order);
    return status;
}

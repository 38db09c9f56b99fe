/*
 * batch_report.c - from hits in any order to matches in the order of the queries. Hits are looked up in the order of
 * their fingerprints, so that blocks of table 0 and of the ids are read once each; then the matches are dealt out to
 * their queries.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/tasks.h"
#include "read/batch.h"
#include "read/search.h"
#include "sort/radix.h"

#define SHARES 32u      /* of the hits at most, one a task */
#define SHARE_HITS 256u /* in each at least */

/* The matches of one share. */
typedef struct match_list {
    sstore_match *matches;
    size_t count, capacity;
    bool out_of_memory, too_many;
    atomic_size_t *room; /* how many more matches all shares together may have; NULL: any number */
} match_list;

typedef struct report {
    const ss_batch *batch;
    ss_batch_hit *hits;
    sstore_record *order; /* fingerprint, and the hit's index as id: sorted */
    size_t hit_count;
    uint32_t share_count;
    sstore_cursor **cursors; /* one a worker, made when first needed */
    match_list lists[SHARES];
} report;

static int keep_match(void *context, const sstore_match *match)
{
    match_list *list = context;
    if (list->room != NULL && atomic_fetch_sub_explicit(list->room, 1, memory_order_relaxed) - 1 >= SS_ROUND_MATCHES) {
        list->too_many = true; /* it went below 0 */
        return 1;
    }
    sstore_match *matches = ss_grow(list->matches, list->count, &list->capacity, 256, sizeof *matches);
    list->out_of_memory = matches == NULL;
    if (matches == NULL)
        return 1;
    list->matches = matches;
    list->matches[list->count++] = *match;
    return 0;
}

/* The hit at a place of the order, as the look-up of its records wants it. */
static ss_hit hit_at(const report *self, size_t place)
{
    const ss_batch *batch = self->batch;
    const ss_batch_hit *found = &self->hits[self->order[place].id];
    return (ss_hit){.segment = batch->store->segments[found->segment],
                    .segment_number = found->segment,
                    .query = found->query,
                    .fingerprint = found->fingerprint,
                    .distance = sstore_hamming_distance(found->fingerprint, batch->fingerprints[found->query]),
                    .has_rank = found->rank != SS_NO_RANK,
                    .rank = found->rank,
                    .maybe_in_newer = found->maybe_in_newer};
}

/* Whether a hit may be looked up together with the `count` before it. One of the same fingerprint may not: it reads all the ids again,
 * for which the steps of one query are not enough. */
static bool may_join(const report *self, uint32_t count, size_t place)
{
    return count == 0 ||
           (count < SS_HITS_TOGETHER && self->order[place].fingerprint != self->order[place - 1].fingerprint);
}

/* Look up the records of one share of the hits. */
static sstore_status look_up_share(void *context, uint64_t task, uint32_t worker, sstore_error *error)
{
    report *self = context;
    match_list *list = &self->lists[task];
    sstore_status status = SSTORE_OK;
    if (self->cursors[worker] == NULL)
        status = sstore_cursor_create(self->batch->store, &self->cursors[worker], error);
    size_t end = self->hit_count * (task + 1) / self->share_count;
    for (size_t i = self->hit_count * task / self->share_count; status == SSTORE_OK && i < end;) {
        ss_hit hits[SS_HITS_TOGETHER];
        uint32_t count = 0;
        ss_cursor_renew(self->cursors[worker]);
        while (i < end && may_join(self, count, i))
            hits[count++] = hit_at(self, i++);
        status = ss_report_records(self->cursors[worker], hits, count, keep_match, list, error);
        if (list->out_of_memory)
            status = ss_fail_memory(error, 2 * list->capacity * sizeof *list->matches);
    }
    return status;
}

/* Note which hits have a fingerprint that was also found in a newer segment: that one may add the same records. */
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

static sstore_status look_up(report *self, sstore_error *error)
{
    uint32_t threads = self->batch->threads;
    self->share_count = (uint32_t)ss_min_u64(SHARES, (self->hit_count + SHARE_HITS - 1) / SHARE_HITS);
    self->cursors = ss_alloc(threads, sizeof *self->cursors);
    if (self->cursors == NULL)
        return ss_fail_memory(error, threads * sizeof *self->cursors);
    sstore_status status = ss_pool_run(threads, self->share_count, look_up_share, self, error);
    for (uint32_t i = 0; i < threads; i++)
        sstore_cursor_free(self->cursors[i]);
    ss_free(self->cursors);
    return status;
}

/* Bring all workers' hits together, and their order by fingerprint. */
static sstore_status order_hits(report *self, ss_batch_hit **hits_out, sstore_error *error)
{
    const ss_batch *batch = self->batch;
    for (uint32_t i = 0; i < batch->threads; i++)
        self->hit_count += batch->lists[i].count;
    ss_batch_hit *hits = ss_realloc(NULL, self->hit_count, sizeof *hits);
    *hits_out = hits;
    self->hits = hits;
    self->order = ss_realloc(NULL, self->hit_count, sizeof *self->order);
    if (hits == NULL || self->order == NULL)
        return ss_fail_memory(error, self->hit_count * (sizeof *hits + sizeof *self->order));
    size_t at = 0;
    for (uint32_t i = 0; i < batch->threads; i++) {
        const ss_hit_list *list = &batch->lists[i];
        if (list->count > 0)
            memcpy(hits + at, list->hits, list->count * sizeof *hits);
        at += list->count;
    }
    for (size_t i = 0; i < self->hit_count; i++)
        self->order[i] = (sstore_record){.fingerprint = hits[i].fingerprint, .id = i};
    sstore_record *scratch = ss_realloc(NULL, self->hit_count, sizeof *scratch);
    if (scratch == NULL)
        return ss_fail_memory(error, self->hit_count * sizeof *scratch);
    ss_sort_records(self->order, scratch, self->hit_count);
    ss_free(scratch);
    return SSTORE_OK;
}

/* Those of one fingerprint come in the order of their ids. */
static bool in_order(const sstore_match *matches, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (ss_compare_matches(&matches[i - 1], &matches[i]) > 0)
            return false;
    return true;
}

/* Deal the matches out to their queries: sorted[begins[q] .. begins[q + 1] - 1] are those of query q. */
static void deal_out(const report *self, size_t *begins, sstore_match *sorted)
{
    uint32_t count = self->batch->count;
    for (uint32_t share = 0; share < SHARES; share++)
        for (size_t i = 0; i < self->lists[share].count; i++)
            begins[self->lists[share].matches[i].query_index + 1]++;
    for (uint32_t query = 0; query < count; query++)
        begins[query + 1] += begins[query];
    for (uint32_t share = SHARES; share-- > 0;) /* from the back, so that begins[q + 1] ends as the begin of q + 1 */
        for (size_t i = self->lists[share].count; i-- > 0;) {
            const sstore_match *match = &self->lists[share].matches[i];
            sorted[--begins[match->query_index + 1]] = *match;
        }
    for (uint32_t query = 0; query < count; query++) /* each is now where the query's matches begin */
        begins[query] = begins[query + 1];
}

/* Sort the matches of each query. */
static void sort_matches(sstore_match *matches, const size_t *begins, uint32_t count, size_t match_count,
                         uint64_t first_index)
{
    for (uint32_t query = 0; query < count; query++) {
        const size_t begin = begins[query], end = query + 1 < count ? begins[query + 1] : match_count;
        if (!in_order(matches + begin, end - begin))
            qsort(matches + begin, end - begin, sizeof *matches, ss_compare_matches);
    }
    for (size_t i = 0; i < match_count; i++)
        matches[i].query_index += first_index;
}

static sstore_status order_matches(const report *self, size_t match_count, uint64_t first_index,
                                   sstore_match **matches_out, sstore_error *error)
{
    const uint32_t count = self->batch->count;
    size_t *begins = ss_alloc((size_t)count + 1, sizeof *begins);
    sstore_match *matches = ss_realloc(NULL, match_count, sizeof *matches);
    if (begins == NULL || matches == NULL) {
        ss_free(begins);
        ss_free(matches);
        return ss_fail_memory(error, match_count * sizeof *matches);
    }
    deal_out(self, begins, matches);
    sort_matches(matches, begins, count, match_count, first_index);
    ss_free(begins);
    *matches_out = matches;
    return SSTORE_OK;
}

sstore_status ss_batch_report(const ss_batch *batch, uint64_t first_index, bool *too_many_out,
                              sstore_match **matches_out, size_t *count_out, sstore_error *error)
{
    report self = {.batch = batch};
    ss_batch_hit *hits = NULL;
    bool too_many = false;
    size_t count = 0;
    atomic_size_t room = SS_ROUND_MATCHES;
    *matches_out = NULL;
    *count_out = 0;
    for (uint32_t i = 0; i < SHARES; i++)
        self.lists[i].room = batch->count > 1 ? &room : NULL;
    sstore_status status = order_hits(&self, &hits, error);
    if (status == SSTORE_OK && batch->store->several_add)
        note_newer(&self);
    if (status == SSTORE_OK)
        status = look_up(&self, error);
    for (uint32_t i = 0; i < SHARES; i++) {
        count += self.lists[i].count;
        too_many |= self.lists[i].too_many;
    }
    *too_many_out = too_many;
    if (status == SSTORE_OK && too_many)
        status = SSTORE_STOPPED;
    if (status == SSTORE_OK)
        status = order_matches(&self, count, first_index, matches_out, error);
    if (status == SSTORE_OK)
        *count_out = count;
    for (uint32_t i = 0; i < SHARES; i++)
        ss_free(self.lists[i].matches);
    ss_free(hits);
    ss_free(self.order);
    return status;
}

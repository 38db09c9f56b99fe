/*
 * round_report.c - turns hits in any order into matches in the order of the queries. Hits are looked up in the order of
 * their fingerprints, so that each block of table 0 and of the ids is read once. Their matches are then sorted. Threads
 * share the work: hits are looked up by tasks, and to sort, hits are partitioned by their fingerprints, and
 * matches by their queries.
 *
 * Fingerprints of several words are not moved. In the ascending order of all, the place of the first equal one is
 * their key: by keys, hits and matches are compared as those of one word are by the fingerprint.
 */
#include "read/round_report.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/tasks.h"
#include "base/words.h"
#include "read/hit_records.h"
#include "sort/partitions.h"

#define TASKS 32u      /* that look up hits, at most */
#define TASK_HITS 256u /* in each at least */

/* The matches of one task. An item is the query's index and the distance, the key of the fingerprint, and the id: so
 * they are sorted as they are reported. */
typedef struct match_list {
    ss_triple *items;
    size_t count, capacity;
    bool out_of_memory;
} match_list;

typedef struct report {
    ss_round_hits *source;
    const ss_round *round;
    uint32_t words;
    uint32_t distance_bits; /* of an item; 0: it is sorted by the query and the fingerprint alone */
    uint64_t distance_mask; /* these bits */
    ss_hit_list hits;
    ss_record *order; /* a hit's key, and its index as id: sorted */
    ss_record *order_scratch;
    ss_partitions partitions; /* of the items */
    uint32_t task_count;
    match_list lists[TASKS];    /* one a task */
    atomic_llong room;          /* how many more matches all tasks together may have */
    ss_triple *items, *scratch; /* of all tasks */
    size_t item_count;
} report;

/* ----- hits ----- */

static const uint64_t *words_of(const report *self, size_t index)
{
    return self->words > 1 ? self->hits.rows + index * self->words : &self->hits.hits[index].order_key;
}

/* Let the place of the first one of equal fingerprints, which are in order, be their key. */
static void set_keys(const report *self)
{
    for (size_t i = 0; i < self->hits.count; i++) {
        const bool is_same = i > 0 && ss_words_equal(words_of(self, self->order[i].id),
                                                     words_of(self, self->order[i - 1].id), self->words);
        self->order[i].fingerprint = is_same ? self->order[i - 1].fingerprint : i;
    }
    for (size_t i = 0; i < self->hits.count; i++)
        self->hits.hits[self->order[i].id].order_key = self->order[i].fingerprint;
}

/* Sort the order of the hits by fingerprint. */
static sstore_status order_hits(report *self, sstore_error *error)
{
    const size_t count = self->hits.count;
    self->order = ss_realloc(NULL, count, sizeof *self->order);
    self->order_scratch = ss_realloc(NULL, count, sizeof *self->order_scratch);
    if (self->order == NULL || self->order_scratch == NULL)
        return ss_fail_memory(error, 2 * count * sizeof *self->order);
    for (size_t i = 0; i < count; i++)
        self->order_scratch[i] = (ss_record){self->hits.hits[i].order_key, i};
    const sstore_status status = ss_partitions_sort(self->order_scratch, self->order, count, self->hits.rows,
                                                    self->words, self->round->threads, error);
    ss_free(self->order_scratch);
    self->order_scratch = NULL;
    if (self->words > 1)
        set_keys(self);
    return status;
}

/* Note which hits have a fingerprint that was also found in a newer segment, which may add the same records. */
static void note_newer(const report *self)
{
    for (size_t begin = 0, end; begin < self->hits.count; begin = end) {
        const uint64_t key = self->order[begin].fingerprint;
        uint32_t newest = 0;
        for (end = begin; end < self->hits.count && self->order[end].fingerprint == key; end++)
            newest = ss_max_u32(newest, self->hits.hits[self->order[end].id].segment);
        for (size_t i = begin; i < end; i++) {
            ss_round_hit *hit = &self->hits.hits[self->order[i].id];
            hit->maybe_in_newer = hit->segment < newest;
        }
    }
}

/* ----- records ----- */

/* The destination of a look-up's matches. */
typedef struct match_sink {
    report *report;
    match_list *list;
} match_sink;

static int add_match(void *context, const sstore_match *match)
{
    const match_sink *sink = context;
    report *self = sink->report;
    match_list *list = sink->list;
    const uint64_t distance = match->distance & self->distance_mask;
    const uint64_t *row = match->fingerprint;
    const uint64_t key = self->words == 1 ? *row
                                          : self->hits.hits[(size_t)(row - self->hits.rows) / self->words].order_key;
    if (atomic_fetch_sub_explicit(&self->room, 1, memory_order_relaxed) < 1)
        return 1;
    ss_triple *items = ss_grow(list->items, list->count, &list->capacity, 256, sizeof *items);
    list->out_of_memory = items == NULL;
    if (items == NULL)
        return 1;
    list->items = items;
    items[list->count++] = (ss_triple){match->query_index << self->distance_bits | distance, key, match->id};
    return 0;
}

/* The hit at a place of the order, as ss_report_records() takes it. */
static ss_hit hit_at(const report *self, size_t place)
{
    const ss_round *round = self->round;
    const size_t index = self->order[place].id;
    const ss_round_hit *found = &self->hits.hits[index];
    const uint64_t *words = words_of(self, index), *query = round->fingerprints + (size_t)found->query * self->words;
    return (ss_hit){.segment = round->store->segments[found->segment],
                    .segment_number = found->segment,
                    .query_index = found->query,
                    .fingerprint = *words,
                    .words = self->words > 1 ? words : NULL,
                    .distance = ss_words_distance(words, query, self->words),
                    .has_rank = found->rank != SS_NO_RANK,
                    .rank = found->rank,
                    .maybe_in_newer = found->maybe_in_newer};
}

/* Whether a hit may be looked up together with the `count` before it. One of the same fingerprint may not: it reads all
 * ids again, and the steps of one query would not suffice. */
static bool may_join(const report *self, uint32_t count, size_t place)
{
    return count == 0 || (count < SS_HIT_BATCH && self->order[place].fingerprint != self->order[place - 1].fingerprint);
}

/* Look up the records of the hits of a task. STOPPED if all tasks together have too many. */
static sstore_status look_up_task_hits(void *context, uint64_t task, uint32_t worker, sstore_error *error)
{
    report *self = context;
    match_sink sink = {.report = self, .list = &self->lists[task]};
    const size_t end = self->hits.count * (task + 1) / self->task_count;
    sstore_cursor *cursor;
    sstore_status status = ss_cursors_get(&self->source->cursors, worker, &cursor, error);
    const ss_record_sink records = {.cursor = cursor,
                                    .on_match = self->round->counts_only ? NULL : add_match,
                                    .context = &sink,
                                    .limit = self->round->limit,
                                    .counts = self->round->match_counts,
                                    .filter = self->round->filter};
    for (size_t i = self->hits.count * task / self->task_count; status == SSTORE_OK && i < end;) {
        ss_hit hits[SS_HIT_BATCH];
        uint32_t count = 0;
        while (i < end && may_join(self, count, i))
            hits[count++] = hit_at(self, i++);
        ss_cursor_renew(cursor);
        cursor->steps.left += self->words > 1 ? count * cursor->row_hit_steps : 0;
        status = ss_report_records(&records, hits, count, error);
        if (sink.list->out_of_memory)
            status = ss_fail_memory(error, 2 * sink.list->capacity * sizeof *sink.list->items);
    }
    return status;
}

static sstore_status look_up(report *self, sstore_error *error)
{
    self->task_count = (uint32_t)ss_min_u64(TASKS, (self->hits.count + TASK_HITS - 1) / TASK_HITS);
    return ss_pool_run(self->round->threads, self->task_count, look_up_task_hits, self, error);
}

/* ----- matches ----- */

static sstore_status sort_partition(void *context, uint64_t task, uint32_t worker, sstore_error *error)
{
    const report *self = context;
    const size_t first = self->partitions.begins[task];
    (void)worker, (void)error;
    ss_sort_triples(self->items + first, self->scratch + first, self->partitions.begins[task + 1] - first);
    return SSTORE_OK;
}

/* Place the items of all tasks, which are freed, into partitions by their queries. */
static void place_items(report *self)
{
    uint32_t shift = self->distance_bits;
    while ((self->round->count - 1) >> (shift - self->distance_bits) >= SS_PARTITION_COUNT)
        shift++;
    for (uint32_t i = 0; i < self->task_count; i++)
        for (size_t j = 0; j < self->lists[i].count; j++)
            ss_partitions_count(&self->partitions, self->lists[i].items[j].first >> shift);
    ss_partitions_divide(&self->partitions);
    for (uint32_t i = self->task_count; i-- > 0;) {
        match_list *list = &self->lists[i];
        for (size_t j = list->count; j-- > 0;)
            self->items[ss_partitions_place(&self->partitions, list->items[j].first >> shift)] = list->items[j];
        ss_free(list->items);
        *list = (match_list){.items = NULL};
    }
}

/* Gather all tasks' matches, and sort them. */
static sstore_status sort_items(report *self, sstore_error *error)
{
    for (uint32_t i = 0; i < self->task_count; i++)
        self->item_count += self->lists[i].count;
    self->items = ss_realloc(NULL, self->item_count, sizeof *self->items);
    if (self->items == NULL)
        return ss_fail_memory(error, self->item_count * sizeof *self->items);
    place_items(self);
    self->scratch = ss_realloc(NULL, self->item_count, sizeof *self->scratch);
    if (self->scratch == NULL)
        return ss_fail_memory(error, self->item_count * sizeof *self->scratch);
    const sstore_status status = ss_pool_run(self->round->threads, SS_PARTITION_COUNT, sort_partition, self, error);
    ss_free(self->scratch);
    self->scratch = NULL;
    return status;
}

/* Keep only the first items of each query, as many as its limit. */
static void cut_items(report *self)
{
    ss_triple *items = self->items;
    uint64_t taken = 0;
    size_t kept = 0;
    for (size_t i = 0; i < self->item_count; i++) {
        const bool is_same = i > 0 && (items[i].first ^ items[i - 1].first) >> self->distance_bits == 0;
        taken = is_same ? taken + 1 : 1;
        if (taken <= self->round->limit)
            items[kept++] = items[i];
    }
    self->item_count = kept;
}

static sstore_match match_of(const report *self, const ss_triple *item)
{
    const ss_round *round = self->round;
    const uint64_t query = item->first >> self->distance_bits;
    sstore_match match = {.query_index = round->first_index + query,
                          .id = item->third,
                          .distance = (uint32_t)(item->first & self->distance_mask)};
    if (self->words == 1)
        return match;
    match.fingerprint = words_of(self, self->order[item->second].id);
    if (round->by_fingerprint)
        match.distance = ss_words_distance(match.fingerprint, round->fingerprints + query * self->words, self->words);
    return match;
}

/* Turn the items into matches. They point to fingerprints in the hits' rows; those of one word are put into rows. */
static sstore_status give_matches(report *self, ss_round_matches *to, sstore_error *error)
{
    sstore_match *matches = ss_realloc(NULL, self->item_count, sizeof *matches);
    uint64_t *rows = self->hits.rows;
    if (self->words == 1)
        rows = ss_realloc(rows, self->item_count, sizeof *rows);
    if (rows != NULL)
        self->hits.rows = rows;
    if (matches == NULL || rows == NULL) {
        ss_free(matches);
        return ss_fail_memory(error, self->item_count * (sizeof *matches + sizeof *rows));
    }
    for (size_t i = 0; i < self->item_count; i++) {
        matches[i] = match_of(self, &self->items[i]);
        if (self->words == 1) {
            rows[i] = self->items[i].second;
            matches[i].fingerprint = &rows[i];
        }
    }
    *to = (ss_round_matches){.matches = matches, .rows = rows, .count = self->item_count};
    self->hits.rows = NULL;
    return SSTORE_OK;
}

void ss_round_matches_free(ss_round_matches *matches)
{
    ss_free(matches->matches);
    ss_free(matches->rows);
    *matches = (ss_round_matches){.count = 0};
}

static void close_report(const report *self)
{
    for (uint32_t i = 0; i < TASKS; i++)
        ss_free(self->lists[i].items);
    ss_free(self->hits.hits);
    ss_free(self->hits.rows);
    ss_free(self->order);
    ss_free(self->order_scratch);
    ss_free(self->items);
    ss_free(self->scratch);
}

sstore_status ss_round_report(ss_round_hits *hits, ss_round_matches *matches_out, sstore_error *error)
{
    const ss_round *round = hits->round;
    report self = {.source = hits, .round = round, .words = hits->words, .room = round->max_matches};
    while (!round->by_fingerprint && round->distance >> self.distance_bits != 0)
        self.distance_bits++;
    self.distance_mask = ss_low_mask(self.distance_bits);
    *matches_out = (ss_round_matches){.count = 0};
    sstore_status status = ss_round_hits_take(hits, &self.hits, error);
    if (status == SSTORE_OK)
        status = order_hits(&self, error);
    if (status == SSTORE_OK && round->store->several_add)
        note_newer(&self);
    if (status == SSTORE_OK)
        status = look_up(&self, error);
    if (status == SSTORE_OK)
        status = sort_items(&self, error);
    if (status == SSTORE_OK && round->limit > 0)
        cut_items(&self);
    if (status == SSTORE_OK)
        status = give_matches(&self, matches_out, error);
    close_report(&self);
    return status;
}

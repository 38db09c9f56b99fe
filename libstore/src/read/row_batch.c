#include "read/row_batch.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/words.h"
#include "codec/rows.h"
#include "plan/radii.h"
#include "read/batch.h"

#define CANDIDATES ((size_t)1 << 16) /* that are confirmed at once */
#define TASK_CANDIDATES 1024u
#define PREFETCHED 8u   /* candidates ahead */
#define TASK_BLOCKS 16u /* of table 0, in a full scan */
#define TASK_HITS 256u  /* whose records are looked up */
#define FIRST_CAPACITY 256u

/* The memory of one thread. */
typedef struct worker {
    sstore_cursor *cursor; /* NULL until it is needed */
    ss_row_batch_hit *hits;
    size_t hit_count, hit_capacity, hits_before; /* before: of the segments before the current one */
    sstore_match *matches;                       /* `words` is unset: the fingerprints are in rows, in the same order */
    uint64_t *rows;
    size_t match_count, match_capacity;
} worker;

typedef struct run {
    const ss_row_batch *batch;
    uint32_t words;
    worker *workers;
    atomic_llong room; /* how many more hits, or matches, there may be */
    /* While an index is searched: */
    uint32_t segment, word;
    uint64_t *queries; /* the words of the queries */
    uint64_t *candidate_query;
    ss_candidate *candidates;
    size_t candidate_count;
    uint64_t candidates_left; /* of the segment; with more, a full scan takes less time */
    ss_row_batch_hits found;  /* while records are looked up: sorted */
} run;

/* ----- workers ----- */

static sstore_status worker_cursor(const run *self, uint32_t index, sstore_cursor **cursor_out, sstore_error *error)
{
    worker *of = &self->workers[index];
    const sstore_status status = ss_cursor_prepare(self->batch->store, &of->cursor, error);
    *cursor_out = of->cursor;
    return status;
}

static void close_workers(const run *self)
{
    for (uint32_t i = 0; self->workers != NULL && i < self->batch->threads; i++) {
        worker *of = &self->workers[i];
        if (of->cursor != NULL && self->batch->block_count != NULL)
            *self->batch->block_count += of->cursor->steps.block_count;
        sstore_cursor_free(of->cursor);
        ss_free(of->hits);
        ss_free(of->matches);
        ss_free(of->rows);
    }
    ss_free(self->workers);
}

/* Take room for one more. */
static bool take_room(run *self)
{
    return atomic_fetch_sub_explicit(&self->room, 1, memory_order_relaxed) > 0;
}

static sstore_status add_hit(run *self, uint32_t index, uint32_t query, uint64_t rank, sstore_error *error)
{
    worker *of = &self->workers[index];
    if (!take_room(self))
        return SSTORE_STOPPED;
    ss_row_batch_hit *hits = ss_grow(of->hits, of->hit_count, &of->hit_capacity, FIRST_CAPACITY, sizeof *hits);
    if (hits == NULL)
        return ss_fail_memory(error, 2 * of->hit_capacity * sizeof *hits);
    of->hits = hits;
    hits[of->hit_count++] = (ss_row_batch_hit){.query = query, .segment = self->segment, .rank = rank};
    return SSTORE_OK;
}

/* ----- candidates ----- */

/* Whether a fingerprint of a rank is left out, as far as the rank tells. */
static bool is_left_out(const ss_row_batch *batch, uint64_t query, uint64_t rank)
{
    if (batch->ranks != NULL && rank < batch->ranks[query])
        return true;
    return batch->left_out != NULL && (batch->left_out[rank / SS_WORD_BITS] >> rank % SS_WORD_BITS & 1) != 0;
}

/* The same, as far as the fingerprint tells. */
static bool is_below(const run *self, uint64_t query, const uint64_t *row)
{
    const ss_row_batch *batch = self->batch;
    return batch->not_below && batch->ranks == NULL &&
           ss_words_compare(row, batch->fingerprints + query * self->words, self->words) < 0;
}

/* Confirm the candidates of one task. */
static sstore_status confirm(void *context, uint64_t task, uint32_t index, sstore_error *error)
{
    run *self = context;
    const ss_row_batch *batch = self->batch;
    const ss_segment *segment = batch->store->segments[self->segment];
    const size_t begin = (size_t)task * TASK_CANDIDATES,
                 end = (size_t)ss_min_u64(begin + TASK_CANDIDATES, self->candidate_count);
    sstore_cursor *cursor;
    ss_row_hit hit;
    sstore_status status = worker_cursor(self, index, &cursor, error);
    for (size_t i = begin; status == SSTORE_OK && i < end; i++) {
        const ss_row_query query = {batch->fingerprints + self->candidate_query[i] * self->words, batch->distance,
                                    batch->plans[self->segment].radii};
        bool is_hit;
        if (i + PREFETCHED < end)
            ss_row_search_prefetch(segment, self->candidates[i + PREFETCHED].rank);
        if (self->candidates[i].rank < segment->metadata.distinct_count &&
            is_left_out(batch, self->candidate_query[i], self->candidates[i].rank))
            continue;
        ss_cursor_renew(cursor);
        status = ss_row_search_confirm(segment, &self->candidates[i], self->word, &query, &cursor->row_slot, &hit,
                                       &is_hit, error);
        if (status == SSTORE_OK && is_hit && !is_below(self, self->candidate_query[i], hit.fingerprint))
            status = add_hit(self, index, (uint32_t)self->candidate_query[i], hit.rank, error);
    }
    return status;
}

/* A store of the current index alone, as the lower layers see it. */
static sstore index_store(const run *self, ss_segment **segment)
{
    const sstore *store = self->batch->store;
    *segment = store->segments[self->segment]->indexes[self->word];
    return (sstore){.dir = store->dir,
                    .manifest = {.words = 1,
                                 .distance = (*segment)->metadata.plan.distance,
                                 .has_ids = true,
                                 .segment_count = 1,
                                 .segments = &(*segment)->metadata},
                    .options = store->options,
                    .segments = segment};
}

/* Ask on behalf of the search of an index whether to stop. */
static int ask_progress(void *context, const sstore_progress *progress)
{
    (void)progress;
    return ss_progress_add(context, 0, 0) != SSTORE_OK;
}

/* Search the current index by all queries' words, and confirm what it finds. */
static sstore_status search_index(run *self, sstore_error *error)
{
    const ss_row_batch *batch = self->batch;
    const uint32_t radius = (uint32_t)batch->plans[self->segment].radii[self->word];
    const sstore_batch_options options = {.struct_size = sizeof options,
                                          .threads = batch->threads,
                                          .on_progress = ask_progress,
                                          .progress_context = batch->progress,
                                          .block_count = batch->block_count};
    uint64_t *words = ss_realloc(NULL, CANDIDATES, sizeof *words), *ranks = ss_realloc(NULL, CANDIDATES, sizeof *ranks);
    const sstore_match_columns columns = {.struct_size = sizeof columns,
                                          .query_index = self->candidate_query,
                                          .fingerprint = words,
                                          .id = ranks};
    ss_segment *segment;
    const sstore index = index_store(self, &segment);
    sstore_match_iterator *found = NULL;
    for (uint32_t i = 0; i < batch->count; i++)
        self->queries[i] = batch->fingerprints[(size_t)i * self->words + self->word];
    sstore_status status = words != NULL && ranks != NULL ? SSTORE_OK
                                                          : ss_fail_memory(error, 2 * CANDIDATES * sizeof *words);
    if (status == SSTORE_OK)
        status = sstore_match_iterator_create(&index, self->queries, batch->count, radius, &options, &found, error);
    const bool may_be_too_many = batch->max_candidates == 0 && self->candidates_left < SS_ROUND_MATCHES;
    if (status == SSTORE_OK && (may_be_too_many || batch->max_candidates > 0))
        ss_match_iterator_limit(found, may_be_too_many ? self->candidates_left : batch->max_candidates);
    self->candidate_count = 1;
    while (status == SSTORE_OK && self->candidate_count > 0 && self->candidates_left > 0) {
        status = sstore_match_iterator_next(found, &columns, CANDIDATES, &self->candidate_count, error);
        if (status == SSTORE_STOPPED && may_be_too_many) {
            self->candidates_left = 0;
            status = SSTORE_OK;
            break;
        }
        for (size_t i = 0; status == SSTORE_OK && i < self->candidate_count; i++)
            self->candidates[i] = (ss_candidate){.word = words[i], .rank = ranks[i]};
        if (status == SSTORE_OK)
            status = ss_pool_run(batch->threads, (self->candidate_count + TASK_CANDIDATES - 1) / TASK_CANDIDATES,
                                 confirm, self, error);
        if (status == SSTORE_OK)
            status = ss_progress_add(batch->progress, 0, 0);
        self->candidates_left = ss_max_u64(self->candidates_left, self->candidate_count) - self->candidate_count;
    }
    sstore_match_iterator_free(found);
    ss_free(words);
    ss_free(ranks);
    return status;
}

/* ----- full scans ----- */

/* The number of the first queries that a fingerprint is compared with. */
static uint32_t query_end(const run *self, const uint64_t *row)
{
    const ss_row_batch *batch = self->batch;
    uint32_t low = 0, end = batch->count;
    if (!batch->not_below)
        return end;
    while (low < end) {
        const uint32_t middle = low + (end - low) / 2;
        const bool above = ss_words_compare(batch->fingerprints + (size_t)middle * self->words, row, self->words) > 0;
        low = above ? low : middle + 1;
        end = above ? middle : end;
    }
    return low;
}

/* Test all queries against a fingerprint. */
static sstore_status test_row(run *self, uint32_t index, const uint64_t *row, uint64_t rank, ss_block_slot *slot,
                              sstore_error *error)
{
    const ss_row_batch *batch = self->batch;
    const uint32_t end = query_end(self, row);
    sstore_status status = SSTORE_OK;
    bool is_checked = false;
    for (uint32_t query = 0; status == SSTORE_OK && query < end; query++) {
        const uint64_t *other = batch->fingerprints + (size_t)query * self->words;
        if (SS_LIKELY(ss_words_distance(row, other, self->words) > batch->distance) || is_left_out(batch, query, rank))
            continue;
        if (!is_checked)
            status = ss_row_search_check_rank(batch->store->segments[self->segment], row, rank, slot, error);
        is_checked = true;
        if (status == SSTORE_OK)
            status = add_hit(self, index, query, rank, error);
    }
    return status;
}

/* Test all queries against some blocks of table 0. */
static sstore_status scan_blocks(void *context, uint64_t task, uint32_t index, sstore_error *error)
{
    run *self = context;
    const ss_row_batch *batch = self->batch;
    const ss_segment *segment = batch->store->segments[self->segment];
    const ss_checked_blocks *checked = &segment->tables[0].checked;
    const uint32_t capacity = ss_rows_capacity(checked->reader->header.block_bytes, self->words);
    const uint64_t end = ss_min_u64((task + 1) * TASK_BLOCKS, checked->reader->header.block_count);
    sstore_cursor *cursor;
    uint64_t *rows = ss_realloc(NULL, capacity, self->words * sizeof *rows);
    sstore_status status = rows != NULL ? worker_cursor(self, index, &cursor, error)
                                        : ss_fail_memory(error, capacity * self->words * sizeof *rows);
    for (uint64_t number = task * TASK_BLOCKS; status == SSTORE_OK && number < end; number++) {
        const uint32_t count = ss_checked_rows_count(checked, number);
        ss_block_slot *slot = &cursor->row_slot;
        ss_cursor_renew(cursor);
        ss_block_slot_prefetch(slot, checked->reader, number);
        status = ss_block_slot_wait(slot, error);
        if (status == SSTORE_OK)
            status = ss_checked_rows_decode(checked, number, slot->bytes, rows, error);
        for (uint32_t i = 0; status == SSTORE_OK && i < count; i++)
            status = test_row(self, index, rows + (size_t)i * self->words, number * capacity + i, slot, error);
        if (status == SSTORE_OK)
            status = ss_progress_add(batch->progress, index, 0);
    }
    ss_free(rows);
    return status;
}

/* ----- records ----- */

static int compare_hits(const void *left, const void *right)
{
    const ss_row_batch_hit *a = left, *b = right;
    if (a->query != b->query)
        return a->query < b->query ? -1 : 1;
    if (a->segment != b->segment)
        return a->segment < b->segment ? -1 : 1;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

/* The destination of the records of a task. */
typedef struct match_sink {
    run *of;
    worker *to;
    sstore_error *error;
    sstore_status status;
} match_sink;

static int add_match(void *context, const sstore_match *match)
{
    match_sink *sink = context;
    worker *to = sink->to;
    const uint32_t words = sink->of->words;
    size_t capacity = to->match_capacity;
    if (!take_room(sink->of)) {
        sink->status = SSTORE_STOPPED;
        return 1;
    }
    sstore_match *matches = ss_grow(to->matches, to->match_count, &to->match_capacity, FIRST_CAPACITY, sizeof *matches);
    if (matches != NULL)
        to->matches = matches;
    if (matches != NULL && to->match_capacity != capacity) {
        uint64_t *rows = ss_realloc(to->rows, to->match_capacity, words * sizeof *rows);
        to->match_capacity = rows != NULL ? to->match_capacity : capacity;
        to->rows = rows != NULL ? rows : to->rows;
        matches = rows != NULL ? matches : NULL;
    }
    if (matches == NULL) {
        sink->status = ss_fail_memory(sink->error, 2 * capacity * (sizeof *matches + words * sizeof(uint64_t)));
        return 1;
    }
    ss_words_copy(to->rows + to->match_count * words, match->words, words);
    to->matches[to->match_count++] = *match;
    return 0;
}

/* Look up the records of the hits of one task. */
static sstore_status look_up(void *context, uint64_t task, uint32_t index, sstore_error *error)
{
    run *self = context;
    const ss_row_batch *batch = self->batch;
    const size_t begin = (size_t)task * TASK_HITS, end = (size_t)ss_min_u64(begin + TASK_HITS, self->found.count);
    match_sink sink = {.of = self, .to = &self->workers[index], .error = error};
    sstore_cursor *cursor;
    sstore_status status = worker_cursor(self, index, &cursor, error);
    for (size_t i = begin; status == SSTORE_OK && i < end; i++) {
        const ss_row_batch_hit *from = &self->found.hits[i];
        ss_row_hit hit = {.segment = batch->store->segments[from->segment],
                          .segment_number = from->segment,
                          .rank = from->rank};
        ss_cursor_renew(cursor);
        status = ss_row_search_load_rank(hit.segment, hit.rank, &cursor->row_slot, hit.fingerprint, error);
        hit.distance = ss_words_distance(hit.fingerprint, batch->fingerprints + (size_t)from->query * self->words,
                                         self->words);
        if (status == SSTORE_OK)
            status = ss_row_search_report(cursor, &hit, batch->first_index + from->query, add_match, &sink, error);
        if (sink.status != SSTORE_OK)
            status = sink.status;
    }
    return status;
}

/* Gather the hits of all workers. */
static sstore_status gather_hits(const run *self, ss_row_batch_hits *hits_out, sstore_error *error)
{
    size_t count = 0, at = 0;
    for (uint32_t i = 0; i < self->batch->threads; i++)
        count += self->workers[i].hit_count;
    hits_out->count = count;
    hits_out->hits = ss_realloc(NULL, count, sizeof *hits_out->hits);
    if (hits_out->hits == NULL)
        return ss_fail_memory(error, count * sizeof *hits_out->hits);
    for (uint32_t i = 0; i < self->batch->threads; i++) {
        worker *of = &self->workers[i];
        if (of->hit_count > 0)
            memcpy(hits_out->hits + at, of->hits, of->hit_count * sizeof *of->hits);
        at += of->hit_count;
        ss_free(of->hits);
        of->hits = NULL;
    }
    return SSTORE_OK;
}

/* By query, and then as the matches of a query are reported. */
static int compare_matches(const void *left, const void *right, void *context)
{
    const sstore_match *a = left, *b = right;
    run *self = context;
    if (a->query_index != b->query_index)
        return a->query_index < b->query_index ? -1 : 1;
    if (!self->batch->in_order)
        return ss_compare_row_matches(left, right, &self->words);
    const int order = ss_words_compare(a->words, b->words, self->words);
    return order != 0 ? order : (a->id > b->id) - (a->id < b->id);
}

static sstore_status gather_matches(run *self, ss_row_batch_matches *matches_out, sstore_error *error)
{
    const size_t row_bytes = self->words * sizeof(uint64_t);
    size_t count = 0, at = 0;
    for (uint32_t i = 0; i < self->batch->threads; i++)
        count += self->workers[i].match_count;
    *matches_out = (ss_row_batch_matches){.matches = ss_realloc(NULL, count, sizeof(sstore_match)),
                                          .rows = ss_realloc(NULL, count, row_bytes),
                                          .count = count};
    if (matches_out->matches == NULL || matches_out->rows == NULL) {
        ss_row_batch_matches_free(matches_out);
        return ss_fail_memory(error, count * (sizeof(sstore_match) + row_bytes));
    }
    for (uint32_t i = 0; i < self->batch->threads; i++) {
        const worker *of = &self->workers[i];
        for (size_t j = 0; j < of->match_count; j++, at++) {
            uint64_t *row = matches_out->rows + at * self->words;
            ss_words_copy(row, of->rows + j * self->words, self->words);
            matches_out->matches[at] = of->matches[j];
            matches_out->matches[at].words = row;
        }
    }
    qsort_r(matches_out->matches, count, sizeof *matches_out->matches, compare_matches, self);
    return SSTORE_OK;
}

/* ----- a round ----- */

/* Read all fingerprints of the segment, and forget the hits that its words have found. */
static sstore_status scan_segment(run *self, sstore_error *error)
{
    const ss_row_batch *batch = self->batch;
    const uint64_t blocks = batch->store->manifest.segments[self->segment].tables[0].block_count;
    for (uint32_t i = 0; i < batch->threads; i++) {
        worker *of = &self->workers[i];
        self->room += (long long)(of->hit_count - of->hits_before);
        of->hit_count = of->hits_before;
    }
    return ss_pool_run(batch->threads, (blocks + TASK_BLOCKS - 1) / TASK_BLOCKS, scan_blocks, self, error);
}

static sstore_status find_in_segment(run *self, sstore_error *error)
{
    const ss_row_batch *batch = self->batch;
    const ss_row_plan *plan = &batch->plans[self->segment];
    const uint64_t each = ss_row_search_max_candidates(batch->store, plan);
    sstore_status status = SSTORE_OK;
    for (uint32_t i = 0; i < batch->threads; i++)
        self->workers[i].hits_before = self->workers[i].hit_count;
    self->candidates_left = plan->full_scan ? 0 : each < UINT64_MAX / batch->count ? each * batch->count : UINT64_MAX;
    for (self->word = 0; status == SSTORE_OK && self->candidates_left > 0 && self->word < self->words; self->word++)
        if (plan->radii[self->word] != SS_NO_PROBE)
            status = search_index(self, error);
    return status == SSTORE_OK && self->candidates_left == 0 ? scan_segment(self, error) : status;
}

static sstore_status open_run(run *self, const ss_row_batch *batch, sstore_error *error)
{
    *self = (run){.batch = batch, .words = batch->store->manifest.words, .room = batch->max_matches};
    self->workers = ss_alloc(batch->threads, sizeof *self->workers);
    return self->workers != NULL ? SSTORE_OK : ss_fail_memory(error, batch->threads * sizeof *self->workers);
}

static sstore_status find_in_segments(run *self, sstore_error *error)
{
    const sstore *store = self->batch->store;
    const uint32_t count = self->batch->count;
    self->queries = ss_realloc(NULL, count, sizeof *self->queries);
    self->candidate_query = ss_realloc(NULL, CANDIDATES, sizeof *self->candidate_query);
    self->candidates = ss_realloc(NULL, CANDIDATES, sizeof *self->candidates);
    sstore_status status = SSTORE_OK;
    if (self->queries == NULL || self->candidate_query == NULL || self->candidates == NULL)
        status = ss_fail_memory(error, count * sizeof *self->queries + CANDIDATES * 3 * sizeof(uint64_t));
    for (self->segment = 0; status == SSTORE_OK && self->segment < store->manifest.segment_count; self->segment++)
        if (!ss_segment_removes(store->segments[self->segment]))
            status = find_in_segment(self, error);
    ss_free(self->queries);
    ss_free(self->candidate_query);
    ss_free(self->candidates);
    return status;
}

sstore_status ss_row_batch_find_hits(const ss_row_batch *batch, ss_row_batch_hits *hits_out, sstore_error *error)
{
    run self;
    sstore_status status = open_run(&self, batch, error);
    if (status == SSTORE_OK)
        status = find_in_segments(&self, error);
    if (status == SSTORE_OK)
        status = gather_hits(&self, hits_out, error);
    close_workers(&self);
    return status;
}

sstore_status ss_row_batch_find(const ss_row_batch *batch, ss_row_batch_matches *matches_out, sstore_error *error)
{
    run self;
    *matches_out = (ss_row_batch_matches){.count = 0};
    sstore_status status = open_run(&self, batch, error);
    if (status == SSTORE_OK)
        status = find_in_segments(&self, error);
    if (status == SSTORE_OK)
        status = gather_hits(&self, &self.found, error);
    atomic_store(&self.room, batch->max_matches);
    if (status == SSTORE_OK) { /* so that fingerprints and ids are read in order for each query */
        qsort(self.found.hits, self.found.count, sizeof *self.found.hits, compare_hits);
        status = ss_pool_run(batch->threads, (self.found.count + TASK_HITS - 1) / TASK_HITS, look_up, &self, error);
    }
    if (status == SSTORE_OK)
        status = gather_matches(&self, matches_out, error);
    close_workers(&self);
    ss_free(self.found.hits);
    return status;
}

void ss_row_batch_matches_free(ss_row_batch_matches *matches)
{
    ss_free(matches->matches);
    ss_free(matches->rows);
    *matches = (ss_row_batch_matches){.count = 0};
}

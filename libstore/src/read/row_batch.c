#include "read/row_batch.h"

#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/words.h"
#include "codec/rows.h"
#include "plan/durations.h"
#include "read/index_batch.h"
#include "read/row_search.h"
#include "sort/radix.h"

#define WAITING_HITS 8192u /* of a word index and a thread, until their ranks are looked up */
#define CANDIDATES 1024u   /* that a thread confirms at once */
#define PREFETCHED 8u      /* candidates ahead */
#define TASK_BLOCKS 16u    /* of table 0, in a full scan */
#define TASK_QUERIES 256u  /* that are looked up as a whole */
#define SLICE 256u         /* fingerprints that are tested at once, */
#define QUERY_BATCH 4096u  /* against so many queries, before the next ones: so they stay in a cache */

/* What a thread has found in the current word index. */
typedef struct word_hits {
    uint32_t count, candidate_count;
    ss_index_hit hits[WAITING_HITS];
    ss_record order[2 * WAITING_HITS];   /* word, and the hit's index as id; the second half is scratch */
    ss_candidate candidates[CANDIDATES]; /* from their ranks, */
    uint32_t queries[CANDIDATES];        /* and the query of each */
} word_hits;

/* The search of the current segment. */
typedef struct row_batch {
    ss_batch_hits *hits;
    const ss_batch *batch;
    const ss_segment *segment;
    const ss_segment_plan *plan;
    uint32_t words;
    /* While its word indexes are searched: */
    uint32_t word;
    uint64_t *queries;      /* the words of the queries */
    ss_index_batch index;   /* of these */
    word_hits **waiting;    /* one a thread, NULL until it is needed */
    atomic_llong budget_ns; /* estimated nanoseconds until comparing all takes less time */
    /* While all are compared: */
    const ss_kernels *kernels;
} row_batch;

static sstore_status get_cursor(const row_batch *self, uint32_t worker, sstore_cursor **cursor_out, sstore_error *error)
{
    return ss_cursors_get(&self->hits->cursors, worker, cursor_out, error);
}

static const uint64_t *query_at(const row_batch *self, uint64_t query)
{
    return self->batch->fingerprints + query * self->words;
}

/* ----- candidates ----- */

/* Whether the rank of a fingerprint tells that it is below the query, and so left out. */
static bool is_left_out(const ss_batch *batch, uint64_t query, uint64_t rank)
{
    return batch->ranks != NULL && rank < batch->ranks[query];
}

/* Whether a fingerprint is left out because it is below the query. */
static bool is_below(const row_batch *self, uint64_t query, const uint64_t *row)
{
    const ss_batch *batch = self->batch;
    return batch->not_below && batch->ranks == NULL && ss_words_compare(row, query_at(self, query), self->words) < 0;
}

/* Confirm the gathered candidates. */
static sstore_status confirm(row_batch *self, word_hits *from, uint32_t index, sstore_error *error)
{
    const ss_batch *batch = self->batch;
    const ss_segment *segment = self->segment;
    const uint32_t count = from->candidate_count;
    sstore_cursor *cursor;
    ss_row_hit hit;
    sstore_status status = get_cursor(self, index, &cursor, error);
    from->candidate_count = 0;
    for (uint32_t i = 0; status == SSTORE_OK && i < count; i++) {
        const ss_candidate *candidate = &from->candidates[i];
        const uint32_t query = from->queries[i];
        const ss_row_query searched = {query_at(self, query), batch->distance, self->plan->radii};
        bool is_hit;
        if (i + PREFETCHED < count)
            ss_row_search_prefetch(segment, from->candidates[i + PREFETCHED].rank);
        if (candidate->rank < segment->metadata.distinct_count && is_left_out(batch, query, candidate->rank))
            continue;
        ss_cursor_renew(cursor);
        status = ss_row_search_confirm(segment, candidate, self->word, &searched, &cursor->row_slot, &hit, &is_hit,
                                       error);
        if (status == SSTORE_OK && is_hit && !is_below(self, query, hit.fingerprint))
            status = ss_batch_hits_add(self->hits, index, query, hit.rank, hit.fingerprint, error);
    }
    if (status == SSTORE_OK)
        status = ss_index_batch_spend(&self->index, count * SS_ROW_CANDIDATE_NS);
    return status == SSTORE_OK ? ss_progress_add(batch->progress, index, 0) : status;
}

/* The destination of the ranks of words. */
typedef struct rank_sink {
    row_batch *batch;
    word_hits *from;
    uint32_t index; /* of the thread */
    sstore_status status;
    sstore_error *error;
} rank_sink;

/* Gather a rank of a word as a candidate of each query that has found the word. */
static int add_candidates(void *context, const sstore_match *match)
{
    rank_sink *sink = context;
    word_hits *from = sink->from;
    for (uint32_t i = (uint32_t)match->query_index;
         sink->status == SSTORE_OK && i < from->count && from->order[i].fingerprint == *match->fingerprint; i++) {
        from->candidates[from->candidate_count] = (ss_candidate){.word = *match->fingerprint, .rank = match->id};
        from->queries[from->candidate_count++] = from->hits[from->order[i].id].query;
        if (from->candidate_count == CANDIDATES)
            sink->status = confirm(sink->batch, from, sink->index, sink->error);
    }
    return sink->status != SSTORE_OK;
}

/* Take the next distinct words that were found, to look up their ranks together. Their queries are those of their
 * places in the order. Returns their number. */
static uint32_t take_found(const row_batch *self, const word_hits *from, uint32_t *at, ss_hit *words)
{
    uint32_t count = 0;
    while (*at < from->count && count < SS_HIT_BATCH) {
        const ss_index_hit *hit = &from->hits[from->order[*at].id];
        words[count++] = (ss_hit){.segment = self->index.index,
                                  .segment_number = UINT32_MAX, /* no newer segment has records of a word index */
                                  .query = *at,
                                  .fingerprint = hit->fingerprint,
                                  .has_rank = hit->rank != SS_NO_RANK,
                                  .rank = hit->rank};
        while (++*at < from->count && from->order[*at].fingerprint == hit->fingerprint)
            ;
    }
    return count;
}

/* Find the fingerprints that have the words which were found, each word once, and confirm them. */
static sstore_status look_up_words(row_batch *self, word_hits *from, uint32_t index, sstore_error *error)
{
    rank_sink sink = {.batch = self, .from = from, .index = index, .error = error};
    sstore_cursor *cursor;
    sstore_status status = get_cursor(self, index, &cursor, error);
    const ss_record_sink records = {.cursor = cursor, .on_match = add_candidates, .context = &sink};
    for (uint32_t i = 0; i < from->count; i++)
        from->order[i] = (ss_record){from->hits[i].fingerprint, i};
    ss_sort_records(from->order, from->order + WAITING_HITS, from->count);
    for (uint32_t at = 0; status == SSTORE_OK && at < from->count;) {
        ss_hit words[SS_HIT_BATCH];
        const uint32_t count = take_found(self, from, &at, words);
        ss_cursor_renew(cursor);
        status = ss_report_records(&records, words, count, error);
        if (sink.status != SSTORE_OK)
            status = sink.status;
    }
    from->count = 0;
    return status == SSTORE_OK ? confirm(self, from, index, error) : status;
}

static sstore_status add_word(void *context, uint32_t index, const ss_index_hit *hit, sstore_error *error)
{
    row_batch *self = context;
    word_hits *to = self->waiting[index];
    if (to == NULL && (to = self->waiting[index] = ss_alloc(1, sizeof *to)) == NULL)
        return ss_fail_memory(error, sizeof *to);
    to->hits[to->count++] = *hit;
    return to->count == WAITING_HITS ? look_up_words(self, to, index, error) : SSTORE_OK;
}

/* Look up the words that a thread has left. */
static sstore_status look_up_rest(void *context, uint64_t task, uint32_t index, sstore_error *error)
{
    row_batch *self = context;
    word_hits *from = self->waiting[task];
    return from != NULL ? look_up_words(self, from, index, error) : SSTORE_OK;
}

/* Set the index to search, and the queries' words for it. */
static void choose_word(row_batch *self, uint32_t word, atomic_llong *budget_ns)
{
    const ss_batch *batch = self->batch;
    for (uint32_t i = 0; i < batch->count; i++)
        self->queries[i] = batch->fingerprints[(size_t)i * self->words + word];
    self->word = word;
    self->index = (ss_index_batch){.index = self->segment->indexes[word],
                                   .plan = &self->plan->indexes[word],
                                   .queries = self->queries,
                                   .count = batch->count,
                                   .distance = (uint32_t)self->plan->radii[word],
                                   .threads = batch->threads,
                                   .cursors = &self->hits->cursors,
                                   .on_hit = add_word,
                                   .context = self,
                                   .budget_ns = budget_ns,
                                   .block_count = batch->block_count,
                                   .progress = batch->progress};
}

/* Search the word indexes, and confirm what they find. STOPPED if the budget is spent. */
static sstore_status search_words(row_batch *self, atomic_llong *budget_ns, sstore_error *error)
{
    const ss_batch *batch = self->batch;
    sstore_status status = SSTORE_OK;
    for (uint32_t word = 0; status == SSTORE_OK && word < self->words; word++) {
        double cost;
        if (self->plan->radii[word] == SS_NO_PROBE)
            continue;
        choose_word(self, word, budget_ns);
        status = ss_index_batch_run(&self->index, ss_index_batch_choose(&self->index, &cost), error);
        if (status == SSTORE_OK)
            status = ss_pool_run(batch->threads, batch->threads, look_up_rest, self, error);
    }
    return status;
}

/* ----- equal fingerprints ----- */

/* Look up the queries of one task as they are. */
static sstore_status find_equal(void *context, uint64_t task, uint32_t index, sstore_error *error)
{
    row_batch *self = context;
    const ss_batch *batch = self->batch;
    const uint32_t begin = (uint32_t)task * TASK_QUERIES, end = ss_min_u32(begin + TASK_QUERIES, batch->count);
    sstore_cursor *cursor;
    sstore_status status = get_cursor(self, index, &cursor, error);
    for (uint32_t query = begin; status == SSTORE_OK && query < end; query++) {
        const uint64_t *fingerprint = query_at(self, query);
        uint64_t rank;
        ss_cursor_renew(cursor);
        status = ss_find_row(self->segment, fingerprint, &cursor->row_slot, &rank, error);
        if (status == SSTORE_OK && rank != SS_NO_RANK && !is_left_out(batch, query, rank))
            status = ss_batch_hits_add(self->hits, index, query, rank, fingerprint, error);
    }
    return status == SSTORE_OK ? ss_progress_add(batch->progress, index, 0) : status;
}

/* ----- comparing all ----- */

/* The number of the first queries that a fingerprint is compared with. */
static uint32_t query_end(const row_batch *self, const uint64_t *row)
{
    const ss_batch *batch = self->batch;
    uint32_t low = 0, end = batch->count;
    if (!batch->not_below)
        return end;
    while (low < end) {
        const uint32_t middle = low + (end - low) / 2;
        const bool above = ss_words_compare(query_at(self, middle), row, self->words) > 0;
        low = above ? low : middle + 1;
        end = above ? middle : end;
    }
    return low;
}

/* Some fingerprints of a block, one after the other. */
typedef struct row_slice {
    const uint64_t *rows;
    uint32_t count;
    uint64_t rank;                          /* of the first one */
    uint64_t checked[SLICE / SS_WORD_BITS]; /* by bits: which ones have only their own rank */
} row_slice;

/* Add a fingerprint that is near a query, unless it is left out. */
static sstore_status add_near(row_batch *self, uint32_t index, uint32_t query, row_slice *slice, uint32_t at,
                              ss_block_slot *slot, sstore_error *error)
{
    const uint64_t *row = slice->rows + (size_t)at * self->words, rank = slice->rank + at;
    uint64_t *checked = &slice->checked[at / SS_WORD_BITS];
    sstore_status status = SSTORE_OK;
    if (is_left_out(self->batch, query, rank) || is_below(self, query, row))
        return SSTORE_OK;
    if ((*checked >> at % SS_WORD_BITS & 1) == 0)
        status = ss_row_search_check_rank(self->segment, row, rank, slot, error);
    *checked |= UINT64_C(1) << at % SS_WORD_BITS;
    return status == SSTORE_OK ? ss_batch_hits_add(self->hits, index, query, rank, row, error) : status;
}

/* The number of records of some fingerprints of a slice. */
static uint64_t count_records(const ss_first_hits *first, const row_slice *slice, uint32_t count, const uint32_t *found)
{
    uint64_t records = 0;
    for (uint32_t i = 0; first->records != NULL && i < count; i++)
        records += ss_first_hits_records(first, slice->rank + found[i]);
    return first->records != NULL ? records : count;
}

/* Of the `count` fingerprints found near a query, keep those that may have to be stored, and count the others. Returns
 * the number of those that are kept. */
static uint32_t skip_hits(const row_batch *self, const row_slice *slice, uint32_t query, uint32_t count,
                          uint32_t *found)
{
    const ss_first_hits *first = &self->hits->first;
    if (!first->skips || count == 0)
        return count;
    const int32_t bound = ss_first_hits_bound(first, query, self->batch->distance);
    const uint64_t records = count_records(first, slice, count, found);
    uint32_t kept = bound < 0 ? 0 : count;
    if (bound >= 0 && (uint32_t)bound < self->batch->distance)
        kept = self->kernels->near_rows(slice->rows, slice->count, self->words, query_at(self, query), (uint32_t)bound,
                                        found);
    ss_first_hits_skip(first, query, records - count_records(first, slice, kept, found));
    return kept;
}

/* Test the queries `begin` to `end` - 1 against some fingerprints. */
static sstore_status test_slice(row_batch *self, uint32_t index, row_slice *slice, uint32_t begin, uint32_t end,
                                ss_block_slot *slot, sstore_error *error)
{
    uint32_t hits[SLICE];
    sstore_status status = SSTORE_OK;
    end = ss_min_u32(end, query_end(self, slice->rows + (size_t)(slice->count - 1) * self->words));
    for (uint32_t query = begin; status == SSTORE_OK && query < end; query++) {
        const uint32_t found = self->kernels->near_rows(slice->rows, slice->count, self->words, query_at(self, query),
                                                        self->batch->distance, hits);
        const uint32_t kept = skip_hits(self, slice, query, found, hits);
        for (uint32_t i = 0; status == SSTORE_OK && i < kept; i++)
            status = add_near(self, index, query, slice, hits[i], slot, error);
    }
    return status;
}

/* Test all queries against the `count` fingerprints of a block. */
static sstore_status test_block(row_batch *self, uint32_t index, const uint64_t *rows, uint32_t count, uint64_t rank,
                                ss_block_slot *slot, sstore_error *error)
{
    const ss_batch *batch = self->batch;
    sstore_status status = SSTORE_OK;
    for (uint32_t first = 0; first < count; first += SLICE) {
        row_slice slice = {.rows = rows + (size_t)first * self->words,
                           .count = ss_min_u32(count - first, SLICE),
                           .rank = rank + first};
        for (uint32_t begin = 0; status == SSTORE_OK && begin < batch->count; begin += QUERY_BATCH) {
            status = test_slice(self, index, &slice, begin, ss_min_u32(begin + QUERY_BATCH, batch->count), slot, error);
            if (status == SSTORE_OK)
                status = ss_progress_add(batch->progress, index, 0);
        }
    }
    return status;
}

/* Test all queries against some blocks of table 0. */
static sstore_status scan_blocks(void *context, uint64_t task, uint32_t index, sstore_error *error)
{
    row_batch *self = context;
    const ss_batch *batch = self->batch;
    const ss_segment *segment = self->segment;
    const ss_checked_blocks *checked = &segment->tables[0].checked;
    const uint32_t capacity = ss_rows_capacity(checked->reader->header.block_bytes, self->words);
    const uint64_t end = ss_min_u64((task + 1) * TASK_BLOCKS, checked->reader->header.block_count);
    sstore_cursor *cursor;
    uint64_t *rows = ss_realloc(NULL, capacity, self->words * sizeof *rows);
    sstore_status status = rows != NULL ? get_cursor(self, index, &cursor, error)
                                        : ss_fail_memory(error, capacity * self->words * sizeof *rows);
    for (uint64_t number = task * TASK_BLOCKS; status == SSTORE_OK && number < end; number++) {
        const uint32_t count = ss_checked_rows_count(checked, number);
        ss_block_slot *slot = &cursor->row_slot;
        if (batch->ranks != NULL && number * capacity + count <= batch->ranks[0])
            continue; /* all are below the first query */
        ss_cursor_renew(cursor);
        ss_block_slot_prefetch(slot, checked->reader, number);
        status = ss_block_slot_wait(slot, error);
        if (status == SSTORE_OK)
            status = ss_checked_rows_decode(checked, number, slot->bytes, rows, error);
        if (status == SSTORE_OK)
            status = test_block(self, index, rows, count, number * capacity, slot, error);
    }
    ss_free(rows);
    return status;
}

/* ----- a segment ----- */

/* Compare all queries with all fingerprints of the segment. */
static sstore_status scan_segment(row_batch *self, sstore_error *error)
{
    const uint64_t blocks = self->segment->metadata.tables[0].block_count;
    const sstore_status status = ss_batch_hits_skip(self->hits, true, error);
    self->kernels = ss_kernels_best();
    return status == SSTORE_OK
               ? ss_pool_run(self->batch->threads, (blocks + TASK_BLOCKS - 1) / TASK_BLOCKS, scan_blocks, self, error)
               : status;
}

/* About the nanoseconds of comparing all queries with all fingerprints of the segment, except those that are left
 * out. */
static double compare_all_ns(const row_batch *self)
{
    const ss_batch *batch = self->batch;
    const double rows = (double)self->segment->metadata.distinct_count;
    double pairs = batch->count * rows;
    if (batch->not_below && batch->ranks == NULL)
        pairs /= 2;
    for (uint32_t i = 0; batch->ranks != NULL && i < batch->count; i++)
        pairs -= (double)batch->ranks[i];
    return pairs * (SS_ROW_TEST_NS + SS_ROW_TEST_WORD_NS * self->words);
}

/* About the nanoseconds of searching the word indexes, without their candidates. */
static double search_ns(row_batch *self)
{
    double sum = 0, ns;
    for (uint32_t word = 0; word < self->words; word++) {
        if (self->plan->radii[word] == SS_NO_PROBE)
            continue;
        choose_word(self, word, NULL);
        (void)ss_index_batch_choose(&self->index, &ns);
        sum += ns;
    }
    return sum;
}

/* Choose how to find the fingerprints of a segment. Whatever their words are, the work is at most a small multiple of
 * comparing all: the word indexes are searched only if that is expected to take less time, and until that and their
 * candidates have taken as long. */
static sstore_status find(row_batch *self, sstore_error *error)
{
    const ss_batch *batch = self->batch;
    const bool may_choose = batch->store->options.strategy == SSTORE_STRATEGY_AUTO;
    if (may_choose && batch->distance == 0)
        return ss_pool_run(batch->threads, (batch->count + TASK_QUERIES - 1) / TASK_QUERIES, find_equal, self, error);
    const double all_ns = compare_all_ns(self);
    if (self->plan->full_scan || (may_choose && search_ns(self) >= all_ns))
        return scan_segment(self, error);
    self->budget_ns = (long long)fmin(all_ns, 1e18);
    const sstore_status status = search_words(self, may_choose ? &self->budget_ns : NULL, error);
    if (status != SSTORE_STOPPED || !may_choose || self->budget_ns > 0 || atomic_load(&batch->progress->stopped))
        return status;
    ss_batch_hits_forget(self->hits);
    return scan_segment(self, error);
}

sstore_status ss_row_batch_find(ss_batch_hits *hits, sstore_error *error)
{
    const ss_batch *batch = hits->batch;
    row_batch self = {.hits = hits,
                      .batch = batch,
                      .segment = batch->store->segments[hits->segment],
                      .plan = &batch->plans[hits->segment],
                      .words = hits->words};
    self.queries = ss_realloc(NULL, batch->count, sizeof *self.queries);
    self.waiting = ss_alloc(batch->threads, sizeof *self.waiting);
    const sstore_status status = self.queries != NULL && self.waiting != NULL
                                     ? find(&self, error)
                                     : ss_fail_memory(error, batch->count * sizeof *self.queries);
    for (uint32_t i = 0; self.waiting != NULL && i < batch->threads; i++)
        ss_free(self.waiting[i]);
    ss_free(self.waiting);
    ss_free(self.queries);
    return status;
}

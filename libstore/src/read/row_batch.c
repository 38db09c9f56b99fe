#include "read/row_batch.h"

#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/words.h"
#include "codec/rows.h"
#include "plan/durations.h"
#include "read/hit_records.h"
#include "read/index_batch.h"
#include "read/row_scan.h"
#include "sort/radix.h"

#define WAITING_WORDS 8192u /* of a word index and a thread, until their ranks are looked up */
#define CANDIDATES 1024u    /* that a thread confirms at once */
#define PREFETCHED 8u       /* candidates ahead */
#define TASK_BLOCKS 16u     /* of table 0, in a full scan */
#define TASK_QUERIES 256u   /* that are looked up as a whole */
#define QUERY_BATCH 4096u   /* that a slice is tested against, between two looks at the progress */

/* What a thread has found in the current word index. */
typedef struct found_words {
    uint32_t count, candidate_count;
    ss_index_hit hits[WAITING_WORDS];
    ss_record order[2 * WAITING_WORDS];  /* word, and the hit's index as id; the second half is scratch */
    ss_candidate candidates[CANDIDATES]; /* from their ranks */
} found_words;

/* The search of the current segment. */
typedef struct row_batch {
    ss_round_hits *hits;
    const ss_round *round;
    const ss_segment *segment;
    const ss_segment_plan *plan;
    uint32_t words;
    /* While its word indexes are searched: */
    uint32_t word;
    uint64_t *queries;      /* the words of the queries */
    ss_index_batch index;   /* of these */
    found_words **waiting;  /* one a thread, NULL until it is needed */
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
    return self->round->fingerprints + query * self->words;
}

/* ----- candidates ----- */

/* Confirm the gathered candidates. */
static sstore_status confirm(row_batch *self, found_words *from, uint32_t index, sstore_error *error)
{
    const ss_round *round = self->round;
    const ss_segment *segment = self->segment;
    const uint32_t count = from->candidate_count;
    sstore_cursor *cursor;
    ss_row_hit hit;
    sstore_status status = get_cursor(self, index, &cursor, error);
    from->candidate_count = 0;
    for (uint32_t i = 0; status == SSTORE_OK && i < count; i++) {
        const ss_candidate *candidate = &from->candidates[i];
        const uint32_t query = candidate->query;
        const ss_row_query searched = {query_at(self, query), round->distance, self->plan->radii};
        bool is_hit;
        if (i + PREFETCHED < count)
            ss_candidate_prefetch(segment, from->candidates[i + PREFETCHED].rank);
        ss_cursor_renew(cursor);
        status = ss_candidate_confirm(segment, candidate, &searched, &cursor->row_slot, &hit, &is_hit, error);
        if (status == SSTORE_OK && is_hit)
            status = ss_round_hits_add(self->hits, index, query, hit.rank, hit.fingerprint, error);
    }
    if (status == SSTORE_OK)
        status = ss_index_batch_spend(&self->index, count * SS_ROW_CANDIDATE_NS);
    return status == SSTORE_OK ? ss_progress_add(round->progress, index, 0) : status;
}

/* The destination of the ranks of words. */
typedef struct rank_sink {
    row_batch *batch;
    found_words *from;
    uint32_t index; /* of the thread */
    sstore_status status;
    sstore_error *error;
} rank_sink;

/* Gather a rank of a word as a candidate of each query that has found the word. */
static int add_candidates(void *context, const sstore_match *match)
{
    rank_sink *sink = context;
    found_words *from = sink->from;
    for (uint32_t i = (uint32_t)match->query_index;
         sink->status == SSTORE_OK && i < from->count && from->order[i].fingerprint == *match->fingerprint; i++) {
        from->candidates[from->candidate_count++] = (ss_candidate){.word = *match->fingerprint,
                                                                   .rank = match->id,
                                                                   .word_number = sink->batch->word,
                                                                   .query = from->hits[from->order[i].id].query};
        if (from->candidate_count == CANDIDATES)
            sink->status = confirm(sink->batch, from, sink->index, sink->error);
    }
    return sink->status != SSTORE_OK;
}

/* Take the next distinct words that were found, to look up their ranks together. Their queries are those of their
 * places in the order. Returns their number. */
static uint32_t take_found(const row_batch *self, const found_words *from, uint32_t *at, ss_hit *words)
{
    uint32_t count = 0;
    while (*at < from->count && count < SS_HIT_BATCH) {
        const ss_index_hit *hit = &from->hits[from->order[*at].id];
        words[count++] = (ss_hit){.segment = self->index.index,
                                  .segment_number = UINT32_MAX, /* no newer segment has records of a word index */
                                  .query_index = *at,
                                  .fingerprint = hit->fingerprint,
                                  .has_rank = hit->rank != SS_NO_RANK,
                                  .rank = hit->rank};
        while (++*at < from->count && from->order[*at].fingerprint == hit->fingerprint)
            ;
    }
    return count;
}

/* Find the fingerprints that have the words which were found, each word once, and confirm them. */
static sstore_status look_up_words(row_batch *self, found_words *from, uint32_t index, sstore_error *error)
{
    rank_sink sink = {.batch = self, .from = from, .index = index, .error = error};
    sstore_cursor *cursor;
    sstore_status status = get_cursor(self, index, &cursor, error);
    const ss_record_sink records = {.cursor = cursor, .on_match = add_candidates, .context = &sink};
    for (uint32_t i = 0; i < from->count; i++)
        from->order[i] = (ss_record){from->hits[i].fingerprint, i};
    ss_sort_records(from->order, from->order + WAITING_WORDS, from->count);
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
    found_words *to = self->waiting[index];
    if (to == NULL && (to = self->waiting[index] = ss_alloc(1, sizeof *to)) == NULL)
        return ss_fail_memory(error, sizeof *to);
    to->hits[to->count++] = *hit;
    return to->count == WAITING_WORDS ? look_up_words(self, to, index, error) : SSTORE_OK;
}

/* Look up the words that a thread has left. */
static sstore_status look_up_rest(void *context, uint64_t task, uint32_t index, sstore_error *error)
{
    row_batch *self = context;
    found_words *from = self->waiting[task];
    return from != NULL ? look_up_words(self, from, index, error) : SSTORE_OK;
}

/* Set the index to search, and the queries' words for it. */
static void choose_word(row_batch *self, uint32_t word, atomic_llong *budget_ns)
{
    const ss_round *round = self->round;
    for (uint32_t i = 0; i < round->count; i++)
        self->queries[i] = round->fingerprints[(size_t)i * self->words + word];
    self->word = word;
    self->index = (ss_index_batch){.index = self->segment->indexes[word],
                                   .plan = &self->plan->indexes[word],
                                   .queries = self->queries,
                                   .count = round->count,
                                   .distance = (uint32_t)self->plan->radii[word],
                                   .threads = round->threads,
                                   .cursors = &self->hits->cursors,
                                   .on_hit = add_word,
                                   .context = self,
                                   .budget_ns = budget_ns,
                                   .block_count = round->block_count,
                                   .progress = round->progress};
}

/* Search the word indexes, and confirm what they find. STOPPED if the budget is spent. */
static sstore_status search_words(row_batch *self, atomic_llong *budget_ns, sstore_error *error)
{
    const ss_round *round = self->round;
    sstore_status status = SSTORE_OK;
    for (uint32_t word = 0; status == SSTORE_OK && word < self->words; word++) {
        double cost;
        if (self->plan->radii[word] == SS_NO_PROBE)
            continue;
        choose_word(self, word, budget_ns);
        status = ss_index_batch_run(&self->index, ss_index_batch_choose(&self->index, &cost), error);
        if (status == SSTORE_OK)
            status = ss_pool_run(round->threads, round->threads, look_up_rest, self, error);
    }
    return status;
}

/* ----- equal fingerprints ----- */

/* Look up the queries of one task as they are. */
static sstore_status find_equal(void *context, uint64_t task, uint32_t index, sstore_error *error)
{
    row_batch *self = context;
    const ss_round *round = self->round;
    const uint32_t begin = (uint32_t)task * TASK_QUERIES, end = ss_min_u32(begin + TASK_QUERIES, round->count);
    sstore_cursor *cursor;
    sstore_status status = get_cursor(self, index, &cursor, error);
    for (uint32_t query = begin; status == SSTORE_OK && query < end; query++) {
        const uint64_t *fingerprint = query_at(self, query);
        uint64_t rank;
        ss_cursor_renew(cursor);
        status = ss_find_row(self->segment, fingerprint, &cursor->row_slot, &rank, error);
        if (status == SSTORE_OK && rank != SS_NO_RANK)
            status = ss_round_hits_add(self->hits, index, query, rank, fingerprint, error);
    }
    return status == SSTORE_OK ? ss_progress_add(round->progress, index, 0) : status;
}

/* ----- comparing all ----- */

/* Add a fingerprint that is near a query. */
static sstore_status add_near(row_batch *self, uint32_t index, uint32_t query, ss_row_scan *slice, uint32_t at,
                              sstore_error *error)
{
    const uint64_t *row = slice->rows + (size_t)at * self->words;
    const sstore_status status = ss_row_scan_check(slice, error);
    return status == SSTORE_OK ? ss_round_hits_add(self->hits, index, query, slice->rank + at, row, error) : status;
}

/* The number of records of some fingerprints of a slice. */
static uint64_t count_slice_records(const ss_first_hits *first, const ss_row_scan *slice, uint32_t count,
                                    const uint32_t *found)
{
    uint64_t records = 0;
    for (uint32_t i = 0; first->records != NULL && i < count; i++)
        records += ss_first_hits_records(first, slice->rank + found[i]);
    return first->records != NULL ? records : count;
}

/* Of the `count` fingerprints found near a query, keep those that may have to be stored, and count the others. Returns
 * the number of those that are kept. */
static uint32_t skip_hits(const row_batch *self, const ss_row_scan *slice, uint32_t query, uint32_t count,
                          uint32_t *found)
{
    const ss_first_hits *first = &self->hits->first;
    if (!first->skips || count == 0)
        return count;
    const int32_t bound = ss_first_hits_bound(first, query, self->round->distance);
    const uint64_t records = count_slice_records(first, slice, count, found);
    uint32_t kept = bound < 0 ? 0 : count;
    if (bound >= 0 && (uint32_t)bound < self->round->distance)
        kept = self->kernels->near_rows(slice->rows, slice->count, self->words, query_at(self, query), (uint32_t)bound,
                                        found);
    ss_first_hits_skip(first, query, records - count_slice_records(first, slice, kept, found));
    return kept;
}

/* Test the queries `begin` to `end` - 1 against a slice. */
static sstore_status test_queries(row_batch *self, uint32_t index, ss_row_scan *slice, uint32_t begin, uint32_t end,
                                  sstore_error *error)
{
    uint32_t hits[SS_ROW_SLICE_MAX];
    sstore_status status = SSTORE_OK;
    for (uint32_t query = begin; status == SSTORE_OK && query < end; query++) {
        const uint32_t found = self->kernels->near_rows(slice->rows, slice->count, self->words, query_at(self, query),
                                                        self->round->distance, hits);
        const uint32_t kept = skip_hits(self, slice, query, found, hits);
        for (uint32_t i = 0; status == SSTORE_OK && i < kept; i++)
            status = add_near(self, index, query, slice, hits[i], error);
    }
    return status;
}

/* One thread's part of the scan. */
typedef struct scan_worker {
    row_batch *batch;
    uint32_t index; /* of the thread */
} scan_worker;

static sstore_status test_slice(void *context, ss_row_scan *slice, sstore_error *error)
{
    const scan_worker *worker = context;
    row_batch *self = worker->batch;
    const uint32_t end = self->round->count;
    sstore_status status = SSTORE_OK;
    for (uint32_t begin = 0; status == SSTORE_OK && begin < end; begin += QUERY_BATCH) {
        status = test_queries(self, worker->index, slice, begin, ss_min_u32(begin + QUERY_BATCH, end), error);
        if (status == SSTORE_OK)
            status = ss_progress_add(self->round->progress, worker->index, 0);
    }
    return status;
}

/* Test all queries against some blocks of table 0. */
static sstore_status scan_blocks(void *context, uint64_t task, uint32_t index, sstore_error *error)
{
    row_batch *self = context;
    const ss_manifest_segment *metadata = &self->segment->metadata;
    scan_worker worker = {.batch = self, .index = index};
    sstore_cursor *cursor;
    const sstore_status status = get_cursor(self, index, &cursor, error);
    if (status != SSTORE_OK)
        return status;
    ss_row_scan scan = {.segment = self->segment,
                        .begin_block = task * TASK_BLOCKS,
                        .end_block = ss_min_u64((task + 1) * TASK_BLOCKS, metadata->tables[0].block_count),
                        .slot = &cursor->row_slot,
                        .on_slice = test_slice,
                        .context = &worker};
    return ss_row_scan_run(&scan, error);
}

/* ----- a segment ----- */

/* Compare all queries with all fingerprints of the segment. */
static sstore_status scan_segment(row_batch *self, sstore_error *error)
{
    const uint64_t blocks = self->segment->metadata.tables[0].block_count;
    const sstore_status status = ss_round_hits_skip(self->hits, true, error);
    self->kernels = ss_kernels_best();
    return status == SSTORE_OK
               ? ss_pool_run(self->round->threads, (blocks + TASK_BLOCKS - 1) / TASK_BLOCKS, scan_blocks, self, error)
               : status;
}

/* About the nanoseconds of comparing all queries with all fingerprints of the segment. */
static double compare_all_ns(const row_batch *self)
{
    const double pairs = (double)self->round->count * (double)self->segment->metadata.distinct_count;
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
static sstore_status find_hits(row_batch *self, sstore_error *error)
{
    const ss_round *round = self->round;
    const bool may_choose = round->store->options.strategy == SSTORE_STRATEGY_AUTO;
    if (may_choose && round->distance == 0)
        return ss_pool_run(round->threads, (round->count + TASK_QUERIES - 1) / TASK_QUERIES, find_equal, self, error);
    const double all_ns = compare_all_ns(self);
    if (self->plan->full_scan || (may_choose && search_ns(self) >= all_ns))
        return scan_segment(self, error);
    self->budget_ns = (long long)fmin(all_ns, 1e18);
    const sstore_status status = search_words(self, may_choose ? &self->budget_ns : NULL, error);
    if (status != SSTORE_STOPPED || !may_choose || self->budget_ns > 0 || atomic_load(&round->progress->stopped))
        return status;
    ss_round_hits_forget(self->hits);
    return scan_segment(self, error);
}

sstore_status ss_row_batch_find(ss_round_hits *hits, sstore_error *error)
{
    const ss_round *round = hits->round;
    row_batch self = {.hits = hits,
                      .round = round,
                      .segment = round->store->segments[hits->segment],
                      .plan = &round->plans[hits->segment],
                      .words = hits->words};
    self.queries = ss_realloc(NULL, round->count, sizeof *self.queries);
    self.waiting = ss_alloc(round->threads, sizeof *self.waiting);
    const sstore_status status = self.queries != NULL && self.waiting != NULL
                                     ? find_hits(&self, error)
                                     : ss_fail_memory(error, round->count * sizeof *self.queries);
    for (uint32_t i = 0; self.waiting != NULL && i < round->threads; i++)
        ss_free(self.waiting[i]);
    ss_free(self.waiting);
    ss_free(self.queries);
    return status;
}

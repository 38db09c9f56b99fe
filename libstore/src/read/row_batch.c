#include "read/row_batch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/words.h"
#include "codec/rows.h"
#include "plan/radii.h"
#include "read/batch.h"
#include "sort/radix.h"

#define WAITING_HITS 8192u /* of a word index and a thread, until their ranks are looked up */
#define CANDIDATES 1024u   /* that a thread confirms at once */
#define PREFETCHED 8u      /* candidates ahead */
#define TASK_BLOCKS 16u    /* of table 0, in a full scan */
#define TASK_HITS 256u     /* whose records are looked up */
#define TASK_QUERIES 256u  /* that are looked up as a whole */
#define SLICE 256u         /* fingerprints that are tested at once, */
#define QUERY_BATCH 4096u  /* against so many queries, before the next ones: so they stay in a cache */
#define FIRST_CAPACITY 256u

/* About the nanoseconds to test a fingerprint against one query, and for each of its words; and to find and confirm a
 * candidate. (bench/README.md) */
#define TEST_NS 1.0
#define TEST_WORD_NS 0.6
#define CANDIDATE_NS 300u

/* What a thread has found in the current word index. */
typedef struct word_hits {
    uint32_t count, candidate_count;
    ss_index_hit hits[WAITING_HITS];
    sstore_record order[2 * WAITING_HITS]; /* word, and the hit's index as id; the second half is scratch */
    ss_candidate candidates[CANDIDATES];   /* from their ranks, */
    uint32_t queries[CANDIDATES];          /* and the query of each */
} word_hits;

/* The memory of one thread. */
typedef struct worker {
    word_hits *waiting; /* NULL until it is needed */
    ss_row_batch_hit *hits;
    size_t hit_count, hit_capacity, hits_before; /* before: of the segments before the current one */
} worker;

/* The matches of the hits of one task. */
typedef struct match_part {
    sstore_match *matches; /* `words` is unset: the fingerprints are in rows, in the same order */
    uint64_t *rows;
    size_t count, capacity;
} match_part;

typedef struct run {
    const ss_row_batch *batch;
    uint32_t words;
    const ss_kernels *kernels;
    worker *workers;
    ss_cursors cursors;
    atomic_llong room; /* how many more hits, or matches, there may be */
    uint32_t segment;
    /* While its word indexes are searched: */
    uint32_t word;
    uint64_t *queries;      /* the words of the queries */
    ss_index_batch index;   /* of these */
    atomic_llong budget_ns; /* estimated nanoseconds until comparing all takes less time */
    ss_first_hits first;    /* tells which hits need not be stored, when all are compared */
    /* While records are looked up: */
    ss_row_batch_hits found; /* sorted by query, segment and rank */
    match_part *parts;       /* of the matches, in the order of the hits */
    size_t part_count;
} run;

/* ----- workers ----- */

static void close_workers(run *self)
{
    for (uint32_t i = 0; self->workers != NULL && i < self->batch->threads; i++) {
        ss_free(self->workers[i].waiting);
        ss_free(self->workers[i].hits);
    }
    ss_free(self->workers);
    ss_cursors_close(&self->cursors, self->batch->block_count);
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

/* Whether a fingerprint is left out because it is below the query. */
static bool is_below(const run *self, uint64_t query, const uint64_t *row)
{
    const ss_row_batch *batch = self->batch;
    return batch->not_below && batch->ranks == NULL &&
           ss_words_compare(row, batch->fingerprints + query * self->words, self->words) < 0;
}

/* Confirm the gathered candidates. */
static sstore_status confirm(run *self, word_hits *from, uint32_t index, sstore_error *error)
{
    const ss_row_batch *batch = self->batch;
    const ss_segment *segment = batch->store->segments[self->segment];
    const uint32_t count = from->candidate_count;
    sstore_cursor *cursor;
    ss_row_hit hit;
    sstore_status status = ss_cursors_get(&self->cursors, index, &cursor, error);
    from->candidate_count = 0;
    for (uint32_t i = 0; status == SSTORE_OK && i < count; i++) {
        const ss_candidate *candidate = &from->candidates[i];
        const uint32_t query = from->queries[i];
        const ss_row_query searched = {batch->fingerprints + (size_t)query * self->words, batch->distance,
                                       batch->plans[self->segment].radii};
        bool is_hit;
        if (i + PREFETCHED < count)
            ss_row_search_prefetch(segment, from->candidates[i + PREFETCHED].rank);
        if (candidate->rank < segment->metadata.distinct_count && is_left_out(batch, query, candidate->rank))
            continue;
        ss_cursor_renew(cursor);
        status = ss_row_search_confirm(segment, candidate, self->word, &searched, &cursor->row_slot, &hit, &is_hit,
                                       error);
        if (status == SSTORE_OK && is_hit && !is_below(self, query, hit.fingerprint))
            status = add_hit(self, index, query, hit.rank, error);
    }
    if (status == SSTORE_OK)
        status = ss_index_batch_spend(&self->index, count * CANDIDATE_NS);
    return status == SSTORE_OK ? ss_progress_add(batch->progress, index, 0) : status;
}

/* The destination of the ranks of words. */
typedef struct rank_sink {
    run *run;
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
         sink->status == SSTORE_OK && i < from->count && from->order[i].fingerprint == match->fingerprint; i++) {
        from->candidates[from->candidate_count] = (ss_candidate){.word = match->fingerprint, .rank = match->id};
        from->queries[from->candidate_count++] = from->hits[from->order[i].id].query;
        if (from->candidate_count == CANDIDATES)
            sink->status = confirm(sink->run, from, sink->index, sink->error);
    }
    return sink->status != SSTORE_OK;
}

/* Take the next distinct words that were found, to look up their ranks together. Their queries are those of their
 * places in the order. Returns their number. */
static uint32_t take_found(const run *self, const word_hits *from, uint32_t *at, ss_hit *words)
{
    uint32_t count = 0;
    while (*at < from->count && count < SS_HITS_TOGETHER) {
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
static sstore_status look_up_words(run *self, word_hits *from, uint32_t index, sstore_error *error)
{
    rank_sink sink = {.run = self, .from = from, .index = index, .error = error};
    sstore_cursor *cursor;
    sstore_status status = ss_cursors_get(&self->cursors, index, &cursor, error);
    const ss_record_sink records = {.cursor = cursor, .on_match = add_candidates, .context = &sink};
    for (uint32_t i = 0; i < from->count; i++)
        from->order[i] = (sstore_record){from->hits[i].fingerprint, i};
    ss_sort_records(from->order, from->order + WAITING_HITS, from->count);
    for (uint32_t at = 0; status == SSTORE_OK && at < from->count;) {
        ss_hit words[SS_HITS_TOGETHER];
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
    run *self = context;
    worker *of = &self->workers[index];
    if (of->waiting == NULL && (of->waiting = ss_alloc(1, sizeof *of->waiting)) == NULL)
        return ss_fail_memory(error, sizeof *of->waiting);
    of->waiting->hits[of->waiting->count++] = *hit;
    return of->waiting->count == WAITING_HITS ? look_up_words(self, of->waiting, index, error) : SSTORE_OK;
}

/* Look up the words that a thread has left. */
static sstore_status look_up_rest(void *context, uint64_t task, uint32_t index, sstore_error *error)
{
    run *self = context;
    word_hits *from = self->workers[task].waiting;
    return from != NULL ? look_up_words(self, from, index, error) : SSTORE_OK;
}

/* Set the index to search, and the queries' words for it. */
static void choose_word(run *self, uint32_t word, atomic_llong *budget_ns)
{
    const ss_row_batch *batch = self->batch;
    const ss_row_plan *plan = &batch->plans[self->segment];
    for (uint32_t i = 0; i < batch->count; i++)
        self->queries[i] = batch->fingerprints[(size_t)i * self->words + word];
    self->word = word;
    self->index = (ss_index_batch){.index = batch->store->segments[self->segment]->indexes[word],
                                   .plan = &plan->words[word],
                                   .queries = self->queries,
                                   .count = batch->count,
                                   .distance = (uint32_t)plan->radii[word],
                                   .threads = batch->threads,
                                   .cursors = &self->cursors,
                                   .on_hit = add_word,
                                   .context = self,
                                   .budget_ns = budget_ns,
                                   .block_count = batch->block_count,
                                   .progress = batch->progress};
}

/* Search the word indexes, and confirm what they find. STOPPED if the budget is spent. */
static sstore_status search_words(run *self, atomic_llong *budget_ns, sstore_error *error)
{
    const ss_row_batch *batch = self->batch;
    sstore_status status = SSTORE_OK;
    for (uint32_t word = 0; status == SSTORE_OK && word < self->words; word++) {
        double cost;
        if (batch->plans[self->segment].radii[word] == SS_NO_PROBE)
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
    run *self = context;
    const ss_row_batch *batch = self->batch;
    const ss_segment *segment = batch->store->segments[self->segment];
    const uint32_t begin = (uint32_t)task * TASK_QUERIES, end = ss_min_u32(begin + TASK_QUERIES, batch->count);
    sstore_cursor *cursor;
    sstore_status status = ss_cursors_get(&self->cursors, index, &cursor, error);
    for (uint32_t query = begin; status == SSTORE_OK && query < end; query++) {
        uint64_t rank;
        ss_cursor_renew(cursor);
        status = ss_find_row(segment, batch->fingerprints + (size_t)query * self->words, &cursor->row_slot, &rank,
                             error);
        if (status == SSTORE_OK && rank != SS_NO_RANK && !is_left_out(batch, query, rank))
            status = add_hit(self, index, query, rank, error);
    }
    return status == SSTORE_OK ? ss_progress_add(batch->progress, index, 0) : status;
}

/* ----- comparing all ----- */

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

/* Some fingerprints of a block, one after the other. */
typedef struct row_slice {
    const uint64_t *rows;
    uint32_t count;
    uint64_t rank;                          /* of the first one */
    uint64_t checked[SLICE / SS_WORD_BITS]; /* by bits: which ones have only their own rank */
} row_slice;

/* Add a fingerprint that is near a query, unless it is left out. */
static sstore_status add_near(run *self, uint32_t index, uint32_t query, row_slice *slice, uint32_t at,
                              ss_block_slot *slot, sstore_error *error)
{
    const uint64_t *row = slice->rows + (size_t)at * self->words, rank = slice->rank + at;
    uint64_t *checked = &slice->checked[at / SS_WORD_BITS];
    sstore_status status = SSTORE_OK;
    if (is_left_out(self->batch, query, rank) || is_below(self, query, row))
        return SSTORE_OK;
    if ((*checked >> at % SS_WORD_BITS & 1) == 0)
        status = ss_row_search_check_rank(self->batch->store->segments[self->segment], row, rank, slot, error);
    *checked |= UINT64_C(1) << at % SS_WORD_BITS;
    return status == SSTORE_OK ? add_hit(self, index, query, rank, error) : status;
}

/* The number of records of some hits in a slice. */
static uint64_t count_records(const run *self, const row_slice *slice, uint32_t count, const uint32_t *hits)
{
    uint64_t records = 0;
    for (uint32_t i = 0; self->first.records != NULL && i < count; i++)
        records += ss_first_hits_records(&self->first, slice->rank + hits[i]);
    return self->first.records != NULL ? records : count;
}

/* Choose which of the `found` hits of a query are kept: all, or those that are not only counted and may be among its
 * first ones. Returns their number. */
static uint32_t choose_hits(const run *self, const row_slice *slice, uint32_t query, uint32_t found, uint32_t *hits)
{
    const ss_row_batch *batch = self->batch;
    const uint64_t *fingerprint = batch->fingerprints + (size_t)query * self->words;
    if (!self->first.skips || found == 0)
        return found;
    const int32_t bound = ss_first_hits_bound(&self->first, query, batch->distance);
    uint32_t kept = bound < 0 ? 0 : found;
    uint64_t skipped = count_records(self, slice, found, hits);
    if (bound >= 0 && (uint32_t)bound < batch->distance)
        kept = self->kernels->near_rows(slice->rows, slice->count, self->words, fingerprint, (uint32_t)bound, hits);
    skipped -= count_records(self, slice, kept, hits);
    ss_first_hits_skip(&self->first, query, skipped);
    for (uint32_t i = 0; i < kept; i++)
        ss_first_hits_keep(&self->first, query,
                           ss_words_distance(slice->rows + (size_t)hits[i] * self->words, fingerprint, self->words));
    return kept;
}

/* Test the queries `begin` to `end` - 1 against some fingerprints. */
static sstore_status test_slice(run *self, uint32_t index, row_slice *slice, uint32_t begin, uint32_t end,
                                ss_block_slot *slot, sstore_error *error)
{
    const ss_row_batch *batch = self->batch;
    uint32_t hits[SLICE];
    sstore_status status = SSTORE_OK;
    end = ss_min_u32(end, query_end(self, slice->rows + (size_t)(slice->count - 1) * self->words));
    for (uint32_t query = begin; status == SSTORE_OK && query < end; query++) {
        const uint32_t found = self->kernels->near_rows(slice->rows, slice->count, self->words,
                                                        batch->fingerprints + (size_t)query * self->words,
                                                        batch->distance, hits);
        const uint32_t kept = choose_hits(self, slice, query, found, hits);
        for (uint32_t i = 0; status == SSTORE_OK && i < kept; i++)
            status = add_near(self, index, query, slice, hits[i], slot, error);
    }
    return status;
}

/* Test all queries against the `count` fingerprints of a block. */
static sstore_status test_block(run *self, uint32_t index, const uint64_t *rows, uint32_t count, uint64_t rank,
                                ss_block_slot *slot, sstore_error *error)
{
    const ss_row_batch *batch = self->batch;
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
    run *self = context;
    const ss_row_batch *batch = self->batch;
    const ss_segment *segment = batch->store->segments[self->segment];
    const ss_checked_blocks *checked = &segment->tables[0].checked;
    const uint32_t capacity = ss_rows_capacity(checked->reader->header.block_bytes, self->words);
    const uint64_t end = ss_min_u64((task + 1) * TASK_BLOCKS, checked->reader->header.block_count);
    sstore_cursor *cursor;
    uint64_t *rows = ss_realloc(NULL, capacity, self->words * sizeof *rows);
    sstore_status status = rows != NULL ? ss_cursors_get(&self->cursors, index, &cursor, error)
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

/* ----- records ----- */

/* Sort the hits that were found by query, segment and rank. So fingerprints and ids are read in order for each query,
 * and the matches of a segment are in order as well. */
static sstore_status sort_hits(const run *self, sstore_error *error)
{
    const ss_row_batch_hits *found = &self->found;
    sstore_record *keys = ss_realloc(NULL, 2 * found->count, sizeof *keys); /* the second half is scratch */
    if (keys == NULL)
        return ss_fail_memory(error, 2 * found->count * sizeof *keys);
    for (size_t i = 0; i < found->count; i++) {
        const ss_row_batch_hit *hit = &found->hits[i];
        keys[i] = (sstore_record){(uint64_t)hit->query << 32 | hit->segment, hit->rank};
    }
    ss_sort_records(keys, keys + found->count, found->count);
    for (size_t i = 0; i < found->count; i++)
        found->hits[i] = (ss_row_batch_hit){.query = (uint32_t)(keys[i].fingerprint >> 32),
                                            .segment = (uint32_t)keys[i].fingerprint,
                                            .rank = keys[i].id};
    ss_free(keys);
    return SSTORE_OK;
}

/* The destination of the records of a task. */
typedef struct match_sink {
    run *of;
    match_part *to;
    sstore_error *error;
    sstore_status status;
} match_sink;

static int add_match(void *context, const sstore_match *match)
{
    match_sink *sink = context;
    match_part *to = sink->to;
    const uint32_t words = sink->of->words;
    size_t capacity = to->capacity;
    if (!take_room(sink->of)) {
        sink->status = SSTORE_STOPPED;
        return 1;
    }
    sstore_match *matches = ss_grow(to->matches, to->count, &to->capacity, FIRST_CAPACITY, sizeof *matches);
    if (matches != NULL)
        to->matches = matches;
    if (matches != NULL && to->capacity != capacity) {
        uint64_t *rows = ss_realloc(to->rows, to->capacity, words * sizeof *rows);
        to->capacity = rows != NULL ? to->capacity : capacity;
        to->rows = rows != NULL ? rows : to->rows;
        matches = rows != NULL ? matches : NULL;
    }
    if (matches == NULL) {
        sink->status = ss_fail_memory(sink->error, 2 * capacity * (sizeof *matches + words * sizeof(uint64_t)));
        return 1;
    }
    ss_words_copy(to->rows + to->count * words, match->words, words);
    to->matches[to->count++] = *match;
    return 0;
}

/* Look up the records of the hits of one task. */
static sstore_status look_up(void *context, uint64_t task, uint32_t index, sstore_error *error)
{
    run *self = context;
    const ss_row_batch *batch = self->batch;
    const size_t begin = (size_t)task * TASK_HITS, end = (size_t)ss_min_u64(begin + TASK_HITS, self->found.count);
    match_sink sink = {.of = self, .to = &self->parts[task], .error = error};
    sstore_cursor *cursor;
    sstore_status status = ss_cursors_get(&self->cursors, index, &cursor, error);
    const ss_record_sink records = {.cursor = cursor,
                                    .on_match = batch->counts_only ? NULL : add_match,
                                    .context = &sink,
                                    .limit = batch->limit,
                                    .counts = batch->match_counts};
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
            status = ss_row_search_report(&records, &hit, batch->first_index + from->query, error);
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

/* By (fingerprint, id). */
static int compare_matches(const void *left, const void *right, void *context)
{
    const sstore_match *a = left, *b = right;
    const uint32_t *words = context;
    const int order = ss_words_compare(a->words, b->words, *words);
    return order != 0 ? order : ss_compare_u64(a->id, b->id);
}

/* Sort the matches of a query by (fingerprint, id), as those of one segment are already, and then by distance unless
 * the round wants that order. Both scratch arrays have room for them. */
static void order_query(run *self, sstore_match *matches, size_t count, sstore_match *scratch, sstore_record *keys)
{
    bool in_order = true;
    for (size_t i = 1; in_order && i < count; i++)
        in_order = compare_matches(&matches[i - 1], &matches[i], &self->words) <= 0;
    if (!in_order)
        qsort_r(matches, count, sizeof *matches, compare_matches, &self->words);
    if (self->batch->in_order)
        return;
    for (size_t i = 0; i < count; i++)
        keys[i] = (sstore_record){matches[i].distance, i};
    ss_sort_records(keys, keys + count, count);
    memcpy(scratch, matches, count * sizeof *matches);
    for (size_t i = 0; i < count; i++)
        matches[i] = scratch[keys[i].id];
}

/* The number of matches from `begin` on that have the same query. */
static size_t same_query(const ss_row_batch_matches *all, size_t begin)
{
    size_t end = begin;
    while (end < all->count && all->matches[end].query_index == all->matches[begin].query_index)
        end++;
    return end - begin;
}

/* Sort the matches of each query. The queries are in order. */
static sstore_status order_matches(run *self, const ss_row_batch_matches *all, sstore_error *error)
{
    size_t most = 0;
    for (size_t begin = 0, count; begin < all->count; begin += count) {
        count = same_query(all, begin);
        most = count > most ? count : most;
    }
    sstore_match *scratch = ss_realloc(NULL, most, sizeof *scratch);
    sstore_record *keys = ss_realloc(NULL, 2 * most, sizeof *keys);
    const bool enough = scratch != NULL && keys != NULL;
    for (size_t begin = 0, count; enough && begin < all->count; begin += count) {
        count = same_query(all, begin);
        if (count > 1)
            order_query(self, all->matches + begin, count, scratch, keys);
    }
    ss_free(scratch);
    ss_free(keys);
    return enough ? SSTORE_OK : ss_fail_memory(error, most * (sizeof *scratch + 2 * sizeof *keys));
}

/* Keep only the first matches of each query, at most `limit`. */
static void cut_matches(ss_row_batch_matches *of, uint64_t limit)
{
    uint64_t taken = 0;
    size_t kept = 0;
    for (size_t i = 0; limit > 0 && i < of->count; i++) {
        taken = i > 0 && of->matches[i].query_index == of->matches[i - 1].query_index ? taken + 1 : 1;
        if (taken <= limit)
            of->matches[kept++] = of->matches[i];
    }
    of->count = limit > 0 ? kept : of->count;
}

/* Take the matches of all parts, one after the other, and sort them. */
static sstore_status gather_matches(run *self, ss_row_batch_matches *matches_out, sstore_error *error)
{
    const size_t row_bytes = self->words * sizeof(uint64_t);
    size_t count = 0, at = 0;
    for (size_t i = 0; i < self->part_count; i++)
        count += self->parts[i].count;
    *matches_out = (ss_row_batch_matches){.matches = ss_realloc(NULL, count, sizeof(sstore_match)),
                                          .rows = ss_realloc(NULL, count, row_bytes),
                                          .count = count};
    sstore_status status = matches_out->matches != NULL && matches_out->rows != NULL
                               ? SSTORE_OK
                               : ss_fail_memory(error, count * (sizeof(sstore_match) + row_bytes));
    for (size_t i = 0; status == SSTORE_OK && i < self->part_count; i++) {
        const match_part *of = &self->parts[i];
        for (size_t j = 0; j < of->count; j++, at++) {
            uint64_t *row = matches_out->rows + at * self->words;
            ss_words_copy(row, of->rows + j * self->words, self->words);
            matches_out->matches[at] = of->matches[j];
            matches_out->matches[at].words = row;
        }
    }
    if (status == SSTORE_OK)
        status = order_matches(self, matches_out, error);
    if (status != SSTORE_OK)
        ss_row_batch_matches_free(matches_out);
    else
        cut_matches(matches_out, self->batch->limit);
    return status;
}

/* Look up the records of all hits. */
static sstore_status look_up_all(run *self, sstore_error *error)
{
    self->part_count = (self->found.count + TASK_HITS - 1) / TASK_HITS;
    self->parts = ss_alloc(self->part_count, sizeof *self->parts);
    if (self->parts == NULL)
        return ss_fail_memory(error, self->part_count * sizeof *self->parts);
    return ss_pool_run(self->batch->threads, self->part_count, look_up, self, error);
}

static void free_parts(const run *self)
{
    for (size_t i = 0; self->parts != NULL && i < self->part_count; i++) {
        ss_free(self->parts[i].matches);
        ss_free(self->parts[i].rows);
    }
    ss_free(self->parts);
}

/* ----- a round ----- */

/* Forget the hits in the segment, and what was found in its word indexes. */
static void forget_hits(run *self)
{
    for (uint32_t i = 0; i < self->batch->threads; i++) {
        worker *of = &self->workers[i];
        atomic_fetch_add(&self->room, (long long)(of->hit_count - of->hits_before));
        of->hit_count = of->hits_before;
        ss_free(of->waiting);
        of->waiting = NULL;
    }
}

/* Compare all queries with all fingerprints of the segment. */
static sstore_status scan_segment(run *self, sstore_error *error)
{
    const ss_row_batch *batch = self->batch;
    const uint64_t blocks = batch->store->manifest.segments[self->segment].tables[0].block_count;
    sstore_cursor *cursor = NULL;
    sstore_status status = SSTORE_OK;
    if (batch->counts_only || batch->limit > 0)
        status = ss_cursors_get(&self->cursors, 0, &cursor, error);
    if (cursor != NULL && status == SSTORE_OK)
        status = ss_first_hits_begin(&self->first, cursor, batch->store, self->segment, error);
    if (status != SSTORE_OK)
        return status;
    return ss_pool_run(batch->threads, (blocks + TASK_BLOCKS - 1) / TASK_BLOCKS, scan_blocks, self, error);
}

/* About the nanoseconds of comparing all queries with all fingerprints of the segment, except those that are left
 * out. */
static double compare_all_ns(const run *self)
{
    const ss_row_batch *batch = self->batch;
    const double rows = (double)batch->store->segments[self->segment]->metadata.distinct_count;
    double pairs = batch->count * rows;
    if (batch->not_below && batch->ranks == NULL)
        pairs /= 2;
    for (uint32_t i = 0; batch->ranks != NULL && i < batch->count; i++)
        pairs -= (double)batch->ranks[i];
    return pairs * (TEST_NS + TEST_WORD_NS * self->words);
}

/* About the nanoseconds of searching the word indexes, without their candidates. */
static double search_ns(run *self)
{
    double sum = 0, ns;
    for (uint32_t word = 0; word < self->words; word++) {
        if (self->batch->plans[self->segment].radii[word] == SS_NO_PROBE)
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
static sstore_status find_in_segment(run *self, sstore_error *error)
{
    const ss_row_batch *batch = self->batch;
    const bool may_choose = batch->store->options.strategy == SSTORE_STRATEGY_AUTO;
    if (may_choose && batch->distance == 0)
        return ss_pool_run(batch->threads, (batch->count + TASK_QUERIES - 1) / TASK_QUERIES, find_equal, self, error);
    const double all_ns = compare_all_ns(self);
    if (batch->plans[self->segment].full_scan || (may_choose && search_ns(self) >= all_ns))
        return scan_segment(self, error);
    for (uint32_t i = 0; i < batch->threads; i++)
        self->workers[i].hits_before = self->workers[i].hit_count;
    self->budget_ns = (long long)fmin(all_ns, 1e18);
    const sstore_status status = search_words(self, may_choose ? &self->budget_ns : NULL, error);
    if (status != SSTORE_STOPPED || self->budget_ns > 0 || atomic_load(&batch->progress->stopped))
        return status;
    forget_hits(self);
    return scan_segment(self, error);
}

static sstore_status open_run(run *self, const ss_row_batch *batch, sstore_error *error)
{
    *self = (run){.batch = batch,
                  .words = batch->store->manifest.words,
                  .kernels = ss_kernels_best(),
                  .room = batch->max_matches};
    self->workers = ss_alloc(batch->threads, sizeof *self->workers);
    return self->workers != NULL ? ss_cursors_open(&self->cursors, batch->store, batch->threads, error)
                                 : ss_fail_memory(error, batch->threads * sizeof *self->workers);
}

static sstore_status find_in_segments(run *self, sstore_error *error)
{
    const sstore *store = self->batch->store;
    const uint32_t count = self->batch->count;
    self->queries = ss_realloc(NULL, count, sizeof *self->queries);
    sstore_status status = ss_first_hits_open(&self->first, count, self->batch->counts_only ? 0 : self->batch->limit,
                                              self->batch->match_counts != NULL
                                                  ? self->batch->match_counts + self->batch->first_index
                                                  : NULL,
                                              error);
    if (self->queries == NULL)
        status = ss_fail_memory(error, count * sizeof *self->queries);
    for (self->segment = 0; status == SSTORE_OK && self->segment < store->manifest.segment_count; self->segment++)
        if (!ss_segment_removes(store->segments[self->segment]))
            status = find_in_segment(self, error);
    ss_first_hits_close(&self->first);
    ss_free(self->queries);
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
    if (status == SSTORE_OK)
        status = sort_hits(&self, error);
    if (status == SSTORE_OK)
        status = look_up_all(&self, error);
    if (status == SSTORE_OK)
        status = gather_matches(&self, matches_out, error);
    free_parts(&self);
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

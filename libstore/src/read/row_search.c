#include "read/row_search.h"

#include "base/error.h"
#include "base/words.h"
#include "plan/durations.h"
#include "plan/radii.h"
#include "read/hit_records.h"
#include "read/row_scan.h"

#define STEPS_A_CANDIDATE 3u /* its rank and its id in the word index, and its fingerprint */
#define MAX_WORD_HITS 512u   /* with more hits in a word, it is searched to the end */
#define MAX_KNOWN 4u         /* hits that are not looked up again when another word finds them */

/* Steps to find the rank of a hit again, its ids, and both in all newer segments. */
static void allow_hit(sstore_cursor *cursor)
{
    cursor->steps.left += cursor->row_hit_steps;
}

/* ----- candidates ----- */

/* The candidates of a query that take as long as a full scan, if the strategy allows one. */
static uint64_t max_candidates(const sstore *store, const ss_segment_plan *plan)
{
    return store->options.strategy == SSTORE_STRATEGY_AUTO ? 1 + (uint64_t)(plan->full_scan_cost / SS_ROW_CANDIDATE_NS)
                                                           : UINT64_MAX;
}

/* One query on one segment. */
typedef struct row_search {
    sstore_cursor *cursor;
    const ss_segment *segment;
    uint32_t segment_number;
    const ss_segment_plan *plan;
    const uint64_t *query_words;
    uint32_t distance;
    const uint32_t *limit;    /* the distance of a full scan: it may become smaller meanwhile */
    uint32_t searched_word;   /* its index is searched */
    uint32_t confirmed_word;  /* of the last candidate that was confirmed */
    uint64_t candidates_left; /* more of them would take longer than a full scan */
    uint64_t *word_hits;      /* the ranks of the first MAX_WORD_HITS hits of the confirmed word */
    uint32_t word_hit_count;
    uint64_t (*known)[SSTORE_MAX_WORDS]; /* the last MAX_KNOWN hits */
    uint32_t known_count;
    bool scans_rest;          /* the full scan reports what the words have not found; then word_hits ascend */
    uint32_t word_hits_below; /* number of word_hits below the rank of the full scan */
    const ss_kernels *kernels;
    ss_hit_fn on_hit;
    void *context;
    sstore_status status; /* of the candidates so far */
    sstore_error *error;
} row_search;

static sstore_status report_row(const row_search *self, const uint64_t *row, uint64_t rank, uint32_t distance)
{
    const ss_hit hit = {.segment = self->segment,
                        .segment_number = self->segment_number,
                        .fingerprint = row[0],
                        .words = row,
                        .has_rank = true,
                        .rank = rank,
                        .distance = distance};
    return self->on_hit(self->context, &hit, self->error);
}

static sstore_status report_word_hit(row_search *self, const ss_row_hit *hit)
{
    ss_words_copy(self->known[self->known_count++ % MAX_KNOWN], hit->fingerprint, self->segment->metadata.words);
    if (self->word_hit_count < MAX_WORD_HITS)
        self->word_hits[self->word_hit_count++] = hit->rank;
    return report_row(self, hit->fingerprint, hit->rank, hit->distance);
}

/* Let the full scan, which sees ranks in order, report the rest. */
static void begin_rest(row_search *self)
{
    uint64_t *hits = self->word_hits;
    self->scans_rest = true;
    for (uint32_t i = 1; i < self->word_hit_count; i++) { /* they are few, and qsort() would allocate */
        const uint64_t hit = hits[i];
        uint32_t at = i;
        for (; at > 0 && hits[at - 1] > hit; at--)
            hits[at] = hits[at - 1];
        hits[at] = hit;
    }
}

static sstore_status confirm_candidate(row_search *self, const ss_candidate *candidate)
{
    sstore_cursor *cursor = self->cursor;
    const ss_row_query query = {self->query_words, self->distance, self->plan->radii};
    ss_row_hit hit;
    bool is_hit;
    if (candidate->word_number != self->confirmed_word)
        self->word_hit_count = 0;
    self->confirmed_word = candidate->word_number;
    cursor->steps.left += STEPS_A_CANDIDATE;
    allow_hit(cursor);
    const sstore_status status = ss_candidate_confirm(self->segment, candidate, &query, &cursor->row_slot, &hit,
                                                      &is_hit, self->error);
    if (status == SSTORE_OK && is_hit)
        return report_word_hit(self, &hit);
    if (status == SSTORE_OK) /* then it took at most one step */
        cursor->steps.left -= cursor->row_hit_steps;
    return status;
}

/* Confirm the candidates that were gathered. STOPPED, with scans_rest, if there are too many. */
static sstore_status confirm_candidates(row_search *self)
{
    sstore_cursor *cursor = self->cursor;
    const uint32_t count = cursor->candidate_count;
    cursor->candidate_count = 0;
    for (uint32_t i = 0; self->status == SSTORE_OK && i < count; i++)
        self->status = confirm_candidate(self, &cursor->candidates[i]);
    self->candidates_left = ss_max_u64(self->candidates_left, count) - count;
    if (self->status == SSTORE_OK && self->candidates_left == 0 && self->word_hit_count < MAX_WORD_HITS) {
        begin_rest(self);
        return self->status = SSTORE_STOPPED;
    }
    return self->status;
}

static int add_candidate(void *context, const sstore_match *match)
{
    row_search *self = context;
    sstore_cursor *cursor = self->cursor;
    ss_candidate_prefetch(self->segment, match->id);
    cursor->candidates[cursor->candidate_count++] = (ss_candidate){.word = *match->fingerprint,
                                                                   .rank = match->id,
                                                                   .word_number = (uint32_t)match->query_index};
    return cursor->candidate_count == SS_HIT_BATCH && confirm_candidates(self) != SSTORE_OK;
}

/* Find the ranks of the words that were found. */
static sstore_status look_up_words(row_search *self)
{
    sstore_cursor *cursor = self->cursor;
    const uint32_t count = cursor->found_words.count;
    const ss_record_sink sink = {.cursor = cursor,
                                 .on_match = add_candidate,
                                 .context = self,
                                 .uses_index_slots = true};
    cursor->found_words.count = 0;
    const sstore_status status = ss_report_records(&sink, cursor->found_words.hits, count, self->error);
    return self->status != SSTORE_OK ? self->status : status;
}

/* Look up and confirm what was found. */
static sstore_status finish_words(row_search *self)
{
    const sstore_status status = self->cursor->found_words.count > 0 ? look_up_words(self) : SSTORE_OK;
    return status == SSTORE_OK ? confirm_candidates(self) : status;
}

/* Whether each word of an index is that of one fingerprint. */
static bool is_unique(const ss_segment *index)
{
    return index->metadata.record_count == index->metadata.distinct_count;
}

/* Whether only a fingerprint that was reported has a word. */
static bool is_known(const row_search *self, uint64_t word)
{
    const uint32_t count = ss_min_u32(self->known_count, MAX_KNOWN);
    bool is_there = false;
    for (uint32_t i = 0; i < count; i++)
        is_there |= self->known[i][self->searched_word] == word;
    return is_there && is_unique(self->segment->indexes[self->searched_word]);
}

/* No newer segment has a record of a word index, so the number of the segment is above all. */
static sstore_status add_word(void *context, const ss_hit *hit, sstore_error *error)
{
    row_search *self = context;
    ss_hits *found = &self->cursor->found_words;
    (void)error;
    if (is_known(self, hit->fingerprint))
        return SSTORE_OK;
    ss_hit *added = &found->hits[found->count++];
    *added = *hit;
    added->query_index = self->searched_word;
    return found->count == SS_HIT_BATCH ? look_up_words(self) : SSTORE_OK;
}

static sstore_status search_index(row_search *self, uint32_t word)
{
    const ss_search search = {.cursor = self->cursor,
                              .segment = self->segment->indexes[word],
                              .segment_number = UINT32_MAX,
                              .plan = &self->plan->indexes[word],
                              .fingerprint = self->query_words[word],
                              .distance = (uint32_t)self->plan->radii[word],
                              .on_hit = add_word,
                              .context = self,
                              .error = self->error};
    self->searched_word = word;
    return ss_search_run(&search);
}

/* Words found by several indexes are looked up together. Exception: before an index whose words are unique, pending
 * words are looked up, because is_known() then saves look-ups there. */
static sstore_status search_indexes(row_search *self)
{
    sstore_status status = SSTORE_OK;
    self->cursor->found_words.count = self->cursor->candidate_count = 0;
    for (uint32_t word = 0; status == SSTORE_OK && word < self->segment->metadata.words; word++) {
        if (self->plan->radii[word] == SS_NO_PROBE)
            continue;
        if (self->cursor->found_words.count > 0 && is_unique(self->segment->indexes[word]))
            status = finish_words(self);
        if (status == SSTORE_OK)
            status = search_index(self, word);
    }
    return status == SSTORE_OK ? finish_words(self) : status;
}

/* ----- the full scan ----- */

/* Whether the words up to the current one have found the fingerprint, whose rank is above those of the calls before. */
static bool is_found(row_search *self, const uint64_t *row, uint64_t rank)
{
    const uint32_t first = ss_radii_first_cover(row, self->query_words, self->plan->radii,
                                                self->segment->metadata.words);
    while (self->word_hits_below < self->word_hit_count && self->word_hits[self->word_hits_below] < rank)
        self->word_hits_below++;
    return first < self->confirmed_word ||
           (self->word_hits_below < self->word_hit_count && self->word_hits[self->word_hits_below] == rank);
}

/* Report a near fingerprint, unless the words have found it. */
static sstore_status take_row(row_search *self, const uint64_t *row, uint64_t rank)
{
    const uint32_t distance = ss_words_distance(row, self->query_words, self->segment->metadata.words);
    if (distance > *self->limit || (self->scans_rest && is_found(self, row, rank)))
        return SSTORE_OK;
    allow_hit(self->cursor);
    return report_row(self, row, rank, distance);
}

static sstore_status scan_slice(void *context, ss_row_scan *scan, sstore_error *error)
{
    row_search *self = context;
    const uint32_t words = self->segment->metadata.words;
    uint32_t hits[SS_ROW_SLICE_MAX];
    const uint32_t found = self->kernels->near_rows(scan->rows, scan->count, words, self->query_words, *self->limit,
                                                    hits);
    sstore_status status = SS_UNLIKELY(found > 0) ? ss_row_scan_check(scan, error) : SSTORE_OK;
    for (uint32_t i = 0; status == SSTORE_OK && i < found; i++)
        status = take_row(self, scan->rows + (size_t)hits[i] * words, scan->rank + hits[i]);
    return status == SSTORE_OK ? ss_cursor_check_stop(self->cursor) : status;
}

/* Test every fingerprint of table 0. */
static sstore_status scan_rows(row_search *self)
{
    ss_row_scan scan = {.segment = self->segment,
                        .end_block = self->segment->metadata.tables[0].block_count,
                        .slot = &self->cursor->row_slot,
                        .on_slice = scan_slice,
                        .context = self};
    self->kernels = ss_kernels_best();
    return ss_row_scan_run(&scan, self->error);
}

static row_search begin_search(sstore_cursor *cursor, uint32_t segment, const uint64_t *fingerprint, ss_hit_fn on_hit,
                               void *context, sstore_error *error)
{
    return (row_search){.cursor = cursor,
                        .segment = cursor->store->segments[segment],
                        .segment_number = segment,
                        .query_words = fingerprint,
                        .on_hit = on_hit,
                        .context = context,
                        .error = error};
}

sstore_status ss_row_search_segment(sstore_cursor *cursor, uint32_t segment, const uint64_t *fingerprint,
                                    uint32_t distance, ss_hit_fn on_hit, void *context, sstore_error *error)
{
    uint64_t word_hits[MAX_WORD_HITS], known[MAX_KNOWN][SSTORE_MAX_WORDS];
    row_search self = begin_search(cursor, segment, fingerprint, on_hit, context, error);
    self.word_hits = word_hits;
    self.known = known;
    self.plan = ss_cursor_plan(cursor, segment, distance);
    self.distance = distance;
    self.limit = &distance;
    if (self.plan->full_scan)
        return scan_rows(&self);
    self.candidates_left = max_candidates(cursor->store, self.plan);
    const sstore_status status = search_indexes(&self);
    return status == SSTORE_STOPPED && self.scans_rest ? scan_rows(&self) : status;
}

sstore_status ss_row_search_scan(sstore_cursor *cursor, uint32_t segment, const uint64_t *fingerprint,
                                 const uint32_t *limit, ss_hit_fn on_hit, void *context, sstore_error *error)
{
    row_search self = begin_search(cursor, segment, fingerprint, on_hit, context, error);
    self.limit = limit;
    return scan_rows(&self);
}

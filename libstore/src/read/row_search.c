#include "read/row_search.h"

#include <string.h>

#include "base/error.h"
#include "base/words.h"
#include "codec/rows.h"
#include "plan/durations.h"
#include "plan/radii.h"

#define STEPS_A_CANDIDATE 3u /* its rank and its id in the word index, and its fingerprint */
#define MAX_WORD_HITS 512u   /* with more hits in a word, it is searched to the end */
#define MAX_KNOWN 4u         /* hits that are not looked up again when another word finds them */
#define SLICE_WORDS 512u     /* of fingerprints that are tested at once, by a full scan */

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

void ss_row_search_prefetch(const ss_segment *segment, uint64_t rank)
{
    const ss_checked_blocks *checked = &segment->tables[0].checked;
    const uint32_t words = checked->words, capacity = ss_rows_capacity(segment->metadata.block_bytes, words);
    if (rank < segment->metadata.distinct_count)
        ss_block_reader_prefetch_bytes(checked->reader, rank / capacity, (uint32_t)(rank % capacity) * 8 * words,
                                       8 * words);
}

/* Load the fingerprint of a rank, which the segment has, through a slot. */
static sstore_status load_rank(const ss_segment *segment, uint64_t rank, ss_block_slot *slot, uint64_t *fingerprint_out,
                               sstore_error *error)
{
    const ss_checked_blocks *checked = &segment->tables[0].checked;
    const uint32_t capacity = ss_rows_capacity(segment->metadata.block_bytes, checked->words);
    ss_block_slot_prefetch(slot, checked->reader, rank / capacity);
    const sstore_status status = ss_block_slot_wait(slot, error);
    if (status == SSTORE_OK)
        ss_rows_load(slot->bytes, (uint32_t)(rank % capacity), checked->words, fingerprint_out);
    return status;
}

sstore_status ss_row_search_check_rank(const ss_segment *segment, const uint64_t *fingerprint, uint64_t rank,
                                       ss_block_slot *slot, sstore_error *error)
{
    bool is_found;
    const sstore_status status = ss_finds_row_at(segment, fingerprint, rank, slot, &is_found, error);
    if (status != SSTORE_OK || is_found)
        return status;
    return ss_fail_damaged(error, segment->tables[0].blocks.file.path, SSTORE_NO_OFFSET,
                           "its fingerprints do not ascend");
}

static sstore_status fail_candidate(const ss_segment *segment, uint32_t word, const char *reason, sstore_error *error)
{
    return ss_fail_damaged(error, segment->indexes[word]->ids.file.path, SSTORE_NO_OFFSET, "%s", reason);
}

sstore_status ss_row_search_confirm(const ss_segment *segment, const ss_candidate *candidate, uint32_t word,
                                    const ss_row_query *query, ss_block_slot *slot, ss_row_hit *hit_out,
                                    bool *is_hit_out, sstore_error *error)
{
    const uint32_t words = segment->metadata.words;
    uint64_t *row = hit_out->fingerprint;
    *is_hit_out = false;
    if (SS_UNLIKELY(candidate->rank >= segment->metadata.distinct_count))
        return fail_candidate(segment, word, "the word index has a rank that the segment does not have", error);
    sstore_status status = load_rank(segment, candidate->rank, slot, row, error);
    if (status != SSTORE_OK)
        return status;
    if (SS_UNLIKELY(row[word] != candidate->word))
        return fail_candidate(segment, word, "the word index leads to a fingerprint that does not have the word",
                              error);
    hit_out->distance = ss_words_distance(row, query->fingerprint, words);
    if (hit_out->distance > query->distance ||
        ss_radii_first_cover(row, query->fingerprint, query->radii, words) != word)
        return SSTORE_OK;
    status = ss_row_search_check_rank(segment, row, candidate->rank, slot, error);
    hit_out->rank = candidate->rank;
    *is_hit_out = status == SSTORE_OK;
    return status;
}

/* One query on one segment. */
typedef struct row_search {
    sstore_cursor *cursor;
    const ss_segment *segment;
    uint32_t segment_number;
    const ss_segment_plan *plan;
    const uint64_t *query;
    uint32_t distance;
    const uint32_t *limit; /* the distance of a full scan: it may become smaller meanwhile */
    uint32_t searched;     /* the word whose index is searched */
    uint32_t word;         /* the word of the last candidate that was confirmed */
    uint64_t candidates;   /* more of them would take longer than a full scan */
    uint64_t *word_hits;   /* the ranks of the first MAX_WORD_HITS hits of `word` */
    uint32_t word_hit_count;
    uint64_t (*known)[SSTORE_MAX_WORDS]; /* the last MAX_KNOWN hits */
    uint32_t known_count;
    bool is_rest;         /* the full scan reports what the words have not found; then word_hits ascend */
    uint32_t hits_passed; /* of word_hits, by the full scan */
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
    self->is_rest = true;
    for (uint32_t i = 1; i < self->word_hit_count; i++) { /* they are few, and qsort() would allocate */
        const uint64_t hit = hits[i];
        uint32_t at = i;
        for (; at > 0 && hits[at - 1] > hit; at--)
            hits[at] = hits[at - 1];
        hits[at] = hit;
    }
}

static sstore_status confirm_candidate(row_search *self, const ss_indexed_candidate *candidate)
{
    sstore_cursor *cursor = self->cursor;
    const ss_row_query query = {self->query, self->distance, self->plan->radii};
    ss_row_hit hit;
    bool is_hit;
    if (candidate->index != self->word)
        self->word_hit_count = 0;
    self->word = candidate->index;
    cursor->steps.left += STEPS_A_CANDIDATE;
    allow_hit(cursor);
    const sstore_status status = ss_row_search_confirm(self->segment, &candidate->candidate, candidate->index, &query,
                                                       &cursor->row_slot, &hit, &is_hit, self->error);
    if (status == SSTORE_OK && is_hit)
        return report_word_hit(self, &hit);
    if (status == SSTORE_OK) /* then it took at most one step */
        cursor->steps.left -= cursor->row_hit_steps;
    return status;
}

/* Confirm the candidates that were gathered. STOPPED, with is_rest, if there are too many. */
static sstore_status confirm_candidates(row_search *self)
{
    sstore_cursor *cursor = self->cursor;
    const uint32_t count = cursor->candidate_count;
    cursor->candidate_count = 0;
    for (uint32_t i = 0; self->status == SSTORE_OK && i < count; i++)
        self->status = confirm_candidate(self, &cursor->candidates[i]);
    self->candidates = ss_max_u64(self->candidates, count) - count;
    if (self->status == SSTORE_OK && self->candidates == 0 && self->word_hit_count < MAX_WORD_HITS) {
        begin_rest(self);
        return self->status = SSTORE_STOPPED;
    }
    return self->status;
}

static int add_candidate(void *context, const sstore_match *match)
{
    row_search *self = context;
    sstore_cursor *cursor = self->cursor;
    ss_row_search_prefetch(self->segment, match->id);
    cursor->candidates[cursor->candidate_count++] = (ss_indexed_candidate){.candidate = {.word = *match->fingerprint,
                                                                                         .rank = match->id},
                                                                           .index = (uint32_t)match->query_index};
    return cursor->candidate_count == SS_HIT_BATCH && confirm_candidates(self) != SSTORE_OK;
}

/* Find the ranks of the words that were found. */
static sstore_status look_up_words(row_search *self)
{
    sstore_cursor *cursor = self->cursor;
    const uint32_t count = cursor->found_words.count;
    const ss_record_sink sink = {.cursor = cursor, .on_match = add_candidate, .context = self, .in_index = true};
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
        is_there |= self->known[i][self->searched] == word;
    return is_there && is_unique(self->segment->indexes[self->searched]);
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
    added->query = self->searched;
    return found->count == SS_HIT_BATCH ? look_up_words(self) : SSTORE_OK;
}

static sstore_status search_index(row_search *self, uint32_t word)
{
    const ss_search search = {.cursor = self->cursor,
                              .segment = self->segment->indexes[word],
                              .segment_number = UINT32_MAX,
                              .plan = &self->plan->indexes[word],
                              .fingerprint = self->query[word],
                              .distance = (uint32_t)self->plan->radii[word],
                              .on_hit = add_word,
                              .context = self,
                              .error = self->error};
    self->searched = word;
    return ss_search_run(&search);
}

/* What several indexes find is looked up together, in the order of the words; but before an index that may find it
 * again, and tells so without a look-up. */
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

/* Check that the last fingerprint of a block is above the one of the block before, and has the block's key. So a search
 * for any fingerprint leads to the right block. `last` is the one before, and becomes this block's. */
static sstore_status check_last(const row_search *self, uint64_t number, uint64_t *last)
{
    const ss_checked_blocks *checked = &self->segment->tables[0].checked;
    const uint32_t count = ss_checked_rows_count(checked, number);
    uint64_t row[SSTORE_MAX_WORDS];
    ss_rows_load(self->cursor->row_slot.bytes, count - 1, checked->words, row);
    if (SS_UNLIKELY(number > 0 && ss_words_compare(row, last, checked->words) <= 0))
        return ss_block_reader_malformed(checked->reader, number, SS_BELOW_BLOCK_BEFORE, self->error);
    if (SS_UNLIKELY(ss_array_at(checked->keys, number) != row[0]))
        return ss_block_reader_malformed(checked->reader, number, SS_OTHER_LAST_FINGERPRINT, self->error);
    ss_words_copy(last, row, checked->words);
    return SSTORE_OK;
}

/* Check that all fingerprints of a block that has a hit ascend from the last one of the block before. */
static sstore_status check_ascends(const row_search *self, uint64_t number, const uint64_t *before)
{
    const ss_checked_blocks *checked = &self->segment->tables[0].checked;
    const uint32_t count = ss_checked_rows_count(checked, number), words = checked->words;
    uint64_t last[SSTORE_MAX_WORDS], row[SSTORE_MAX_WORDS];
    bool ascends = true;
    ss_words_copy(last, before, words);
    for (uint32_t i = 0; i < count; i++) {
        ss_rows_load(self->cursor->row_slot.bytes, i, words, row);
        ascends &= (number == 0 && i == 0) || ss_words_compare(last, row, words) < 0;
        ss_words_copy(last, row, words);
    }
    return ascends ? SSTORE_OK
                   : ss_block_reader_malformed(checked->reader, number, "its fingerprints do not ascend", self->error);
}

/* Whether the words up to the current one have found the fingerprint, whose rank is above those of the calls before. */
static bool is_found(row_search *self, const uint64_t *row, uint64_t rank)
{
    const uint32_t first = ss_radii_first_cover(row, self->query, self->plan->radii, self->segment->metadata.words);
    while (self->hits_passed < self->word_hit_count && self->word_hits[self->hits_passed] < rank)
        self->hits_passed++;
    return first < self->word ||
           (self->hits_passed < self->word_hit_count && self->word_hits[self->hits_passed] == rank);
}

/* Report a fingerprint of the block, unless the words have found it. */
static sstore_status take_row(row_search *self, const uint64_t *row, uint64_t rank)
{
    const uint32_t distance = ss_words_distance(row, self->query, self->segment->metadata.words);
    if (distance > *self->limit || (self->is_rest && is_found(self, row, rank)))
        return SSTORE_OK;
    allow_hit(self->cursor);
    return report_row(self, row, rank, distance);
}

/* Test the fingerprints of the block in the slot. `before` is the last one of the block before. */
static sstore_status scan_block(row_search *self, uint64_t number, const uint64_t *before)
{
    const ss_checked_blocks *checked = &self->segment->tables[0].checked;
    const uint32_t count = ss_checked_rows_count(checked, number), words = checked->words;
    const uint64_t rank = number * ss_rows_capacity(self->segment->metadata.block_bytes, words);
    uint64_t room[SLICE_WORDS];
    uint32_t hits[SLICE_WORDS / 2];
    bool is_checked = false;
    sstore_status status = SSTORE_OK;
    for (uint32_t first = 0; first < count; first += SLICE_WORDS / words) {
        const uint32_t together = ss_min_u32(SLICE_WORDS / words, count - first);
        const uint64_t *rows = ss_rows_at(self->cursor->row_slot.bytes, first, together, words, room);
        const uint32_t found = self->kernels->near_rows(rows, together, words, self->query, *self->limit, hits);
        if (SS_LIKELY(found == 0))
            continue;
        if (!is_checked)
            status = check_ascends(self, number, before);
        is_checked = true;
        for (uint32_t i = 0; status == SSTORE_OK && i < found; i++)
            status = take_row(self, rows + (size_t)hits[i] * words, rank + first + hits[i]);
        if (status != SSTORE_OK)
            return status;
    }
    return status;
}

/* Test every fingerprint of table 0. So none is found twice, and older segments that have one find it here. */
static sstore_status scan_rows(row_search *self)
{
    sstore_cursor *cursor = self->cursor;
    const ss_block_reader *reader = self->segment->tables[0].checked.reader;
    ss_read_ahead ahead = ss_read_ahead_from(0, UINT64_MAX);
    uint64_t last[SSTORE_MAX_WORDS] = {0}, before[SSTORE_MAX_WORDS];
    sstore_status status = SSTORE_OK;
    self->kernels = ss_kernels_best();
    for (uint64_t number = 0; status == SSTORE_OK && number < reader->header.block_count; number++) {
        ss_block_reader_ahead(reader, number, &ahead);
        ss_block_slot_prefetch(&cursor->row_slot, reader, number);
        status = ss_block_slot_wait(&cursor->row_slot, self->error);
        memcpy(before, last, sizeof before);
        if (status == SSTORE_OK)
            status = check_last(self, number, last);
        if (status == SSTORE_OK)
            status = scan_block(self, number, before);
        if (status == SSTORE_OK)
            status = ss_cursor_check_stop(cursor);
    }
    return status;
}

static row_search begin_search(sstore_cursor *cursor, uint32_t segment, const uint64_t *fingerprint, ss_hit_fn on_hit,
                               void *context, sstore_error *error)
{
    return (row_search){.cursor = cursor,
                        .segment = cursor->store->segments[segment],
                        .segment_number = segment,
                        .query = fingerprint,
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
    self.candidates = max_candidates(cursor->store, self.plan);
    const sstore_status status = search_indexes(&self);
    return status == SSTORE_STOPPED && self.is_rest ? scan_rows(&self) : status;
}

sstore_status ss_row_search_scan(sstore_cursor *cursor, uint32_t segment, const uint64_t *fingerprint,
                                 const uint32_t *limit, ss_hit_fn on_hit, void *context, sstore_error *error)
{
    row_search self = begin_search(cursor, segment, fingerprint, on_hit, context, error);
    self.limit = limit;
    return scan_rows(&self);
}

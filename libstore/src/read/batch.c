/*
 * batch.c - queries in batches: forms rounds of them, and returns their matches. A round with too many matches is
 * answered again in halves; a query that alone has too many, page by page.
 */
#include "read/batch.h"

#include "base/error.h"
#include "base/iterator.h"
#include "base/memory.h"
#include "base/words.h"
#include "read/growing_round.h"
#include "read/query.h"
#include "read/round.h"

/* Bytes of memory for a thread, and for a query and a match of a round. */
#define THREAD_BYTES ((uint64_t)8 << 20)
#define QUERY_BYTES 40u
#define MATCH_BYTES 170u
#define MIN_MATCHES 4096u

/* Queries first .. first + count - 1. */
typedef struct query_range {
    size_t first;
    uint32_t count;
} query_range;

typedef struct match_iterator {
    sstore_iterator base;
    ss_round round_template; /* without queries */
    ss_segment_plan *plans;  /* one a segment */
    const uint64_t *fingerprints;
    size_t count, next; /* queries from `next` on are not in a round yet */
    uint64_t round_queries;
    uint64_t *match_counts; /* of all queries, or NULL */
    /* The other halves of rounds with too many hits, the next one last. */
    query_range pending[SS_ROUND_QUERY_BITS + 1];
    uint32_t pending_count;
    /* The next pending query has too many matches for a round. Of these, as many were answered, and the last one. */
    uint64_t answered_count;
    sstore_match answered_last;
    uint64_t answered_words[SSTORE_MAX_WORDS];
    ss_round_matches found; /* the matches of the current round, or a page of a query */
    size_t match_index;
    ss_progress progress;
} match_iterator;

/* The filter for queries from `first` on. */
static ss_id_filter filter_from(const match_iterator *self, size_t first)
{
    ss_id_filter filter = self->round_template.filter;
    if (filter.excluded_ids != NULL)
        filter.excluded_ids += first;
    return filter;
}

/* ----- a query with too many matches for a round ----- */

static int ask_progress(void *context)
{
    return ss_progress_add(context, 0, 0) != SSTORE_OK;
}

/* Allocate the columns of up to `capacity` matches. */
static sstore_status open_columns(sstore_columns *to, size_t capacity, uint32_t words, sstore_error *error)
{
    *to = (sstore_columns){.fingerprint = ss_realloc(NULL, capacity, words * sizeof(uint64_t)),
                           .id = ss_realloc(NULL, capacity, sizeof(uint64_t)),
                           .distance = ss_realloc(NULL, capacity, sizeof(uint32_t))};
    return to->fingerprint != NULL && to->id != NULL && to->distance != NULL
               ? SSTORE_OK
               : ss_fail_memory(error, capacity * ((words + 1) * sizeof(uint64_t) + sizeof(uint32_t)));
}

/* Select the next matches of query `index`. */
static sstore_status select_page(match_iterator *self, size_t index, ss_selection *selection, sstore_error *error)
{
    const uint64_t *fingerprint = self->fingerprints + index * selection->words;
    const bool counts = self->match_counts != NULL && self->answered_count == 0;
    sstore_cursor *cursor;
    sstore_status status = sstore_cursor_create(self->round_template.store, &cursor, error);
    if (status != SSTORE_OK)
        return status;
    const ss_record_sink sink = {.cursor = cursor,
                                 .selection = selection,
                                 .counts = counts ? &self->match_counts[index] : NULL,
                                 .filter = filter_from(self, index)};
    sstore_cursor_set_stop(cursor, ask_progress, &self->progress);
    ss_cursor_begin(cursor);
    status = (counts ? ss_query_records : ss_query_nearest)(&sink, fingerprint, self->round_template.distance, error);
    ss_selection_sort(selection);
    if (self->round_template.block_count != NULL)
        *self->round_template.block_count += sstore_cursor_block_count(cursor);
    sstore_cursor_free(cursor);
    return status;
}

/* Turn selected matches into those of the current page. The fingerprints become its rows. */
static sstore_status take_page(match_iterator *self, size_t index, ss_selection *from, sstore_error *error)
{
    ss_round_matches *to = &self->found;
    to->matches = ss_realloc(NULL, from->count, sizeof *to->matches);
    if (to->matches == NULL)
        return ss_fail_memory(error, from->count * sizeof *to->matches);
    to->count = from->count;
    to->rows = from->to.fingerprint;
    from->to.fingerprint = NULL;
    for (size_t i = 0; i < from->count; i++)
        to->matches[i] = (sstore_match){.query_index = index,
                                        .fingerprint = to->rows + i * from->words,
                                        .id = from->to.id[i],
                                        .distance = from->to.distance[i]};
    return SSTORE_OK;
}

/* Get as many of the next matches of a query as a round may have. If there may be more, the query is pending again. */
static sstore_status answer_page(match_iterator *self, query_range range, sstore_error *error)
{
    const uint64_t limit = self->round_template.counts_only  ? 0
                           : self->round_template.limit == 0 ? UINT64_MAX
                                                             : self->round_template.limit;
    ss_selection selection = {.words = self->round_template.store->manifest.words,
                              .capacity = (size_t)ss_min_u64((uint64_t)self->round_template.max_matches,
                                                             limit - self->answered_count),
                              .after = self->answered_count > 0 ? &self->answered_last : NULL};
    sstore_status status = open_columns(&selection.to, selection.capacity, selection.words, error);
    if (status == SSTORE_OK)
        status = select_page(self, range.first, &selection, error);
    if (status == SSTORE_OK)
        status = take_page(self, range.first, &selection, error);
    ss_free(selection.to.fingerprint);
    ss_free(selection.to.id);
    ss_free(selection.to.distance);
    if (status != SSTORE_OK)
        return status;
    self->answered_count += selection.count;
    if (selection.count < selection.capacity || self->answered_count >= limit) {
        self->answered_count = 0;
        return ss_progress_add(&self->progress, 0, 1);
    }
    self->answered_last = self->found.matches[selection.count - 1];
    ss_words_copy(self->answered_words, self->answered_last.fingerprint, selection.words);
    self->answered_last.fingerprint = self->answered_words;
    self->pending[self->pending_count++] = range;
    return SSTORE_OK;
}

/* ----- rounds ----- */

static void reset_counts(const match_iterator *self, query_range range)
{
    for (uint32_t i = 0; self->match_counts != NULL && i < range.count; i++)
        self->match_counts[range.first + i] = 0;
}

/* Whether so few matches of a single query are wanted that they need not be collected first. */
static bool is_small(const match_iterator *self, query_range range)
{
    const ss_round *round = &self->round_template;
    return range.count == 1 && (round->counts_only || (round->limit > 0 && round->limit <= MIN_MATCHES));
}

/* Get the matches of some queries. If they are too many, add both halves of the queries to the pending ones. */
static sstore_status answer_range(match_iterator *self, query_range range, sstore_error *error)
{
    ss_round round = self->round_template;
    if (self->answered_count > 0)
        return answer_page(self, range, error);
    reset_counts(self, range); /* an attempt to answer more queries may have left some */
    if (is_small(self, range))
        return answer_page(self, range, error);
    round.fingerprints = self->fingerprints + range.first * round.store->manifest.words;
    round.count = range.count;
    round.first_index = range.first;
    round.match_counts = self->match_counts != NULL ? self->match_counts + range.first : NULL;
    round.filter = filter_from(self, range.first);
    const sstore_status status = (ss_growing_round_suits(&round) ? ss_growing_round_answer
                                                                 : ss_round_answer)(&round, &self->found, error);
    if (status != SSTORE_OK && (status != SSTORE_STOPPED || atomic_load(&self->progress.stopped)))
        return status;
    if (status == SSTORE_OK)
        return ss_progress_add(&self->progress, 0, range.count);
    if (range.count == 1) {
        reset_counts(self, range);
        return answer_page(self, range, error);
    }
    const uint32_t half = range.count / 2;
    self->pending[self->pending_count++] = (query_range){.first = range.first + half, .count = range.count - half};
    self->pending[self->pending_count++] = (query_range){.first = range.first, .count = half};
    return SSTORE_OK;
}

static void forget_matches(match_iterator *self)
{
    ss_round_matches_free(&self->found);
    self->match_index = 0;
}

/* Answer queries until there are matches. If their count is 0 then, none are left. */
static sstore_status answer_more(match_iterator *self, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    forget_matches(self);
    while (status == SSTORE_OK && self->found.count == 0 && (self->pending_count > 0 || self->next < self->count)) {
        query_range range = {.first = self->next,
                             .count = (uint32_t)ss_min_u64(self->count - self->next, self->round_queries)};
        if (self->pending_count > 0)
            range = self->pending[--self->pending_count];
        else
            self->next += range.count;
        forget_matches(self); /* the range before has none */
        status = answer_range(self, range, error);
    }
    return status;
}

static void close_iterator(match_iterator *self)
{
    ss_round_matches_free(&self->found);
    ss_free(self->plans);
}

static sstore_status fill_matches(sstore_iterator *iterator, const sstore_columns *columns, size_t capacity,
                                  size_t *count, sstore_error *error)
{
    match_iterator *self = (match_iterator *)iterator;
    while (*count < capacity) {
        if (self->match_index == self->found.count) {
            const sstore_status status = answer_more(self, error);
            if (status != SSTORE_OK || self->found.count == 0)
                return status;
        }
        ss_set_match(columns, (*count)++, self->round_template.store->manifest.words,
                     &self->found.matches[self->match_index++]);
    }
    return SSTORE_OK;
}

static void free_matches(sstore_iterator *iterator)
{
    match_iterator *self = (match_iterator *)iterator;
    close_iterator(self);
    ss_free(self);
}

static const ss_iterator_methods methods = {SS_MATCH_COLUMNS, fill_matches, free_matches};

/* Choose how many queries and matches a round may have. Matches of wide fingerprints take more memory each. A growing
 * round copies both. */
static void choose_round(match_iterator *self, uint64_t memory_bytes)
{
    const bool grows = self->match_counts == NULL && ss_growing_round_suits(&self->round_template);
    const uint64_t copy_bytes = grows ? 8 * self->round_template.store->manifest.words + UINT64_C(8) : 0;
    uint64_t matches = (uint64_t)SS_ROUND_MATCHES, queries = UINT64_C(1) << SS_ROUND_QUERY_BITS;
    if (memory_bytes > 0) {
        matches = ss_min_u64(matches, ss_max_u64(memory_bytes / 2 / MATCH_BYTES, MIN_MATCHES));
        queries = ss_min_u64(queries, ss_max_u64(memory_bytes / 8 / (QUERY_BYTES + copy_bytes), MIN_MATCHES));
    }
    if (grows)
        matches /= 2;
    self->round_template.max_matches = (long long)matches / ((self->round_template.store->manifest.words + 3) / 4);
    self->round_queries = queries;
}

static sstore_status open_iterator(match_iterator *self, const sstore *store, const uint64_t *fingerprints,
                                   size_t count, uint32_t distance, const sstore_batch_options *options,
                                   sstore_error *error)
{
    sstore_batch_options taken = SSTORE_BATCH_OPTIONS_INIT;
    ss_steps planning = {.left = SS_CALL_STEPS};
    if (store == NULL || (fingerprints == NULL && count > 0))
        return ss_fail_argument(error, "store and fingerprints must not be NULL");
    const uint32_t max = SSTORE_MAX_DISTANCE * store->manifest.words;
    if (distance > max)
        return ss_fail_argument(error, "the distance must be at most %u", max);
    ss_id_filter filter;
    sstore_status status = ss_take_options(&taken, sizeof taken, options, SS_BATCH_OPTIONS_SIZE_1, error);
    if (status == SSTORE_OK)
        status = ss_id_filter_take(&filter, taken.filter, store, error);
    if (status != SSTORE_OK)
        return status;
    if (taken.count_only && taken.match_counts == NULL)
        return ss_fail_argument(error, "sstore_iterate_matches: with count_only, match_counts must not be NULL");
    const uint64_t max_threads = ss_max_u64(taken.memory_bytes / (4 * THREAD_BYTES), 1);
    const uint32_t all_threads = ss_pool_threads(taken.threads);
    const uint32_t threads = taken.memory_bytes == 0 ? all_threads : (uint32_t)ss_min_u64(all_threads, max_threads);
    for (size_t i = 0; taken.match_counts != NULL && i < count; i++)
        taken.match_counts[i] = 0;
    *self = (match_iterator){.base = self->base,
                             .round_template = {.store = store,
                                                .distance = distance,
                                                .threads = threads,
                                                .block_count = taken.block_count,
                                                .limit = taken.limit,
                                                .counts_only = taken.count_only,
                                                .filter = filter,
                                                .progress = &self->progress},
                             .fingerprints = fingerprints,
                             .count = store->manifest.segment_count > 0 ? count : 0,
                             .match_counts = taken.match_counts,
                             .progress = {.report = taken.on_progress, .context = taken.progress_context}};
    choose_round(self, taken.memory_bytes);
    ss_progress_begin(&self->progress, "answering", 0, count, 1);
    self->round_template.plans = self->plans = ss_segment_plans_alloc(&store->manifest);
    if (self->plans == NULL)
        return ss_fail_memory(error, ss_segment_plans_bytes(&store->manifest));
    ss_segment_plans_choose(store, distance, &planning, self->plans);
    return SSTORE_OK;
}

sstore_status ss_query_batch(const sstore *store, const uint64_t *fingerprints, size_t count, uint32_t distance,
                             const sstore_batch_options *options, sstore_match_fn on_match, void *context,
                             sstore_error *error)
{
    match_iterator self = {.match_index = 0};
    sstore_status status = open_iterator(&self, store, fingerprints, count, distance, options, error);
    if (status == SSTORE_OK)
        status = answer_more(&self, error);
    while (status == SSTORE_OK && self.found.count > 0) {
        for (size_t i = 0; status == SSTORE_OK && i < self.found.count; i++)
            status = on_match(context, &self.found.matches[i]) == 0 ? SSTORE_OK : SSTORE_STOPPED;
        if (status == SSTORE_OK)
            status = answer_more(&self, error);
    }
    close_iterator(&self);
    return status;
}

sstore_status sstore_iterate_matches(const sstore *store, const uint64_t *fingerprints, size_t count, uint32_t distance,
                                     const sstore_batch_options *options, sstore_iterator **iterator_out,
                                     sstore_error *error)
{
    if (iterator_out == NULL)
        return ss_fail_argument(error, "sstore_iterate_matches: iterator_out must not be NULL");
    *iterator_out = NULL;
    match_iterator *self = ss_alloc(1, sizeof *self);
    if (self == NULL)
        return ss_fail_memory(error, sizeof *self);
    self->base.methods = &methods;
    const sstore_status status = open_iterator(self, store, fingerprints, count, distance, options, error);
    return ss_iterator_give(&self->base, status, iterator_out);
}

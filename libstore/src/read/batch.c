/* batch.c - forms rounds of queries, chooses how to answer each round, and returns the matches. */
#include "read/batch.h"

#include <assert.h>
#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/tasks.h"
#include "read/row_batch.h"
#include "read/search.h"

#define FIRST_CAPACITY 1024u /* of a worker's hits */

/* Bytes of memory for a thread, and for a query and a match of a round. */
#define THREAD_BYTES ((uint64_t)8 << 20)
#define QUERY_BYTES 40u
#define MATCH_BYTES 170u
#define MIN_MATCHES 4096u

/* ----- workers ----- */

/* Whether a hit need not be stored. Then it is counted. */
static bool is_skipped(const ss_batch *batch, const ss_index_hit *hit)
{
    const ss_first_hits *first = &batch->first;
    const uint32_t distance = ss_popcount(hit->fingerprint ^ batch->fingerprints[hit->query]);
    const bool may_skip = first->records == NULL || hit->rank != SS_NO_RANK;
    if (may_skip && (int32_t)distance > ss_first_hits_bound(first, hit->query, batch->distance)) {
        ss_first_hits_skip(first, hit->query, ss_first_hits_records(first, hit->rank));
        return true;
    }
    if (first->bounds != NULL)
        ss_first_hits_keep(first, hit->query, distance);
    return false;
}

/* Append a hit in the current segment, unless it need not be stored. STOPPED if there are too many; MEMORY. */
static sstore_status add_hit(void *context, uint32_t worker, const ss_index_hit *found, sstore_error *error)
{
    ss_batch *batch = context;
    ss_batch_worker *self = &batch->workers[worker];
    if (batch->first.skips && is_skipped(batch, found))
        return SSTORE_OK;
    if (self->count == self->capacity) {
        const long long more = self->capacity == 0 ? FIRST_CAPACITY : (long long)self->capacity;
        if (atomic_fetch_sub_explicit(&batch->room, more, memory_order_relaxed) < more)
            return SSTORE_STOPPED;
        ss_batch_hit *hits = ss_grow(self->hits, self->count, &self->capacity, FIRST_CAPACITY, sizeof *hits);
        if (hits == NULL)
            return ss_fail_memory(error, 2 * self->capacity * sizeof *hits);
        self->hits = hits;
    }
    self->hits[self->count++] = (ss_batch_hit){.fingerprint = found->fingerprint,
                                               .rank = found->rank,
                                               .query = found->query,
                                               .segment = batch->segment_index};
    return SSTORE_OK;
}

static void free_hits(const ss_batch *batch)
{
    for (uint32_t i = 0; i < batch->threads; i++) {
        ss_free(batch->workers[i].hits);
        batch->workers[i] = (ss_batch_worker){.hits = NULL};
    }
}

/* ----- the iterator ----- */

/* Queries first .. first + count - 1. */
typedef struct query_range {
    size_t first;
    uint32_t count;
} query_range;

struct sstore_match_iterator {
    ss_batch batch;
    ss_query_plan *plans;   /* one a segment */
    ss_row_plan *row_plans; /* the same in a store with word indexes */
    uint64_t *rows;         /* of the matches there */
    const uint64_t *fingerprints;
    size_t count, next; /* queries from `next` on are not in a round yet */
    uint64_t round_queries, round_matches;
    uint64_t *match_counts; /* of all queries, or NULL */
    /* The other halves of rounds with too many hits, the next one last. */
    query_range pending[SS_ROUND_QUERY_BITS + 1];
    uint32_t pending_count;
    /* The next pending query has too many matches for a round. So many were answered, and this one last. */
    uint64_t part_count;
    sstore_match part_last;
    uint64_t part_words[SSTORE_MAX_WORDS];
    sstore_match *matches; /* of the current part of a round */
    size_t match_count, match_index;
    ss_progress progress;
    sstore_status status; /* of an earlier call */
};

/* Choose which hits in the current segment need not be stored. */
static sstore_status begin_skipping(ss_batch *batch, bool is_full_scan, sstore_error *error)
{
    sstore_cursor *cursor = NULL;
    if (!batch->counts_only && batch->limit == 0)
        return SSTORE_OK;
    const sstore_status status = is_full_scan ? ss_cursors_get(&batch->cursors, 0, &cursor, error) : SSTORE_OK;
    return status == SSTORE_OK ? ss_first_hits_begin(&batch->first, cursor, batch->store, batch->segment_index, error)
                               : status;
}

/* Find the hits in all segments of records. */
static sstore_status find_hits(sstore_match_iterator *self, sstore_error *error)
{
    ss_batch *batch = &self->batch;
    const sstore *store = batch->store;
    sstore_status status = SSTORE_OK;
    for (uint32_t i = 0; status == SSTORE_OK && i < store->manifest.segment_count; i++) {
        if (ss_segment_removes(store->segments[i]))
            continue;
        const ss_index_batch index = {.index = store->segments[i],
                                      .plan = &self->plans[i],
                                      .queries = batch->fingerprints,
                                      .count = batch->count,
                                      .distance = batch->distance,
                                      .threads = batch->threads,
                                      .cursors = &batch->cursors,
                                      .on_hit = add_hit,
                                      .context = batch,
                                      .first = &batch->first,
                                      .block_count = batch->block_count,
                                      .progress = batch->progress};
        double cost;
        const ss_index_way way = ss_index_batch_choose(&index, &cost);
        batch->segment_index = i;
        status = begin_skipping(batch, way == SS_FULL_SCAN, error);
        if (status == SSTORE_OK)
            status = ss_index_batch_run(&index, way, error);
    }
    return status;
}

/* Get the matches of some queries. STOPPED if they are too many. */
static sstore_status find_matches(sstore_match_iterator *self, query_range range, sstore_error *error)
{
    ss_batch *batch = &self->batch;
    batch->fingerprints = self->fingerprints + range.first;
    batch->count = range.count;
    batch->max_matches = batch->room = (long long)self->round_matches;
    batch->match_counts = self->match_counts != NULL ? self->match_counts + range.first : NULL;
    sstore_status status = ss_first_hits_open(&batch->first, range.count, batch->counts_only ? 0 : batch->limit,
                                              batch->match_counts, error);
    if (status == SSTORE_OK)
        status = ss_cursors_open(&batch->cursors, batch->store, batch->threads, error);
    if (status == SSTORE_OK)
        status = find_hits(self, error);
    ss_first_hits_close(&batch->first);
    if (status == SSTORE_OK)
        status = ss_batch_report(batch, range.first, &self->matches, &self->match_count, error);
    free_hits(batch);
    ss_cursors_close(&batch->cursors, batch->block_count);
    return status;
}

/* Find the matches of a range of queries in a store with word indexes. */
static sstore_status find_row_matches(sstore_match_iterator *self, query_range range, sstore_error *error)
{
    const ss_batch *batch = &self->batch;
    const ss_row_batch rows = {.store = batch->store,
                               .plans = self->row_plans,
                               .fingerprints = self->fingerprints + range.first * batch->store->manifest.words,
                               .count = range.count,
                               .distance = batch->distance,
                               .threads = batch->threads,
                               .max_matches = (long long)self->round_matches,
                               .first_index = range.first,
                               .limit = batch->limit,
                               .counts_only = batch->counts_only,
                               .match_counts = self->match_counts,
                               .block_count = batch->block_count,
                               .progress = batch->progress};
    ss_row_batch_matches found;
    const sstore_status status = ss_row_batch_find(&rows, &found, error);
    self->matches = found.matches;
    self->rows = found.rows;
    self->match_count = found.count;
    return status;
}

/* ----- a query with too many matches for a round ----- */

static int ask_progress(void *context)
{
    return ss_progress_add(context, 0, 0) != SSTORE_OK;
}

/* Allocate the columns of up to `capacity` matches. */
static sstore_status open_columns(sstore_match_columns *to, size_t capacity, uint32_t words, sstore_error *error)
{
    *to = (sstore_match_columns){.fingerprint = ss_realloc(NULL, capacity, words * sizeof(uint64_t)),
                                 .id = ss_realloc(NULL, capacity, sizeof(uint64_t)),
                                 .distance = ss_realloc(NULL, capacity, sizeof(uint32_t))};
    return to->fingerprint != NULL && to->id != NULL && to->distance != NULL
               ? SSTORE_OK
               : ss_fail_memory(error, capacity * ((words + 1) * sizeof(uint64_t) + sizeof(uint32_t)));
}

/* Select the next matches of query `index`. */
static sstore_status select_part(sstore_match_iterator *self, size_t index, ss_selection *selection,
                                 sstore_error *error)
{
    const uint64_t *fingerprint = self->fingerprints + index * selection->words;
    const bool counts = self->match_counts != NULL && self->part_count == 0;
    sstore_cursor *cursor;
    sstore_status status = ss_cursors_get(&self->batch.cursors, 0, &cursor, error);
    if (status != SSTORE_OK)
        return status;
    const ss_record_sink sink = {.cursor = cursor,
                                 .selection = selection,
                                 .counts = counts ? &self->match_counts[index] : NULL};
    sstore_cursor_set_stop(cursor, ask_progress, &self->progress);
    ss_cursor_begin(cursor);
    status = ss_query_records(&sink, fingerprint, self->batch.distance, error);
    ss_selection_sort(selection);
    return status;
}

/* Turn selected matches into those of the current part. The fingerprints become its rows. */
static sstore_status take_part(sstore_match_iterator *self, size_t index, ss_selection *from, sstore_error *error)
{
    self->matches = ss_realloc(NULL, from->count, sizeof *self->matches);
    if (self->matches == NULL)
        return ss_fail_memory(error, from->count * sizeof *self->matches);
    self->match_count = from->count;
    self->rows = from->to.fingerprint;
    from->to.fingerprint = NULL;
    for (size_t i = 0; i < from->count; i++)
        self->matches[i] = (sstore_match){.query_index = index,
                                          .fingerprint = self->rows[i * from->words],
                                          .id = from->to.id[i],
                                          .distance = from->to.distance[i],
                                          .words = self->rows + i * from->words};
    return SSTORE_OK;
}

/* Get as many of the next matches of a query as a round may have. If there may be more, the query is pending again. */
static sstore_status answer_part(sstore_match_iterator *self, query_range range, sstore_error *error)
{
    const uint64_t limit = self->batch.counts_only ? 0 : self->batch.limit == 0 ? UINT64_MAX : self->batch.limit;
    ss_selection selection = {.words = self->batch.store->manifest.words,
                              .capacity = (size_t)ss_min_u64(self->round_matches, limit - self->part_count),
                              .after = self->part_count > 0 ? &self->part_last : NULL};
    sstore_status status = open_columns(&selection.to, selection.capacity, selection.words, error);
    if (status == SSTORE_OK)
        status = ss_cursors_open(&self->batch.cursors, self->batch.store, 1, error);
    if (status == SSTORE_OK)
        status = select_part(self, range.first, &selection, error);
    if (status == SSTORE_OK)
        status = take_part(self, range.first, &selection, error);
    ss_cursors_close(&self->batch.cursors, self->batch.block_count);
    ss_free(selection.to.fingerprint);
    ss_free(selection.to.id);
    ss_free(selection.to.distance);
    if (status != SSTORE_OK)
        return status;
    self->part_count += selection.count;
    if (selection.count < selection.capacity || self->part_count >= limit) {
        self->part_count = 0;
        return ss_progress_add(&self->progress, 0, 1);
    }
    self->part_last = self->matches[selection.count - 1];
    ss_words_copy(self->part_words, self->part_last.words, selection.words);
    self->part_last.words = self->part_words;
    self->pending[self->pending_count++] = range;
    return SSTORE_OK;
}

static void reset_counts(const sstore_match_iterator *self, query_range range)
{
    for (uint32_t i = 0; self->match_counts != NULL && i < range.count; i++)
        self->match_counts[range.first + i] = 0;
}

/* Whether so few matches of a single query are wanted that they need not be collected first. */
static bool is_small(const sstore_match_iterator *self, query_range range)
{
    const ss_batch *batch = &self->batch;
    return range.count == 1 && (batch->counts_only || (batch->limit > 0 && batch->limit <= MIN_MATCHES));
}

/* Get the matches of some queries. If they are too many, add both halves of the queries to the pending ones. */
static sstore_status answer_range(sstore_match_iterator *self, query_range range, sstore_error *error)
{
    const ss_batch *batch = &self->batch;
    if (self->part_count > 0)
        return answer_part(self, range, error);
    reset_counts(self, range); /* an attempt to answer more queries may have left some */
    if (is_small(self, range))
        return answer_part(self, range, error);
    sstore_status status = batch->store->manifest.words > 1 ? find_row_matches(self, range, error)
                                                            : find_matches(self, range, error);
    if (status != SSTORE_OK && (status != SSTORE_STOPPED || atomic_load(&self->progress.stopped)))
        return status;
    if (status == SSTORE_OK)
        return ss_progress_add(&self->progress, 0, range.count);
    if (range.count == 1) {
        reset_counts(self, range);
        return answer_part(self, range, error);
    }
    const uint32_t half = range.count / 2;
    self->pending[self->pending_count++] = (query_range){.first = range.first + half, .count = range.count - half};
    self->pending[self->pending_count++] = (query_range){.first = range.first, .count = half};
    return SSTORE_OK;
}

static void forget_matches(sstore_match_iterator *self)
{
    ss_free(self->matches);
    ss_free(self->rows);
    self->matches = NULL;
    self->rows = NULL;
    self->match_count = self->match_index = 0;
}

/* Answer queries until there are matches. If match_count is 0 then, none are left. */
static sstore_status answer_more(sstore_match_iterator *self, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    forget_matches(self);
    while (status == SSTORE_OK && self->match_count == 0 && (self->pending_count > 0 || self->next < self->count)) {
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

static void close_iterator(sstore_match_iterator *self)
{
    ss_free(self->matches);
    ss_free(self->rows);
    ss_free(self->batch.workers);
    ss_free(self->plans);
    ss_free(self->row_plans);
}

/* Choose how many queries and matches a round may have. Matches of wide fingerprints take more memory each. */
static void choose_round(sstore_match_iterator *self, uint64_t memory_bytes)
{
    uint64_t matches = (uint64_t)SS_ROUND_MATCHES, queries = UINT64_C(1) << SS_ROUND_QUERY_BITS;
    if (memory_bytes > 0) {
        matches = ss_min_u64(matches, ss_max_u64(memory_bytes / 2 / MATCH_BYTES, MIN_MATCHES));
        queries = ss_min_u64(queries, ss_max_u64(memory_bytes / 8 / QUERY_BYTES, MIN_MATCHES));
    }
    self->round_matches = matches / ((self->batch.store->manifest.words + 3) / 4);
    self->round_queries = queries;
}

static sstore_status open_iterator(sstore_match_iterator *self, const sstore *store, const uint64_t *fingerprints,
                                   size_t count, uint32_t distance, const sstore_batch_options *options,
                                   sstore_error *error)
{
    sstore_batch_options taken = SSTORE_BATCH_OPTIONS_INIT;
    ss_steps planning = {.left = SS_CALL_STEPS};
    if (store == NULL || (fingerprints == NULL && count > 0))
        return ss_fail_argument(error, "store and fingerprints must not be NULL");
    const uint32_t words = store->manifest.words, max = SSTORE_MAX_DISTANCE * words;
    if (distance > max)
        return ss_fail_argument(error, "the distance must be at most %u", max);
    const sstore_status status = ss_take_options(&taken, sizeof taken, options, SS_BATCH_OPTIONS_SIZE_1, error);
    if (status != SSTORE_OK)
        return status;
    const uint32_t segments = store->manifest.segment_count;
    const uint64_t max_threads = ss_max_u64(taken.memory_bytes / (4 * THREAD_BYTES), 1);
    const uint32_t all_threads = ss_pool_threads(taken.threads);
    const uint32_t threads = taken.memory_bytes == 0 ? all_threads : (uint32_t)ss_min_u64(all_threads, max_threads);
    for (size_t i = 0; taken.match_counts != NULL && i < count; i++)
        taken.match_counts[i] = 0;
    *self = (sstore_match_iterator){.batch = {.store = store,
                                              .distance = distance,
                                              .threads = threads,
                                              .block_count = taken.block_count,
                                              .limit = taken.limit,
                                              .progress = &self->progress},
                                    .fingerprints = fingerprints,
                                    .count = segments > 0 ? count : 0,
                                    .match_counts = taken.match_counts,
                                    .progress = {.report = taken.on_progress, .context = taken.progress_context}};
    choose_round(self, taken.memory_bytes);
    ss_progress_begin(&self->progress, "answering", 0, count, 1);
    self->batch.workers = ss_alloc(threads, sizeof *self->batch.workers);
    self->plans = words == 1 ? ss_alloc(segments, sizeof *self->plans) : NULL;
    self->row_plans = words > 1 ? ss_alloc(segments, sizeof *self->row_plans) : NULL;
    if (self->batch.workers == NULL || (self->plans == NULL && self->row_plans == NULL))
        return ss_fail_memory(error, threads * sizeof *self->batch.workers + segments * sizeof *self->row_plans);
    if (words == 1)
        ss_plan_queries(store, distance, &planning, self->plans);
    else
        ss_plan_row_queries(store, distance, &planning, self->row_plans);
    return SSTORE_OK;
}

sstore_status sstore_query_batch(const sstore *store, const uint64_t *fingerprints, size_t count, uint32_t distance,
                                 const sstore_batch_options *options, sstore_match_fn on_match, void *context,
                                 sstore_error *error)
{
    sstore_match_iterator self = {.matches = NULL};
    sstore_status status = open_iterator(&self, store, fingerprints, count, distance, options, error);
    self.batch.counts_only = on_match == NULL;
    if (status == SSTORE_OK && on_match == NULL && self.match_counts == NULL)
        status = ss_fail_argument(error, "sstore_query_batch: on_match or match_counts must not be NULL");
    if (status == SSTORE_OK)
        status = answer_more(&self, error);
    while (status == SSTORE_OK && self.match_count > 0) {
        for (size_t i = 0; status == SSTORE_OK && i < self.match_count; i++) {
            if (self.rows == NULL)
                self.matches[i].words = &self.matches[i].fingerprint;
            assert(on_match != NULL); /* otherwise matches are only counted */
            status = on_match(context, &self.matches[i]) == 0 ? SSTORE_OK : SSTORE_STOPPED;
        }
        if (status == SSTORE_OK)
            status = answer_more(&self, error);
    }
    close_iterator(&self);
    return status;
}

sstore_status sstore_match_iterator_create(const sstore *store, const uint64_t *fingerprints, size_t count,
                                           uint32_t distance, const sstore_batch_options *options,
                                           sstore_match_iterator **iterator_out, sstore_error *error)
{
    if (iterator_out == NULL)
        return ss_fail_argument(error, "sstore_match_iterator_create: iterator_out must not be NULL");
    *iterator_out = NULL;
    sstore_match_iterator *iterator = ss_alloc(1, sizeof *iterator);
    if (iterator == NULL)
        return ss_fail_memory(error, sizeof *iterator);
    const sstore_status status = open_iterator(iterator, store, fingerprints, count, distance, options, error);
    if (status == SSTORE_OK)
        *iterator_out = iterator;
    else
        sstore_match_iterator_free(iterator);
    return status;
}

sstore_status sstore_match_iterator_next(sstore_match_iterator *iterator, const sstore_match_columns *columns,
                                         size_t capacity, size_t *count_out, sstore_error *error)
{
    sstore_match_columns to;
    const bool is_usable = iterator != NULL && iterator->status == SSTORE_OK;
    if (!ss_check_next("sstore_match_iterator_next", is_usable, capacity, count_out, error) || !is_usable)
        return SSTORE_ERROR_ARGUMENT;
    sstore_status status = ss_take_match_columns(&to, columns, error);
    if (status != SSTORE_OK)
        return status;
    while (*count_out < capacity) {
        if (iterator->match_index == iterator->match_count) {
            status = iterator->status = answer_more(iterator, error);
            if (status != SSTORE_OK || iterator->match_count == 0)
                return status;
        }
        ss_set_match(&to, (*count_out)++, iterator->batch.store->manifest.words,
                     &iterator->matches[iterator->match_index++]);
    }
    return SSTORE_OK;
}

void sstore_match_iterator_free(sstore_match_iterator *iterator)
{
    if (iterator == NULL)
        return;
    close_iterator(iterator);
    ss_free(iterator);
}

#include "join/row_edges.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/words.h"
#include "join/row_balls.h"
#include "join/row_iterator.h"
#include "join/row_rounds.h"

#define TASK_HITS 1024u
#define HIT_BYTES 64u         /* of a hit until its edge is added */
#define GRAPH_DIVISOR 3u      /* of memory: the graph takes 1/3, */
#define BALLS_DIVISOR 16u     /* and members of balls 1/16 */
#define MIN_NEAR 64u          /* of a fingerprint that is worth a ball */
#define SAMPLED ((size_t)256) /* of the fingerprints near one, to choose a centre */
#define PASSES 2u             /* that a ball takes */

typedef struct row_edges {
    ss_join_call *call;
    ss_row_graph graph;
    ss_row_balls balls;
    ss_row_rounds rounds;
    ss_row_iterator iterator;
    uint64_t *fingerprints, *numbers; /* that wait for a round, or are in it */
    uint32_t *near_counts;            /* of the round's fingerprints, how many are near each */
    size_t count, at, end;            /* at .. end - 1 are in the round */
    ss_row_batch_hits hits;
    uint64_t spent; /* comparisons that could have been made meanwhile, less those of balls */
    uint64_t *sample;
} row_edges;

static const uint64_t *fingerprint_at(const row_edges *self, size_t index)
{
    return self->fingerprints + index * self->iterator.words;
}

/* ----- fingerprints ----- */

/* Take the current fingerprint, unless it is done. */
static sstore_status take_fingerprint(row_edges *self, sstore_error *error)
{
    ss_row_iterator *iterator = &self->iterator;
    uint64_t *to = self->fingerprints + self->count * iterator->words, number;
    sstore_status status = ss_row_iterator_number(iterator, &number, error);
    ss_words_copy(to, ss_row_iterator_fingerprint(iterator), iterator->words);
    self->numbers[self->count] = number;
    if (status == SSTORE_OK)
        status = ss_row_iterator_next(iterator, to, error);
    while (status == SSTORE_OK && ss_row_iterator_at(iterator, to))
        status = ss_row_iterator_next(iterator, to, error);
    if (status == SSTORE_OK && ss_row_graph_is_done(&self->graph, number))
        return ss_progress_add(&self->call->progress, 0, 1);
    self->count++;
    return status;
}

/* Get the next fingerprints; the count is 0 if there are none left. */
static sstore_status take_fingerprints(row_edges *self, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    self->count = self->at = 0;
    while (status == SSTORE_OK && self->iterator.more && self->count < self->rounds.query_capacity)
        status = take_fingerprint(self, error);
    ss_edge_filter_expect(&self->graph.filter, self->count);
    return status;
}

/* Leave out the waiting fingerprints that are done by now. */
static sstore_status leave_out_done(row_edges *self)
{
    const uint32_t words = self->iterator.words;
    size_t retained_count = self->at;
    for (size_t i = self->at; i < self->count; i++) {
        if (ss_row_graph_is_done(&self->graph, self->numbers[i]))
            continue;
        ss_words_move(self->fingerprints + retained_count * words, fingerprint_at(self, i), words);
        self->numbers[retained_count++] = self->numbers[i];
    }
    const size_t left_out = self->count - retained_count;
    self->count = retained_count;
    return ss_progress_add(&self->call->progress, 0, left_out);
}

/* ----- edges ----- */

/* Get a hit's fingerprint, if it is needed, and its number. */
static sstore_status identify_hit(row_edges *self, uint32_t worker, const ss_row_batch_hit *hit, uint64_t *row,
                                  uint64_t *number_out, bool *is_there_out, sstore_error *error)
{
    const sstore *store = self->graph.store;
    sstore_cursor *cursor;
    sstore_status status = SSTORE_OK;
    if (ss_only_segment(store) == NULL) {
        status = ss_row_graph_cursor(&self->graph, worker, &cursor, error);
        if (status == SSTORE_OK)
            status = ss_row_search_load_rank(store->segments[hit->segment], hit->rank, &cursor->row_slot, row, error);
    }
    return status == SSTORE_OK ? ss_row_graph_identify(&self->graph, worker, hit->segment, hit->rank, row, number_out,
                                                       is_there_out, error)
                               : status;
}

/* Add the edges of the hits of one task. */
static sstore_status add_edges(void *context, uint64_t task, uint32_t worker, sstore_error *error)
{
    row_edges *self = context;
    const size_t begin = (size_t)task * TASK_HITS, end = (size_t)ss_min_u64(begin + TASK_HITS, self->hits.count);
    sstore_status status = SSTORE_OK;
    for (size_t i = begin; status == SSTORE_OK && i < end; i++) {
        const size_t query = self->at + self->hits.hits[i].query;
        uint64_t row[SSTORE_MAX_WORDS], number;
        bool is_there;
        status = identify_hit(self, worker, &self->hits.hits[i], row, &number, &is_there, error);
        if (status != SSTORE_OK || !is_there || number == self->numbers[query] ||
            ss_row_graph_is_done(&self->graph, number))
            continue;
        __atomic_fetch_add(&self->near_counts[query - self->at], 1, __ATOMIC_RELAXED);
        status = ss_row_graph_add(&self->graph, worker, self->numbers[query], number, error);
    }
    return status == SSTORE_OK ? ss_progress_add(&self->call->progress, worker, 0) : status;
}

/* ----- balls ----- */

/* Sample the fingerprints near one of the round, itself first. `*count_out`: how many there are. */
static sstore_status sample_near(row_edges *self, size_t query, uint64_t *numbers, size_t *count_out,
                                 sstore_error *error)
{
    const uint32_t words = self->iterator.words;
    sstore_cursor *cursor;
    size_t count = 1;
    sstore_status status = ss_row_graph_cursor(&self->graph, 0, &cursor, error);
    ss_words_copy(self->sample, fingerprint_at(self, query), words);
    numbers[0] = self->numbers[query];
    for (size_t i = 0; status == SSTORE_OK && i < self->hits.count && count < SAMPLED; i++) {
        const ss_row_batch_hit *hit = &self->hits.hits[i];
        uint64_t *row = self->sample + count * words;
        bool is_there = false;
        if (hit->query != query - self->at)
            continue;
        ss_cursor_renew(cursor);
        status = ss_row_search_load_rank(self->graph.store->segments[hit->segment], hit->rank, &cursor->row_slot, row,
                                         error);
        if (status == SSTORE_OK)
            status = ss_row_graph_identify(&self->graph, 0, hit->segment, hit->rank, row, &numbers[count], &is_there,
                                           error);
        count += status == SSTORE_OK && is_there;
    }
    *count_out = count;
    return status;
}

/* The index of the most central fingerprint of the sample: the nearest one to what most of them have in each bit. */
static size_t most_central(const row_edges *self, size_t count)
{
    const uint32_t words = self->iterator.words;
    uint64_t mean[SSTORE_MAX_WORDS] = {0};
    uint32_t best_distance = UINT32_MAX;
    size_t best = 0;
    for (uint32_t bit = 0; bit < SS_WORD_BITS * words; bit++) {
        const uint32_t word = bit / SS_WORD_BITS, shift = bit % SS_WORD_BITS;
        size_t ones = 0;
        for (size_t i = 0; i < count; i++)
            ones += self->sample[i * words + word] >> shift & 1;
        mean[word] |= (uint64_t)(2 * ones > count) << shift;
    }
    for (size_t i = 0; i < count; i++) {
        const uint32_t distance = ss_words_distance(self->sample + i * words, mean, words);
        best = distance < best_distance ? i : best;
        best_distance = ss_min_u32(distance, best_distance);
    }
    return best;
}

/* The fingerprint of the round that has the most near ones, if a ball pays; `end` if there is none. */
static size_t find_dense(const row_edges *self)
{
    const uint64_t cost = PASSES * self->balls.row_count;
    size_t best = self->end;
    uint64_t max_near = MIN_NEAR - 1;
    if (self->graph.done == NULL || self->spent < cost)
        return best;
    for (size_t i = self->at; i < self->end; i++) {
        const uint64_t near = self->near_counts[i - self->at];
        best = near > max_near ? i : best;
        max_near = ss_max_u64(near, max_near);
    }
    /* Of those near it, half come before the other half, which they would find on average. */
    return max_near * max_near / 2 * SS_TESTS_A_MATCH > cost ? best : self->end;
}

/* As long as a fingerprint of the round has very many near ones: choose the most central one of a sample of them, and
 * connect all fingerprints near it. Balls take at most as much time as the queries. */
static sstore_status make_balls(row_edges *self, sstore_error *error)
{
    uint64_t numbers[SAMPLED];
    sstore_status status = SSTORE_OK;
    for (size_t query; status == SSTORE_OK && (query = find_dense(self)) < self->end;) {
        uint64_t centre[SSTORE_MAX_WORDS];
        size_t count;
        status = sample_near(self, query, numbers, &count, error);
        if (status != SSTORE_OK)
            return status;
        const size_t chosen = most_central(self, count);
        ss_words_copy(centre, self->sample + chosen * self->iterator.words, self->iterator.words);
        self->spent -= PASSES * self->balls.row_count;
        status = ss_row_balls_connect(&self->balls, centre, numbers[chosen], error);
        for (size_t i = self->at; i < self->end; i++)
            if (i == query || (self->near_counts[i - self->at] >= MIN_NEAR &&
                               ss_row_graph_knows(&self->graph, self->numbers[i], numbers[chosen])))
                self->near_counts[i - self->at] = 0;
    }
    return status;
}

/* ----- rounds ----- */

static sstore_status take_hits(row_edges *self, sstore_error *error)
{
    memset(self->near_counts, 0, (self->end - self->at) * sizeof *self->near_counts);
    self->spent += self->hits.count * SS_TESTS_A_MATCH;
    sstore_status status = ss_pool_run(self->rounds.batch.threads, (self->hits.count + TASK_HITS - 1) / TASK_HITS,
                                       add_edges, self, error);
    for (size_t i = self->at; i < self->end; i++) /* lower ones were done before, or are in the round */
        ss_row_graph_set_done(&self->graph, self->numbers[i]);
    return status == SSTORE_OK ? make_balls(self, error) : status;
}

/* Connect the next fingerprints. If there is only one, and it has too many near ones, it is the centre of a ball. */
static sstore_status run_round(row_edges *self, sstore_error *error)
{
    ss_row_rounds *rounds = &self->rounds;
    const bool has_ranks = ss_only_segment(self->graph.store) != NULL;
    sstore_status status;
    for (;;) {
        ss_row_batch round = ss_row_rounds_begin(rounds, fingerprint_at(self, self->at), self->count - self->at);
        round.not_below = true;
        round.ranks = has_ranks ? self->numbers + self->at : NULL;
        round.left_out = has_ranks ? self->graph.done : NULL;
        self->end = self->at + round.count;
        status = ss_row_batch_find_hits(&round, &self->hits, error);
        if (status == SSTORE_OK) {
            ss_row_rounds_end(rounds, &round, self->hits.count);
            status = take_hits(self, error);
            break;
        }
        if (!ss_row_rounds_has_too_many(rounds, status))
            break;
        self->spent += (uint64_t)round.max_matches * SS_TESTS_A_MATCH;
        if (round.count == 1) {
            status = ss_row_balls_connect(&self->balls, fingerprint_at(self, self->at), self->numbers[self->at], error);
            break;
        }
        ss_row_rounds_divide(rounds, &round);
    }
    ss_free(self->hits.hits);
    self->hits = (ss_row_batch_hits){.count = 0};
    if (status == SSTORE_OK)
        status = ss_progress_add(&self->call->progress, 0, self->end - self->at);
    self->at = self->end;
    return status == SSTORE_OK ? leave_out_done(self) : status;
}

/* ----- begin and end ----- */

static sstore_status open_edges(row_edges *self, ss_components *components, uint64_t bytes, sstore_error *error)
{
    ss_join_call *call = self->call;
    const sstore *store = call->left;
    const uint32_t words = store->manifest.words;
    const uint64_t for_graph = bytes / GRAPH_DIVISOR, for_balls = bytes / BALLS_DIVISOR;
    sstore_status status = ss_row_graph_open(&self->graph, call, components, for_graph, error);
    if (status == SSTORE_OK)
        status = ss_row_balls_open(&self->balls, &self->graph, for_balls, error);
    if (status == SSTORE_OK)
        status = ss_row_rounds_open(&self->rounds, call, bytes - for_graph - for_balls, HIT_BYTES, error);
    if (status != SSTORE_OK)
        return status;
    const size_t capacity = self->rounds.query_capacity;
    self->fingerprints = ss_realloc(NULL, capacity, words * sizeof *self->fingerprints);
    self->numbers = ss_realloc(NULL, capacity, sizeof *self->numbers);
    self->near_counts = ss_realloc(NULL, capacity, sizeof *self->near_counts);
    self->sample = ss_realloc(NULL, SAMPLED, words * sizeof *self->sample);
    if (self->fingerprints == NULL || self->numbers == NULL || self->near_counts == NULL || self->sample == NULL)
        return ss_fail_memory(error, capacity * (words + SS_ROW_QUERY_WORDS) * sizeof(uint64_t));
    /* Their ids matter only if some of a fingerprint's ids may have been removed. */
    return ss_row_iterator_open(&self->iterator, store, store->manifest.has_ids && store->removal_end > 0, error);
}

sstore_status ss_row_edges_find(ss_join_call *call, ss_components *components, uint64_t bytes, double end_fraction,
                                sstore_error *error)
{
    row_edges self = {.call = call};
    if (call->distance == 0) /* equal records have the same number */
        return SSTORE_OK;
    sstore_status status = open_edges(&self, components, bytes, error);
    ss_progress_begin(&call->progress, "comparing", 0, ss_row_number_max(call->left), end_fraction);
    if (status == SSTORE_OK)
        status = take_fingerprints(&self, error);
    while (status == SSTORE_OK && self.count > 0) {
        while (status == SSTORE_OK && self.at < self.count)
            status = run_round(&self, error);
        if (status == SSTORE_OK)
            status = take_fingerprints(&self, error);
    }
    if (status == SSTORE_OK)
        status = ss_row_graph_flush(&self.graph, error);
    ss_row_iterator_close(&self.iterator);
    ss_row_rounds_close(&self.rounds);
    ss_row_balls_close(&self.balls);
    ss_row_graph_close(&self.graph);
    ss_free(self.fingerprints);
    ss_free(self.numbers);
    ss_free(self.near_counts);
    ss_free(self.sample);
    return status;
}

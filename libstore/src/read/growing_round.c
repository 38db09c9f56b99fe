#include "read/growing_round.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/words.h"
#include "read/growth.h"
#include "read/round.h"

typedef struct growing_round {
    const ss_round *round;
    uint32_t words;
    /* The queries that have too few matches so far: */
    uint32_t *open; /* their places in the round */
    const uint64_t *queries;
    uint64_t *copies;   /* of their fingerprints, once they are not all, */
    uint64_t *excluded; /* and of their excluded ids, or NULL */
    uint32_t open_count;
    /* The matches of the others, in the order of the distances; query_index is the place, and they point to no row: */
    ss_round_matches kept;
    size_t capacity;
    sstore_cursor *cursor; /* has the plans of a try */
    ss_growth growth;
} growing_round;

bool ss_growing_round_suits(const ss_round *round)
{
    return round->limit > 0 && round->match_counts == NULL && round->distance > round->store->manifest.distance;
}

/* ----- matches ----- */

/* Make room for more matches. */
static sstore_status reserve(growing_round *self, size_t count, sstore_error *error)
{
    const size_t capacity = count + count / 2;
    if (count <= self->capacity)
        return SSTORE_OK;
    sstore_match *matches = ss_realloc(self->kept.matches, capacity, sizeof *matches);
    if (matches != NULL)
        self->kept.matches = matches;
    uint64_t *rows = ss_realloc(self->kept.rows, capacity, self->words * sizeof *rows);
    if (rows != NULL)
        self->kept.rows = rows;
    if (matches == NULL || rows == NULL)
        return ss_fail_memory(error, capacity * (sizeof *matches + self->words * sizeof *rows));
    self->capacity = capacity;
    return SSTORE_OK;
}

/* Keep matches of open query `query`. STOPPED if there are too many. */
static sstore_status keep(growing_round *self, uint32_t query, const sstore_match *matches, size_t count,
                          sstore_error *error)
{
    ss_round_matches *kept = &self->kept;
    if (kept->count + count > (size_t)self->round->max_matches)
        return SSTORE_STOPPED;
    const sstore_status status = reserve(self, kept->count + count, error);
    for (size_t i = 0; status == SSTORE_OK && i < count; i++) {
        ss_words_copy(kept->rows + kept->count * self->words, matches[i].fingerprint, self->words);
        kept->matches[kept->count] = matches[i];
        kept->matches[kept->count++].query_index = self->open[query];
    }
    return status;
}

/* Keep the matches of the open queries that have enough, or of all. The others stay open. */
static sstore_status take_matches(growing_round *self, const ss_round_matches *found, bool all, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    uint32_t open_count = 0;
    size_t first = 0;
    for (uint32_t query = 0; status == SSTORE_OK && query < self->open_count; query++) {
        size_t end = first;
        while (end < found->count && found->matches[end].query_index == query)
            end++;
        if (all || end - first >= self->round->limit) {
            status = keep(self, query, found->matches + first, end - first, error);
        } else {
            ss_words_move(self->copies + (size_t)open_count * self->words, self->queries + (size_t)query * self->words,
                          self->words);
            if (self->excluded != NULL)
                self->excluded[open_count] = self->excluded[query];
            self->open[open_count++] = self->open[query];
        }
        first = end;
    }
    self->open_count = open_count;
    self->queries = self->copies;
    return status;
}

/* Put the matches that were kept into the order of the queries. */
static sstore_status order_matches(growing_round *self, ss_round_matches *to, sstore_error *error)
{
    const ss_round_matches *kept = &self->kept;
    const size_t count = kept->count, words = self->words;
    uint32_t *next = ss_alloc(self->round->count + (size_t)1, sizeof *next);
    *to = (ss_round_matches){.matches = ss_realloc(NULL, count, sizeof *to->matches),
                             .rows = ss_realloc(NULL, count, words * sizeof *to->rows),
                             .count = count};
    if (next == NULL || to->matches == NULL || to->rows == NULL) {
        ss_free(next);
        ss_round_matches_free(to);
        *to = (ss_round_matches){.count = 0};
        return ss_fail_memory(error, count * (sizeof *to->matches + words * sizeof *to->rows));
    }
    for (size_t i = 0; i < count; i++)
        next[kept->matches[i].query_index + 1]++;
    for (uint32_t i = 0; i < self->round->count; i++)
        next[i + 1] += next[i];
    for (size_t i = 0; i < count; i++) {
        const uint32_t at = next[kept->matches[i].query_index]++;
        ss_words_copy(to->rows + at * words, kept->rows + i * words, self->words);
        to->matches[at] = kept->matches[i];
        to->matches[at].query_index += self->round->first_index;
        to->matches[at].fingerprint = to->rows + at * words;
    }
    ss_free(next);
    return SSTORE_OK;
}

/* ----- rounds ----- */

/* Answer the open queries, within the current distance or at last within that of the round. */
static sstore_status try_distance(growing_round *self, bool is_last, sstore_error *error)
{
    ss_round try = *self->round;
    ss_round_matches found;
    try.fingerprints = self->queries;
    try.count = self->open_count;
    try.first_index = 0;
    try.filter.excluded_ids = self->excluded;
    if (!is_last) {
        try.distance = self->growth.distance;
        try.plans = self->cursor->plans;
    }
    sstore_status status = ss_round_answer(&try, &found, error);
    if (status != SSTORE_OK)
        return status;
    status = take_matches(self, &found, is_last, error);
    ss_round_matches_free(&found);
    return status;
}

/* Answer the queries within growing distances. */
static sstore_status grow(growing_round *self, sstore_error *error)
{
    const ss_round *round = self->round;
    sstore_status status = SSTORE_OK;
    bool may_try = ss_growth_begin(&self->growth, self->cursor, round->store->manifest.distance, round->distance,
                                   round->limit);
    while (status == SSTORE_OK && self->open_count > 0) {
        const bool is_last = !may_try || self->growth.distance == round->distance;
        status = try_distance(self, is_last, error);
        if (status == SSTORE_OK && self->open_count > 0)
            may_try = ss_growth_next(&self->growth, 0);
    }
    return status;
}

static sstore_status open_queries(growing_round *self, sstore_error *error)
{
    const uint32_t count = self->round->count;
    const uint64_t *excluded = self->round->filter.excluded_ids;
    self->open = ss_realloc(NULL, count, sizeof *self->open);
    self->copies = ss_realloc(NULL, count, self->words * sizeof *self->copies);
    if (excluded != NULL)
        self->excluded = ss_realloc(NULL, count, sizeof *self->excluded);
    if (self->open == NULL || self->copies == NULL || (excluded != NULL && self->excluded == NULL))
        return ss_fail_memory(error, count * (sizeof *self->open + (self->words + 1) * sizeof *self->copies));
    for (uint32_t i = 0; i < count; i++)
        self->open[i] = i;
    for (uint32_t i = 0; excluded != NULL && i < count; i++)
        self->excluded[i] = excluded[i];
    return sstore_cursor_create(self->round->store, &self->cursor, error);
}

sstore_status ss_growing_round_answer(const ss_round *round, ss_round_matches *matches_out, sstore_error *error)
{
    growing_round self = {.round = round,
                          .words = round->store->manifest.words,
                          .queries = round->fingerprints,
                          .open_count = round->count};
    *matches_out = (ss_round_matches){.count = 0};
    sstore_status status = open_queries(&self, error);
    if (status == SSTORE_OK)
        status = grow(&self, error);
    if (status == SSTORE_OK && self.kept.count > 0)
        status = order_matches(&self, matches_out, error);
    sstore_cursor_free(self.cursor);
    ss_free(self.open);
    ss_free(self.copies);
    ss_free(self.excluded);
    ss_round_matches_free(&self.kept);
    return status;
}

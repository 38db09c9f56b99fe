#include "read/selection.h"

#include <assert.h>

#include "base/iterator.h"

/* ----- columns ----- */

void ss_set_match(const sstore_columns *columns, size_t at, uint32_t words, const sstore_match *match)
{
    ss_set_word(columns->query_index, at, match->query_index);
    ss_set_fingerprint(columns->fingerprint, at, match->fingerprint, words);
    ss_set_word(columns->id, at, match->id);
    ss_set_distance(columns->distance, at, match->distance);
}

static void swap_words(uint64_t *a, uint64_t *b, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t other = a[i];
        a[i] = b[i];
        b[i] = other;
    }
}

/* Exchange two rows. All are of one query, so its index stays. */
static void swap_rows(const ss_selection *self, size_t a, size_t b)
{
    const sstore_columns *to = &self->to;
    const size_t words = self->words;
    if (to->fingerprint != NULL)
        swap_words(to->fingerprint + a * words, to->fingerprint + b * words, self->words);
    if (to->id != NULL)
        swap_words(to->id + a, to->id + b, 1);
    if (to->distance != NULL) {
        const uint32_t other = to->distance[a];
        to->distance[a] = to->distance[b];
        to->distance[b] = other;
    }
}

/* ----- order ----- */

/* Compare matches by the wanted columns. */
static int compare(const ss_selection *self, const sstore_match *a, const sstore_match *b)
{
    if (self->to.distance != NULL && a->distance != b->distance)
        return a->distance < b->distance ? -1 : 1;
    assert(self->to.fingerprint == NULL || (a->fingerprint != NULL && b->fingerprint != NULL));
    const int order = self->to.fingerprint != NULL ? ss_words_compare(a->fingerprint, b->fingerprint, self->words) : 0;
    return order != 0 || self->to.id == NULL ? order : ss_compare_u64(a->id, b->id);
}

static sstore_match row_at(const ss_selection *self, size_t row)
{
    const sstore_columns *to = &self->to;
    return (sstore_match){.fingerprint = to->fingerprint != NULL ? to->fingerprint + row * self->words : NULL,
                          .id = to->id != NULL ? to->id[row] : 0,
                          .distance = to->distance != NULL ? to->distance[row] : 0};
}

static int compare_rows(const ss_selection *self, size_t a, size_t b)
{
    const sstore_match left = row_at(self, a), right = row_at(self, b);
    return compare(self, &left, &right);
}

/* Let the row sink in a heap of `count` rows. */
static void sift_down(const ss_selection *self, size_t row, size_t count)
{
    for (size_t child; (child = 2 * row + 1) < count; row = child) {
        if (child + 1 < count && compare_rows(self, child, child + 1) < 0)
            child++;
        if (compare_rows(self, row, child) >= 0)
            return;
        swap_rows(self, row, child);
    }
}

static void make_heap(ss_selection *self)
{
    for (size_t row = self->is_heap ? 0 : self->count / 2; row-- > 0;)
        sift_down(self, row, self->count);
    self->is_heap = true;
}

/* Whether a match comes before the last row of a full selection. */
static bool is_before_last(ss_selection *self, const sstore_match *match)
{
    if (self->capacity == 0)
        return false;
    make_heap(self);
    const sstore_match last = row_at(self, 0);
    return compare(self, match, &last) < 0;
}

/* ----- the public functions ----- */

bool ss_selection_may_take(ss_selection *self, const sstore_match *match)
{
    const sstore_match *after = self->after;
    if (after != NULL && match->distance < after->distance)
        return false;
    if (after != NULL && match->distance == after->distance &&
        ss_words_compare(match->fingerprint, after->fingerprint, self->words) < 0)
        return false;
    return self->count < self->capacity || is_before_last(self, match);
}

bool ss_selection_follows(const ss_selection *self, const sstore_match *match)
{
    const sstore_match *after = self->after;
    return after != NULL && match->distance == after->distance &&
           ss_words_equal(match->fingerprint, after->fingerprint, self->words);
}

bool ss_selection_add(ss_selection *self, const sstore_match *match)
{
    if (self->after != NULL && compare(self, match, self->after) <= 0)
        return true;
    if (self->count < self->capacity) {
        ss_set_match(&self->to, self->count++, self->words, match);
        return true;
    }
    if (!is_before_last(self, match))
        return false;
    ss_set_match(&self->to, 0, self->words, match);
    sift_down(self, 0, self->count);
    return true;
}

uint32_t ss_selection_bound(ss_selection *self, uint32_t max)
{
    if (self->count < self->capacity || self->capacity == 0)
        return max;
    make_heap(self);
    return ss_min_u32(self->to.distance[0], max);
}

void ss_selection_sort(ss_selection *self)
{
    size_t ordered = 1;
    while (!self->is_heap && ordered < self->count && compare_rows(self, ordered - 1, ordered) <= 0)
        ordered++;
    if (!self->is_heap && ordered >= self->count)
        return;
    make_heap(self);
    for (size_t count = self->count; count-- > 1;) {
        swap_rows(self, 0, count);
        sift_down(self, 0, count);
    }
    self->is_heap = false;
}

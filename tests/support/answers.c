#include "support/answers.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/testing.h"

#define MANY_MATCHES 5000u /* with so many, the answers to no further queries are made */

/* ----- matches as bytes ----- */

void rows_add(rows *list, row added)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity == 0 ? 256 : 2 * list->capacity;
        list->items = realloc(list->items, list->capacity * sizeof *list->items);
        if (list->items == NULL)
            fail_msg("out of memory for %zu matches", list->capacity);
    }
    list->items[list->count++] = added;
}

void rows_free(rows *list)
{
    free(list->items);
    *list = (rows){0};
}

static int compare_u64(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare_rows(const void *left, const void *right)
{
    const row *a = left, *b = right;
    int order = compare_u64(a->query, b->query);
    if (order == 0)
        order = compare_u64(a->distance, b->distance);
    if (order == 0)
        order = compare_u64(a->fingerprint, b->fingerprint);
    return order != 0 ? order : compare_u64(a->id, b->id);
}

void rows_sort(rows *list)
{
    if (list->count > 0)
        qsort(list->items, list->count, sizeof *list->items, compare_rows);
}

bool rows_equal(const rows *a, const rows *b)
{
    return a->count == b->count && (a->count == 0 || memcmp(a->items, b->items, a->count * sizeof *a->items) == 0);
}

static void print_row(const char *what, const rows *list, size_t i)
{
    if (i >= list->count)
        return;
    const row *it = &list->items[i];
    print_error("  %s: query %" PRIu64 ", distance %" PRIu64 ", fingerprint %016" PRIx64 ", id %" PRIu64 "\n", what,
                it->query, it->distance, it->fingerprint, it->id);
}

void rows_assert_equal(const rows *got, const rows *wanted, const char *what)
{
    size_t i = 0;
    if (rows_equal(got, wanted))
        return;
    while (i < got->count && i < wanted->count && compare_rows(&got->items[i], &wanted->items[i]) == 0)
        i++;
    print_error("%s: %zu matches, wanted %zu; they differ from number %zu on\n", what, got->count, wanted->count, i);
    print_row("got", got, i);
    print_row("wanted", wanted, i);
    fail();
}

int rows_collect(void *context, const sstore_match *match)
{
    const rows_sink *sink = context;
    rows_add(sink->to, (row){.query = sink->first_query + match->query_index,
                             .distance = match->distance,
                             .fingerprint = match->fingerprint,
                             .id = match->id});
    return 0;
}

/* ----- a set of records and what is asked of it ----- */

void subject_make(subject *self, uint64_t seed, data_kind kind, data_ids ids, size_t count)
{
    *self = (subject){.data = {.count = 0}};
    self->random = rng_seeded(seed);
    data_make(&self->random, kind, ids, count, true, &self->data);
    snprintf(self->words, sizeof self->words, "seed %" PRIu64 ", %zu %s records, %s", seed, count, data_kind_name(kind),
             data_ids_name(ids));
}

void subject_begin(subject *self)
{
    oracle_make(&self->data, &self->truth);
    for (size_t i = 0; i < SUBJECT_QUERIES; i++) {
        uint32_t distance = i < 4 ? 0 : (uint32_t)rng_below(&self->random, 7);
        self->queries[i] = data_query(&self->random, &self->data, distance);
    }
}

void subject_end(subject *self)
{
    for (uint32_t distance = 0; distance < SUBJECT_DISTANCES; distance++) {
        if (self->at[distance] != NULL)
            rows_free(&self->at[distance]->all);
        free(self->at[distance]);
    }
    oracle_free(&self->truth);
    data_free(&self->data);
}

const answers *subject_answers(subject *self, uint32_t distance)
{
    if (self->at[distance] != NULL)
        return self->at[distance];
    answers *made = calloc(1, sizeof *made);
    assert_non_null(made);
    while (made->count < SUBJECT_QUERIES && made->all.count < MANY_MATCHES) {
        matches found = {0};
        rows_sink sink = {.to = &made->all};
        oracle_query(&self->truth, self->queries[made->count], distance, 0, &found);
        for (size_t i = 0; i < found.count; i++)
            rows_collect(&sink, &found.items[i]);
        matches_free(&found);
        made->begins[++made->count] = made->all.count;
    }
    self->at[distance] = made;
    return made;
}

void answers_copy(const answers *from, size_t query, uint64_t as, rows *to)
{
    assert_true(query < from->count);
    for (size_t i = from->begins[query]; i < from->begins[query + 1]; i++) {
        row copy = from->all.items[i];
        copy.query = as;
        rows_add(to, copy);
    }
}

size_t answers_fingerprints(const answers *from, size_t query)
{
    size_t count = 0;
    for (size_t i = from->begins[query]; i < from->begins[query + 1]; i++)
        count += i == from->begins[query] || from->all.items[i].fingerprint != from->all.items[i - 1].fingerprint;
    return count;
}

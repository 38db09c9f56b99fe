#include "support/record_set.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "support/testing.h"

static size_t words_of(const record_set *set)
{
    return set->words == 0 ? 1 : set->words;
}

static uint64_t *fingerprint_at(const record_set *set, size_t index)
{
    return set->fingerprints + index * words_of(set);
}

const uint64_t *record_set_at(const record_set *set, size_t index)
{
    return fingerprint_at(set, index);
}

static void make_room(record_set *set, size_t count)
{
    if (set->count + count <= set->capacity)
        return;
    set->capacity = 2 * set->capacity + count + 16;
    set->fingerprints = realloc(set->fingerprints, set->capacity * words_of(set) * sizeof *set->fingerprints);
    set->ids = realloc(set->ids, set->capacity * sizeof *set->ids);
    if (set->fingerprints == NULL || set->ids == NULL)
        fail_msg("out of memory for %zu records", set->capacity);
}

record_set record_set_new(uint32_t words)
{
    record_set made = {.words = words};
    make_room(&made, 1);
    return made;
}

void record_set_put(record_set *set, const uint64_t *fingerprint, uint64_t id)
{
    make_room(set, 1);
    memcpy(fingerprint_at(set, set->count), fingerprint, words_of(set) * sizeof *fingerprint);
    set->ids[set->count++] = id;
}

void record_set_append(record_set *set, const record_set *from, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; i++)
        record_set_put(set, record_set_at(from, i), from->ids[i]);
}

record_set record_set_part(const record_set *set, size_t begin, size_t end)
{
    return (record_set){.words = set->words,
                        .count = end - begin,
                        .fingerprints = fingerprint_at(set, begin),
                        .ids = set->ids + begin};
}

void record_set_free(record_set *set)
{
    free(set->fingerprints);
    free(set->ids);
    *set = (record_set){.words = set->words};
}

/* ----- order ----- */

static int compare_fingerprints(const uint64_t *a, const uint64_t *b, size_t words)
{
    for (size_t i = 0; i < words; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

int record_set_compare(const record_set *set, size_t i, const record_set *other, size_t j)
{
    const int order = compare_fingerprints(record_set_at(set, i), record_set_at(other, j), words_of(set));
    return order != 0 ? order : set->ids[i] < other->ids[j] ? -1 : set->ids[i] > other->ids[j];
}

bool record_set_alike(const record_set *set, size_t i, size_t j)
{
    return compare_fingerprints(record_set_at(set, i), record_set_at(set, j), words_of(set)) == 0;
}

/* Numbers that stand beside each other. */
static int compare_rows(const void *left, const void *right, void *words)
{
    return compare_fingerprints(left, right, *(const size_t *)words);
}

/* Fingerprints with their ids behind them are sorted. */
void record_set_sort(record_set *set)
{
    const size_t words = words_of(set);
    size_t row = words + 1;
    uint64_t *rows = malloc((set->count * row + 1) * sizeof *rows);
    if (rows == NULL)
        fail_msg("out of memory for %zu records", set->count);
    for (size_t i = 0; i < set->count; i++) {
        memcpy(rows + i * row, record_set_at(set, i), words * sizeof *rows);
        rows[i * row + words] = set->ids[i];
    }
    qsort_r(rows, set->count, row * sizeof *rows, compare_rows, &row);
    for (size_t i = 0; i < set->count; i++) {
        memcpy(fingerprint_at(set, i), rows + i * row, words * sizeof *rows);
        set->ids[i] = rows[i * row + words];
    }
    free(rows);
}

void record_set_unique(record_set *set)
{
    size_t kept = 0;
    for (size_t i = 0; i < set->count; i++) {
        if (i > 0 && record_set_compare(set, i, set, kept - 1) == 0)
            continue;
        memmove(fingerprint_at(set, kept), record_set_at(set, i), words_of(set) * sizeof *set->fingerprints);
        set->ids[kept++] = set->ids[i];
    }
    set->count = kept;
}

bool record_set_has(const record_set *set, const uint64_t *fingerprint, uint64_t id)
{
    size_t begin = 0, end = set->count;
    while (begin < end) {
        const size_t middle = begin + (end - begin) / 2;
        int order = compare_fingerprints(record_set_at(set, middle), fingerprint, words_of(set));
        if (order == 0)
            order = set->ids[middle] < id ? -1 : set->ids[middle] > id;
        if (order == 0)
            return true;
        if (order < 0)
            begin = middle + 1;
        else
            end = middle;
    }
    return false;
}

bool record_set_equal(const record_set *left, const record_set *right)
{
    if (left->count != right->count)
        return false;
    for (size_t i = 0; i < left->count; i++)
        if (record_set_compare(left, i, right, i) != 0)
            return false;
    return true;
}

void record_set_assert_equal(const record_set *got, const record_set *wanted)
{
    for (size_t i = 0; i < got->count && i < wanted->count; i++)
        if (record_set_compare(got, i, wanted, i) != 0)
            fail_msg("record %zu is %016" PRIx64 "..., id %" PRIu64 " instead of %016" PRIx64 "..., id %" PRIu64, i,
                     *record_set_at(got, i), got->ids[i], *record_set_at(wanted, i), wanted->ids[i]);
    assert_int_equal(got->count, wanted->count);
}

size_t record_set_count_distinct(const record_set *set)
{
    size_t count = 0;
    for (size_t i = 0; i < set->count; i++)
        count += i == 0 || !record_set_alike(set, i, i - 1);
    return count;
}

/* ----- making them ----- */

static record_set copy_data(const data_set *data)
{
    record_set made = record_set_new(data->words == 0 ? 1 : data->words);
    for (size_t i = 0; i < data->count; i++)
        record_set_put(&made, data->fingerprints + i * made.words,
                       data->ids != NULL                ? data->ids[i]
                       : data->id_kind == DATA_ASSIGNED ? i
                                                        : 0);
    return made;
}

record_set record_set_of_data(const data_set *data)
{
    record_set made = copy_data(data);
    record_set_sort(&made);
    record_set_unique(&made);
    return made;
}

record_set record_set_make(rng *random, const fingerprint_form *form, size_t count)
{
    data_set data;
    data_make_form(random, form, DATA_IDS, count, rng_one_in(random, 2), &data);
    record_set made = copy_data(&data);
    data_free(&data);
    return made;
}

void record_set_shuffle(rng *random, record_set *set)
{
    data_set records = {.words = set->words, .count = set->count, .fingerprints = set->fingerprints, .ids = set->ids};
    data_shuffle(random, &records);
}

/* ----- right answers ----- */

uint32_t fingerprint_distance(const uint64_t *a, const uint64_t *b, uint32_t words)
{
    uint32_t distance = count_ones(*a ^ *b);
    for (uint32_t i = 1; i < words; i++)
        distance += count_ones(a[i] ^ b[i]);
    return distance;
}

/* A record within the distance of a query. */
typedef struct hit {
    uint32_t distance;
    size_t index;
} hit;

/* Put hits, which are in the order of the records, in that of their distances. */
static void put_hits(const record_set *set, const hit *hits, size_t count, uint64_t query_index, matches *out)
{
    size_t begins[SSTORE_MAX_WORDS * 64 + 2] = {0}, *order = malloc((count + 1) * sizeof *order);
    assert_non_null(order);
    for (size_t i = 0; i < count; i++)
        begins[hits[i].distance + 1]++;
    for (uint32_t distance = 1; distance <= SSTORE_MAX_WORDS * 64; distance++)
        begins[distance] += begins[distance - 1];
    for (size_t i = 0; i < count; i++)
        order[begins[hits[i].distance]++] = i;
    for (size_t i = 0; i < count; i++) {
        const hit *next = &hits[order[i]];
        matches_put(out, &query_index, next->distance, record_set_at(set, next->index), set->ids[next->index]);
    }
    free(order);
}

void record_set_query(const record_set *set, const uint64_t *query, uint32_t distance, uint64_t query_index,
                      matches *out)
{
    hit *hits = malloc((set->count + 1) * sizeof *hits);
    size_t count = 0;
    assert_non_null(hits);
    out->words = (uint32_t)words_of(set);
    for (size_t i = 0; i < set->count; i++) {
        const uint32_t bits = fingerprint_distance(query, record_set_at(set, i), out->words);
        hits[count] = (hit){bits, i};
        count += bits <= distance;
    }
    put_hits(set, hits, count, query_index, out);
    free(hits);
}

void record_set_nearest(const record_set *set, const uint64_t *query, uint32_t max_distance, matches *out)
{
    uint32_t nearest = UINT32_MAX;
    for (size_t i = 0; i < set->count; i++) {
        const uint32_t bits = fingerprint_distance(query, record_set_at(set, i), (uint32_t)words_of(set));
        nearest = bits < nearest ? bits : nearest;
    }
    if (nearest <= max_distance)
        record_set_query(set, query, nearest, 0, out);
}

#include "support/oracle.h"
#include "support/data.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sstore_join.h"
#include "support/testing.h"

/* ----- lists of matches ----- */

void matches_add(matches *list, const sstore_match *match)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity == 0 ? 16 : list->capacity * 2;
        list->items = realloc(list->items, list->capacity * sizeof *list->items);
        if (list->items == NULL)
            fail_msg("out of memory for %zu matches", list->capacity);
    }
    list->items[list->count] = *match;
    list->items[list->count++].words = NULL; /* which may end with a callback */
}

int compare_matches(const void *left, const void *right)
{
    const sstore_match *a = left, *b = right;
    const uint64_t of_a[] = {a->query_index, a->distance, a->fingerprint, (uintptr_t)a->words, a->id};
    const uint64_t of_b[] = {b->query_index, b->distance, b->fingerprint, (uintptr_t)b->words, b->id};
    for (size_t i = 0; i < 5; i++)
        if (of_a[i] != of_b[i])
            return of_a[i] < of_b[i] ? -1 : 1;
    return 0;
}

void matches_sort(matches *list)
{
    if (list->count > 0)
        qsort(list->items, list->count, sizeof *list->items, compare_matches);
}

void matches_free(matches *list)
{
    free(list->items);
    *list = (matches){0};
}

static void print_match(const char *what, const sstore_match *match)
{
    print_error("  %s: query %" PRIu64 ", fingerprint %016" PRIx64 ", id %" PRIu64 ", distance %" PRIu32 "\n", what,
                match->query_index, match->fingerprint, match->id, match->distance);
}

bool matches_equal(const matches *got, const matches *wanted)
{
    size_t i = 0;
    while (i < got->count && i < wanted->count && compare_matches(&got->items[i], &wanted->items[i]) == 0)
        i++;
    if (i == got->count && i == wanted->count)
        return true;
    print_error("%zu matches, wanted %zu; they differ from number %zu on\n", got->count, wanted->count, i);
    if (i < got->count)
        print_match("got", &got->items[i]);
    if (i < wanted->count)
        print_match("wanted", &wanted->items[i]);
    return false;
}

void matches_assert_equal(const matches *got, const matches *wanted, const char *what)
{
    if (!matches_equal(got, wanted))
        fail_msg("the matches that differ were asked for %s", what);
}

bool matches_within(const matches *got, const matches *wanted)
{
    size_t j = 0;
    for (size_t i = 0; i < got->count; i++, j++) {
        while (j < wanted->count && compare_matches(&wanted->items[j], &got->items[i]) < 0)
            j++;
        if (j < wanted->count && compare_matches(&wanted->items[j], &got->items[i]) == 0)
            continue;
        print_error("a match that is wrong, or comes twice:\n");
        print_match("got", &got->items[i]);
        return false;
    }
    return true;
}

int compare_pairs(const void *left, const void *right)
{
    const sstore_pair *a = left, *b = right;
    const uint64_t of_a[4] = {a->fingerprint, a->other_fingerprint, a->other_id, a->id};
    const uint64_t of_b[4] = {b->fingerprint, b->other_fingerprint, b->other_id, b->id};
    for (int i = 0; i < 4; i++)
        if (of_a[i] != of_b[i])
            return of_a[i] < of_b[i] ? -1 : 1;
    return 0;
}

/* ----- the truth ----- */

void oracle_make(const data_set *set, oracle *oracle_out)
{
    sstore_record *records = calloc(set->count + 1, sizeof *records);
    if (records == NULL)
        fail_msg("out of memory for %zu records", set->count);
    for (size_t i = 0; i < set->count; i++) {
        uint64_t id = set->ids != NULL ? set->ids[i] : set->id_kind == DATA_ASSIGNED ? i : 0;
        records[i] = (sstore_record){.fingerprint = set->fingerprints[i], .id = id};
    }
    qsort(records, set->count, sizeof *records, compare_records);
    size_t kept = 0, distinct = 0;
    for (size_t i = 0; i < set->count; i++) {
        if (kept > 0 && compare_records(&records[kept - 1], &records[i]) == 0)
            continue;
        if (kept == 0 || records[kept - 1].fingerprint != records[i].fingerprint)
            distinct++;
        records[kept++] = records[i];
    }
    *oracle_out = (oracle){.records = records, .count = kept, .distinct_count = distinct};
}

void oracle_free(oracle *truth)
{
    free(truth->records);
    *truth = (oracle){0};
}

void oracle_query(const oracle *truth, uint64_t fingerprint, uint32_t distance, uint64_t query_index, matches *out)
{
    const size_t first = out->count;
    for (size_t i = 0; i < truth->count; i++) {
        const sstore_record *record = &truth->records[i];
        uint32_t bits = (uint32_t)__builtin_popcountll(record->fingerprint ^ fingerprint);
        if (bits > distance)
            continue;
        matches_add(out, &(sstore_match){.query_index = query_index,
                                         .fingerprint = record->fingerprint,
                                         .id = record->id,
                                         .distance = bits});
    }
    if (out->count > first)
        qsort(out->items + first, out->count - first, sizeof *out->items, compare_matches);
}

void oracle_nearest(const oracle *truth, uint64_t fingerprint, uint32_t max_distance, matches *out)
{
    uint32_t nearest = 65;
    for (size_t i = 0; i < truth->count; i++) {
        uint32_t bits = (uint32_t)__builtin_popcountll(truth->records[i].fingerprint ^ fingerprint);
        if (bits < nearest)
            nearest = bits;
    }
    if (nearest <= max_distance)
        oracle_query(truth, fingerprint, nearest, 0, out);
}

#include "support/row_set.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "support/testing.h"

/* ----- sets ----- */

void row_set_put(row_set *set, const row *added)
{
    if (set->count == set->capacity) {
        set->capacity = 2 * set->capacity + 64;
        set->rows = realloc(set->rows, set->capacity * sizeof *set->rows);
        assert_non_null(set->rows);
    }
    set->rows[set->count++] = *added;
}

row_set row_set_of_data(const data_set *set)
{
    row_set made = {.count = 0};
    for (size_t i = 0; i < set->count; i++)
        row_set_put(&made, &(row){.words = {set->fingerprints[i]}, .id = set->ids != NULL ? set->ids[i] : 0});
    return made;
}

void row_set_copy(const row_set *from, row_set *to)
{
    to->count = 0;
    for (size_t i = 0; i < from->count; i++)
        row_set_put(to, &from->rows[i]);
}

int row_words_compare(const uint64_t *a, const uint64_t *b)
{
    for (size_t i = 0; i < SSTORE_MAX_WORDS; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

int rows_compare(const void *left, const void *right)
{
    const row *a = left, *b = right;
    const int order = row_words_compare(a->words, b->words);
    return order != 0 ? order : a->id < b->id ? -1 : a->id > b->id;
}

void row_set_sort(row_set *set)
{
    size_t kept = 0;
    if (set->count > 0)
        qsort(set->rows, set->count, sizeof *set->rows, rows_compare);
    for (size_t i = 0; i < set->count; i++)
        if (i == 0 || rows_compare(&set->rows[i], &set->rows[i - 1]) != 0)
            set->rows[kept++] = set->rows[i];
    set->count = kept;
}

uint32_t row_distance(const uint64_t *a, const uint64_t *b)
{
    return fingerprint_distance(a, b, SSTORE_MAX_WORDS);
}

record_set row_set_columns(const row_set *set, uint32_t words)
{
    record_set made = {.words = words};
    record_set_put(&made, (row){.id = 0}.words, 0); /* its columns are not NULL, even of no records */
    made.count = 0;
    for (size_t i = 0; i < set->count; i++)
        record_set_put(&made, set->rows[i].words, set->rows[i].id);
    return made;
}

/* ----- right answers ----- */

static uint32_t distance_of(const row *a, const row *b, uint32_t words)
{
    return fingerprint_distance(a->words, b->words, words);
}

static void put_pair(row_pairs *list, const row *a, const row *b, uint32_t distance)
{
    if (list->count == list->capacity) {
        list->capacity = 2 * list->capacity + 1000;
        list->items = realloc(list->items, list->capacity * sizeof *list->items);
        assert_non_null(list->items);
    }
    list->items[list->count++] = (sstore_pair){.fingerprint = a->words[0],
                                               .id = a->id,
                                               .other_fingerprint = b->words[0],
                                               .other_id = b->id,
                                               .distance = distance,
                                               .words = a->words,
                                               .other_words = b->words};
}

row_pairs row_set_pairs(const row_set *left, const row_set *right, uint32_t words, uint32_t distance, size_t max)
{
    row_pairs list = {.count = 0};
    for (size_t begin = 0, end; begin < left->count && list.count <= max; begin = end) {
        const row *first = &left->rows[begin];
        for (end = begin + 1; end < left->count && row_words_compare(first->words, left->rows[end].words) == 0;)
            end++;
        for (size_t j = left == right ? begin : 0; j < right->count && list.count <= max; j++) {
            const uint32_t bits = distance_of(first, &right->rows[j], words);
            for (size_t i = begin; bits <= distance && i < end; i++)
                if (left != right || i < j)
                    put_pair(&list, &left->rows[i], &right->rows[j], bits);
        }
    }
    return list;
}

static size_t find_root(size_t *parents, size_t i)
{
    while (parents[i] != i)
        i = parents[i] = parents[parents[i]];
    return i;
}

/* A record that is a member, and the smallest record of its cluster. */
typedef struct member {
    const row *root, *record;
} member;

/* By cluster, then by id. Records of a set stand in the order of their fingerprints. */
static int compare_members(const void *left, const void *right)
{
    const member *a = left, *b = right;
    if (a->root != b->root)
        return a->root < b->root ? -1 : 1;
    if (a->record->id != b->record->id)
        return a->record->id < b->record->id ? -1 : 1;
    return a->record < b->record ? -1 : a->record > b->record;
}

static member *find_members(const row_set *set, uint32_t words, uint32_t distance)
{
    size_t *parents = calloc(set->count + 1, sizeof *parents);
    member *members = calloc(set->count + 1, sizeof *members);
    assert_true(parents != NULL && members != NULL);
    for (size_t i = 0; i < set->count; i++)
        parents[i] = i;
    for (size_t i = 0; i < set->count; i++)
        for (size_t j = i + 1; j < set->count; j++)
            if (distance_of(&set->rows[i], &set->rows[j], words) <= distance) {
                const size_t a = find_root(parents, i), b = find_root(parents, j);
                parents[a > b ? a : b] = a < b ? a : b; /* the smallest record is the root */
            }
    for (size_t i = 0; i < set->count; i++)
        members[i] = (member){&set->rows[find_root(parents, i)], &set->rows[i]};
    free(parents);
    qsort(members, set->count, sizeof *members, compare_members);
    return members;
}

row_clusters row_set_clusters(const row_set *set, uint32_t words, uint32_t distance, bool with_singles)
{
    member *members = find_members(set, words, distance);
    row_clusters list = {.items = calloc(set->count + 1, sizeof *list.items)};
    uint64_t number = 0;
    assert_non_null(list.items);
    for (size_t begin = 0, end; begin < set->count; begin = end) {
        for (end = begin + 1; end < set->count && members[end].root == members[begin].root;)
            end++;
        if (end - begin == 1 && !with_singles)
            continue;
        for (size_t i = begin; i < end; i++) {
            const row *record = members[i].record;
            list.items[list.count++] = (sstore_cluster_record){.cluster = number,
                                                               .cluster_size = end - begin,
                                                               .fingerprint = record->words[0],
                                                               .id = record->id,
                                                               .distance = distance_of(record, members[begin].record,
                                                                                       words),
                                                               .is_representative = i == begin,
                                                               .words = record->words};
        }
        number++;
    }
    free(members);
    return list;
}

void row_assert_same_pair(const sstore_pair *got, const sstore_pair *wanted, uint32_t words, size_t index)
{
    if (memcmp(got->words, wanted->words, words * sizeof *got->words) != 0 || got->id != wanted->id ||
        memcmp(got->other_words, wanted->other_words, words * sizeof *got->words) != 0 ||
        got->other_id != wanted->other_id || got->distance != wanted->distance)
        fail_msg("pair %zu is %016" PRIx64 "... %" PRIu64 " %016" PRIx64 "... %" PRIu64 " %u instead of %016" PRIx64
                 "... %" PRIu64 " %016" PRIx64 "... %" PRIu64 " %u",
                 index, got->words[0], got->id, got->other_words[0], got->other_id, got->distance, wanted->words[0],
                 wanted->id, wanted->other_words[0], wanted->other_id, wanted->distance);
    assert_int_equal(got->fingerprint, got->words[0]);
    assert_int_equal(got->other_fingerprint, got->other_words[0]);
}

void row_assert_same_member(const sstore_cluster_record *got, const sstore_cluster_record *wanted, uint32_t words,
                            size_t index)
{
    if (memcmp(got->words, wanted->words, words * sizeof *got->words) != 0 || got->cluster != wanted->cluster ||
        got->cluster_size != wanted->cluster_size || got->id != wanted->id || got->distance != wanted->distance ||
        got->is_representative != wanted->is_representative)
        fail_msg("record %zu is in cluster %" PRIu64 " of %" PRIu64 ", %016" PRIx64 "... %" PRIu64
                 " %u; instead in %" PRIu64 " of %" PRIu64 ", %016" PRIx64 "... %" PRIu64 " %u",
                 index, got->cluster, got->cluster_size, got->words[0], got->id, got->distance, wanted->cluster,
                 wanted->cluster_size, wanted->words[0], wanted->id, wanted->distance);
    assert_int_equal(got->fingerprint, got->words[0]);
}

/* ----- making them ----- */

void row_set_shuffle(rng *random, row_set *set)
{
    for (size_t i = set->count; i > 1; i--) {
        const size_t other = rng_below(random, i);
        const row moved = set->rows[other];
        set->rows[other] = set->rows[i - 1];
        set->rows[i - 1] = moved;
    }
}

void row_flip(rng *random, const wide_form *maker, row *changed, uint64_t flips)
{
    for (uint64_t i = rng_below(random, flips + 1); i > 0; i--)
        changed->words[rng_below(random, maker->words)] ^= UINT64_C(1) << rng_below(random, 64);
}

row row_make(rng *random, const wide_form *maker, const row_set *among)
{
    row made = {.id = 0};
    const uint64_t way = rng_below(random, 4);
    if (way > 0 && among->count > 0) {
        made = among->rows[rng_below(random, among->count)];
        made.id = 0;
        if (way > 1)
            row_flip(random, maker, &made, maker->distance + 2);
        return made;
    }
    wide_make(random, maker, NULL, 0, made.words);
    return made;
}

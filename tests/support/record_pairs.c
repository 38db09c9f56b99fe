#include "support/record_pairs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "support/testing.h"

static uint32_t distance_of(const record_set *left, size_t i, const record_set *right, size_t j)
{
    return fingerprint_distance(record_set_at(left, i), record_set_at(right, j), left->words);
}

static void put_pair(record_pairs *list, const record_set *left, size_t i, const record_set *right, size_t j,
                     uint32_t distance)
{
    if (list->count == list->capacity) {
        list->capacity = 2 * list->capacity + 1000;
        list->items = realloc(list->items, list->capacity * sizeof *list->items);
        assert_non_null(list->items);
    }
    list->items[list->count++] = (sstore_pair){.fingerprint = record_set_at(left, i),
                                               .id = left->ids[i],
                                               .other_fingerprint = record_set_at(right, j),
                                               .other_id = right->ids[j],
                                               .distance = distance};
}

record_pairs record_set_pairs(const record_set *left, const record_set *right, uint32_t distance, size_t max)
{
    record_pairs list = {.count = 0};
    for (size_t begin = 0, end; begin < left->count && list.count <= max; begin = end) {
        for (end = begin + 1; end < left->count && record_set_alike(left, begin, end);)
            end++;
        for (size_t j = left == right ? begin : 0; j < right->count && list.count <= max; j++) {
            const uint32_t bits = distance_of(left, begin, right, j);
            for (size_t i = begin; bits <= distance && i < end; i++)
                if (left != right || i < j)
                    put_pair(&list, left, i, right, j, bits);
        }
    }
    return list;
}

/* ----- clusters ----- */

size_t components_root(size_t *parents, size_t i)
{
    while (parents[i] != i)
        i = parents[i] = parents[parents[i]];
    return i;
}

void components_unite(size_t *parents, size_t i, size_t j)
{
    const size_t a = components_root(parents, i), b = components_root(parents, j);
    parents[a > b ? a : b] = a < b ? a : b;
}

size_t *components_new(size_t count)
{
    size_t *parents = malloc((count + 1) * sizeof *parents);
    assert_non_null(parents);
    for (size_t i = 0; i < count; i++)
        parents[i] = i;
    return parents;
}

size_t *record_set_components(const record_set *set, uint32_t distance)
{
    size_t *parents = components_new(set->count);
    for (size_t i = 0; i < set->count; i++)
        for (size_t j = i + 1; j < set->count; j++)
            if (distance_of(set, i, set, j) <= distance)
                components_unite(parents, i, j);
    return parents;
}

/* A record that is a member, and the smallest record of its cluster. */
typedef struct member {
    size_t root, record;
    uint64_t id;
} member;

/* By cluster, then by id. Records of a set stand in the order of their fingerprints. */
static int compare_members(const void *left, const void *right)
{
    const member *a = left, *b = right;
    if (a->root != b->root)
        return a->root < b->root ? -1 : 1;
    if (a->id != b->id)
        return a->id < b->id ? -1 : 1;
    return a->record < b->record ? -1 : a->record > b->record;
}

static member *find_members(const record_set *set, uint32_t distance)
{
    size_t *parents = record_set_components(set, distance);
    member *members = calloc(set->count + 1, sizeof *members);
    assert_non_null(members);
    for (size_t i = 0; i < set->count; i++)
        members[i] = (member){.root = components_root(parents, i), .record = i, .id = set->ids[i]};
    free(parents);
    qsort(members, set->count, sizeof *members, compare_members);
    return members;
}

record_clusters record_set_clusters(const record_set *set, uint32_t distance, bool with_singles)
{
    member *members = find_members(set, distance);
    record_clusters list = {.items = calloc(set->count + 1, sizeof *list.items)};
    uint64_t number = 0;
    assert_non_null(list.items);
    for (size_t begin = 0, end; begin < set->count; begin = end) {
        for (end = begin + 1; end < set->count && members[end].root == members[begin].root;)
            end++;
        if (end - begin == 1 && !with_singles)
            continue;
        for (size_t i = begin; i < end; i++) {
            const size_t record = members[i].record;
            list.items[list.count++] = (cluster_record){.cluster = number,
                                                        .cluster_size = end - begin,
                                                        .fingerprint = record_set_at(set, record),
                                                        .id = set->ids[record],
                                                        .distance = distance_of(set, record, set,
                                                                                members[begin].record),
                                                        .is_representative = i == begin};
        }
        number++;
    }
    free(members);
    return list;
}

/* ----- comparisons ----- */

void assert_same_pair(const sstore_pair *got, const sstore_pair *wanted, uint32_t words, size_t index)
{
    const size_t bytes = words * sizeof *got->fingerprint;
    if (memcmp(got->fingerprint, wanted->fingerprint, bytes) != 0 || got->id != wanted->id ||
        memcmp(got->other_fingerprint, wanted->other_fingerprint, bytes) != 0 || got->other_id != wanted->other_id ||
        got->distance != wanted->distance)
        fail_msg("pair %zu is %016" PRIx64 "... %" PRIu64 " %016" PRIx64 "... %" PRIu64 " %u instead of %016" PRIx64
                 "... %" PRIu64 " %016" PRIx64 "... %" PRIu64 " %u",
                 index, got->fingerprint[0], got->id, got->other_fingerprint[0], got->other_id, got->distance,
                 wanted->fingerprint[0], wanted->id, wanted->other_fingerprint[0], wanted->other_id, wanted->distance);
}

/* ----- pairs that were found ----- */

static found_pair found_pair_of(const sstore_pair *pair)
{
    return (found_pair){.fingerprint = *pair->fingerprint,
                        .id = pair->id,
                        .other_fingerprint = *pair->other_fingerprint,
                        .other_id = pair->other_id,
                        .distance = pair->distance};
}

void found_pairs_add(found_pairs *list, const sstore_pair *pair)
{
    if (list->count == list->capacity) {
        list->capacity = 2 * list->capacity + 64;
        list->items = realloc(list->items, list->capacity * sizeof *list->items);
        assert_non_null(list->items);
    }
    list->items[list->count++] = found_pair_of(pair);
}

int found_pair_compare(const void *left, const void *right)
{
    const found_pair *a = left, *b = right;
    const uint64_t numbers[] = {a->fingerprint, a->other_fingerprint, a->other_id, a->id, a->distance};
    const uint64_t others[] = {b->fingerprint, b->other_fingerprint, b->other_id, b->id, b->distance};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i] != others[i])
            return numbers[i] < others[i] ? -1 : 1;
    return 0;
}

bool found_pair_is(const found_pair *found, const sstore_pair *wanted)
{
    const found_pair pair = found_pair_of(wanted);
    return found_pair_compare(found, &pair) == 0;
}

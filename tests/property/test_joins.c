/*
 * test_joins.c - pairs, clusters and joins of two stores, beside what comparing every record with every other one says:
 * on data of all kinds, on stores of one segment and of several with removals, with little memory and with much.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/data.h"
#include "support/oracle.h"
#include "support/random.h"
#include "support/scratch.h"
#include "support/testing.h"
#include "support/use_store.h"

#define CASES 50u
#define SANITIZED_CASES 8u
#define MOST_RECORDS 1500u
#define MOST_PAIRS ((size_t)3000000) /* data that have more are made smaller */

static uint64_t run_seed;

/* A store and what is in it. */
typedef struct subject {
    char path[256];
    data_set data;
    oracle truth;
    sstore *store;
} subject;

/* ----- pairs that grow ----- */

typedef struct pair_list {
    sstore_pair *items;
    size_t count, capacity;
} pair_list;

static int add_pair(void *context, const sstore_pair *pair)
{
    pair_list *list = context;
    if (list->count == list->capacity) {
        list->capacity = list->capacity == 0 ? 1024 : 2 * list->capacity;
        list->items = realloc(list->items, list->capacity * sizeof *list->items);
    }
    list->items[list->count++] = *pair;
    return 0;
}

/* The order that pairs are reported in. */
static int compare_pairs(const void *left, const void *right)
{
    const sstore_pair *a = left, *b = right;
    const uint64_t of_a[4] = {a->fingerprint, a->other_fingerprint, a->other_id, a->id};
    const uint64_t of_b[4] = {b->fingerprint, b->other_fingerprint, b->other_id, b->id};
    for (int i = 0; i < 4; i++)
        if (of_a[i] != of_b[i])
            return of_a[i] < of_b[i] ? -1 : 1;
    return 0;
}

static void assert_equal_pairs(const pair_list *got, const pair_list *wanted)
{
    for (size_t i = 0; i < got->count && i < wanted->count; i++) {
        const sstore_pair *a = &got->items[i], *b = &wanted->items[i];
        if (compare_pairs(a, b) != 0 || a->distance != b->distance)
            fail_msg("pair %zu is %016" PRIx64 " %" PRIu64 " %016" PRIx64 " %" PRIu64 " %u instead of %016" PRIx64
                     " %" PRIu64 " %016" PRIx64 " %" PRIu64 " %u",
                     i, a->fingerprint, a->id, a->other_fingerprint, a->other_id, a->distance, b->fingerprint, b->id,
                     b->other_fingerprint, b->other_id, b->distance);
    }
    assert_int_equal(got->count, wanted->count);
}

/* All pairs of a record of `left` and one of `right`; of a store with itself the lower one first. */
static pair_list all_pairs(const oracle *left, const oracle *right, uint32_t distance)
{
    pair_list list = {.count = 0};
    for (size_t i = 0; i < left->count; i++) {
        for (size_t j = left == right ? i + 1 : 0; j < right->count; j++) {
            const sstore_record *a = &left->records[i], *b = &right->records[j];
            sstore_pair pair = {a->fingerprint, a->id, b->fingerprint, b->id,
                                sstore_hamming_distance(a->fingerprint, b->fingerprint)};
            if (pair.distance <= distance)
                (void)add_pair(&list, &pair);
        }
    }
    if (list.count > 0)
        qsort(list.items, list.count, sizeof *list.items, compare_pairs);
    return list;
}

static size_t count_pairs(const oracle *truth, uint32_t distance)
{
    size_t count = 0;
    for (size_t i = 0; i < truth->count; i++)
        for (size_t j = i + 1; j < truth->count; j++)
            count += sstore_hamming_distance(truth->records[i].fingerprint, truth->records[j].fingerprint) <= distance;
    return count;
}

/* ----- clusters ----- */

typedef struct cluster_list {
    sstore_cluster_record *items;
    size_t count, capacity;
} cluster_list;

static int add_record(void *context, const sstore_cluster_record *record)
{
    cluster_list *list = context;
    if (list->count == list->capacity) {
        list->capacity = list->capacity == 0 ? 1024 : 2 * list->capacity;
        list->items = realloc(list->items, list->capacity * sizeof *list->items);
    }
    list->items[list->count++] = *record;
    return 0;
}

static size_t find_root(size_t *parents, size_t i)
{
    while (parents[i] != i)
        i = parents[i] = parents[parents[i]];
    return i;
}

/* A record that is a member, and the least record of its cluster. */
typedef struct member {
    size_t root;
    sstore_record record;
} member;

static int compare_members(const void *left, const void *right)
{
    const member *a = left, *b = right;
    if (a->root != b->root)
        return a->root < b->root ? -1 : 1;
    if (a->record.id != b->record.id)
        return a->record.id < b->record.id ? -1 : 1;
    return (a->record.fingerprint > b->record.fingerprint) - (a->record.fingerprint < b->record.fingerprint);
}

/* All clusters, in the order in which they are reported. */
static cluster_list all_clusters(const oracle *truth, uint32_t distance, bool with_singles)
{
    const size_t count = truth->count;
    size_t *parents = malloc((count + 1) * sizeof *parents);
    member *members = malloc((count + 1) * sizeof *members);
    cluster_list list = {.count = 0};
    uint64_t number = 0;
    for (size_t i = 0; i < count; i++)
        parents[i] = i;
    for (size_t i = 0; i < count; i++) {
        for (size_t j = i + 1; j < count; j++) {
            if (sstore_hamming_distance(truth->records[i].fingerprint, truth->records[j].fingerprint) > distance)
                continue;
            size_t a = find_root(parents, i), b = find_root(parents, j);
            parents[a > b ? a : b] = a < b ? a : b; /* the least record is the root */
        }
    }
    for (size_t i = 0; i < count; i++)
        members[i] = (member){find_root(parents, i), truth->records[i]};
    qsort(members, count, sizeof *members, compare_members);
    for (size_t begin = 0, end; begin < count; begin = end) {
        for (end = begin + 1; end < count && members[end].root == members[begin].root;)
            end++;
        if (end - begin == 1 && !with_singles)
            continue;
        for (size_t i = begin; i < end; i++) {
            const uint64_t fingerprint = members[i].record.fingerprint;
            const sstore_cluster_record record = {
                number, end - begin, fingerprint, members[i].record.id,
                sstore_hamming_distance(fingerprint, members[begin].record.fingerprint), i == begin};
            (void)add_record(&list, &record);
        }
        number++;
    }
    free(parents);
    free(members);
    return list;
}

static void assert_equal_clusters(const cluster_list *got, const cluster_list *wanted)
{
    for (size_t i = 0; i < got->count && i < wanted->count; i++) {
        const sstore_cluster_record *a = &got->items[i], *b = &wanted->items[i];
        if (a->cluster != b->cluster || a->cluster_size != b->cluster_size || a->fingerprint != b->fingerprint ||
            a->id != b->id || a->distance != b->distance || a->is_representative != b->is_representative)
            fail_msg("record %zu is in cluster %" PRIu64 " of %" PRIu64 ", %016" PRIx64 " %" PRIu64
                     " %u; instead in %" PRIu64 " of %" PRIu64 ", %016" PRIx64 " %" PRIu64 " %u",
                     i, a->cluster, a->cluster_size, a->fingerprint, a->id, a->distance, b->cluster, b->cluster_size,
                     b->fingerprint, b->id, b->distance);
    }
    assert_int_equal(got->count, wanted->count);
}

/* ----- stores ----- */

/* Add records of other data, and remove some. */
static void change_store(rng *random, subject *self)
{
    sstore_error error = {.status = SSTORE_OK};
    sstore_build_options options = SSTORE_BUILD_OPTIONS_INIT;
    options.memory_bytes = 1 << 20;
    uint32_t steps = (uint32_t)rng_between(random, 1, 5);
    for (uint32_t i = 0; i < steps; i++) {
        sstore_builder *builder;
        const bool removes = rng_one_in(random, 2);
        assert_ok(removes ? sstore_builder_create_removal(self->path, &options, &builder, &error)
                          : sstore_builder_create_addition(self->path, &options, &builder, &error),
                  &error);
        for (size_t j = rng_below(random, self->data.count / 3 + 1); j > 0; j--) {
            uint64_t at = rng_below(random, self->data.count), id = rng_below(random, 50);
            uint64_t fingerprint = rng_flip(random, self->data.fingerprints[at], (uint32_t)rng_below(random, 3));
            bool own = rng_one_in(random, 2); /* and so perhaps one that was there */
            assert_ok(sstore_builder_add(builder, own ? &self->data.fingerprints[at] : &fingerprint,
                                         self->data.id_kind == DATA_NO_IDS ? NULL
                                         : own && self->data.ids != NULL   ? &self->data.ids[at]
                                                                           : &id,
                                         1, &error),
                      &error);
        }
        assert_ok(sstore_builder_finish(builder, &error), &error);
    }
}

static int take_record(void *context, const sstore_record *record)
{
    oracle *truth = context;
    truth->distinct_count +=
        truth->count == 0 || truth->records[truth->count - 1].fingerprint != record->fingerprint;
    truth->records[truth->count++] = *record;
    return 0;
}

/* Build a store, of several segments perhaps, and read what is in it: that this is right is tested elsewhere. */
static void begin_subject(rng *random, subject *self, const char *name, data_kind kind, data_ids ids, uint32_t distance)
{
    sstore_error error = {.status = SSTORE_OK};
    sstore_build_options options = SSTORE_BUILD_OPTIONS_INIT;
    sstore_statistics facts = {.struct_size = sizeof facts};
    size_t count = rng_below(random, rng_one_in(random, 3) ? 30 : MOST_RECORDS);
    options.memory_bytes = 1 << 20;
    options.block_bytes = 256;
    options.distance = distance <= SSTORE_MAX_BUILD_DISTANCE ? distance : 3;
    data_make(random, kind, ids, count, rng_one_in(random, 2), &self->data);
    snprintf(self->path, sizeof self->path, "%s", scratch_path("%s", name));
    scratch_remove(self->path);
    assert_ok(store_build(self->path, &options, &self->data, 0, &error), &error);
    if (self->data.count > 0 && rng_one_in(random, 2))
        change_store(random, self);
    self->store = store_must_open(self->path, (sstore_io)rng_below(random, 3), SSTORE_STRATEGY_AUTO);
    assert_ok(sstore_stat(self->store, &facts, &error), &error);
    self->truth = (oracle){.records = malloc((facts.record_count + 1) * sizeof *self->truth.records)};
    sstore_cursor *cursor = store_must_cursor(self->store);
    assert_ok(sstore_each_record(cursor, take_record, &self->truth, &error), &error);
    sstore_cursor_free(cursor);
}

static void end_subject(subject *self)
{
    sstore_close(self->store);
    free(self->truth.records);
    data_free(&self->data);
    scratch_remove(self->path);
}

static uint32_t choose_distance(rng *random)
{
    return rng_one_in(random, 3) ? (uint32_t)rng_between(random, 0, SSTORE_MAX_BUILD_DISTANCE)
                                 : (uint32_t)rng_between(random, 1, 5);
}

static sstore_join_options make_options(rng *random, uint32_t distance)
{
    sstore_join_options options = SSTORE_JOIN_OPTIONS_INIT;
    options.distance = rng_one_in(random, 2) ? distance : SSTORE_OWN_DISTANCE;
    options.memory_bytes = (uint64_t)1 << rng_between(random, 23, 28);
    options.threads = (uint32_t)rng_between(random, 1, 4);
    options.tmp_dir = scratch_folder();
    return options;
}

static uint64_t case_count(void)
{
    return testing_number("SSTORE_TEST_CASES", testing_sanitized() ? SANITIZED_CASES : CASES);
}

/* ----- the tests ----- */

/* Fingerprints far from each other, with one to three ids each, so that blocks of ids end anywhere among those of one
 * fingerprint: the pairs are those of equal fingerprints. */
static void test_repeated_fingerprints(void **state)
{
    enum { FINGERPRINTS = 20000, MOST_IDS = 3 };
    (void)state;
    rng random;
    rng_init(&random, run_seed);
    testing_doing("repeated fingerprints, seed %" PRIu64, run_seed);
    data_set set = {.id_kind = DATA_IDS,
                    .fingerprints = malloc(FINGERPRINTS * MOST_IDS * sizeof(uint64_t)),
                    .ids = malloc(FINGERPRINTS * MOST_IDS * sizeof(uint64_t))};
    pair_list got = {.count = 0};
    size_t wanted = 0;
    for (uint32_t i = 0; i < FINGERPRINTS; i++) {
        const uint64_t fingerprint = rng_next(&random), ids = rng_between(&random, 1, MOST_IDS);
        for (uint64_t j = 0; j < ids; j++) {
            set.fingerprints[set.count] = fingerprint;
            set.ids[set.count] = set.count;
            set.count++;
        }
        wanted += ids * (ids - 1) / 2;
    }
    sstore_build_options options = SSTORE_BUILD_OPTIONS_INIT;
    sstore_join_options joining = SSTORE_JOIN_OPTIONS_INIT;
    sstore_error error;
    sstore *store;
    const char *path = scratch_path("repeated");
    options.block_bytes = (uint32_t)256 << rng_below(&random, 4);
    joining.distance = 1;
    assert_ok(store_build(path, &options, &set, 0, &error), &error);
    assert_ok(sstore_open(path, NULL, &store, &error), &error);
    assert_ok(sstore_pairs(store, &joining, add_pair, &got, &error), &error);
    for (size_t i = 0; i < got.count; i++)
        assert_true(got.items[i].fingerprint == got.items[i].other_fingerprint &&
                    got.items[i].id != got.items[i].other_id);
    assert_int_equal(got.count, wanted);
    free(got.items);
    sstore_close(store);
    scratch_remove(path);
    free(set.fingerprints);
    free(set.ids);
}

static void test_pairs_and_clusters(void **state)
{
    (void)state;
    rng random;
    rng_init(&random, run_seed);
    for (uint64_t i = 0; i < case_count(); i++) {
        subject self;
        sstore_error error = {.status = SSTORE_OK};
        const data_kind kind = (data_kind)rng_below(&random, DATA_KIND_COUNT);
        const data_ids ids = (data_ids)rng_below(&random, DATA_IDS_COUNT);
        const uint32_t distance = choose_distance(&random);
        testing_doing("case %" PRIu64 ": %s, %s, distance %u, seed %" PRIu64, i, data_kind_name(kind),
                      data_ids_name(ids), distance, run_seed);
        begin_subject(&random, &self, "self", kind, ids, distance);
        const sstore_join_options options = make_options(&random, distance);
        if (count_pairs(&self.truth, distance) <= MOST_PAIRS) {
            pair_list got = {.count = 0}, wanted = all_pairs(&self.truth, &self.truth, distance);
            assert_ok(sstore_pairs(self.store, &options, add_pair, &got, &error), &error);
            assert_equal_pairs(&got, &wanted);
            free(got.items);
            free(wanted.items);
        }
        for (int with_singles = 0; with_singles < 2; with_singles++) {
            cluster_list got = {.count = 0}, wanted = all_clusters(&self.truth, distance, with_singles);
            assert_ok(sstore_clusters(self.store, &options, with_singles, add_record, &got, &error), &error);
            assert_equal_clusters(&got, &wanted);
            free(got.items);
            free(wanted.items);
        }
        end_subject(&self);
    }
    testing_done();
}

static void test_joins(void **state)
{
    (void)state;
    rng random;
    rng_init(&random, run_seed + 1);
    for (uint64_t i = 0; i < case_count(); i++) {
        subject left, right;
        sstore_error error = {.status = SSTORE_OK};
        const data_kind kind = (data_kind)rng_below(&random, DATA_KIND_COUNT);
        const data_ids left_ids = (data_ids)rng_below(&random, DATA_IDS_COUNT);
        const data_ids right_ids = (data_ids)rng_below(&random, DATA_IDS_COUNT);
        const uint32_t distance = choose_distance(&random);
        testing_doing("case %" PRIu64 ": %s, %s and %s, distance %u, seed %" PRIu64, i, data_kind_name(kind),
                      data_ids_name(left_ids), data_ids_name(right_ids), distance, run_seed);
        rng same = random; /* the right one has some of the left one's records */
        begin_subject(&random, &left, "left", kind, left_ids, distance);
        begin_subject(rng_one_in(&same, 2) ? &same : &random, &right, "right", kind, right_ids, distance);
        pair_list got = {.count = 0}, wanted = all_pairs(&left.truth, &right.truth, distance);
        const sstore_join_options options = make_options(&random, distance);
        if (wanted.count <= MOST_PAIRS) {
            assert_ok(sstore_join(left.store, right.store, &options, add_pair, &got, &error), &error);
            assert_equal_pairs(&got, &wanted);
        }
        free(got.items);
        free(wanted.items);
        end_subject(&left);
        end_subject(&right);
    }
    testing_done();
}

int main(void)
{
    run_seed = rng_run_seed();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_repeated_fingerprints, testing_teardown),
        cmocka_unit_test_teardown(test_pairs_and_clusters, testing_teardown),
        cmocka_unit_test_teardown(test_joins, testing_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

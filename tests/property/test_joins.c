/*
 * test_joins.c - pairs, clusters and joins must equal comparing every pair of records: data of all kinds, stores of one
 * segment and of several with removals, little memory and much. Iterators must give the same.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sstore_join.h"
#include "support/data.h"
#include "support/iterate.h"
#include "support/oracle.h"
#include "support/random.h"
#include "support/scratch.h"
#include "support/testing.h"
#include "support/use_store.h"

#define CASES 50u
#define SLOW_CASES 8u
#define MAX_RECORDS 1500u
#define MAX_PAIRS ((size_t)3000000) /* data with more are reduced */

/* A store and its records. */
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
            sstore_pair pair = {.fingerprint = a->fingerprint,
                                .id = a->id,
                                .other_fingerprint = b->fingerprint,
                                .other_id = b->id,
                                .distance = sstore_hamming_distance(a->fingerprint, b->fingerprint)};
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

/* A record that is a member, and the smallest record of its cluster. */
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
    return a->record.fingerprint < b->record.fingerprint ? -1 : a->record.fingerprint > b->record.fingerprint;
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
            parents[a > b ? a : b] = a < b ? a : b; /* the smallest record is the root */
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
                .cluster = number,
                .cluster_size = end - begin,
                .fingerprint = fingerprint,
                .id = members[i].record.id,
                .distance = sstore_hamming_distance(fingerprint, members[begin].record.fingerprint),
                .is_representative = i == begin};
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
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    uint64_t *fingerprints = malloc((self->data.count + 1) * sizeof *fingerprints);
    uint64_t *ids = malloc((self->data.count + 1) * sizeof *ids);
    options.memory_bytes = 1 << 20;
    const sstore_write_options add = options_to_add(&options);
    const sstore_write_options remove = options_to_remove(&options);
    uint32_t steps = (uint32_t)rng_between(random, 1, 5);
    for (uint32_t i = 0; i < steps; i++) {
        const bool removes = rng_one_in(random, 2);
        const size_t count = rng_below(random, self->data.count / 3 + 1);
        for (size_t j = 0; j < count; j++) {
            uint64_t at = rng_below(random, self->data.count), id = rng_below(random, 50);
            uint64_t fingerprint = rng_flip(random, self->data.fingerprints[at], (uint32_t)rng_below(random, 3));
            bool own = rng_one_in(random, 2); /* perhaps a present one */
            fingerprints[j] = own ? self->data.fingerprints[at] : fingerprint;
            ids[j] = own && self->data.ids != NULL ? self->data.ids[at] : id;
        }
        const uint64_t *given_ids = self->data.id_kind == DATA_NO_IDS ? NULL : ids;
        assert_ok(removes ? store_remove(self->path, &remove, fingerprints, given_ids, count, NULL, &error)
                          : store_add(self->path, &add, fingerprints, given_ids, count, NULL, &error),
                  &error);
    }
    free(fingerprints);
    free(ids);
}

static int take_record(void *context, const sstore_record *record)
{
    oracle *truth = context;
    truth->distinct_count += truth->count == 0 || truth->records[truth->count - 1].fingerprint != record->fingerprint;
    truth->records[truth->count++] = *record;
    return 0;
}

/* Build a store, of several segments perhaps, and read its records, which other tests check. */
static void begin_subject(rng *random, subject *self, const char *name, data_kind kind, data_ids ids, uint32_t distance)
{
    sstore_error error = {.status = SSTORE_OK};
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    sstore_statistics facts = {.struct_size = sizeof facts};
    size_t count = rng_below(random, rng_one_in(random, 3) ? 30 : MAX_RECORDS);
    options.memory_bytes = 1 << 20;
    options.block_bytes = 256;
    options.distance = distance <= SSTORE_MAX_BUILD_DISTANCE ? distance : 3;
    data_make(random, kind, ids, count, rng_one_in(random, 2), &self->data);
    snprintf(self->path, sizeof self->path, "%s", scratch_path("%s", name));
    scratch_remove(self->path);
    assert_ok(store_build(self->path, &options, &self->data, 0, &error), &error);
    if (self->data.count > 0 && rng_one_in(random, 2))
        change_store(random, self);
    self->store = store_must_open(self->path, (sstore_io)rng_below(random, 4), SSTORE_STRATEGY_AUTO);
    assert_ok(sstore_stat(self->store, &facts, &error), &error);
    self->truth = (oracle){.records = malloc((facts.record_count + 1) * sizeof *self->truth.records)};
    assert_ok(sstore_each_record(self->store, take_record, &self->truth, &error), &error);
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
    return testing_number("SSTORE_TEST_CASES", testing_slow() ? SLOW_CASES : CASES);
}

/* ----- the tests ----- */

/* Fingerprints far from each other, with one to three ids each, so that blocks of ids end anywhere among those of one
 * fingerprint: the pairs are those of equal fingerprints. */
static void test_repeated_fingerprints(void **state)
{
    enum { FINGERPRINTS = 20000, MAX_IDS = 3 };
    rng random = rng_seeded(run_seed);
    testing_doing("repeated fingerprints, seed %" PRIu64, run_seed);
    data_set set = {.id_kind = DATA_IDS,
                    .fingerprints = malloc(FINGERPRINTS * MAX_IDS * sizeof(uint64_t)),
                    .ids = malloc(FINGERPRINTS * MAX_IDS * sizeof(uint64_t))};
    pair_list got = {.count = 0};
    size_t wanted = 0;
    for (uint32_t i = 0; i < FINGERPRINTS; i++) {
        const uint64_t fingerprint = rng_next(&random), ids = rng_between(&random, 1, MAX_IDS);
        for (uint64_t j = 0; j < ids; j++) {
            set.fingerprints[set.count] = fingerprint;
            set.ids[set.count] = set.count;
            set.count++;
        }
        wanted += ids * (ids - 1) / 2;
    }
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
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
    testing_done();
}

static void test_pairs_and_clusters(void **state)
{
    rng random = rng_seeded(run_seed);
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
        if (count_pairs(&self.truth, distance) <= MAX_PAIRS) {
            pair_list got = {.count = 0}, wanted = all_pairs(&self.truth, &self.truth, distance);
            assert_ok(sstore_pairs(self.store, &options, add_pair, &got, &error), &error);
            assert_equal_pairs(&got, &wanted);
            iterate_pairs(&random, self.store, NULL, &options, wanted.items, wanted.count);
            free(got.items);
            free(wanted.items);
        }
        for (int with_singles = 0; with_singles < 2; with_singles++) {
            cluster_list got = {.count = 0}, wanted = all_clusters(&self.truth, distance, with_singles);
            const sstore_cluster_options how = options_to_cluster(&options, with_singles);
            assert_ok(sstore_clusters(self.store, &how, add_record, &got, &error), &error);
            assert_equal_clusters(&got, &wanted);
            iterate_clusters(&random, self.store, &how, wanted.items, wanted.count);
            free(got.items);
            free(wanted.items);
        }
        end_subject(&self);
    }
    testing_done();
}

static void test_joins(void **state)
{
    rng random = rng_seeded(run_seed + 1);
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
        if (wanted.count <= MAX_PAIRS) {
            assert_ok(sstore_join(left.store, right.store, &options, add_pair, &got, &error), &error);
            assert_equal_pairs(&got, &wanted);
            iterate_pairs(&random, left.store, right.store, &options, wanted.items, wanted.count);
        }
        free(got.items);
        free(wanted.items);
        end_subject(&left);
        end_subject(&right);
    }
    testing_done();
}

/* ----- larger than a piece ----- */

#define PIECE 1024u /* the minimum that a thread works on at once: with this many threads and the least memory */
#define PIECE_THREADS 16u

static sstore_join_options min_pieces(uint32_t distance)
{
    sstore_join_options options = SSTORE_JOIN_OPTIONS_INIT;
    options.distance = distance;
    options.threads = PIECE_THREADS;
    options.memory_bytes = 8 << 20;
    options.tmp_dir = scratch_folder();
    return options;
}

/* Begin a subject with nothing in it, of capacity for so many records. */
static subject no_records(const char *name, size_t room)
{
    subject made = {.data = {.id_kind = DATA_IDS}};
    made.data.fingerprints = test_malloc(room * sizeof *made.data.fingerprints);
    made.data.ids = test_malloc(room * sizeof *made.data.ids);
    snprintf(made.path, sizeof made.path, "%s", scratch_path("%s", name));
    return made;
}

static void put_records(subject *to, uint64_t fingerprint, size_t count, uint64_t first_id)
{
    for (size_t i = 0; i < count; i++) {
        to->data.fingerprints[to->data.count] = fingerprint;
        to->data.ids[to->data.count++] = first_id + i;
    }
}

/* Build the records that were put, in one segment or in two. */
static void build_records(rng *random, subject *self)
{
    sstore_error error = {.status = SSTORE_OK};
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    options.block_bytes = (uint32_t)256 << rng_below(random, 5);
    options.plan = "2";
    data_set first = self->data;
    first.count = rng_one_in(random, 2) ? first.count : rng_below(random, first.count);
    scratch_remove(self->path);
    assert_ok(store_build(self->path, &options, &first, 0, &error), &error);
    assert_ok(store_change(self->path, false, self->data.fingerprints + first.count, self->data.ids + first.count,
                           self->data.count - first.count, &error),
              &error);
    oracle_make(&self->data, &self->truth);
    self->store = store_must_open(self->path, SSTORE_IO_PREAD, SSTORE_STRATEGY_AUTO);
}

static void check_clusters(rng *random, subject *self, const sstore_join_options *options)
{
    sstore_error error = {.status = SSTORE_OK};
    for (int with_singles = 0; with_singles < 2; with_singles++) {
        cluster_list got = {.count = 0}, wanted = all_clusters(&self->truth, options->distance, with_singles);
        const sstore_cluster_options how = options_to_cluster(options, with_singles);
        assert_ok(sstore_clusters(self->store, &how, add_record, &got, &error), &error);
        assert_equal_clusters(&got, &wanted);
        for (int i = 0; i < 3; i++)
            iterate_clusters(random, self->store, &how, wanted.items, wanted.count);
        free(got.items);
        free(wanted.items);
    }
}

/* Clusters that take several pieces, alone and with others before, between and behind them. */
static void test_clusters_larger_than_a_piece(void **state)
{
    rng random = rng_seeded(run_seed + 3);
    for (uint64_t i = 0; i < (testing_slow() ? 2 : 6); i++) {
        subject self = no_records("large", 16 * PIECE);
        const sstore_join_options options = min_pieces(2);
        testing_doing("case %" PRIu64 ": clusters larger than a piece, seed %" PRIu64, i, run_seed);
        const uint64_t large = rng_between(&random, 1, 3);
        for (uint64_t j = 0; j < large; j++) {
            const uint64_t fingerprint = rng_next(&random), parts = rng_between(&random, 1, 4);
            for (uint64_t part = 0; part < parts; part++) /* equal fingerprints, and some within two bits of them */
                put_records(&self, fingerprint ^ (part == 0 ? 0 : UINT64_C(1) << (part * 7 + j)),
                            rng_between(&random, PIECE / 2, PIECE), part * PIECE);
            for (uint64_t few = rng_below(&random, 50); few > 0; few--)
                put_records(&self, rng_next(&random), rng_between(&random, 1, 3), few);
        }
        put_records(&self, rng_next(&random), rng_between(&random, PIECE - 1, PIECE + 1),
                    5); /* just a piece, or nearly */
        build_records(&random, &self);
        check_clusters(&random, &self, &options);
        end_subject(&self);
    }
    testing_done();
}

/* A fingerprint with more records than a piece holds: they are read anew for each pair. */
static void test_fingerprints_larger_than_a_piece(void **state)
{
    rng random = rng_seeded(run_seed + 4);
    for (uint64_t i = 0; i < (testing_slow() ? 1 : 4); i++) {
        subject left = no_records("left", 4 * PIECE), right = no_records("right", 4 * PIECE);
        const sstore_join_options options = min_pieces(3);
        sstore_error error = {.status = SSTORE_OK};
        testing_doing("case %" PRIu64 ": fingerprints with many ids, seed %" PRIu64, i, run_seed);
        const uint64_t fingerprint = rng_next(&random);
        put_records(&left, fingerprint, rng_between(&random, PIECE + 1, PIECE + 100), 0);
        put_records(&left, rng_flip(&random, fingerprint, 2), 3, 7); /* which come before or behind it */
        put_records(&left, rng_flip(&random, fingerprint, 3), 2, 9);
        put_records(&left, rng_next(&random), 4, 2);
        put_records(&right, fingerprint, rng_between(&random, 1, 5), 0);
        put_records(&right, rng_flip(&random, fingerprint, 1), rng_between(&random, 1, 5), 50);
        put_records(&right, left.data.fingerprints[left.data.count - 1], 2, 8);
        build_records(&random, &left);
        build_records(&random, &right);
        pair_list got = {.count = 0}, wanted = all_pairs(&left.truth, &left.truth, options.distance);
        assert_ok(sstore_pairs(left.store, &options, add_pair, &got, &error), &error);
        assert_equal_pairs(&got, &wanted);
        iterate_pairs(&random, left.store, NULL, &options, wanted.items, wanted.count);
        free(got.items);
        free(wanted.items);
        for (int swapped = 0; swapped < 2; swapped++) {
            const subject *a = swapped ? &right : &left, *b = swapped ? &left : &right;
            got = (pair_list){.count = 0};
            wanted = all_pairs(&a->truth, &b->truth, options.distance);
            assert_ok(sstore_join(a->store, b->store, &options, add_pair, &got, &error), &error);
            assert_equal_pairs(&got, &wanted);
            for (int j = 0; j < 4; j++)
                iterate_pairs(&random, a->store, b->store, &options, wanted.items, wanted.count);
            free(got.items);
            free(wanted.items);
        }
        end_subject(&left);
        end_subject(&right);
    }
    testing_done();
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_repeated_fingerprints, testing_teardown),
        cmocka_unit_test_teardown(test_pairs_and_clusters, testing_teardown),
        cmocka_unit_test_teardown(test_joins, testing_teardown),
        cmocka_unit_test_teardown(test_clusters_larger_than_a_piece, testing_teardown),
        cmocka_unit_test_teardown(test_fingerprints_larger_than_a_piece, testing_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

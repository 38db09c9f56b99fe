/* Iterators, beyond right results, which property tests check: an error ends an iterator after right items, progress
 * can stop it, wrong arguments are refused, and there may be no items. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sstore_join.h"
#include "support/data.h"
#include "support/iterate.h"
#include "support/random.h"
#include "support/scratch.h"
#include "support/store_offsets.h"
#include "support/testing.h"
#include "support/use_store.h"

#define RECORDS 1600u /* as many queries that match all of them are more than a round of a batch may find */
#define CAPACITY 700u

/* A store, opened so that each block is read when it is needed. */
typedef struct fixture {
    rng random;
    char path[256];
    data_set data;
    record_set truth;
    sstore *store;
} fixture;

static void build(fixture *self, uint64_t seed, data_kind kind, data_ids ids, size_t count)
{
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    sstore_error error = {.status = SSTORE_OK};
    self->random = rng_seeded(run_seed + seed);
    data_make(&self->random, kind, ids, count, true, &self->data);
    self->truth = record_set_of_data(&self->data);
    snprintf(self->path, sizeof self->path, "%s", scratch_path("store"));
    options.block_bytes = 256;
    options.plan = "2";
    scratch_remove(self->path);
    assert_ok(store_build(self->path, &options, &self->data, 0, &error), &error);
    self->store = store_must_open(self->path, SSTORE_IO_PREAD, SSTORE_STRATEGY_AUTO);
}

static void tear_down(fixture *self)
{
    sstore_close(self->store);
    record_set_free(&self->truth);
    data_free(&self->data);
    scratch_remove(self->path);
    testing_done();
}

/* Damage each 100th byte of the files of that suffix, from the byte `first` on: every block that begins there. */
static void damage(const fixture *self, const char *suffix, size_t first)
{
    file_list files = file_list_make(self->path, suffix);
    assert_true(files.count > 0);
    for (size_t i = 0; i < files.count; i++) {
        char name[4096];
        snprintf(name, sizeof name, "%s/%s", self->path, files.names[i]);
        file_bytes content = file_load(name);
        for (size_t at = first; at < content.size; at += 100)
            content.data[at] ^= 0x55;
        file_save(name, content.data, content.size);
        file_bytes_free(&content);
    }
    file_list_free(&files);
}

/* After an error an iterator can only be freed. */
static void check_ended(sstore_iterator *iterator)
{
    sstore_error error = {.status = SSTORE_OK};
    size_t count;
    for (int i = 0; i < 3; i++)
        assert_status(sstore_iterator_next(iterator, NULL, CAPACITY, &count, &error), SSTORE_ERROR_ARGUMENT, &error);
    sstore_iterator_free(iterator);
}

/* ----- errors on the way ----- */

/* The results before the damaged block are right. Then the error follows, and nothing else. */
static void check_damaged_records(const char *suffix, size_t first_byte)
{
    fixture self;
    uint64_t fingerprints[CAPACITY], ids[CAPACITY];
    const sstore_columns columns = {.struct_size = sizeof columns, .fingerprint = fingerprints, .id = ids};
    sstore_iterator *iterator;
    sstore_error error = {.status = SSTORE_OK};
    size_t done = 0, count;
    build(&self, 1, DATA_CLUSTERED, DATA_IDS, RECORDS);
    const size_t capacity = rng_between(&self.random, 1, CAPACITY);
    testing_doing("records, %s damaged from byte %zu on, %zu at once, seed %" PRIu64, suffix, first_byte, capacity,
                  run_seed);
    damage(&self, suffix, first_byte);
    assert_ok(sstore_iterate_records(self.store, &iterator, &error), &error);
    sstore_status status = SSTORE_OK;
    while (status == SSTORE_OK) {
        count = 0;
        status = sstore_iterator_next(iterator, &columns, capacity, &count, &error);
        assert_true(count <= capacity && (count > 0 || status != SSTORE_OK));
        for (size_t i = 0; i < count; i++, done++) {
            assert_true(done < self.truth.count);
            assert_int_equal(fingerprints[i], self.truth.fingerprints[done]);
            assert_int_equal(ids[i], self.truth.ids[done]);
        }
    }
    assert_status(status, SSTORE_ERROR_DAMAGED, &error);
    assert_non_null(strstr(error.file, suffix));
    assert_true(done < self.truth.count);
    check_ended(iterator);
    tear_down(&self);
}

static void test_damaged_records(void **state)
{
    check_damaged_records("table-00.blk", HEADER_FIXED + 3000);
    check_damaged_records("ids.blk", HEADER_FIXED + 500);
    check_damaged_records("ids.blk", HEADER_FIXED + 5000);
}

/* The first queries are answered while the store is intact, the others, which do not fit in the same round, later. */
static void test_damaged_matches(void **state)
{
    fixture self;
    uint64_t query_index[CAPACITY], fingerprint[CAPACITY], id[CAPACITY];
    uint32_t distance[CAPACITY];
    const sstore_columns columns = {.struct_size = sizeof columns,
                                    .fingerprint = fingerprint,
                                    .id = id,
                                    .distance = distance,
                                    .query_index = query_index};
    sstore_iterator *iterator;
    sstore_error error = {.status = SSTORE_OK};
    matches all = {.count = 0};
    size_t done = 0, count = 0, query = SIZE_MAX;
    build(&self, 2, DATA_UNIFORM, DATA_IDS, RECORDS);
    testing_doing("matches of a store that comes to harm, seed %" PRIu64, run_seed);
    assert_ok(sstore_iterate_matches(self.store, self.data.fingerprints, self.data.count, SSTORE_MAX_DISTANCE, NULL,
                                     &iterator, &error),
              &error);
    sstore_status status = sstore_iterator_next(iterator, &columns, CAPACITY, &count, &error);
    assert_ok(status, &error);
    damage(&self, ".blk", HEADER_FIXED + 20);
    while (status == SSTORE_OK) {
        assert_in_range(count, 1, CAPACITY);
        for (size_t i = 0; i < count; i++, done++) {
            const size_t at = done % self.truth.count;
            if (done / self.truth.count != query) {
                query = done / self.truth.count;
                all.count = 0;
                record_set_query(&self.truth, &self.data.fingerprints[query], SSTORE_MAX_DISTANCE, query, &all);
            }
            const sstore_match match = matches_get(&all, at);
            assert_true(query_index[i] == query && fingerprint[i] == *match.fingerprint && id[i] == match.id &&
                        distance[i] == match.distance);
        }
        count = 0;
        status = sstore_iterator_next(iterator, &columns, CAPACITY, &count, &error);
    }
    assert_status(status, SSTORE_ERROR_DAMAGED, &error);
    assert_true(done < self.data.count * self.truth.count);
    check_ended(iterator);
    /* And if the damage is there at once. */
    assert_ok(sstore_iterate_matches(self.store, self.data.fingerprints, 9, 3, NULL, &iterator, &error), &error);
    assert_status(sstore_iterator_next(iterator, NULL, 1, &count, &error), SSTORE_ERROR_DAMAGED, &error);
    check_ended(iterator);
    matches_free(&all);
    tear_down(&self);
}

static sstore_join_options join_options(void)
{
    sstore_join_options options = SSTORE_JOIN_OPTIONS_INIT;
    options.distance = 1;
    options.memory_bytes = 8 << 20;
    options.threads = 1;
    options.tmp_dir = scratch_folder();
    return options;
}

/* As many pairs as one fingerprint's records make; the ids of the first ones are read when they are reported. */
static void test_damaged_pairs(void **state)
{
    fixture self;
    uint64_t id[CAPACITY], other_id[CAPACITY];
    sstore_columns columns = SSTORE_COLUMNS_INIT;
    sstore_iterator *iterator;
    sstore_error error = {.status = SSTORE_OK};
    const sstore_join_options options = join_options();
    const sstore_cluster_options cluster = options_to_cluster(&options, true);
    size_t done = 0, count = 0;
    columns.id = id;
    columns.other_id = other_id;
    build(&self, 3, DATA_REPEATED, DATA_ASSIGNED, 20 * RECORDS);
    testing_doing("pairs of a store that comes to harm, seed %" PRIu64, run_seed);
    assert_ok(sstore_iterate_pairs(self.store, NULL, &options, &iterator, &error), &error);
    sstore_status status = sstore_iterator_next(iterator, &columns, CAPACITY, &count, &error);
    assert_ok(status, &error);
    damage(&self, ".blk", HEADER_FIXED + 20);
    while (status == SSTORE_OK) {
        assert_in_range(count, 1, CAPACITY);
        for (size_t i = 0; i < count; i++, done++)
            assert_true(
                id[i] < self.data.count && other_id[i] < self.data.count && id[i] != other_id[i] &&
                sstore_hamming_distance(&self.data.fingerprints[id[i]], &self.data.fingerprints[other_id[i]], 64) <= 1);
        count = 0;
        status = sstore_iterator_next(iterator, &columns, CAPACITY, &count, &error);
    }
    assert_status(status, SSTORE_ERROR_DAMAGED, &error);
    check_ended(iterator);
    /* And if the damage is there at once. */
    assert_status(sstore_iterate_pairs(self.store, NULL, &options, &iterator, &error), SSTORE_ERROR_DAMAGED, &error);
    assert_null(iterator);
    iterator = (sstore_iterator *)1;
    assert_status(sstore_iterate_clusters(self.store, &cluster, &iterator, &error), SSTORE_ERROR_DAMAGED, &error);
    assert_null(iterator);
    tear_down(&self);
}

/* ----- stopping ----- */

/* Stops once it is told to, in the phase in which items are reported. */
typedef struct stopper {
    bool is_wanted;
    uint64_t calls;
} stopper;

static int stop(void *context, const sstore_progress *progress)
{
    stopper *self = context;
    assert_int_equal(progress->struct_size, sizeof *progress);
    self->calls++;
    return self->is_wanted && strcmp(progress->phase, "reporting") == 0;
}

static void check_stopping(sstore_iterator *iterator, stopper *asked)
{
    sstore_error error = {.status = SSTORE_OK};
    size_t count;
    assert_ok(sstore_iterator_next(iterator, NULL, 1, &count, &error), &error);
    assert_true(asked->calls > 1);
    asked->is_wanted = true;
    sstore_status status = SSTORE_OK;
    while (status == SSTORE_OK) {
        status = sstore_iterator_next(iterator, NULL, CAPACITY, &count, &error);
        assert_true(status != SSTORE_OK || count > 0);
    }
    assert_status(status, SSTORE_STOPPED, &error);
    check_ended(iterator);
    *asked = (stopper){.calls = 0};
}

static void test_stopping(void **state)
{
    fixture self;
    stopper asked = {.calls = 0};
    sstore_join_options options = join_options();
    sstore_iterator *iterator;
    sstore_error error = {.status = SSTORE_OK};
    build(&self, 4, DATA_REPEATED, DATA_ASSIGNED, 2 * RECORDS);
    testing_doing("stopping, seed %" PRIu64, run_seed);
    options.on_progress = stop;
    options.progress_context = &asked;
    const sstore_cluster_options cluster = options_to_cluster(&options, true);
    assert_ok(sstore_iterate_pairs(self.store, NULL, &options, &iterator, &error), &error);
    check_stopping(iterator, &asked);
    assert_ok(sstore_iterate_clusters(self.store, &cluster, &iterator, &error), &error);
    check_stopping(iterator, &asked);
    tear_down(&self);
}

/* ----- every iterator ----- */

#define ITERATORS 4u

static void create(const fixture *self, uint32_t distance, sstore_iterator *iterators[ITERATORS])
{
    const sstore_join_options options = join_options();
    const sstore_cluster_options cluster = options_to_cluster(&options, true);
    sstore_error error = {.status = SSTORE_OK};
    assert_ok(sstore_iterate_records(self->store, &iterators[0], &error), &error);
    assert_ok(sstore_iterate_matches(self->store, self->data.fingerprints, self->data.count, distance, NULL,
                                     &iterators[1], &error),
              &error);
    assert_ok(sstore_iterate_pairs(self->store, NULL, &options, &iterators[2], &error), &error);
    assert_ok(sstore_iterate_clusters(self->store, &cluster, &iterators[3], &error), &error);
}

/* An iterator that is freed early leaves nothing behind. */
static void test_iterators_freed_before_their_end(void **state)
{
    fixture self;
    sstore_iterator *iterators[ITERATORS];
    sstore_error error = {.status = SSTORE_OK};
    size_t count;
    build(&self, 5, DATA_REPEATED, DATA_IDS, RECORDS);
    for (size_t rounds = 0; rounds < 3; rounds++) {
        create(&self, 64, iterators);
        for (size_t i = 0; i < rounds * ITERATORS; i++) { /* in turns: they do not disturb each other */
            const size_t capacity = 1 + i % 3;
            assert_ok(sstore_iterator_next(iterators[i % ITERATORS], NULL, capacity, &count, &error), &error);
            assert_int_equal(count, capacity);
        }
        for (size_t i = 0; i < ITERATORS; i++)
            sstore_iterator_free(iterators[i]);
    }
    tear_down(&self);
}

/* ----- refused arguments ----- */

#define assert_refused(call) assert_status(call, SSTORE_ERROR_ARGUMENT, &error)

static void test_creation_refuses(void **state)
{
    fixture self;
    sstore_iterator *made = (sstore_iterator *)1;
    sstore_join_options options = join_options();
    sstore_cluster_options cluster = options_to_cluster(&options, true);
    sstore_error error = {.status = SSTORE_OK};
    const uint64_t query = 1;
    build(&self, 6, DATA_UNIFORM, DATA_IDS, 10);
    assert_refused(sstore_iterate_records(NULL, &made, &error));
    assert_null(made);
    assert_refused(sstore_iterate_records(self.store, NULL, &error));
    made = (sstore_iterator *)1;
    assert_refused(sstore_iterate_matches(NULL, &query, 1, 3, NULL, &made, &error));
    assert_null(made);
    assert_refused(sstore_iterate_matches(self.store, NULL, 1, 3, NULL, &made, &error));
    assert_refused(sstore_iterate_matches(self.store, &query, 1, 65, NULL, &made, &error));
    assert_null(made);
    assert_refused(sstore_iterate_matches(self.store, &query, 1, 3, NULL, NULL, &error));
    made = (sstore_iterator *)1;
    assert_refused(sstore_iterate_pairs(NULL, NULL, &options, &made, &error));
    assert_null(made);
    assert_refused(sstore_iterate_pairs(self.store, self.store, &options, &made, &error));
    assert_refused(sstore_iterate_pairs(self.store, NULL, &options, NULL, &error));
    made = (sstore_iterator *)1;
    assert_refused(sstore_iterate_clusters(NULL, &cluster, &made, &error));
    assert_null(made);
    assert_refused(sstore_iterate_clusters(self.store, &cluster, NULL, &error));
    options.tmp_dir = cluster.tmp_dir = "/nowhere/at/all";
    assert_status(sstore_iterate_pairs(self.store, NULL, &options, &made, &error), SSTORE_ERROR_NOT_FOUND, &error);
    assert_status(sstore_iterate_clusters(self.store, &cluster, &made, &error), SSTORE_ERROR_NOT_FOUND, &error);
    options.distance = cluster.distance = SSTORE_MAX_BUILD_DISTANCE + 1;
    assert_refused(sstore_iterate_pairs(self.store, NULL, &options, &made, &error));
    assert_refused(sstore_iterate_clusters(self.store, &cluster, &made, &error));
    assert_null(made);
    tear_down(&self);
}

/* What is refused changes nothing. */
static void test_next_refuses(void **state)
{
    fixture self;
    sstore_iterator *iterators[ITERATORS];
    sstore_error error = {.status = SSTORE_OK};
    size_t count;
    build(&self, 7, DATA_REPEATED, DATA_IDS, 100); /* surely with pairs */
    create(&self, 3, iterators);
    assert_refused(sstore_iterator_next(NULL, NULL, 1, &count, &error));
    for (size_t i = 0; i < ITERATORS; i++) {
        assert_refused(sstore_iterator_next(iterators[i], NULL, 0, &count, &error));
        assert_int_equal(count, 0);
        assert_refused(sstore_iterator_next(iterators[i], NULL, 1, NULL, &error));
        assert_ok(sstore_iterator_next(iterators[i], NULL, 1, &count, &error), &error);
        assert_int_equal(count, 1);
        sstore_iterator_free(iterators[i]);
    }
    sstore_iterator_free(NULL);
    tear_down(&self);
}

/* ----- no results ----- */

static void check_nothing(fixture *self)
{
    const sstore_join_options options = join_options();
    const sstore_cluster_options cluster = options_to_cluster(&options, true);
    const matches none = {.count = 0};
    const uint64_t queries[2] = {0, UINT64_MAX};
    sstore *other = store_must_open(self->path, SSTORE_IO_PREAD, SSTORE_STRATEGY_AUTO);
    for (int i = 0; i < 8; i++) {
        iterate_records(&self->random, other, NULL, NULL, 0);
        iterate_matches(&self->random, other, queries, 2, 64, 1, &none);
        iterate_matches(&self->random, other, NULL, 0, 64, 2, &none);
        iterate_pairs(&self->random, other, NULL, &options, NULL, 0);
        iterate_pairs(&self->random, other, self->store, &options, NULL, 0);
        iterate_clusters(&self->random, other, &cluster, NULL, 0);
    }
    sstore_close(other);
}

/* Stores that were always empty, or whose records were all removed. */
static void test_empty_stores(void **state)
{
    for (int ids = 0; ids < DATA_IDS_COUNT; ids++) {
        fixture self;
        sstore_error error = {.status = SSTORE_OK};
        build(&self, 8, DATA_CLUSTERED, (data_ids)ids, 0);
        testing_doing("an empty store, %s, seed %" PRIu64, data_ids_name((data_ids)ids), run_seed);
        check_nothing(&self);
        tear_down(&self);
        build(&self, 9, DATA_CLUSTERED, (data_ids)ids, 200);
        testing_doing("a store without what it had, %s, seed %" PRIu64, data_ids_name((data_ids)ids), run_seed);
        assert_ok(store_change(self.path, true, self.data.fingerprints, self.data.ids, self.data.count, &error),
                  &error);
        check_nothing(&self);
        tear_down(&self);
    }
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_damaged_records, testing_teardown),
        cmocka_unit_test_teardown(test_damaged_matches, testing_teardown),
        cmocka_unit_test_teardown(test_damaged_pairs, testing_teardown),
        cmocka_unit_test_teardown(test_stopping, testing_teardown),
        cmocka_unit_test_teardown(test_iterators_freed_before_their_end, testing_teardown),
        cmocka_unit_test_teardown(test_creation_refuses, testing_teardown),
        cmocka_unit_test_teardown(test_next_refuses, testing_teardown),
        cmocka_unit_test_teardown(test_empty_stores, testing_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * test_dedup.c - records are inserted if new, one by one and many at once, and compared with a list of those that were
 * inserted. A record must be new if and only if nothing in the list is near it; otherwise all near records must be
 * reported. A published store must have the records of the list.
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

#define CASES 40u
#define SLOW_CASES 10u
#define MAX_RECORDS 3000u

/* A deduplication under test. */
typedef struct taking {
    rng random;
    char path[256];
    data_set pool;
    oracle truth; /* its records in the order in which they were taken in */
    size_t capacity;
    uint64_t next_id, first_in_call, given_count;
    uint32_t distance;
    bool has_ids, assigned;
    const uint64_t *given, *given_ids; /* in the current call */
} taking;

static void list_add(taking *self, uint64_t fingerprint, uint64_t id)
{
    if (self->truth.count == self->capacity) {
        self->capacity = 2 * self->capacity + 100;
        self->truth.records = realloc(self->truth.records, self->capacity * sizeof *self->truth.records);
    }
    self->truth.records[self->truth.count++] = (sstore_record){fingerprint, id};
}

/* Compare an answer with the list, and extend the list. */
static int check_answer(void *context, const sstore_dedup_answer *answer)
{
    taking *self = context;
    matches wanted = {.count = 0}, got = {.count = 0};
    assert_int_equal(answer->index, self->first_in_call++);
    assert_int_equal(answer->fingerprint, self->given[answer->index]);
    oracle_query(&self->truth, answer->fingerprint, self->distance, 0, &wanted);
    for (size_t i = 0; i < answer->match_count; i++)
        matches_add(&got, &answer->matches[i]);
    assert_true(matches_equal(&got, &wanted)); /* also in order */
    assert_int_equal(answer->is_new, wanted.count == 0);
    if (answer->is_new) {
        uint64_t id = !self->has_ids ? 0 : self->assigned ? self->next_id++ : self->given_ids[answer->index];
        assert_int_equal(answer->id, id);
        list_add(self, answer->fingerprint, id);
    }
    matches_free(&wanted);
    matches_free(&got);
    return 0;
}

/* The store must have the first `count` records of the list. */
static void check_store(const taking *self, size_t count)
{
    oracle sorted = {.count = count, .records = malloc((count + 1) * sizeof *sorted.records)};
    sstore_error error = {.status = SSTORE_OK};
    bool right;
    size_t seen;
    memcpy(sorted.records, self->truth.records, count * sizeof *sorted.records);
    qsort(sorted.records, count, sizeof *sorted.records, compare_records);
    sstore *store = store_must_open(self->path, SSTORE_IO_PREAD, SSTORE_STRATEGY_AUTO);
    assert_ok(store_compare_records(store, &sorted, &right, &seen, &error), &error);
    assert_true(right);
    assert_int_equal(seen, count);
    sstore_close(store);
    free(sorted.records);
}

/* is_new_out tells the same. */
static void check_is_new(taking *self, const bool *is_new, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        matches wanted = {.count = 0};
        oracle_query(&self->truth, self->given[i], self->distance, 0, &wanted);
        assert_int_equal(is_new[i], wanted.count == 0);
        if (is_new[i])
            list_add(self, self->given[i], !self->has_ids ? 0 : self->assigned ? self->next_id++ : self->given_ids[i]);
        matches_free(&wanted);
    }
}

/* In one of the ways in which answers come: to the callback, to the array, or to both. */
static void offer(taking *self, sstore_dedup *dedup, size_t count)
{
    sstore_error error = {.status = SSTORE_OK};
    const uint64_t *ids = self->assigned || !self->has_ids ? NULL : self->given_ids;
    const uint64_t *unread_ids = self->has_ids ? ids : self->given_ids; /* in a store without ids they are not read */
    const bool calls = rng_one_in(&self->random, 2), fills = !calls || rng_one_in(&self->random, 2);
    bool *is_new = malloc(count + 1);
    memset(is_new, 7, count + 1);
    const size_t before = self->truth.count;
    self->first_in_call = 0;
    assert_ok(sstore_dedup_insert(dedup, self->given, rng_one_in(&self->random, 2) ? ids : unread_ids, count,
                                  fills ? is_new : NULL, calls ? check_answer : NULL, self, &error),
              &error);
    assert_int_equal(((const uint8_t *)is_new)[count], 7);
    if (calls)
        assert_int_equal(self->first_in_call, count);
    if (!calls)
        check_is_new(self, is_new, count);
    size_t new_count = 0;
    for (size_t i = 0; fills && i < count; i++)
        new_count += is_new[i];
    if (fills)
        assert_int_equal(new_count, self->truth.count - before);
    self->given_count += count;
    free(is_new);
}

static void offer_some(taking *self, sstore_dedup *dedup)
{
    uint64_t fingerprints[400], ids[400];
    size_t count = rng_one_in(&self->random, 2) ? 1 : rng_below(&self->random, 400);
    for (size_t i = 0; i < count; i++) {
        uint64_t at = rng_below(&self->random, self->pool.count);
        fingerprints[i] = rng_flip(&self->random, self->pool.fingerprints[at],
                                   rng_one_in(&self->random, 2) ? 0 : (uint32_t)rng_below(&self->random, 8));
        ids[i] = rng_next(&self->random) >> rng_below(&self->random, 64);
    }
    self->given = fingerprints;
    self->given_ids = ids;
    offer(self, dedup, count);
}

static sstore_statistics facts_of(const char *path)
{
    sstore_statistics facts = {.struct_size = sizeof facts};
    sstore_error error = {.status = SSTORE_OK};
    sstore *store = store_must_open(path, SSTORE_IO_PREAD, SSTORE_STRATEGY_AUTO);
    assert_ok(sstore_stat(store, &facts, &error), &error);
    sstore_close(store);
    return facts;
}

static void publish(const taking *self, sstore_dedup *dedup, sstore_change *change)
{
    sstore_error error = {.status = SSTORE_OK};
    assert_ok(sstore_dedup_publish(dedup, change, &error), &error);
    assert_int_equal(sstore_dedup_pending_count(dedup), 0);
    if (change != NULL)
        assert_int_equal(change->record_count, self->truth.count);
}

/* After everything was published: a change is the sum of all publications, also of automatic ones. */
static void check_change(const taking *self, const sstore_change *change, size_t count_before,
                         const sstore_statistics *old)
{
    const sstore_statistics now = facts_of(self->path);
    assert_int_equal(change->given_count, self->given_count);
    assert_int_equal(change->added_count, self->truth.count - count_before);
    assert_int_equal(change->removed_count, 0);
    assert_int_equal(change->record_count, now.record_count);
    assert_int_equal(change->total_bytes, now.total_bytes);
    assert_int_equal(change->segment_count, now.segment_count);
    assert_int_equal(change->total_bytes_before, old->total_bytes);
    assert_int_equal(change->segment_count_before, old->segment_count);
}

static void run_case(taking *self, uint64_t number)
{
    rng *random = &self->random;
    *random = rng_seeded(run_seed + number);
    sstore_error error = {.status = SSTORE_OK};
    const data_ids ids = (data_ids)rng_below(random, DATA_IDS_COUNT);
    sstore_write_options build = SSTORE_WRITE_OPTIONS_INIT;
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    sstore_dedup *dedup;
    data_make(random, (data_kind)rng_below(random, DATA_KIND_COUNT), ids, rng_between(random, 1, MAX_RECORDS), false,
              &self->pool);
    self->has_ids = ids != DATA_NO_IDS;
    self->assigned = ids == DATA_ASSIGNED;
    self->distance = build.distance = (uint32_t)rng_below(random, 6);
    build.memory_bytes = options.memory_bytes = 1 << 20;
    options.threads = 2;
    if (rng_one_in(random, 2))
        options.distance = self->distance = (uint32_t)rng_below(random, 9);
    options.publish_every = rng_one_in(random, 2) ? rng_between(random, 1, 500) : 0;
    options.no_compact = rng_one_in(random, 2);
    options.check_ids = rng_one_in(random, 2);
    testing_doing("case %" PRIu64 ": %s, %s, distance %u of %u, every %" PRIu64 ", seed %" PRIu64, number,
                  data_kind_name(self->pool.kind), data_ids_name(ids), self->distance, build.distance,
                  options.publish_every, run_seed);
    data_set first = self->pool; /* in the store already, near each other or not */
    first.count = rng_below(random, self->pool.count / 4 + 1);
    snprintf(self->path, sizeof self->path, "%s", scratch_path("taking"));
    scratch_remove(self->path);
    assert_ok(store_build(self->path, &build, &first, 0, &error), &error);
    oracle made;
    oracle_make(&first, &made);
    for (size_t i = 0; i < made.count; i++)
        list_add(self, made.records[i].fingerprint, made.records[i].id);
    oracle_free(&made);
    self->next_id = first.count;
    assert_ok(sstore_dedup_open(self->path, &options, &dedup, &error), &error);
    const size_t before = self->truth.count;
    const sstore_statistics old = facts_of(self->path);
    sstore_change change = {.struct_size = sizeof change};
    for (uint64_t i = rng_below(random, 30); i > 0; i--) {
        offer_some(self, dedup);
        if (rng_one_in(random, 5)) {
            publish(self, dedup, rng_one_in(random, 2) ? &change : NULL);
            check_store(self, self->truth.count);
        }
    }
    assert_int_equal(sstore_dedup_word_count(dedup), 1);
    assert_int_equal(sstore_dedup_new_count(dedup), self->truth.count - before);
    bool publishes = rng_one_in(random, 2);
    if (publishes) {
        publish(self, dedup, &change);
        check_change(self, &change, before, &old);
        if (!options.check_ids || !self->has_ids)
            assert_true(change.conflict_count == 0 && change.min_conflicting_id == 0 && !change.ids_checked);
    }
    sstore_dedup_close(dedup);
    if (publishes)
        check_store(self, self->truth.count);
    assert_ok(sstore_verify(self->path, NULL, NULL, NULL, &error), &error);
    free(self->truth.records);
    data_free(&self->pool);
    scratch_remove(self->path);
}

static void test_random_offers(void **state)
{
    uint64_t cases = testing_number("SSTORE_TEST_CASES", testing_slow() ? SLOW_CASES : CASES);
    for (uint64_t i = 0; i < cases; i++) {
        taking self = {.capacity = 0};
        run_case(&self, i);
    }
    testing_done();
}

/* A store is locked while a dedup is open, and does not have unpublished records. */
static void test_claim(void **state)
{
    const char *path = scratch_path("claimed");
    const uint64_t fingerprints[2] = {1, UINT64_C(0xff00ff00ff)};
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    sstore_dedup *dedup, *second;
    sstore_error error = {.status = SSTORE_OK};
    data_set none = {.count = 0, .id_kind = DATA_ASSIGNED};
    assert_status(sstore_dedup_open(path, &options, &dedup, &error), SSTORE_ERROR_NOT_FOUND, &error);
    store_must_build(path, NULL, &none);
    options.recipe = "another";
    assert_status(sstore_dedup_open(path, &options, &dedup, &error), SSTORE_ERROR_RECIPE, &error);
    options.recipe = NULL;
    options.distance = 17;
    assert_status(sstore_dedup_open(path, &options, &dedup, &error), SSTORE_ERROR_ARGUMENT, &error);
    options.distance = SSTORE_OWN_DISTANCE;
    options.block_bytes = 1000;
    assert_status(sstore_dedup_open(path, &options, &dedup, &error), SSTORE_ERROR_ARGUMENT, &error);
    options.block_bytes = 0;
    options.memory_bytes = 1;
    assert_status(sstore_dedup_open(path, &options, &dedup, &error), SSTORE_ERROR_ARGUMENT, &error);
    options.memory_bytes = 0;
    options.plan = "8";
    assert_status(sstore_dedup_open(path, &options, &dedup, &error), SSTORE_ERROR_ARGUMENT, &error);
    options.plan = NULL;
    options.tmp_dir = scratch_path("nowhere");
    assert_status(sstore_dedup_open(path, &options, &dedup, &error), SSTORE_ERROR_NOT_FOUND, &error);
    options.tmp_dir = NULL;
    taking self = {.has_ids = true, .assigned = true, .distance = 3, .given = fingerprints};
    for (int round = 0; round < 2; round++) {
        assert_ok(sstore_dedup_open(path, &options, &dedup, &error), &error);
        assert_status(sstore_dedup_open(path, &options, &second, &error), SSTORE_ERROR_BUSY, &error);
        self.truth.count = 0;
        self.next_id = self.first_in_call = 0;
        assert_ok(sstore_dedup_insert(dedup, fingerprints, NULL, 2, NULL, check_answer, &self, &error), &error);
        if (round == 1)
            assert_ok(sstore_dedup_publish(dedup, NULL, &error), &error);
        sstore_dedup_close(dedup);
        snprintf(self.path, sizeof self.path, "%s", path);
        check_store(&self, round == 1 ? 2 : 0);
    }
    free(self.truth.records);
    scratch_remove(path);
    testing_done();
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_random_offers, testing_teardown),
        cmocka_unit_test_teardown(test_claim, testing_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

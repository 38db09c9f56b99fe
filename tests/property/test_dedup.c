/*
 * test_dedup.c - records with fingerprints of 64 to 1,024 bits are inserted if new, one by one and many at once, and
 * compared with a list of those that were inserted. A record must be new if and only if nothing in the list is near it;
 * otherwise all near records must be reported. A published store must have the records of the list. Words are skewed
 * and constant too, with and without ids, with several publications, compactions, and little memory.
 *
 * A failing case prints its seed; SSTORE_TEST_SEED=<seed> SSTORE_TEST_CASES=1 runs that case first and alone.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sstore_statistics.h"
#include "support/fingerprint_form.h"
#include "support/record_set.h"
#include "support/scratch.h"
#include "support/testing.h"
#include "support/use_store.h"

#define CASES 60u
#define SLOW_CASES 8u
#define MAX_CALL 600u

typedef struct taking {
    rng random;
    char path[512];
    fingerprint_form form;
    bool has_ids, assigned, checks_ids;
    uint32_t distance;
    record_set list; /* the records that were inserted, in their order */
    uint64_t next_id, given_count;
    size_t answered; /* in the current call */
    const uint64_t *given, *given_ids;
} taking;

/* ----- answers ----- */

static matches find_in_list(const taking *self, const uint64_t *row, uint32_t distance)
{
    matches found = {.words = self->form.words};
    record_set_query(&self->list, row, distance, 0, &found);
    matches_sort(&found);
    return found;
}

/* The id that a record gets if it is inserted now. */
static uint64_t take_id(taking *self, size_t index)
{
    if (!self->has_ids)
        return 0;
    const uint64_t id = self->assigned ? self->next_id : self->given_ids[index];
    if (id >= self->next_id)
        self->next_id = id + (id < UINT64_MAX);
    return id;
}

/* Compare an answer with the list, and extend the list. */
static int check_answer(void *context, const sstore_dedup_answer *answer)
{
    taking *self = context;
    const uint32_t words = self->form.words;
    const uint64_t *row = self->given + self->answered * words;
    matches wanted = find_in_list(self, row, self->distance), got = {.words = words};
    assert_int_equal(answer->index, self->answered++);
    assert_ptr_equal(answer->fingerprint, row);
    for (size_t i = 0; i < answer->listed_count; i++) {
        assert_int_equal(answer->listed[i].query_index, 0);
        matches_add(&got, &answer->listed[i]);
    }
    matches_assert_equal(&got, &wanted, "the answer"); /* in this order */
    assert_int_equal(answer->match_count, wanted.count);
    assert_int_equal(answer->is_new, wanted.count == 0);
    if (answer->is_new) {
        const uint64_t id = take_id(self, answer->index);
        assert_int_equal(answer->id, id);
        record_set_put(&self->list, row, id);
    }
    matches_free(&wanted);
    matches_free(&got);
    return 0;
}

/* Compare is_new_out with the list, and extend the list. */
static void check_is_new(taking *self, const bool *is_new, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const uint64_t *row = self->given + i * self->form.words;
        matches wanted = find_in_list(self, row, self->distance);
        assert_int_equal(is_new[i], wanted.count == 0);
        if (is_new[i])
            record_set_put(&self->list, row, take_id(self, i));
        matches_free(&wanted);
    }
}

static void offer_some(taking *self, sstore_dedup *dedup)
{
    rng *random = &self->random;
    const size_t count = rng_one_in(random, 3) ? 1 : (size_t)rng_below(random, MAX_CALL), words = self->form.words;
    uint64_t *rows = malloc((count + 1) * words * sizeof *rows), *ids = malloc((count + 1) * sizeof *ids);
    bool *is_new = malloc(count + 1);
    sstore_error error = {.status = SSTORE_OK};
    const bool calls = rng_one_in(random, 2), fills = !calls || rng_one_in(random, 2);
    const bool ids_are_read = self->has_ids && !self->assigned; /* in a store without ids none are */
    const size_t before = self->list.count;
    for (size_t i = 0; i < count; i++) {
        const bool like_old = rng_one_in(random, 2);
        fingerprint_make(random, &self->form, like_old ? self->list.fingerprints : rows,
                         like_old ? self->list.count : i, rows + i * words);
        ids[i] = rng_next(random) >> rng_below(random, 64);
    }
    self->given = rows;
    self->given_ids = ids;
    self->answered = 0;
    memset(is_new, 7, count + 1);
    assert_ok(sstore_dedup_insert(dedup, rows, ids_are_read || (!self->has_ids && rng_one_in(random, 2)) ? ids : NULL,
                                  count, fills ? is_new : NULL, calls ? check_answer : NULL, self, &error),
              &error);
    assert_int_equal(((const uint8_t *)is_new)[count], 7);
    if (calls)
        assert_int_equal(self->answered, count);
    else
        check_is_new(self, is_new, count);
    size_t new_count = 0;
    for (size_t i = 0; fills && i < count; i++)
        new_count += is_new[i];
    if (fills)
        assert_int_equal(new_count, self->list.count - before);
    self->given_count += count;
    free(rows);
    free(ids);
    free(is_new);
}

/* ----- stores ----- */

/* The store must have the records of the list, each once. */
static void check_store(const taking *self)
{
    sstore *store = store_must_open(self->path, SSTORE_IO_PREAD, SSTORE_STRATEGY_AUTO);
    record_set got = store_must_read(store), wanted = record_set_new(self->form.words);
    record_set_append(&wanted, &self->list, 0, self->list.count);
    record_set_sort(&wanted);
    record_set_unique(&wanted); /* the first records may repeat */
    record_set_assert_equal(&got, &wanted);
    sstore_close(store);
    record_set_free(&got);
    record_set_free(&wanted);
}

/* A store with some records, which may be near each other. */
static void build(taking *self)
{
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    sstore_builder *builder;
    sstore_error error = {.status = SSTORE_OK};
    for (uint64_t i = rng_below(&self->random, rng_one_in(&self->random, 2) ? 2 : 300); i > 0; i--) {
        uint64_t row[SSTORE_MAX_WORDS];
        fingerprint_make(&self->random, &self->form, self->list.fingerprints, self->list.count, row);
        matches equal = find_in_list(self, row, 0);
        if (equal.count == 0)
            record_set_put(&self->list, row, self->has_ids ? self->next_id++ : 0);
        matches_free(&equal);
    }
    options.fingerprint_bits = 64 * self->form.words;
    options.distance = self->form.distance;
    options.no_ids = !self->has_ids;
    options.force = true;
    options.block_bytes = 256u << rng_below(&self->random, 5);
    assert_ok(sstore_builder_create(self->path, &options, &builder, &error), &error);
    assert_ok(sstore_builder_add(builder, self->list.fingerprints, NULL, self->list.count, &error), &error);
    assert_ok(sstore_builder_finish(builder, NULL, &error), &error);
}

static sstore_statistics measure(const char *path)
{
    sstore_statistics statistics = {.struct_size = sizeof statistics};
    sstore_error error = {.status = SSTORE_OK};
    sstore *store;
    assert_ok(sstore_open(path, NULL, &store, &error), &error);
    assert_ok(sstore_stat(store, &statistics, &error), &error);
    sstore_close(store);
    return statistics;
}

/* A change is the sum of all publications since `count` records, also of automatic ones. */
static void publish(const taking *self, sstore_dedup *dedup, size_t count, const sstore_statistics *old)
{
    sstore_error error = {.status = SSTORE_OK};
    sstore_change change = SSTORE_CHANGE_INIT;
    assert_ok(sstore_dedup_publish(dedup, &change, &error), &error);
    assert_int_equal(dedup_state(dedup).pending_count, 0);
    const sstore_statistics now = measure(self->path);
    assert_int_equal(change.given_count, self->given_count);
    assert_int_equal(change.added_count, self->list.count - count);
    assert_int_equal(change.removed_count, 0);
    assert_int_equal(change.record_count, self->list.count);
    assert_int_equal(change.total_bytes, now.total_bytes);
    assert_int_equal(change.segment_count, now.segment_count);
    assert_int_equal(change.total_bytes_before, old->total_bytes);
    assert_int_equal(change.segment_count_before, old->segment_count);
    if (!self->checks_ids)
        assert_true(change.conflict_count == 0 && change.min_conflicting_id == 0 && !change.ids_checked);
    check_store(self);
}

static sstore_write_options choose_options(taking *self)
{
    rng *random = &self->random;
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    self->distance = self->form.distance;
    if (rng_one_in(random, 2))
        options.distance = self->distance = (uint32_t)rng_below(random,
                                                                SSTORE_MAX_BUILD_DISTANCE * self->form.words + 1);
    options.threads = (uint32_t)rng_between(random, 1, 3);
    options.publish_every = rng_one_in(random, 3)   ? rng_between(random, 1, 500)
                            : rng_one_in(random, 2) ? UINT64_MAX
                                                    : 0;
    options.memory_bytes = rng_one_in(random, 2) ? UINT64_C(1) << 20 : 0;
    options.no_compact = rng_one_in(random, 2);
    options.check_ids = rng_one_in(random, 2);
    self->checks_ids = options.check_ids && self->has_ids;
    return options;
}

/* Returns how many records were inserted. */
static size_t run_case(uint64_t seed)
{
    taking self = {.random = rng_seeded(seed)};
    sstore_error error = {.status = SSTORE_OK};
    sstore_dedup *dedup;
    self.form = form_any(&self.random, 2);
    if (rng_one_in(&self.random, 3)) /* larger distances take long to plan */
        self.form = form_of(&self.random, (data_kind)rng_below(&self.random, DATA_KIND_COUNT), 1,
                            (uint32_t)rng_below(&self.random, 6));
    self.has_ids = !rng_one_in(&self.random, 3);
    self.assigned = rng_one_in(&self.random, 2);
    snprintf(self.path, sizeof self.path, "%s", scratch_path("taking"));
    const sstore_write_options options = choose_options(&self);
    testing_doing("case of seed %" PRIu64 ": %s, %s ids, inserted at %u, every %" PRIu64 ", %" PRIu64 " bytes", seed,
                  form_text(&self.form), self.has_ids ? "with" : "without", self.distance, options.publish_every,
                  options.memory_bytes);
    self.list = record_set_new(self.form.words);
    build(&self);
    const size_t before = self.list.count;
    const sstore_statistics old = measure(self.path);
    assert_ok(sstore_dedup_open(self.path, &options, &dedup, &error), &error);
    assert_int_equal(dedup_state(dedup).fingerprint_bits, 64 * self.form.words);
    for (uint64_t i = rng_below(&self.random, 12); i > 0; i--) {
        offer_some(&self, dedup);
        if (rng_one_in(&self.random, 4))
            publish(&self, dedup, before, &old);
    }
    publish(&self, dedup, before, &old);
    const size_t inserted = self.list.count - before;
    assert_int_equal(dedup_state(dedup).new_count, inserted);
    sstore_dedup_close(dedup);
    assert_ok(sstore_verify(self.path, NULL, NULL, NULL, &error), &error);
    record_set_free(&self.list);
    scratch_remove(self.path);
    return inserted;
}

static void test_random_offers(void **state)
{
    const uint64_t cases = testing_number("SSTORE_TEST_CASES", testing_slow() ? SLOW_CASES : CASES);
    uint64_t inserted = 0;
    for (uint64_t i = 0; i < cases; i++)
        inserted += run_case(run_seed + i);
    testing_figure("%" PRIu64 " stores of 64 to 1,024 bits, into which %" PRIu64 " records were inserted as new", cases,
                   inserted);
    testing_done();
}

static void build_empty(const char *path, uint32_t bits)
{
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    sstore_builder *builder;
    sstore_error error = {.status = SSTORE_OK};
    options.fingerprint_bits = bits;
    assert_ok(sstore_builder_create(path, &options, &builder, &error), &error);
    assert_ok(sstore_builder_finish(builder, NULL, &error), &error);
}

/* The distance may be up to 16 a word. */
static void test_distances(void **state)
{
    const uint64_t rows[2][3] = {{1, 2, 3}, {1, 2, 0xffffffffffff}};
    char path[512];
    sstore_error error = {.status = SSTORE_OK};
    snprintf(path, sizeof path, "%s", scratch_path("distances"));
    build_empty(path, 192);
    for (uint32_t distance = 44; distance <= 49; distance++) {
        sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
        sstore_dedup *dedup;
        bool is_new[2];
        options.distance = distance;
        const sstore_status status = sstore_dedup_open(path, &options, &dedup, &error);
        assert_int_equal(status, distance <= 48 ? SSTORE_OK : SSTORE_ERROR_ARGUMENT);
        if (status == SSTORE_OK) {
            assert_ok(sstore_dedup_insert(dedup, rows[0], NULL, 2, is_new, NULL, NULL, &error), &error);
            assert_true(is_new[0]);
            assert_int_equal(is_new[1], distance < 46);
        }
        sstore_dedup_close(dedup);
    }
    scratch_remove(path);
}

/* A store is locked while a dedup is open, and does not have unpublished records. */
static void test_lock(void **state)
{
    const uint64_t fingerprints[2] = {1, UINT64_C(0xff00ff00ff)};
    taking self = {
        .form = {.words = 1, .distance = 3}, .has_ids = true, .assigned = true, .distance = 3, .given = fingerprints};
    sstore_dedup *dedup, *second;
    sstore_error error = {.status = SSTORE_OK};
    snprintf(self.path, sizeof self.path, "%s", scratch_path("locked"));
    assert_status(sstore_dedup_open(self.path, NULL, &dedup, &error), SSTORE_ERROR_NOT_FOUND, &error);
    build_empty(self.path, 64);
    for (int round = 0; round < 2; round++) {
        assert_ok(sstore_dedup_open(self.path, NULL, &dedup, &error), &error);
        assert_status(sstore_dedup_open(self.path, NULL, &second, &error), SSTORE_ERROR_BUSY, &error);
        self.list.count = self.next_id = self.answered = 0;
        assert_ok(sstore_dedup_insert(dedup, fingerprints, NULL, 2, NULL, check_answer, &self, &error), &error);
        assert_int_equal(self.answered, 2);
        if (round == 1)
            assert_ok(sstore_dedup_publish(dedup, NULL, &error), &error);
        sstore_dedup_close(dedup);
        self.list.count = round == 1 ? 2 : 0;
        check_store(&self);
    }
    record_set_free(&self.list);
    scratch_remove(self.path);
    testing_done();
}

static void check_refused(const char *path, const sstore_write_options *options, sstore_status status)
{
    sstore_dedup *dedup;
    sstore_error error = {.status = SSTORE_OK};
    assert_status(sstore_dedup_open(path, options, &dedup, &error), status, &error);
    assert_null(dedup);
}

static void test_arguments(void **state)
{
    const sstore_write_options usual = SSTORE_WRITE_OPTIONS_INIT;
    sstore_write_options options = usual;
    char path[512], nowhere[512];
    snprintf(path, sizeof path, "%s", scratch_path("refused"));
    snprintf(nowhere, sizeof nowhere, "%s", scratch_path("nowhere"));
    build_empty(path, 64);
    options.recipe = "another";
    check_refused(path, &options, SSTORE_ERROR_RECIPE);
    options = usual, options.distance = 17;
    check_refused(path, &options, SSTORE_ERROR_ARGUMENT);
    options = usual, options.block_bytes = 1000;
    check_refused(path, &options, SSTORE_ERROR_ARGUMENT);
    options = usual, options.memory_bytes = 1;
    check_refused(path, &options, SSTORE_ERROR_ARGUMENT);
    options = usual, options.plan = "8";
    check_refused(path, &options, SSTORE_ERROR_ARGUMENT);
    options = usual, options.tmp_dir = nowhere;
    check_refused(path, &options, SSTORE_ERROR_NOT_FOUND);
    scratch_remove(path);
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_random_offers, testing_teardown),
        cmocka_unit_test_teardown(test_distances, testing_teardown),
        cmocka_unit_test_teardown(test_lock, testing_teardown),
        cmocka_unit_test_teardown(test_arguments, testing_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

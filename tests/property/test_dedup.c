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

#define CASES 60u
#define SLOW_CASES 8u
#define MAX_CALL 600u

typedef struct taking {
    rng random;
    char path[512];
    fingerprint_form form;
    bool has_ids, assigned, checks_ids;
    uint32_t distance;
    size_t count, capacity; /* of the records that were inserted, in their order */
    uint64_t *rows, *ids;
    uint64_t next_id, given_count;
    size_t answered; /* in the current call */
    const uint64_t *given, *given_ids;
} taking;

static void list_add(taking *self, const uint64_t *row, uint64_t id)
{
    if (self->count == self->capacity) {
        self->capacity = 2 * self->capacity + 100;
        self->rows = realloc(self->rows, self->capacity * self->form.words * sizeof *self->rows);
        self->ids = realloc(self->ids, self->capacity * sizeof *self->ids);
        assert_true(self->rows != NULL && self->ids != NULL);
    }
    memcpy(self->rows + self->count * self->form.words, row, self->form.words * sizeof *row);
    self->ids[self->count++] = id;
}

/* ----- answers ----- */

static matches find_in_list(const taking *self, const uint64_t *row)
{
    const uint64_t none = 0;
    matches found = {.words = self->form.words};
    for (size_t i = 0; i < self->count; i++) {
        const uint64_t *other = self->rows + i * self->form.words;
        const uint32_t bits = fingerprint_distance(row, other, self->form.words);
        if (bits <= self->distance)
            matches_put(&found, &none, bits, other, self->ids[i]);
    }
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
    matches wanted = find_in_list(self, row), got = {.words = words};
    assert_int_equal(answer->index, self->answered++);
    assert_ptr_equal(answer->fingerprint, row);
    for (size_t i = 0; i < answer->match_count; i++) {
        assert_int_equal(answer->matches[i].query_index, 0);
        matches_add(&got, &answer->matches[i]);
    }
    matches_assert_equal(&got, &wanted, "the answer"); /* in this order */
    assert_int_equal(answer->is_new, wanted.count == 0);
    if (answer->is_new) {
        const uint64_t id = take_id(self, answer->index);
        assert_int_equal(answer->id, id);
        list_add(self, row, id);
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
        matches wanted = find_in_list(self, row);
        assert_int_equal(is_new[i], wanted.count == 0);
        if (is_new[i])
            list_add(self, row, take_id(self, i));
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
    const size_t before = self->count;
    for (size_t i = 0; i < count; i++) {
        const bool like_old = rng_one_in(random, 2);
        fingerprint_make(random, &self->form, like_old ? self->rows : rows, like_old ? self->count : i,
                         rows + i * words);
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
        assert_int_equal(new_count, self->count - before);
    self->given_count += count;
    free(rows);
    free(ids);
    free(is_new);
}

/* ----- stores ----- */

/* The store must have the records of the list, each once. */
static void check_store(const taking *self)
{
    enum { PAGE = 37 };
    const uint64_t none = 0;
    sstore_iterator *iterator;
    sstore_error error = {.status = SSTORE_OK};
    sstore *store;
    uint64_t fingerprints[PAGE * SSTORE_MAX_WORDS], ids[PAGE];
    const sstore_columns to = {.struct_size = sizeof to, .fingerprint = fingerprints, .id = ids};
    matches got = {.words = self->form.words}, wanted = got;
    assert_ok(sstore_open(self->path, NULL, &store, &error), &error);
    assert_ok(sstore_iterate_records(store, &iterator, &error), &error);
    for (size_t count = 1; count > 0;) {
        assert_ok(sstore_iterator_next(iterator, &to, PAGE, &count, &error), &error);
        for (size_t i = 0; i < count; i++)
            matches_put(&got, &none, 0, fingerprints + i * self->form.words, ids[i]);
    }
    for (size_t i = 0; i < self->count; i++)
        matches_put(&wanted, &none, 0, self->rows + i * self->form.words, self->ids[i]);
    matches_sort(&wanted);
    matches_unique(&wanted); /* the first records may repeat */
    matches_assert_equal(&got, &wanted, "the store");
    sstore_iterator_free(iterator);
    sstore_close(store);
    matches_free(&got);
    matches_free(&wanted);
}

/* A store with some records, which may be near each other. */
static void build(taking *self)
{
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    sstore_builder *builder;
    sstore_error error = {.status = SSTORE_OK};
    const size_t count = (size_t)rng_below(&self->random, rng_one_in(&self->random, 2) ? 2 : 300);
    uint64_t *rows = fingerprint_make_many(&self->random, &self->form, count);
    for (size_t i = 0; i < count; i++) {
        bool repeats = false;
        for (size_t j = 0; j < self->count; j++)
            repeats |= fingerprint_distance(rows + i * self->form.words, self->rows + j * self->form.words,
                                            self->form.words) == 0;
        if (!repeats)
            list_add(self, rows + i * self->form.words, self->has_ids ? self->next_id++ : 0);
    }
    options.fingerprint_bits = 64 * self->form.words;
    options.distance = self->form.distance;
    options.without_ids = !self->has_ids;
    options.replace = true;
    options.block_bytes = 256u << rng_below(&self->random, 5);
    assert_ok(sstore_builder_create(self->path, &options, &builder, &error), &error);
    assert_ok(sstore_builder_add(builder, self->rows, NULL, self->count, &error), &error);
    assert_ok(sstore_builder_finish(builder, NULL, &error), &error);
    free(rows);
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
    assert_int_equal(change.added_count, self->count - count);
    assert_int_equal(change.removed_count, 0);
    assert_int_equal(change.record_count, self->count);
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
        self.form = form_of((word_kind)rng_below(&self.random, WORD_KIND_COUNT), 1,
                            (uint32_t)rng_below(&self.random, 6));
    self.has_ids = !rng_one_in(&self.random, 3);
    self.assigned = rng_one_in(&self.random, 2);
    snprintf(self.path, sizeof self.path, "%s", scratch_path("taking"));
    const sstore_write_options options = choose_options(&self);
    testing_doing("case of seed %" PRIu64 ": %s, %s ids, inserted at %u, every %" PRIu64 ", %" PRIu64 " bytes", seed,
                  form_text(&self.form), self.has_ids ? "with" : "without", self.distance, options.publish_every,
                  options.memory_bytes);
    build(&self);
    const size_t before = self.count;
    const sstore_statistics old = measure(self.path);
    assert_ok(sstore_dedup_open(self.path, &options, &dedup, &error), &error);
    assert_int_equal(dedup_state(dedup).fingerprint_bits, 64 * self.form.words);
    for (uint64_t i = rng_below(&self.random, 12); i > 0; i--) {
        offer_some(&self, dedup);
        if (rng_one_in(&self.random, 4))
            publish(&self, dedup, before, &old);
    }
    publish(&self, dedup, before, &old);
    assert_int_equal(dedup_state(dedup).new_count, self.count - before);
    sstore_dedup_close(dedup);
    assert_ok(sstore_verify(self.path, NULL, NULL, NULL, &error), &error);
    free(self.rows);
    free(self.ids);
    scratch_remove(self.path);
    return self.count - before;
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
        .form = form_of(WORD_UNIFORM, 1, 3), .has_ids = true, .assigned = true, .distance = 3, .given = fingerprints};
    sstore_dedup *dedup, *second;
    sstore_error error = {.status = SSTORE_OK};
    snprintf(self.path, sizeof self.path, "%s", scratch_path("locked"));
    assert_status(sstore_dedup_open(self.path, NULL, &dedup, &error), SSTORE_ERROR_NOT_FOUND, &error);
    build_empty(self.path, 64);
    for (int round = 0; round < 2; round++) {
        assert_ok(sstore_dedup_open(self.path, NULL, &dedup, &error), &error);
        assert_status(sstore_dedup_open(self.path, NULL, &second, &error), SSTORE_ERROR_BUSY, &error);
        self.count = self.next_id = self.answered = 0;
        assert_ok(sstore_dedup_insert(dedup, fingerprints, NULL, 2, NULL, check_answer, &self, &error), &error);
        assert_int_equal(self.answered, 2);
        if (round == 1)
            assert_ok(sstore_dedup_publish(dedup, NULL, &error), &error);
        sstore_dedup_close(dedup);
        self.count = round == 1 ? 2 : 0;
        check_store(&self);
    }
    free(self.rows);
    free(self.ids);
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

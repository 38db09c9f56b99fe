/*
 * test_dedup_named.c - records with names are inserted if new, with given ids or without, and compared with a list of
 * those that were inserted: which are new, which ids they get, and the names of their matches, also of those that wait.
 * Several records have a name. Between, records are removed, and the store is opened again.
 *
 * A failing case prints its seed; SSTORE_TEST_SEED=<seed> SSTORE_TEST_CASES=1 runs that case first and alone.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sstore_statistics.h"
#include "support/name_of_id.h"
#include "support/random.h"
#include "support/scratch.h"
#include "support/testing.h"
#include "support/use_store.h"

#define CASES 30u
#define SLOW_CASES 6u
#define MAX_CALL 200u
#define MAX_RECORDS 4096u
#define MAX_POOL 400u
#define MAX_WORDS 4u
#define DISTANCE 3u

/* A record that was inserted. */
typedef struct listed {
    uint64_t fingerprint[MAX_WORDS], id;
    sstore_name name;
    bool is_removed;
} listed;

typedef struct inserting {
    rng random;
    char path[512];
    uint32_t words;
    size_t count;
    listed *list;
    uint64_t next_id;
    sstore_name *pool; /* of names, some of which are equal */
    size_t pool_size;
    sstore_dedup *dedup;
    uint64_t rows[MAX_CALL * MAX_WORDS], ids[MAX_CALL]; /* of the current call */
    sstore_name names[MAX_CALL];
    bool has_ids;
    size_t answered;
} inserting;

/* What all cases had. */
static uint64_t inserted_count, kept_id_count, refused_count;

/* ----- the list ----- */

static bool same_name(const sstore_name *a, const sstore_name *b)
{
    return a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0;
}

static size_t count_near(const inserting *self, const uint64_t *row)
{
    size_t near = 0;
    for (size_t i = 0; i < self->count; i++)
        near += !self->list[i].is_removed &&
                sstore_hamming_distance(self->list[i].fingerprint, row, 64 * self->words) <= DISTANCE;
    return near;
}

/* The name of an id, also of a removed one; NULL if it has none. */
static const sstore_name *name_of(const inserting *self, uint64_t id)
{
    for (size_t i = 0; i < self->count; i++)
        if (self->list[i].id == id)
            return &self->list[i].name;
    return NULL;
}

static uint64_t expected_id(const inserting *self, const sstore_name *name)
{
    uint64_t id = UINT64_MAX;
    for (size_t i = 0; i < self->count; i++)
        if (!self->list[i].is_removed && same_name(&self->list[i].name, name) && self->list[i].id < id)
            id = self->list[i].id;
    return id < UINT64_MAX ? id : self->next_id;
}

static void put(inserting *self, const uint64_t *row, uint64_t id, const sstore_name *name)
{
    listed *record = &self->list[self->count++];
    assert_true(self->count <= MAX_RECORDS);
    *record = (listed){.id = id, .name = *name};
    memcpy(record->fingerprint, row, self->words * sizeof *row);
    if (id >= self->next_id)
        self->next_id = id + 1;
}

/* ----- answers ----- */

static int check_name(void *context, size_t index, uint64_t id, const sstore_name *name)
{
    size_t *found = context;
    assert_int_equal(index, found[1]); /* each id has a name */
    found[1]++;
    const sstore_name *wanted = name_of((const inserting *)found[0], id);
    assert_non_null(wanted);
    assert_true(same_name(wanted, name));
    return 0;
}

/* The names of ids, which all have one. */
static void check_names(inserting *self, const uint64_t *ids, size_t count)
{
    size_t found[2] = {(size_t)self, 0};
    sstore_error error = {.status = SSTORE_OK};
    assert_ok(sstore_dedup_names(self->dedup, ids, count, check_name, found, &error), &error);
    assert_int_equal(found[1], count);
}

static int check_answer(void *context, const sstore_dedup_answer *answer)
{
    inserting *self = context;
    const size_t i = self->answered++;
    const uint64_t *row = self->rows + i * self->words;
    uint64_t ids[MAX_CALL];
    assert_int_equal(answer->index, i);
    assert_int_equal(answer->match_count, count_near(self, row));
    assert_int_equal(answer->is_new, answer->match_count == 0);
    if (answer->is_new) {
        kept_id_count += !self->has_ids && answer->id < self->next_id;
        assert_int_equal(answer->id, self->has_ids ? self->ids[i] : expected_id(self, &self->names[i]));
        put(self, row, answer->id, &self->names[i]);
        check_names(self, &answer->id, 1);
    }
    size_t shown = 0;
    for (; shown < answer->listed_count && shown < MAX_CALL; shown++)
        ids[shown] = answer->listed[shown].id;
    check_names(self, ids, shown);
    return 0;
}

/* Whether the next record has an id that has another name, so that the call must fail there. */
static bool next_is_refused(const inserting *self)
{
    const size_t i = self->answered;
    const sstore_name *other = name_of(self, self->ids[i]);
    return self->has_ids && other != NULL && !same_name(other, &self->names[i]) &&
           count_near(self, self->rows + i * self->words) == 0;
}

/* ----- steps ----- */

static void make_record(inserting *self, size_t i)
{
    rng *random = &self->random;
    uint64_t *row = self->rows + i * self->words;
    for (uint32_t w = 0; w < self->words; w++)
        row[w] = rng_next(random);
    if (self->count > 0 && rng_one_in(random, 3)) {
        memcpy(row, self->list[rng_below(random, self->count)].fingerprint, self->words * sizeof *row);
        for (uint64_t flips = rng_below(random, 6); flips > 0; flips--)
            row[rng_below(random, self->words)] ^= UINT64_C(1) << rng_below(random, 64);
    }
    self->names[i] = self->pool[rng_below(random, self->pool_size)];
    self->ids[i] = rng_one_in(random, 3) ? rng_next(random) >> rng_between(random, 2, 60) : self->next_id + i;
    if (self->count == 0 || rng_one_in(random, 2))
        return;
    const listed *old = &self->list[rng_below(random, self->count)];
    self->ids[i] = old->id;
    self->names[i] = rng_one_in(random, 400) ? self->names[i] : old->name;
}

static void insert_some(inserting *self)
{
    rng *random = &self->random;
    const size_t count = rng_one_in(random, 3) ? 1 : rng_below(random, MAX_CALL);
    bool is_new[MAX_CALL];
    sstore_error error = {.status = SSTORE_OK};
    self->has_ids = rng_one_in(random, 2);
    self->answered = 0;
    for (size_t i = 0; i < count; i++)
        make_record(self, i);
    const sstore_status status = sstore_dedup_insert_named(self->dedup, self->rows, self->has_ids ? self->ids : NULL,
                                                           self->names, count, is_new, check_answer, self, &error);
    if (self->answered < count && next_is_refused(self)) {
        assert_int_equal(status, SSTORE_ERROR_ARGUMENT);
        assert_non_null(strstr(error.message, "has two names"));
        refused_count++;
        return;
    }
    assert_ok(status, &error);
    assert_int_equal(self->answered, count);
}

/* Remove some records. */
static void remove_some(inserting *self)
{
    sstore_error error = {.status = SSTORE_OK};
    for (size_t i = 0; i < self->count; i++) {
        listed *record = &self->list[i];
        if (record->is_removed || !rng_one_in(&self->random, 8))
            continue;
        assert_ok(store_remove(self->path, NULL, record->fingerprint, &record->id, 1, NULL, &error), &error);
        record->is_removed = true;
    }
}

static void open_dedup(inserting *self)
{
    rng *random = &self->random;
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    sstore_error error = {.status = SSTORE_OK};
    options.publish_every = rng_one_in(random, 3)   ? rng_between(random, 1, 100)
                            : rng_one_in(random, 2) ? UINT64_MAX
                                                    : 0;
    options.memory_bytes = rng_one_in(random, 2) ? UINT64_C(1) << 20 : 0;
    options.no_compact = rng_one_in(random, 3);
    options.check_ids = rng_one_in(random, 2);
    options.threads = (uint32_t)rng_between(random, 1, 3);
    assert_ok(sstore_dedup_open(self->path, &options, &self->dedup, &error), &error);
}

static int check_found(void *context, const sstore_match *record)
{
    size_t *found = context;
    *found += name_of((const inserting *)found[1], record->id) != NULL;
    return 0;
}

/* The store must have the records of the list, by their names. */
static void check_store(const inserting *self)
{
    sstore_error error = {.status = SSTORE_OK};
    sstore *store = store_must_open(self->path, SSTORE_IO_PREAD, SSTORE_STRATEGY_AUTO);
    sstore_cursor *cursor = store_must_cursor(store);
    uint64_t live = 0;
    for (size_t i = 0; i < self->count; i++)
        live += !self->list[i].is_removed;
    for (size_t n = 0; n < self->pool_size; n++) {
        size_t found[2] = {0, (size_t)self}, wanted = 0;
        for (size_t i = 0; i < self->count; i++)
            wanted += !self->list[i].is_removed && same_name(&self->list[i].name, &self->pool[n]);
        assert_ok(sstore_get_named(cursor, &self->pool[n], 1, check_found, found, &error), &error);
        assert_int_equal(found[0], wanted);
    }
    sstore_cursor_free(cursor);
    sstore_statistics statistics = SSTORE_STATISTICS_INIT;
    assert_ok(sstore_stat(store, &statistics, &error), &error);
    assert_int_equal(statistics.record_count, live);
    sstore_close(store);
    assert_ok(sstore_verify(self->path, NULL, NULL, NULL, &error), &error);
}

static void build_empty(const inserting *self)
{
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    sstore_builder *builder;
    sstore_error error = {.status = SSTORE_OK};
    options.fingerprint_bits = 64 * self->words;
    options.distance = DISTANCE;
    options.names = true;
    options.block_bytes = 256;
    assert_ok(sstore_builder_create(self->path, &options, &builder, &error), &error);
    assert_ok(sstore_builder_finish(builder, NULL, &error), &error);
}

/* One opening of the store. Records that were not published are lost. */
static void run_session(inserting *self)
{
    sstore_error error = {.status = SSTORE_OK};
    sstore_change change = SSTORE_CHANGE_INIT;
    open_dedup(self);
    for (uint64_t i = rng_below(&self->random, 6); i > 0; i--) {
        insert_some(self);
        if (rng_one_in(&self->random, 4))
            assert_ok(sstore_dedup_publish(self->dedup, NULL, &error), &error);
    }
    assert_ok(sstore_dedup_publish(self->dedup, &change, &error), &error);
    sstore_dedup_close(self->dedup);
    self->dedup = NULL;
    check_store(self);
}

static void run_case(uint64_t seed)
{
    inserting *self = calloc(1, sizeof *self);
    self->random = rng_seeded(seed);
    self->words = rng_one_in(&self->random, 4) ? MAX_WORDS : 1;
    self->pool_size = rng_between(&self->random, 1, MAX_POOL);
    const id_name_kind kind = (id_name_kind)rng_below(&self->random, ID_NAME_KINDS);
    uint64_t numbers[MAX_POOL];
    for (size_t i = 0; i < self->pool_size; i++)
        numbers[i] = i;
    self->pool = id_names(kind, seed, numbers, self->pool_size);
    self->list = malloc(MAX_RECORDS * sizeof *self->list);
    snprintf(self->path, sizeof self->path, "%s", scratch_path("named"));
    testing_doing("case of seed %" PRIu64 ": %" PRIu32 " words, %zu names of kind %d", seed, self->words,
                  self->pool_size, (int)kind);
    build_empty(self);
    for (uint64_t i = rng_between(&self->random, 1, 3); i > 0; i--) {
        run_session(self);
        if (rng_one_in(&self->random, 2))
            remove_some(self);
    }
    inserted_count += self->count;
    scratch_remove(self->path);
    free(self->pool);
    free(self->list);
    free(self);
}

static void test_random_insertions(void **state)
{
    const uint64_t cases = testing_number("SSTORE_TEST_CASES", testing_slow() ? SLOW_CASES : CASES);
    for (uint64_t i = 0; i < cases; i++)
        run_case(run_seed + i);
    testing_figure("%" PRIu64 " stores, into which %" PRIu64
                   " records with names were inserted as new, of which %" PRIu64 " kept the id of their name; %" PRIu64
                   " calls were refused",
                   cases, inserted_count, kept_id_count, refused_count);
    if (cases >= CASES)
        assert_true(kept_id_count > 0 && refused_count > 0);
    testing_done();
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_random_insertions, testing_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * test_walk.c - the loop by which the command goes through matches, pairs and clusters. If the iterator fails, the
 * results before the failure, also those of the failing call, must have come, in order, and then the error. If the
 * receiver stops, nothing more must come.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "output/walk.h"
#include "support/record_pairs.h"
#include "support/scratch.h"
#include "support/testing.h"

#define RECORDS 400u
#define QUERIES 200u

/* ----- an iterator that fails ----- */

static size_t allowed; /* results until it fails */

sstore_status __real_sstore_iterator_next(sstore_iterator *iterator, const sstore_columns *columns, size_t capacity,
                                          size_t *count_out, sstore_error *error);
sstore_status __wrap_sstore_iterator_next(sstore_iterator *iterator, const sstore_columns *columns, size_t capacity,
                                          size_t *count_out, sstore_error *error);

sstore_status __wrap_sstore_iterator_next(sstore_iterator *iterator, const sstore_columns *columns, size_t capacity,
                                          size_t *count_out, sstore_error *error)
{
    const size_t count = allowed < capacity ? allowed : capacity;
    *count_out = 0;
    if (count > 0)
        assert_ok(__real_sstore_iterator_next(iterator, columns, count, count_out, error), error);
    allowed -= *count_out;
    if (count == capacity)
        return SSTORE_OK;
    *error = (sstore_error){.status = SSTORE_ERROR_IO};
    return SSTORE_ERROR_IO;
}

/* ----- right results ----- */

typedef enum result_kind { MATCHES, PAIRS, CLUSTERS, RESULT_KINDS } result_kind;

typedef struct subject {
    fingerprint_form form;
    record_set truth;
    sstore *store;
    matches matches;
    record_pairs pairs;
    record_clusters clusters;
} subject;

static void open_store(subject *self, const record_set *records)
{
    const char *path = scratch_path("walked.store");
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    sstore_builder *builder;
    sstore_error error;
    options.fingerprint_bits = 64 * self->form.words;
    options.distance = self->form.distance;
    options.force = true;
    assert_ok(sstore_builder_create(path, &options, &builder, &error), &error);
    assert_ok(sstore_builder_add(builder, records->fingerprints, records->ids, records->count, &error), &error);
    assert_ok(sstore_builder_finish(builder, NULL, &error), &error);
    assert_ok(sstore_open(path, NULL, &self->store, &error), &error);
}

static subject new_subject(uint64_t seed, uint32_t words)
{
    rng random = rng_seeded(seed);
    subject made = {.form = {.words = words, .distance = 5}, .matches = {.words = words}};
    made.truth = record_set_make(&random, &made.form, RECORDS);
    open_store(&made, &made.truth);
    record_set_sort(&made.truth);
    record_set_unique(&made.truth);
    for (size_t i = 0; i < QUERIES; i++)
        record_set_query(&made.truth, record_set_at(&made.truth, i), made.form.distance, i, &made.matches);
    made.pairs = record_set_pairs(&made.truth, &made.truth, made.form.distance, SIZE_MAX - 1);
    made.clusters = record_set_clusters(&made.truth, made.form.distance, true);
    return made;
}

static void free_subject(subject *self)
{
    sstore_close(self->store);
    record_set_free(&self->truth);
    matches_free(&self->matches);
    free(self->pairs.items);
    free(self->clusters.items);
}

/* ----- walks ----- */

/* Gets the results, and stops at one of them. */
typedef struct receiver {
    const subject *wanted;
    size_t seen, stop_at;
} receiver;

static void assert_same_fingerprint(const receiver *self, const uint64_t *got, const uint64_t *wanted)
{
    assert_memory_equal(got, wanted, self->wanted->form.words * sizeof *got);
}

static int take_match(void *context, const sstore_match *match)
{
    receiver *self = context;
    const sstore_match wanted = matches_get(&self->wanted->matches, self->seen);
    assert_same_fingerprint(self, match->fingerprint, wanted.fingerprint);
    assert_true(match->query_index == wanted.query_index && match->id == wanted.id &&
                match->distance == wanted.distance);
    return ++self->seen == self->stop_at;
}

static int take_pair(void *context, const sstore_pair *pair)
{
    receiver *self = context;
    assert_same_pair(pair, &self->wanted->pairs.items[self->seen], self->wanted->form.words, self->seen);
    return ++self->seen == self->stop_at;
}

static int take_cluster_record(void *context, const cluster_record *record)
{
    receiver *self = context;
    const cluster_record *wanted = &self->wanted->clusters.items[self->seen];
    assert_same_fingerprint(self, record->fingerprint, wanted->fingerprint);
    assert_true(record->cluster == wanted->cluster && record->cluster_size == wanted->cluster_size &&
                record->id == wanted->id && record->distance == wanted->distance &&
                record->is_representative == wanted->is_representative);
    return ++self->seen == self->stop_at;
}

static size_t count_results(const subject *self, result_kind kind)
{
    return kind == MATCHES ? self->matches.count : kind == PAIRS ? self->pairs.count : self->clusters.count;
}

static sstore_status walk(const subject *self, result_kind kind, receiver *to, sstore_error *error)
{
    sstore_cluster_options options = SSTORE_CLUSTER_OPTIONS_INIT;
    options.with_singles = true;
    switch (kind) {
    case MATCHES:
        return walk_matches(self->store, self->truth.fingerprints, QUERIES, self->form.distance, NULL, take_match, to,
                            error);
    case PAIRS: return walk_pairs(self->store, NULL, NULL, take_pair, to, error);
    default: return walk_clusters(self->store, &options, take_cluster_record, to, error);
    }
}

/* Walk until the iterator fails after so many results, or the receiver stops at the one of this number. */
static void check(const subject *self, result_kind kind, size_t until_failure, size_t stop_at)
{
    const size_t total = count_results(self, kind);
    const bool stops = stop_at > 0, fails = until_failure < total;
    const size_t wanted = stops ? stop_at : fails ? until_failure : total;
    receiver to = {.wanted = self, .stop_at = stop_at};
    sstore_error error = {.status = SSTORE_OK};
    testing_doing("%u words, kind %d, failure after %zu, stop at %zu of %zu", self->form.words, (int)kind,
                  until_failure, stop_at, total);
    allowed = until_failure;
    assert_int_equal(walk(self, kind, &to, &error), stops ? SSTORE_STOPPED : fails ? SSTORE_ERROR_IO : SSTORE_OK);
    assert_true(stops || error.status == (fails ? SSTORE_ERROR_IO : SSTORE_OK));
    assert_int_equal(to.seen, wanted);
}

static void test_failures_and_stops(void **state)
{
    (void)state;
    for (uint32_t words = 1; words <= 4; words += 3) {
        subject self = new_subject(run_seed + words, words);
        for (result_kind kind = 0; kind < RESULT_KINDS; kind++) {
            const size_t total = count_results(&self, kind), places[] = {1, 2, 63, 64, 65, 128, total - 1};
            assert_in_range(total, 130, SIZE_MAX);
            check(&self, kind, SIZE_MAX, 0);
            check(&self, kind, 0, 0);
            check(&self, kind, SIZE_MAX, total);
            for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
                check(&self, kind, places[i], 0);
                check(&self, kind, SIZE_MAX, places[i]);
                check(&self, kind, places[i] + 1, places[i]);
            }
        }
        free_subject(&self);
    }
    testing_done();
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_failures_and_stops, testing_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

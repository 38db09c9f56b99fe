/*
 * test_skewed_data.c - fingerprints that share most of their bits, so that one prefix of a table leads to all of them.
 * Answers must be right, an exact query must read one block, and the estimate of reads, and so the choice of a full
 * scan, must follow the data.
 */
#include <inttypes.h>
#include <stdio.h>

#include "sstore_statistics.h"
#include "support/random.h"
#include "support/record_set.h"
#include "support/scratch.h"
#include "support/testing.h"
#include "support/use_store.h"

#define RECORDS 30000u
#define QUERIES 60u
#define SHARED_BITS 40u

typedef struct subject {
    char path[256];
    data_set set;
    record_set truth;
} subject;

static void make_subject(rng *random, subject *self)
{
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    const uint64_t shared = rng_next(random) << (64 - SHARED_BITS);
    data_make(random, DATA_UNIFORM, DATA_ASSIGNED, RECORDS, true, &self->set);
    for (size_t i = 0; i < self->set.count; i++)
        self->set.fingerprints[i] = shared | self->set.fingerprints[i] >> SHARED_BITS;
    self->truth = record_set_of_data(&self->set);
    snprintf(self->path, sizeof self->path, "%s", scratch_path("skewed"));
    options.plan = "4";
    options.block_bytes = 1024;
    store_must_build(self->path, &options, &self->set);
}

static void free_subject(subject *self)
{
    scratch_remove(self->path);
    record_set_free(&self->truth);
    data_free(&self->set);
}

static void test_answers(void **state)
{
    rng random = rng_seeded(run_seed);
    subject self;
    make_subject(&random, &self);
    for (int strategy = SSTORE_STRATEGY_AUTO; strategy <= SSTORE_STRATEGY_FULL_SCAN; strategy++) {
        sstore *store = store_must_open(self.path, (sstore_io)rng_below(&random, 4), (sstore_strategy)strategy);
        sstore_cursor *cursor = store_must_cursor(store);
        sstore_error error;
        for (uint32_t i = 0; i < QUERIES; i++) {
            const uint32_t distance = i % 5;
            const uint64_t query = data_query(&random, &self.set, distance);
            matches got = {0}, wanted = {0}, together = {0};
            testing_doing("strategy %d, %016" PRIx64 " at %u, seed %" PRIu64, strategy, query, distance, run_seed);
            record_set_query(&self.truth, &query, distance, 0, &wanted);
            assert_ok(store_query_sorted(cursor, query, distance, &got, &error), &error);
            assert_true(matches_equal(&got, &wanted));
            const uint64_t twice[2] = {query, query};
            assert_ok(store_batch(store, twice, 2, distance, 1, &together, &error), &error);
            assert_int_equal(together.count, 2 * wanted.count);
            matches_free(&got);
            matches_free(&wanted);
            matches_free(&together);
        }
        sstore_cursor_free(cursor);
        sstore_close(store);
    }
    free_subject(&self);
    testing_done();
}

/* The expected and the actual work of tables. */
typedef struct effort {
    double expected_blocks, blocks, candidates;
    bool is_full_scan;
} effort;

static int add_effort(void *context, const sstore_table_explanation *explanation)
{
    effort *sum = context;
    sum->expected_blocks += explanation->expected_block_count;
    sum->blocks += (double)explanation->block_count;
    sum->candidates += (double)explanation->candidate_count;
    sum->is_full_scan |= explanation->is_full_scan != 0;
    return 0;
}

static effort explain(sstore_cursor *cursor, uint64_t query, uint32_t distance)
{
    effort sum = {0};
    sstore_error error;
    assert_ok(sstore_explain(cursor, &query, distance, add_effort, &sum, &error), &error);
    return sum;
}

static void test_effort(void **state)
{
    rng random = rng_seeded(run_seed + 1);
    subject self;
    make_subject(&random, &self);
    sstore *store = store_must_open(self.path, SSTORE_IO_PREAD, SSTORE_STRATEGY_AUTO);
    sstore *probing = store_must_open(self.path, SSTORE_IO_PREAD, SSTORE_STRATEGY_PROBE);
    sstore_cursor *cursor = store_must_cursor(store), *prober = store_must_cursor(probing);
    for (uint32_t i = 0; i < 20; i++) {
        const uint64_t query = self.set.fingerprints[rng_below(&random, self.set.count)];
        testing_doing("%016" PRIx64 ", seed %" PRIu64, query, run_seed + 1);
        const effort exact = explain(cursor, query, 0), near = explain(cursor, query, 3),
                     forced = explain(prober, query, 3);
        assert_false(exact.is_full_scan);
        assert_true(exact.blocks == 1 && exact.candidates == 1);
        assert_true(near.is_full_scan); /* two tables' prefixes lead to all fingerprints */
        assert_false(forced.is_full_scan);
        assert_true(forced.blocks > near.blocks);
        assert_true(forced.expected_blocks < 2 * forced.blocks && forced.expected_blocks > forced.blocks / 2);
    }
    sstore_cursor_free(cursor);
    sstore_cursor_free(prober);
    sstore_close(store);
    sstore_close(probing);
    free_subject(&self);
    testing_done();
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_answers, testing_teardown),
        cmocka_unit_test_teardown(test_effort, testing_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

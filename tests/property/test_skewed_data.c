/*
 * test_skewed_data.c - fingerprints that share most of their bits, so that one prefix of a table leads to all of them.
 * An exact query must read one block, and the estimate of reads, and so the choice of a full scan, must follow the
 * data. (property.query_property checks the answers.)
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
#define SHARED_BITS 40u

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

static void build(rng *random, const char *path, data_set *set_out)
{
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    const uint64_t shared = rng_next(random) << (64 - SHARED_BITS);
    data_make(random, DATA_UNIFORM, DATA_ASSIGNED, RECORDS, true, set_out);
    for (size_t i = 0; i < RECORDS; i++)
        set_out->fingerprints[i] = shared | set_out->fingerprints[i] >> SHARED_BITS;
    options.plan = "4";
    options.block_bytes = 1024;
    store_must_build(path, &options, set_out);
}

static void test_effort(void **state)
{
    rng random = rng_seeded(run_seed);
    const char *path = scratch_path("skewed");
    data_set set;
    build(&random, path, &set);
    sstore *store = store_must_open(path, SSTORE_IO_PREAD, SSTORE_STRATEGY_AUTO);
    sstore *probing = store_must_open(path, SSTORE_IO_PREAD, SSTORE_STRATEGY_PROBE);
    sstore_cursor *cursor = store_must_cursor(store), *prober = store_must_cursor(probing);
    for (uint32_t i = 0; i < 20; i++) {
        const uint64_t query = set.fingerprints[rng_below(&random, set.count)];
        testing_doing("%016" PRIx64 ", seed %" PRIu64, query, run_seed);
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
    scratch_remove(path);
    data_free(&set);
    testing_done();
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_effort, testing_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

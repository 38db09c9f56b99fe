/*
 * test_allocation.c - the system refuses memory or a thread: each request in turn, once or from then on. It tries every
 * request of every operation on one thread, some of a build that spills, of stores of several words, and some on
 * several threads (with SSTORE_TEST_LONG=1 all).
 */
#include <errno.h>
#include <stdlib.h>

#include "faults/interpose.h"
#include "faults/trial.h"
#include "sstore_stream.h"
#include "support/random.h"
#include "support/scratch.h"

#define MEMORY (KIND(CALL_ALLOCATE) | KIND(CALL_THREAD))

static const fault faults[] = {
    {.name = "no memory", .kinds = MEMORY, .status = SSTORE_ERROR_MEMORY, .error = ENOMEM},
    {.name = "no memory", .kinds = MEMORY, .status = SSTORE_ERROR_MEMORY, .error = ENOMEM, .for_good = true},
};

static void test_every_request(void **state)
{
    static operation operations[OPERATION_COUNT];
    const trials all = {operations, OPERATION_COUNT, faults, sizeof faults / sizeof faults[0]};
    operations_make(run_seed, operations);
    trial_run_all(&all, "for memory or a thread", trial_step(29), run_seed);
    operations_free(operations);
}

static void test_wide_stores(void **state)
{
    static operation operations[WIDE_OPERATION_COUNT];
    const trials all = {operations, WIDE_OPERATION_COUNT, faults, sizeof faults / sizeof faults[0]};
    operations_make_wide(run_seed, operations);
    trial_run_all(&all, "for memory, of stores of several words,", testing_long() ? 1 : 4 * trial_step(25), run_seed);
    operations_free_wide(operations);
}

static void test_spilling(void **state)
{
    operation spilling;
    const trials all = {&spilling, 1, faults, sizeof faults / sizeof faults[0]};
    operation_make_spilling(run_seed, &spilling);
    const uint64_t step = testing_long() ? 1 : 3 * trial_step(17); /* it makes many calls */
    trial_run_all(&all, "for memory, of a build that spills,", step, run_seed);
    operation_free(&spilling);
}

/* ----- a matcher goes on after a refusal ----- */

#define FED ((size_t)20000) /* enough to sort them by keys */

typedef struct refusal {
    uint64_t left; /* requests before the one that is refused */
    bool refused;
} refusal;

static verdict refuse_one(void *context, const system_call *call)
{
    refusal *self = context;
    if (call->kind != CALL_ALLOCATE || self->refused || self->left-- > 0)
        return (verdict){.size = call->size};
    self->refused = true;
    return (verdict){.error = ENOMEM};
}

static int count_match(void *context, const sstore_stream_match *match)
{
    ++*(uint64_t *)context;
    return match->distance > 3;
}

static void check_matcher(uint32_t words)
{
    rng random = rng_seeded(run_seed);
    uint64_t *fingerprints = malloc(FED * words * sizeof *fingerprints);
    sstore_error error = {.status = SSTORE_OK};
    assert_non_null(fingerprints);
    for (size_t i = 0; i < FED * words; i++)
        fingerprints[i] = rng_next(&random);
    bool refused = true;
    for (uint64_t request = 0; refused; request++) {
        sstore_stream_options options = SSTORE_STREAM_OPTIONS_INIT;
        sstore_stream_matcher *matcher;
        refusal hook = {.left = request};
        uint64_t count = 0;
        options.threads = 1;
        options.fingerprint_bits = 64 * words;
        assert_ok(sstore_stream_matcher_create(fingerprints, FED, &options, &matcher, &error), &error);
        interpose_begin(&(interposer){.before = refuse_one, .context = &hook});
        const sstore_status status = sstore_stream_matcher_feed(matcher, fingerprints, NULL, FED, count_match, &count,
                                                                &error);
        interpose_end();
        refused = hook.refused;
        assert_int_equal(status, refused ? SSTORE_ERROR_MEMORY : SSTORE_OK);
        count = 0;
        assert_ok(sstore_stream_matcher_feed(matcher, fingerprints, NULL, FED, count_match, &count, &error), &error);
        assert_int_equal(count, FED);
        sstore_stream_matcher_free(matcher);
        assert_true(!refused || request < 100);
    }
    free(fingerprints);
}

static void test_matcher_goes_on(void **state)
{
    check_matcher(1);
    check_matcher(3);
}

/* A collection that was refused memory reports nothing more, and no part as if it were all. */
static void check_collection(uint32_t words)
{
    static sstore_stream_match given[1000];
    static uint64_t rows[1000][SSTORE_MAX_WORDS];
    sstore_error error = {.status = SSTORE_OK};
    rng random = rng_seeded(run_seed);
    for (size_t i = 0; i < 1000; i++) {
        rows[i][0] = i;
        given[i] = (sstore_stream_match){.query = rows[i], .fingerprint = rows[i], .id = rng_next(&random)};
    }
    bool refused = true;
    uint32_t failures = 0;
    for (uint64_t request = 0; refused; request++) {
        sstore_collection_options options = SSTORE_COLLECTION_OPTIONS_INIT;
        sstore_collection *collection;
        refusal hook = {.left = request};
        uint64_t count = 0;
        options.tmp_dir = scratch_folder();
        options.fingerprint_bits = 64 * words;
        assert_ok(sstore_collection_create(&options, &collection, &error), &error);
        interpose_begin(&(interposer){.before = refuse_one, .context = &hook});
        sstore_status status = sstore_collection_add(collection, given, 1000, &error);
        if (status == SSTORE_OK)
            status = sstore_collection_report(collection, count_match, &count, &error);
        interpose_end();
        refused = hook.refused;
        failures += status != SSTORE_OK; /* it may do without some of the memory */
        assert_true(status == SSTORE_OK ? count == 1000 : refused && status == SSTORE_ERROR_MEMORY);
        for (int again = 0; status != SSTORE_OK && again < 2; again++) {
            assert_status(sstore_collection_add(collection, given, 1, &error), SSTORE_ERROR_ARGUMENT, &error);
            assert_status(sstore_collection_report(collection, count_match, &count, &error), SSTORE_ERROR_ARGUMENT,
                          &error);
        }
        sstore_collection_free(collection);
        assert_true(!refused || request < 100);
    }
    assert_true(failures > 0);
}

static void test_collection_fails_for_good(void **state)
{
    check_collection(1);
    check_collection(16);
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {cmocka_unit_test_teardown(test_every_request, testing_teardown),
                                       cmocka_unit_test_teardown(test_wide_stores, testing_teardown),
                                       cmocka_unit_test_teardown(test_spilling, testing_teardown),
                                       cmocka_unit_test_teardown(test_matcher_goes_on, testing_teardown),
                                       cmocka_unit_test_teardown(test_collection_fails_for_good, testing_teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The options of the calls that write: each call uses those that sstore.h lists for it, and refuses the others if they
 * are set. */
#include <stdio.h>
#include <string.h>

#include "plan/plan.h"
#include "sstore_join.h"
#include "sstore_statistics.h"
#include "sstore_stream.h"
#include "support/data.h"
#include "support/scratch.h"
#include "support/testing.h"
#include "support/use_store.h"

static char source[256], target[256];

/* ----- the calls; what they begin is given up ----- */

static sstore_status build(const sstore_write_options *options, sstore_error *error)
{
    sstore_builder *made;
    const sstore_status status = sstore_builder_create(target, options, &made, error);
    sstore_builder_abort(made);
    return status;
}

static sstore_status add(const sstore_write_options *options, sstore_error *error)
{
    sstore_builder *made;
    const sstore_status status = sstore_builder_create_addition(source, options, &made, error);
    sstore_builder_abort(made);
    return status;
}

static sstore_status remove_records(const sstore_write_options *options, sstore_error *error)
{
    sstore_remover *made;
    const sstore_status status = sstore_remover_create(source, options, &made, error);
    sstore_remover_abort(made);
    return status;
}

static sstore_status merge(const sstore_write_options *options, sstore_error *error)
{
    const char *const inputs[] = {source};
    const sstore_status status = sstore_merge(target, inputs, 1, options, NULL, error);
    scratch_remove(target);
    return status;
}

static sstore_status compact(const sstore_write_options *options, sstore_error *error)
{
    return sstore_compact(source, SSTORE_COMPACTION_ALL, options, NULL, error);
}

static sstore_status deduplicate(const sstore_write_options *options, sstore_error *error)
{
    sstore_dedup *made;
    const sstore_status status = sstore_dedup_open(source, options, &made, error);
    sstore_dedup_close(made);
    return status;
}

/* The names are those of the list in sstore.h. */
static const struct {
    sstore_status (*call)(const sstore_write_options *options, sstore_error *error);
    const char *function, *used;
} calls[] = {
    {build, "sstore_builder_create ",
     " plan recipe distance no_ids force first_id expected_record_count expected_max_id "},
    {add, "sstore_builder_create_addition ",
     " plan recipe no_compact check_ids expected_record_count expected_max_id "},
    {remove_records, "sstore_remover_create ", " recipe no_compact on_absent expected_record_count expected_max_id "},
    {merge, "sstore_merge ", " plan force shard shard_count "},
    {compact, "sstore_compact ", " plan recipe "},
    {deduplicate, "sstore_dedup_open ", " plan recipe distance no_compact check_ids publish_every limit "},
};

/* ----- the options ----- */

static int ignore_absent(void *context, uint64_t id)
{
    return 0;
}

/* Set one option, by its number, to a value that is not its default. False: there is no such option. */
static bool set_option(sstore_write_options *options, size_t number, const char **name_out)
{
#define OPTION_CASE(position, name, value)                                                                             \
    case position:                                                                                                     \
        options->name = (value);                                                                                       \
        *name_out = #name;                                                                                             \
        return true
    switch (number) {
        OPTION_CASE(0, plan, "2");
        OPTION_CASE(1, recipe, "made so");
        OPTION_CASE(2, distance, 3);
        OPTION_CASE(3, no_ids, true);
        OPTION_CASE(4, force, true);
        OPTION_CASE(5, shard, 1);
        OPTION_CASE(6, shard_count, 2);
        OPTION_CASE(7, no_compact, true);
        OPTION_CASE(8, check_ids, true);
        OPTION_CASE(9, first_id, 1);
        OPTION_CASE(10, expected_record_count, 10);
        OPTION_CASE(11, expected_max_id, 10);
        OPTION_CASE(12, on_absent, ignore_absent);
        OPTION_CASE(13, publish_every, 1);
        OPTION_CASE(14, limit, 1);
    default: return false;
    }
}

static void check_option(size_t call, const sstore_write_options *options, const char *name)
{
    char word[64], text[64];
    sstore_error error = {.status = SSTORE_OK};
    snprintf(word, sizeof word, " %s ", name);
    snprintf(text, sizeof text, "the option %s:", name);
    const sstore_status status = calls[call].call(options, &error);
    if (strstr(calls[call].used, word) != NULL && strcmp(name, "shard") != 0) { /* alone, a shard does not exist */
        assert_ok(status, &error);
    } else {
        assert_status(status, SSTORE_ERROR_ARGUMENT, &error);
        assert_true((strstr(calls[call].used, word) != NULL) == (strstr(error.message, text) == NULL));
        assert_true(strstr(error.message, text) == NULL ||
                    strncmp(error.message, calls[call].function, strlen(calls[call].function)) == 0);
    }
}

static void test_options(void **state)
{
    for (size_t call = 0; call < sizeof calls / sizeof *calls; call++) {
        size_t number = 0;
        const char *name;
        sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
        for (; set_option(&options, number, &name); number++) {
            testing_doing("%swith %s", calls[call].function, name);
            check_option(call, &options, name);
            options = (sstore_write_options)SSTORE_WRITE_OPTIONS_INIT;
        }
        assert_int_equal(number, 15);
        options.absent_context = options.progress_context = source;
        assert_ok(calls[call].call(&options, NULL), NULL); /* a context alone is ignored */
        if (strstr(calls[call].used, " distance ") == NULL)
            options.distance = 0;
        assert_ok(calls[call].call(&options, NULL), NULL); /* and so are zeros */
        testing_done();
    }
}

static int check_default_plan(void *context, const sstore_plan_estimate *estimate)
{
    ss_plan plan;
    (void)context;
    assert_ok(ss_plan_parse(estimate->plan, SSTORE_DEFAULT_DISTANCE, &plan, NULL), NULL);
    return 0;
}

static int count_stream_match(void *context, const sstore_stream_match *match)
{
    (void)match;
    ++*(uint64_t *)context;
    return 0;
}

/* The number of bits may be stated, and must be that of a store that there is. */
static void test_fingerprint_bits(void **state)
{
    for (size_t call = 0; call < sizeof calls / sizeof *calls; call++) {
        sstore_error error = {.status = SSTORE_OK};
        sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
        const bool is_new = calls[call].call == build;
        testing_doing("%swith fingerprint_bits", calls[call].function);
        options.fingerprint_bits = 64;
        assert_ok(calls[call].call(&options, &error), &error);
        options.fingerprint_bits = 128;
        const sstore_status status = calls[call].call(&options, &error);
        assert_int_equal(status, is_new ? SSTORE_OK : SSTORE_ERROR_ARGUMENT);
        assert_true(is_new || strstr(error.message, "fingerprints of 64 bits, not of 128") != NULL);
        options.fingerprint_bits = 65;
        assert_status(calls[call].call(&options, &error), SSTORE_ERROR_ARGUMENT, &error);
        testing_done();
    }
}

/* What calls without a store take if nothing is given: 64 bits, and the default distance of a new store. */
static void test_defaults_without_a_store(void **state)
{
    uint64_t near[] = {7}, far[] = {15};
    uint32_t bits;
    sstore_builder *builder;
    sstore_stream_matcher *matcher;
    sstore_collection *collection;
    sstore_plan_options plan = SSTORE_PLAN_OPTIONS_INIT;
    const sstore_write_options write = SSTORE_WRITE_OPTIONS_INIT;
    const sstore_record_join_options join = SSTORE_RECORD_JOIN_OPTIONS_INIT;
    const sstore_stream_options stream = SSTORE_STREAM_OPTIONS_INIT;
    const sstore_collection_options collecting = SSTORE_COLLECTION_OPTIONS_INIT;
    const uint32_t distances[] = {plan.distance, write.distance, join.distance, stream.distance};
    const uint32_t widths[] = {plan.fingerprint_bits, write.fingerprint_bits, collecting.fingerprint_bits,
                               stream.fingerprint_bits};
    for (size_t i = 0; i < sizeof distances / sizeof *distances; i++)
        assert_true(distances[i] == SSTORE_OWN_DISTANCE && widths[i] == 0);
    assert_ok(sstore_builder_create(target, NULL, &builder, NULL), NULL);
    bits = sstore_builder_fingerprint_bits(builder);
    sstore_builder_abort(builder);
    assert_int_equal(bits, 64);
    plan.record_count = 1000;
    assert_ok(sstore_plan(&plan, check_default_plan, NULL, NULL), NULL);
    assert_ok(sstore_collection_create(&collecting, &collection, NULL), NULL);
    sstore_collection_free(collection);
    for (int i = 0; i < 2; i++) {
        uint64_t zero = 0, *query = i == 0 ? near : far, count = 0, ids[] = {1};
        assert_ok(sstore_stream_matcher_create(query, 1, &stream, &matcher, NULL), NULL);
        assert_ok(sstore_stream_matcher_feed(matcher, &zero, ids, 1, count_stream_match, &count, NULL), NULL);
        sstore_stream_matcher_free(matcher);
        assert_int_equal(count, i == 0);
    }
}

/* Shards of two stores together have each record of the stores once. */
static void test_shards_of_two_stores(void **state)
{
    uint64_t fingerprints[] = {1, 2, 3, 4, 5, 6, 7, 8}, ids[] = {1, 2, 3, 4, 5, 6, 7, 8};
    const char *const inputs[] = {source, scratch_path("other")};
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    sstore_change change = SSTORE_CHANGE_INIT;
    sstore_error error;
    uint64_t count = 0;
    const data_set other = {.id_kind = DATA_IDS, .fingerprints = fingerprints, .ids = ids, .count = 8};
    options.recipe = "made so";
    assert_ok(store_build(inputs[1], &options, &other, 0, &error), &error);
    options = (sstore_write_options)SSTORE_WRITE_OPTIONS_INIT;
    options.shard_count = 3;
    for (options.shard = 0; options.shard < 3; options.shard++) {
        uint32_t shards[8];
        uint64_t expected = 0;
        assert_ok(sstore_shard_numbers(fingerprints, 64, 8, 3, shards, &error), &error);
        for (size_t i = 0; i < 8; i++)
            expected += shards[i] == options.shard;
        assert_ok(sstore_merge(target, inputs, 2, &options, &change, &error), &error);
        assert_int_equal(change.given_count, 12);
        assert_int_equal(change.record_count, expected);
        count += change.record_count;
        scratch_remove(target);
    }
    assert_int_equal(count, 8); /* the four records of `source` are among them */
    assert_status(sstore_merge(target, inputs, 2, &options, &change, &error), SSTORE_ERROR_ARGUMENT, &error);
    assert_non_null(strstr(error.message, "shard 3 of 3 does not exist"));
    assert_false(scratch_exists(target));
}

static int set_up(void **state)
{
    uint64_t fingerprints[] = {1, 2, 3, 4}, ids[] = {1, 2, 3, 4};
    const data_set data = {.id_kind = DATA_IDS, .fingerprints = fingerprints, .ids = ids, .count = 4};
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    sstore_error error;
    snprintf(source, sizeof source, "%s", scratch_path("source"));
    snprintf(target, sizeof target, "%s", scratch_path("target"));
    options.recipe = "made so";
    assert_ok(store_build(source, &options, &data, 0, &error), &error);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_fingerprint_bits),
        cmocka_unit_test(test_defaults_without_a_store),
        cmocka_unit_test(test_shards_of_two_stores),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}

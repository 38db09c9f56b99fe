/*
 * test_recipe.c - a store whose recipe is malicious text for a terminal: no result and no message may contain a control
 * character or invalid UTF-8.
 */
#include <stdio.h>
#include <string.h>

#include "output/walk.h"
#include "sstore_statistics.h"
#include "support/data.h"
#include "support/edited_store.h"
#include "support/random.h"
#include "support/scratch.h"
#include "support/use_store.h"

#define MANIFEST_RECIPE 64u /* its offset in the manifest */

static const char innocent[] = "words 3; title, bell, bold and clear";
static const char harmful[] = "words 3\x1b]0;title\x07\x1b[1m\x9b"
                              "2J\xc2\x9b"
                              "1m\r\n\t\xff e\xc3\xa9";
static const char shown[] = "words 3\\x1b]0;title\\x07\\x1b[1m\\x9b2J\\xc2\\x9b1m\\x0d\\x0a\\x09\\xff e\xc3\xa9";

static char plain[256], made[256]; /* paths */

static void check_message(sstore_status status, const sstore_error *error)
{
    assert_status(status, SSTORE_ERROR_RECIPE, error);
    if (strstr(error->message, shown) == NULL)
        fail_msg("the message does not show the recipe as it should: %s", error->message);
    for (const char *at = error->message; *at != '\0'; at++)
        assert_true((unsigned char)*at >= ' ' && *at != 0x7f);
}

static void test_results_of_stat(void **state)
{
    sstore_statistics facts = {.struct_size = sizeof facts};
    sstore_error error;
    sstore *opened = store_must_open(made, SSTORE_IO_PREAD, SSTORE_STRATEGY_AUTO);
    assert_ok(sstore_stat(opened, &facts, &error), &error);
    assert_string_equal(facts.recipe, shown);
    sstore_close(opened);
}

static void test_messages(void **state)
{
    sstore_open_options options = SSTORE_OPEN_OPTIONS_INIT;
    sstore_write_options add = SSTORE_WRITE_OPTIONS_INIT;
    sstore *left, *right;
    sstore_builder *builder;
    sstore_error error;
    options.recipe = add.recipe = innocent;
    check_message(sstore_open(made, &options, &left, &error), &error);
    check_message(sstore_builder_create_addition(made, &add, &builder, &error), &error);
    left = store_must_open(made, SSTORE_IO_PREAD, SSTORE_STRATEGY_AUTO);
    right = store_must_open(plain, SSTORE_IO_PREAD, SSTORE_STRATEGY_AUTO);
    check_message(walk_pairs(left, right, NULL, store_ignore_pair, NULL, &error), &error);
    sstore_close(left);
    sstore_close(right);
    const char *const inputs[] = {plain, made};
    check_message(sstore_merge(scratch_path("merged"), inputs, 2, NULL, NULL, &error), &error);
    /* The exact bytes of the recipe are accepted. */
    options.recipe = harmful;
    assert_ok(sstore_open(made, &options, &left, &error), &error);
    sstore_close(left);
}

static int make_stores(void **state)
{
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    data_set set;
    rng random = rng_seeded(1);
    snprintf(plain, sizeof plain, "%s", scratch_path("plain"));
    snprintf(made, sizeof made, "%s", scratch_path("made"));
    data_make(&random, DATA_UNIFORM, DATA_IDS, 50, false, &set);
    options.recipe = innocent;
    store_must_build(plain, &options, &set);
    data_free(&set);
    edited_store store = edited_load(plain);
    assert_int_equal(strlen(innocent), strlen(harmful));
    memcpy(store.manifest + MANIFEST_RECIPE, harmful, strlen(harmful));
    edited_set_checksums(&store);
    edited_write(&store, made);
    edited_free(&store);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_results_of_stat), cmocka_unit_test(test_messages)};
    return cmocka_run_group_tests(tests, make_stores, NULL);
}

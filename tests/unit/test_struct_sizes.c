/* Callers that were compiled with another version of the header. For each struct with a struct_size, the size of
 * version 1 and all larger sizes are accepted if unknown fields are 0. Results fill the size that the caller has. Any
 * other size is refused. The sizes of version 1 never change. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "output/walk.h"
#include "sstore_statistics.h"
#include "sstore_stream.h"
#include "sstore_text.h"
#include "support/data.h"
#include "support/scratch.h"
#include "support/testing.h"
#include "support/use_store.h"

#define MORE 64u /* bytes of unknown fields */
#define RECORDS 100u

static char source[256], target[256];
static data_set data;
static sstore *store, *other;
static sstore_cursor *cursor;

/* ----- sizes ----- */

/* A struct of the public headers has its size of version 1; later ones may be larger, and never smaller. */
static void test_sizes(void **state)
{
/* clang-format off */
#define ENTRY(SIZE, type) {#type, SIZE, sizeof(type)}
    /* clang-format on */
    static const struct {
        const char *name;
        size_t first, now;
    } all[] = {
        ENTRY(SS_OPEN_OPTIONS_SIZE_1, sstore_open_options),
        ENTRY(SS_BATCH_OPTIONS_SIZE_1, sstore_batch_options),
        ENTRY(SS_ID_FILTER_SIZE_1, sstore_id_filter),
        ENTRY(SS_COLUMNS_SIZE_1, sstore_columns),
        ENTRY(SS_TABLE_EXPLANATION_SIZE_1, sstore_table_explanation),
        ENTRY(SS_STATISTICS_SIZE_1, sstore_statistics),
        ENTRY(SS_SEGMENT_STATISTICS_SIZE_1, sstore_segment_statistics),
        ENTRY(SS_WORD_STATISTICS_SIZE_1, sstore_word_statistics),
        ENTRY(SS_TABLE_STATISTICS_SIZE_1, sstore_table_statistics),
        ENTRY(SS_BLOCK_STATISTICS_SIZE_1, sstore_block_statistics),
        ENTRY(SS_PROGRESS_SIZE_1, sstore_progress),
        ENTRY(SS_CHANGE_SIZE_1, sstore_change),
        ENTRY(SS_WRITE_OPTIONS_SIZE_1, sstore_write_options),
        ENTRY(SS_DEDUP_STATISTICS_SIZE_1, sstore_dedup_statistics),
        ENTRY(SS_BUILD_NEEDS_SIZE_1, sstore_build_needs),
        ENTRY(SS_VERIFY_OPTIONS_SIZE_1, sstore_verify_options),
        ENTRY(SS_REINDEX_OPTIONS_SIZE_1, sstore_reindex_options),
        ENTRY(SS_JOIN_OPTIONS_SIZE_1, sstore_join_options),
        ENTRY(SS_CLUSTER_OPTIONS_SIZE_1, sstore_cluster_options),
        ENTRY(SS_RECORD_JOIN_OPTIONS_SIZE_1, sstore_record_join_options),
        ENTRY(SS_KEEPER_OPTIONS_SIZE_1, sstore_keeper_options),
        ENTRY(SS_COMPONENTS_OPTIONS_SIZE_1, sstore_components_options),
        ENTRY(SS_STREAM_OPTIONS_SIZE_1, sstore_stream_options),
        ENTRY(SS_COLLECTION_OPTIONS_SIZE_1, sstore_collection_options),
        ENTRY(SS_PLAN_OPTIONS_SIZE_1, sstore_plan_options),
        ENTRY(SS_TEXT_OPTIONS_SIZE_1, sstore_text_options),
        ENTRY(SS_TEXT_RESULT_SIZE_1, sstore_text_result),
        ENTRY(SS_FREQUENCY_SUMMARY_SIZE_1, sstore_frequency_summary),
    };
#undef ENTRY
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].first != all[i].now) /* now that there is no later version */
            fail_msg("%s has %zu bytes instead of %zu", all[i].name, all[i].now, all[i].first);
}

/* ----- options ----- */

static int ignore_match(void *context, const sstore_match *match)
{
    return 0;
}

static int ignore_plan(void *context, const sstore_plan_estimate *estimate)
{
    assert_int_equal(estimate->struct_size, sizeof *estimate);
    return 0;
}

static int check_explanation(void *context, const sstore_table_explanation *explanation)
{
    ++*(int *)context;
    assert_int_equal(explanation->struct_size, sizeof *explanation);
    return 0;
}

static sstore_status take_open(const void *options, sstore_error *error)
{
    sstore *opened;
    const sstore_status status = sstore_open(source, options, &opened, error);
    assert_true((status == SSTORE_OK) == (opened != NULL));
    sstore_close(opened);
    return status;
}

static sstore_status take_batch(const void *options, sstore_error *error)
{
    return walk_matches(store, data.fingerprints, 10, 3, options, ignore_match, NULL, error);
}

static sstore_status take_match_iterator(const void *options, sstore_error *error)
{
    sstore_iterator *made;
    const sstore_status status = sstore_iterate_matches(store, data.fingerprints, 10, 3, options, &made, error);
    assert_true((status == SSTORE_OK) == (made != NULL));
    sstore_iterator_free(made);
    return status;
}

static sstore_status take_filter(const void *options, sstore_error *error)
{
    return sstore_cursor_set_filter(cursor, options, error);
}

static sstore_status take_query_columns(const void *columns, sstore_error *error)
{
    uint64_t count;
    return sstore_query_columns(cursor, &data.fingerprints[0], 3, columns, 1, &count, error);
}

static sstore_status take_nearest_columns(const void *columns, sstore_error *error)
{
    uint64_t count;
    return sstore_query_nearest(cursor, &data.fingerprints[0], 3, columns, 0, &count, error);
}

static sstore_status take_columns(const void *columns, sstore_error *error)
{
    sstore_iterator *made;
    size_t count;
    assert_ok(sstore_iterate_records(store, &made, error), error);
    const sstore_status status = sstore_iterator_next(made, columns, 5, &count, error);
    sstore_iterator_free(made);
    return status;
}

static sstore_status take_build(const void *options, sstore_error *error)
{
    sstore_builder *made;
    const sstore_status status = sstore_builder_create(target, options, &made, error);
    assert_true((status == SSTORE_OK) == (made != NULL));
    sstore_builder_abort(made);
    assert_false(scratch_exists(target));
    return status;
}

static sstore_status take_add(const void *options, sstore_error *error)
{
    sstore_builder *made;
    const sstore_status status = sstore_builder_create_addition(source, options, &made, error);
    assert_true((status == SSTORE_OK) == (made != NULL));
    sstore_builder_abort(made);
    return status;
}

static sstore_status take_remove(const void *options, sstore_error *error)
{
    sstore_remover *made;
    const sstore_status status = sstore_remover_create(source, options, &made, error);
    assert_true((status == SSTORE_OK) == (made != NULL));
    sstore_remover_abort(made);
    return status;
}

static sstore_status take_merge(const void *options, sstore_error *error)
{
    const char *const inputs[] = {source};
    const sstore_status status = sstore_merge(target, inputs, 1, options, NULL, error);
    assert_true((status == SSTORE_OK) == scratch_exists(target));
    scratch_remove(target);
    return status;
}

static sstore_status take_compact(const void *options, sstore_error *error)
{
    return sstore_compact(source, SSTORE_COMPACTION_ALL, options, NULL, error);
}

static sstore_status take_verify(const void *options, sstore_error *error)
{
    return sstore_verify(source, options, NULL, NULL, error);
}

static sstore_status take_reindex(const void *options, sstore_error *error)
{
    return sstore_reindex(source, options, NULL, error);
}

static sstore_status take_dedup(const void *options, sstore_error *error)
{
    sstore_dedup *made;
    const sstore_status status = sstore_dedup_open(source, options, &made, error);
    assert_true((status == SSTORE_OK) == (made != NULL));
    sstore_dedup_close(made);
    return status;
}

static sstore_status take_pairs(const void *options, sstore_error *error)
{
    return walk_pairs(store, NULL, options, store_ignore_pair, NULL, error);
}

static sstore_status take_join(const void *options, sstore_error *error)
{
    return walk_pairs(store, other, options, store_ignore_pair, NULL, error);
}

static sstore_status take_clusters(const void *options, sstore_error *error)
{
    return walk_clusters(store, options, store_ignore_clustered, NULL, error);
}

static sstore_status take_pair_iterator(const void *options, sstore_error *error)
{
    sstore_iterator *made;
    const sstore_status status = sstore_iterate_pairs(store, other, options, &made, error);
    assert_true((status == SSTORE_OK) == (made != NULL));
    sstore_iterator_free(made);
    return status;
}

static sstore_status take_cluster_iterator(const void *options, sstore_error *error)
{
    sstore_iterator *made;
    const sstore_status status = sstore_iterate_clusters(store, options, &made, error);
    assert_true((status == SSTORE_OK) == (made != NULL));
    sstore_iterator_free(made);
    return status;
}

static sstore_status take_stream(const void *options, sstore_error *error)
{
    sstore_stream_matcher *made;
    const sstore_status status = sstore_stream_matcher_create(data.fingerprints, 10, options, &made, error);
    assert_true((status == SSTORE_OK) == (made != NULL));
    sstore_stream_matcher_free(made);
    return status;
}

static sstore_status take_collection(const void *options, sstore_error *error)
{
    sstore_collection *made;
    const sstore_status status = sstore_collection_create(options, &made, error);
    assert_true((status == SSTORE_OK) == (made != NULL));
    sstore_collection_free(made);
    return status;
}

static sstore_status take_plan(const void *options, sstore_error *error)
{
    return sstore_plan(options, ignore_plan, NULL, error);
}

/* The recipe is "" whenever fingerprints are refused. */
static sstore_status take_text(const void *options, sstore_error *error)
{
    uint64_t fingerprint;
    char recipe[256];
    const sstore_status status = sstore_fingerprint_text("some text", 9, options, &fingerprint, error);
    assert_true((status == SSTORE_OK) == (sstore_text_recipe(options, recipe, sizeof recipe) > 0));
    return status;
}

/* Without utf8proc the text calls refuse everything. */
static bool has_text(void)
{
    char recipe[256];
    return sstore_text_recipe(NULL, recipe, sizeof recipe) > 0;
}

typedef sstore_status (*take_fn)(const void *options, sstore_error *error);

/* Options with the defaults, as a caller of any version has them. */
static void check_options(const char *name, const void *defaults, size_t size, size_t first_size, take_fn take)
{
    sstore_error error = {.status = SSTORE_OK};
    uint8_t *options = test_calloc(1, size + MORE + 1);
    memcpy(options, defaults, size);
    assert_memory_equal(options, &size, sizeof size); /* the initializer sets it */
    testing_doing("%s", name);
    /* Not all of the small sizes. */
    for (size_t given = 0; given <= size + MORE; given += given + 9 < first_size ? 9 : 1) {
        memcpy(options, &given, sizeof given);
        options[given > size ? given : size + MORE] = 1; /* bytes after the struct are ignored */
        if (given < first_size) {
            assert_status(take(options, &error), SSTORE_ERROR_ARGUMENT, &error);
        } else {
            assert_ok(take(options, &error), &error);
        }
        memset(options + size, 0, MORE + 1);
    }
    static const size_t unset[] = {SIZE_MAX, (size_t)1 << 40, ((size_t)1 << 16) + 1};
    for (size_t i = 0; i < sizeof unset / sizeof *unset; i++) {
        memcpy(options, &unset[i], sizeof unset[i]);
        assert_status(take(options, &error), SSTORE_ERROR_ARGUMENT, &error);
    }
    for (size_t at = 0; at < MORE; at += 1 + at / 4) { /* an unknown field is set */
        const size_t given = size + MORE;
        memcpy(options, &given, sizeof given);
        options[size + at] = 0x80;
        assert_status(take(options, &error), SSTORE_ERROR_UNSUPPORTED, &error);
        assert_int_equal(take(options, NULL), SSTORE_ERROR_UNSUPPORTED);
        options[size + at] = 0;
    }
    test_free(options);
    testing_done();
}

static void test_options(void **state)
{
    static const sstore_open_options open = SSTORE_OPEN_OPTIONS_INIT;
    static const sstore_batch_options batch = SSTORE_BATCH_OPTIONS_INIT;
    static const sstore_id_filter filter = SSTORE_ID_FILTER_INIT;
    static const sstore_columns columns = SSTORE_COLUMNS_INIT;
    static const sstore_write_options write = SSTORE_WRITE_OPTIONS_INIT;
    static const sstore_verify_options verify = SSTORE_VERIFY_OPTIONS_INIT;
    static const sstore_cluster_options cluster = SSTORE_CLUSTER_OPTIONS_INIT;
    static const sstore_reindex_options reindex = SSTORE_REINDEX_OPTIONS_INIT;
    static const sstore_join_options join = SSTORE_JOIN_OPTIONS_INIT;
    static const sstore_stream_options stream = SSTORE_STREAM_OPTIONS_INIT;
    static const sstore_collection_options collection = SSTORE_COLLECTION_OPTIONS_INIT;
    static const sstore_plan_options plan = SSTORE_PLAN_OPTIONS_INIT;
    static const sstore_text_options text = SSTORE_TEXT_OPTIONS_INIT;
#define CHECK(defaults, SIZE, take) check_options(#take, &(defaults), sizeof(defaults), SIZE, take)
    CHECK(open, SS_OPEN_OPTIONS_SIZE_1, take_open);
    CHECK(batch, SS_BATCH_OPTIONS_SIZE_1, take_batch);
    CHECK(batch, SS_BATCH_OPTIONS_SIZE_1, take_match_iterator);
    CHECK(filter, SS_ID_FILTER_SIZE_1, take_filter);
    CHECK(columns, SS_COLUMNS_SIZE_1, take_query_columns);
    CHECK(columns, SS_COLUMNS_SIZE_1, take_columns);
    CHECK(write, SS_WRITE_OPTIONS_SIZE_1, take_build);
    CHECK(write, SS_WRITE_OPTIONS_SIZE_1, take_add);
    CHECK(write, SS_WRITE_OPTIONS_SIZE_1, take_remove);
    CHECK(write, SS_WRITE_OPTIONS_SIZE_1, take_merge);
    CHECK(write, SS_WRITE_OPTIONS_SIZE_1, take_compact);
    CHECK(verify, SS_VERIFY_OPTIONS_SIZE_1, take_verify);
    CHECK(columns, SS_COLUMNS_SIZE_1, take_nearest_columns);
    CHECK(reindex, SS_REINDEX_OPTIONS_SIZE_1, take_reindex);
    CHECK(write, SS_WRITE_OPTIONS_SIZE_1, take_dedup);
    CHECK(join, SS_JOIN_OPTIONS_SIZE_1, take_pairs);
    CHECK(join, SS_JOIN_OPTIONS_SIZE_1, take_join);
    CHECK(cluster, SS_CLUSTER_OPTIONS_SIZE_1, take_clusters);
    CHECK(join, SS_JOIN_OPTIONS_SIZE_1, take_pair_iterator);
    CHECK(cluster, SS_CLUSTER_OPTIONS_SIZE_1, take_cluster_iterator);
    CHECK(stream, SS_STREAM_OPTIONS_SIZE_1, take_stream);
    CHECK(collection, SS_COLLECTION_OPTIONS_SIZE_1, take_collection);
    CHECK(plan, SS_PLAN_OPTIONS_SIZE_1, take_plan);
    if (has_text())
        CHECK(text, SS_TEXT_OPTIONS_SIZE_1, take_text);
#undef CHECK
}

/* ----- results ----- */

/* Each fills the struct; with another size it must do the same. */
static sstore_status give_statistics(void *to, sstore_error *error)
{
    return sstore_stat(store, to, error);
}

static sstore_status give_segment(void *to, sstore_error *error)
{
    return sstore_stat_segment(store, 0, to, error);
}

static sstore_status give_word(void *to, sstore_error *error)
{
    return sstore_stat_word(store, 0, 0, to, error);
}

static sstore_status give_table(void *to, sstore_error *error)
{
    return sstore_stat_table(store, 0, 1, to, error);
}

static sstore_status give_block(void *to, sstore_error *error)
{
    return sstore_stat_block(store, 0, 1, 0, to, error);
}

static sstore_status give_needs(void *to, sstore_error *error)
{
    sstore_builder *builder;
    assert_ok(sstore_builder_create(target, NULL, &builder, error), error);
    const sstore_status status = sstore_builder_needs(builder, 1000, to, error);
    sstore_builder_abort(builder);
    return status;
}

/* With a bad struct the builder is freed as well, and nothing is left behind. */
static sstore_status give_build(void *to, sstore_error *error)
{
    sstore_builder *builder;
    assert_ok(sstore_builder_create(target, NULL, &builder, error), error);
    assert_ok(sstore_builder_add(builder, data.fingerprints, data.ids, data.count, error), error);
    const sstore_status status = sstore_builder_finish(builder, to, error);
    assert_true((status == SSTORE_OK) == scratch_exists(target));
    scratch_remove(target);
    return status;
}

/* How many segments the store at `target` has. */
static uint32_t count_segments(void)
{
    sstore_statistics facts = {.struct_size = sizeof facts};
    sstore *opened = store_must_open(target, SSTORE_IO_PREAD, SSTORE_STRATEGY_AUTO);
    assert_ok(sstore_stat(opened, &facts, NULL), NULL);
    sstore_close(opened);
    return facts.segment_count;
}

static sstore_status give_remove(void *to, sstore_error *error)
{
    sstore_remover *remover;
    folder_copy(source, target);
    assert_ok(sstore_remover_create(target, &change_apart, &remover, error), error);
    assert_ok(sstore_remover_remove(remover, NULL, data.ids, 1, error), error);
    const sstore_status status = sstore_remover_finish(remover, to, error);
    assert_int_equal(count_segments(), status == SSTORE_OK ? 2 : 1);
    scratch_remove(target);
    return status;
}

static sstore_status give_merge(void *to, sstore_error *error)
{
    const char *const inputs[] = {source};
    const sstore_status status = sstore_merge(target, inputs, 1, NULL, to, error);
    assert_true((status == SSTORE_OK) == scratch_exists(target));
    scratch_remove(target);
    return status;
}

static sstore_status give_compact(void *to, sstore_error *error)
{
    folder_copy(source, target);
    const uint64_t fingerprint = 1, id = 1;
    assert_ok(store_change(target, false, &fingerprint, &id, 1, error), error);
    assert_int_equal(count_segments(), 2);
    const sstore_status status = sstore_compact(target, SSTORE_COMPACTION_ALL, NULL, to, error);
    assert_int_equal(count_segments(), status == SSTORE_OK ? 1 : 2);
    scratch_remove(target);
    return status;
}

static sstore_status give_text(void *to, sstore_error *error)
{
    sstore_fingerprinter *fingerprinter;
    assert_ok(sstore_fingerprinter_create(NULL, &fingerprinter, error), error);
    const sstore_status status = sstore_fingerprinter_text(fingerprinter, "a b c d", 7, to, NULL, error);
    sstore_fingerprinter_free(fingerprinter);
    return status;
}

static sstore_status give_frequencies(void *to, sstore_error *error)
{
    sstore_frequency_counter *counter;
    const void *table;
    size_t size;
    assert_ok(sstore_frequency_counter_create(NULL, 0, &counter, error), error);
    assert_ok(sstore_frequency_counter_add(counter, NULL, 0, error), error);
    const sstore_status status = sstore_frequency_counter_finish(counter, &table, &size, to, error);
    sstore_frequency_counter_free(counter);
    return status;
}

static sstore_status give_dedup(void *to, sstore_error *error)
{
    const uint64_t fingerprint = UINT64_C(0x0f0f0f0f0f0f0f0f), id = 1;
    sstore_dedup *dedup;
    folder_copy(source, target);
    assert_ok(sstore_dedup_open(target, &change_apart, &dedup, error), error);
    assert_ok(sstore_dedup_insert(dedup, &fingerprint, &id, 1, NULL, NULL, NULL, error), error);
    assert_int_equal(dedup_state(dedup).pending_count, 1);
    const sstore_status status = sstore_dedup_publish(dedup, to, error);
    assert_int_equal(dedup_state(dedup).pending_count, status == SSTORE_OK ? 0 : 1);
    sstore_dedup_close(dedup);
    assert_int_equal(count_segments(), status == SSTORE_OK ? 2 : 1);
    scratch_remove(target);
    return status;
}

static sstore_status give_dedup_state(void *to, sstore_error *error)
{
    sstore_dedup *dedup;
    folder_copy(source, target);
    assert_ok(sstore_dedup_open(target, NULL, &dedup, error), error);
    assert_ok(sstore_dedup_insert(dedup, &(uint64_t){UINT64_MAX / 3}, &(uint64_t){1}, 1, NULL, NULL, NULL, error),
              error);
    const sstore_status status = sstore_dedup_stat(dedup, to, error);
    sstore_dedup_close(dedup);
    scratch_remove(target);
    return status;
}

typedef sstore_status (*give_fn)(void *to, sstore_error *error);

/* A result whose first field behind struct_size is never 0. */
static void check_result(const char *name, size_t size, size_t first_size, give_fn give)
{
    sstore_error error = {.status = SSTORE_OK};
    uint8_t *to = test_malloc(size + MORE + 1), *none = test_malloc(size + MORE + 1);
    const size_t sizes[] = {0,          1,    sizeof size, first_size / 2, first_size - 1,
                            first_size, size, size + 1,    size + MORE,    SIZE_MAX};
    testing_doing("%s", name);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const size_t given = sizes[i];
        memset(to, 0x5a, size + MORE + 1);
        memcpy(to, &given, sizeof given);
        memcpy(none, to, size + MORE + 1);
        if (given < first_size || given > size + MORE) {
            assert_status(give(to, &error), SSTORE_ERROR_ARGUMENT, &error);
            assert_memory_equal(to, none, size + MORE + 1);
            continue;
        }
        assert_ok(give(to, &error), &error);
        assert_memory_equal(to, &given, sizeof given); /* it stays the caller's */
        assert_memory_not_equal(to + sizeof given, none + sizeof given, sizeof(uint64_t));
        for (size_t at = size; at < given; at++)
            assert_int_equal(to[at], 0);
        assert_memory_equal(to + given, none + given, size + MORE + 1 - given);
    }
    test_free(to);
    test_free(none);
    testing_done();
}

static void test_results(void **state)
{
    check_result("stat", sizeof(sstore_statistics), SS_STATISTICS_SIZE_1, give_statistics);
    check_result("stat_segment", sizeof(sstore_segment_statistics), SS_SEGMENT_STATISTICS_SIZE_1, give_segment);
    check_result("stat_word", sizeof(sstore_word_statistics), SS_WORD_STATISTICS_SIZE_1, give_word);
    check_result("stat_table", sizeof(sstore_table_statistics), SS_TABLE_STATISTICS_SIZE_1, give_table);
    check_result("stat_block", sizeof(sstore_block_statistics), SS_BLOCK_STATISTICS_SIZE_1, give_block);
    check_result("builder_needs", sizeof(sstore_build_needs), SS_BUILD_NEEDS_SIZE_1, give_needs);
    check_result("builder_finish", sizeof(sstore_change), SS_CHANGE_SIZE_1, give_build);
    check_result("remover_finish", sizeof(sstore_change), SS_CHANGE_SIZE_1, give_remove);
    check_result("merge", sizeof(sstore_change), SS_CHANGE_SIZE_1, give_merge);
    check_result("compact", sizeof(sstore_change), SS_CHANGE_SIZE_1, give_compact);
    check_result("dedup_publish", sizeof(sstore_change), SS_CHANGE_SIZE_1, give_dedup);
    check_result("dedup_stat", sizeof(sstore_dedup_statistics), SS_DEDUP_STATISTICS_SIZE_1, give_dedup_state);
    if (!has_text())
        return;
    check_result("fingerprinter_text", sizeof(sstore_text_result), SS_TEXT_RESULT_SIZE_1, give_text);
    check_result("frequency_counter_finish", sizeof(sstore_frequency_summary), SS_FREQUENCY_SUMMARY_SIZE_1,
                 give_frequencies);
}

/* Structs for callbacks have the library's size. */
static void test_reported_structs(void **state)
{
    int tables = 0;
    assert_ok(sstore_explain(cursor, &data.fingerprints[0], 3, check_explanation, &tables, NULL), NULL);
    assert_true(tables > 0);
}

/* ----- the calls that copy ----- */

/* The library's struct in a version between the first and the current one. */
typedef struct grown {
    size_t struct_size;
    uint64_t first, second;
} grown;

/* Fields that the caller does not have keep their defaults, and are not returned. */
static void test_smaller_than_the_library(void **state)
{
    const size_t first_size = sizeof(grown) - sizeof(uint64_t);
    const grown defaults = {sizeof defaults, 1, 2};
    for (size_t size = first_size; size <= sizeof(grown); size += sizeof(uint64_t)) {
        grown options = defaults, from = {size, 10, 20}, to = {size, 5, 6};
        sstore_error error = {.status = SSTORE_OK};
        assert_ok(ss_take_options(&options, sizeof options, &from, first_size, &error), &error);
        assert_int_equal(options.struct_size, sizeof options);
        assert_int_equal(options.first, 10);
        assert_int_equal(options.second, size == sizeof(grown) ? 20 : 2);
        assert_ok(ss_check_result(&to, first_size, &error), &error);
        assert_ok(ss_give_result(&to, &(grown){sizeof to, 30, 40}, sizeof to, first_size, &error), &error);
        assert_int_equal(to.struct_size, size);
        assert_int_equal(to.first, 30);
        assert_int_equal(to.second, size == sizeof(grown) ? 40 : 6);
    }
    grown options = defaults, from = {first_size - 1, 10, 20};
    sstore_error error = {.status = SSTORE_OK};
    assert_status(ss_take_options(&options, sizeof options, &from, first_size, &error), SSTORE_ERROR_ARGUMENT, &error);
    assert_status(ss_check_result(&from, first_size, &error), SSTORE_ERROR_ARGUMENT, &error);
    assert_status(ss_give_result(&from, &options, sizeof options, first_size, &error), SSTORE_ERROR_ARGUMENT, &error);
    assert_memory_equal(&options, &defaults, sizeof options);
    assert_int_equal(from.first, 10);
    assert_ok(ss_take_options(&options, sizeof options, NULL, first_size, &error), &error);
    assert_ok(ss_check_result(NULL, first_size, &error), &error);
    assert_memory_equal(&options, &defaults, sizeof options);
}

static int make_all(void **state)
{
    rng random = rng_seeded(1);
    data_make(&random, DATA_CLUSTERED, DATA_IDS, RECORDS, false, &data);
    snprintf(source, sizeof source, "%s", scratch_path("store"));
    snprintf(target, sizeof target, "%s", scratch_path("target"));
    store_must_build(source, NULL, &data);
    store = store_must_open(source, SSTORE_IO_PREAD, SSTORE_STRATEGY_AUTO);
    other = store_must_open(source, SSTORE_IO_PREAD, SSTORE_STRATEGY_AUTO);
    cursor = store_must_cursor(store);
    return 0;
}

static int free_all(void **state)
{
    sstore_cursor_free(cursor);
    sstore_close(store);
    sstore_close(other);
    data_free(&data);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
        cmocka_unit_test_teardown(test_options, testing_teardown),
        cmocka_unit_test_teardown(test_results, testing_teardown),
        cmocka_unit_test(test_reported_structs),
        cmocka_unit_test(test_smaller_than_the_library),
    };
    return cmocka_run_group_tests(tests, make_all, free_all);
}

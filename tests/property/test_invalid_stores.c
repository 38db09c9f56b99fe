/*
 * test_invalid_stores.c - stores with one defect and correct checksums: calls that read, join or rewrite such a store
 * must report damage or give its contents. They must not access memory outside of buffers, report a record twice, write
 * records out of order, or remove what they could not read; and they must end. This file has one clear case of each;
 * the fuzz targets have the others.
 */
#include <stdlib.h>
#include <string.h>

#include "output/walk_joins.h"
#include "output/walk_matches.h"
#include "sstore_statistics.h"
#include "support/reference_block.h"
#include "support/scratch.h"
#include "support/store_case.h"
#include "support/use_store.h"

/* Universes of invalid_store.h. */
enum { CLUSTERED, DENSE, FEW, UNIFORM };

/* ----- stores ----- */

static invalid_store_plan plan_of(bool has_ids, uint32_t universe, uint32_t block_bytes)
{
    return (invalid_store_plan){.has_ids = has_ids, .distance = 3, .block_bytes = block_bytes, .universe = universe};
}

static void add_segment(invalid_store_plan *plan, uint8_t count, uint8_t seed, uint8_t tables)
{
    const uint32_t number = plan->segment_count++;
    plan->segments[number].count = count;
    plan->segments[number].seed = seed;
    plan->segments[number].tables = tables;
}

/* Make the store, read it with the reference reader and write it. It must be invalid. */
static store_case make(const invalid_store_plan *plan, store_defect defect)
{
    store_case made = {.plan = *plan, .defect = defect};
    static uint32_t number; /* so that no test finds the store of a failed one */
    snprintf(made.path, sizeof made.path, "%s", scratch_path("invalid-%u", number++));
    made.made = invalid_store_make(plan, &defect);
    made.truth = reference_store_read(&made.made);
    scratch_remove(made.path);
    edited_write(&made.made, made.path);
    return made;
}

/* A block of 100 fingerprints that are all 1, each but the first of a group a code of one bit without a suffix. */
static store_case make_equal(bool has_ids)
{
    invalid_store_plan plan = plan_of(has_ids, DENSE, 1024);
    add_segment(&plan, 100, 0, 1);
    store_case made = make(&plan, (store_defect){.kind = DEFECT_EQUAL_NEIGHBOURS, .table = 1, .size = 255});
    const uint8_t *block = edited_block(&made.made, 0, 0, 0);
    assert_true((made.truth->broken & BROKEN_TABLE_0) != 0 && reference_block_count(block, 1024) == 100 &&
                block[0] == 1);
    return made;
}

/* A fingerprint that equals the previous one, in all tables. */
static store_case make_equal_pair(bool has_ids, uint32_t block_bytes, uint32_t at)
{
    invalid_store_plan plan = plan_of(has_ids, DENSE, block_bytes);
    add_segment(&plan, 100, 0, 1);
    store_case made = make(&plan, (store_defect){.kind = DEFECT_EQUAL_NEIGHBOURS, .table = 1, .at = at, .size = 1});
    assert_true((made.truth->broken & BROKEN_TABLE_0) != 0);
    return made;
}

/* Two fingerprints of table 0 are exchanged. Their upper halves are equal, so only the lower halves show it. */
static store_case make_descending(uint32_t block_bytes, uint32_t at)
{
    invalid_store_plan plan = plan_of(false, DENSE, block_bytes);
    add_segment(&plan, 100, 0, 1);
    add_segment(&plan, 20, 9, 1);
    store_case made = make(&plan, (store_defect){.kind = DEFECT_DESCENDING, .at = at, .size = 1});
    assert_true((made.truth->broken & BROKEN_TABLE_0) != 0);
    return made;
}

/* ----- results ----- */

static int take_match(void *context, const sstore_match *match)
{
    record_set_put(context, match->fingerprint, match->id);
    return 0;
}

static int take_record(void *context, const uint64_t *fingerprint, uint64_t id)
{
    record_set_put(context, fingerprint, id);
    return 0;
}

/* A pair as a record: its fingerprints and ids mixed. */
static int take_pair(void *context, const sstore_pair *pair)
{
    const uint64_t mixed = rng_mix(pair->fingerprint) ^ pair->other_fingerprint;
    record_set_put(context, &mixed, rng_mix(pair->id) ^ pair->other_id);
    return 0;
}

static void assert_no_repeats(record_set *got)
{
    record_set_sort(got);
    for (size_t i = 1; i < got->count; i++)
        if (record_set_compare(got, i, got, i - 1) == 0)
            fail_msg("a record, or pair, was reported twice, of %zu", got->count);
    record_set_free(got);
}

static void assert_ended(sstore_status status)
{
    assert_true(status == SSTORE_OK || status == SSTORE_ERROR_DAMAGED);
}

/* The matches of a batch, query by query. */
typedef struct batch_answer {
    record_set got;
    size_t query;
} batch_answer;

static int take_match_in_turn(void *context, const sstore_match *match)
{
    batch_answer *answer = context;
    if (match->query_index != answer->query)
        assert_no_repeats(&answer->got);
    answer->query = match->query_index;
    return take_match(&answer->got, match);
}

/* Many queries, which are answered together. A single one would not be. */
static void assert_no_query_repeats(const sstore *store, uint64_t fingerprint, size_t count, uint32_t distance)
{
    uint64_t *fingerprints = malloc(count * sizeof *fingerprints);
    batch_answer answer = {.query = 0};
    for (size_t i = 0; i < count; i++)
        fingerprints[i] = i % 2 == 0 ? fingerprint : fingerprint + i;
    sstore_batch_options options = SSTORE_BATCH_OPTIONS_INIT;
    options.threads = 1;
    assert_ended(walk_matches(store, fingerprints, count, distance, &options, take_match_in_turn, &answer, NULL));
    assert_no_repeats(&answer.got);
    free(fingerprints);
}

/* Read all records in every way; none may be reported twice. */
static void assert_none_twice(const store_case *made, uint64_t fingerprint)
{
    const sstore_strategy strategies[] = {SSTORE_STRATEGY_FULL_SCAN, SSTORE_STRATEGY_AUTO, SSTORE_STRATEGY_PROBE};
    for (uint32_t i = 0; i < 3; i++) {
        sstore_open_options options = SSTORE_OPEN_OPTIONS_INIT;
        sstore_join_options join = SSTORE_JOIN_OPTIONS_INIT;
        sstore *store, *again;
        sstore_cursor *cursor;
        sstore_error error;
        record_set got = {.count = 0};
        options.strategy = strategies[i];
        join.threads = 1;
        join.tmp_dir = scratch_folder();
        assert_ok(sstore_open(made->path, &options, &store, &error), &error);
        assert_ok(sstore_cursor_create(store, &cursor, &error), &error);
        assert_ended(walk_records(store, take_record, &got, NULL));
        assert_no_repeats(&got);
        assert_ended(sstore_query(cursor, &fingerprint, 3, take_match, &got, NULL));
        assert_no_repeats(&got);
        assert_ended(sstore_query(cursor, &fingerprint, 64, take_match, &got, NULL));
        assert_no_repeats(&got);
        assert_ended(sstore_query_nearest(cursor, &fingerprint, 64, take_match, &got, NULL));
        assert_no_repeats(&got);
        for (size_t count = 1; count <= 1000; count *= 10) {
            assert_no_query_repeats(store, fingerprint, count, 3);
            assert_no_query_repeats(store, fingerprint, count, 64);
        }
        assert_ok(sstore_reopen(store, &again, &error), &error);
        assert_ended(walk_pairs(store, again, &join, take_pair, &got, NULL));
        assert_no_repeats(&got);
        assert_ended(walk_pairs(store, NULL, &join, take_pair, &got, NULL));
        assert_no_repeats(&got);
        sstore_close(again);
        sstore_cursor_free(cursor);
        sstore_close(store);
    }
}

static void test_equal_fingerprints_are_reported_once(void **state)
{
    store_case made = make_equal(true);
    assert_none_twice(&made, 1);
    store_case_free(&made);
    made = make_equal(false);
    assert_none_twice(&made, 1);
    store_case_free(&made);
}

/* At the borders of groups and blocks: each group ascends, but the next one begins too low. */
static void test_equal_neighbours_are_reported_once(void **state)
{
    /* the last fingerprints of groups or blocks */
    static const uint32_t places[][2] = {{1024, 62}, {1024, 63}, {1024, 64}, {256, 56}, {256, 57}, {256, 58}};
    for (size_t i = 0; i < 2 * sizeof places / sizeof *places; i++) {
        const uint32_t *place = places[i / 2];
        testing_doing("blocks of %u bytes, fingerprint %u, %s ids", place[0], place[1],
                      i % 2 == 0 ? "without" : "with");
        store_case made = make_equal_pair(i % 2 != 0, place[0], place[1]);
        assert_none_twice(&made, sample_fingerprint(DENSE, place[1]));
        store_case_free(&made);
    }
    testing_done();
}

/* Five segments that add the same records. */
static void test_records_added_again_are_reported_once(void **state)
{
    for (uint32_t has_ids = 0; has_ids < 2; has_ids++) {
        invalid_store_plan plan = plan_of(has_ids != 0, DENSE, 256);
        for (uint32_t i = 0; i < 5; i++)
            add_segment(&plan, 60, 3, 1);
        store_case made = make(&plan, (store_defect){.kind = DEFECT_RECORDS_ADDED_AGAIN});
        assert_true(made.truth->broken == BROKEN_ORDER);
        assert_none_twice(&made, 1);
        store_case_free(&made);
    }
}

/* ----- writing ----- */

static sstore_write_options build_options(void)
{
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    options.threads = 1;
    options.memory_bytes = 4 << 20;
    options.block_bytes = 1024;
    options.ignore_free_space = true;
    return options;
}

/* From a store that cannot be validated nothing is written, and the store is unchanged. */
static void assert_not_rewritten(const store_case *made)
{
    const sstore_write_options as_built = build_options();
    const sstore_write_options options = options_to_merge(&as_built);
    const sstore_write_options compact = options_to_compact(&as_built);
    const char *const inputs[] = {made->path};
    char other[300], copy[300];
    sstore_error error;
    snprintf(other, sizeof other, "%s-other", made->path);
    snprintf(copy, sizeof copy, "%s-copy", made->path);
    scratch_remove(copy);
    folder_copy(made->path, copy);
    assert_status(sstore_merge(other, inputs, 1, &options, NULL, &error), SSTORE_ERROR_DAMAGED, &error);
    assert_false(scratch_exists(other));
    for (uint32_t shard = 0; shard < 2; shard++) { /* the same for each shard, because all records are read */
        assert_status(store_shard(other, made->path, shard, 2, &options, NULL, &error), SSTORE_ERROR_DAMAGED, &error);
        assert_false(scratch_exists(other));
    }
    assert_status(sstore_compact(made->path, SSTORE_COMPACTION_ALL, &compact, NULL, &error), SSTORE_ERROR_DAMAGED,
                  &error);
    assert_true(folders_equal(made->path, copy, ""));
    scratch_remove(copy);
}

static void test_equal_fingerprints_are_not_rewritten(void **state)
{
    store_case made = make_equal(false);
    assert_not_rewritten(&made);
    store_case_free(&made);
    made = make_equal(true);
    assert_not_rewritten(&made);
    store_case_free(&made);
}

static void test_descending_fingerprints_are_not_rewritten(void **state)
{
    static const uint32_t places[][2] = {{1024, 40}, {1024, 62}, {1024, 63}, {256, 40}, {256, 56}, {256, 57}};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) { /* within groups and blocks, and at their borders */
        store_case made = make_descending(places[i][0], places[i][1]);
        assert_not_rewritten(&made);
        store_case_free(&made);
    }
}

static void test_records_added_again_are_not_rewritten(void **state)
{
    invalid_store_plan plan = plan_of(true, DENSE, 256);
    add_segment(&plan, 60, 3, 1);
    add_segment(&plan, 60, 3, 1);
    store_case made = make(&plan, (store_defect){.kind = DEFECT_RECORDS_ADDED_AGAIN});
    assert_not_rewritten(&made);
    store_case_free(&made);
}

static int ignore_record(void *context, const uint64_t *fingerprint, uint64_t id)
{
    return 0;
}

/* Whoever reads all records of a store makes something else of them that has the right sums. So they must be those of
 * the manifest's content sums. */
static void assert_not_read(const char *path)
{
    const sstore_write_options as_built = build_options();
    const sstore_write_options to_compact = options_to_compact(&as_built);
    const sstore_write_options to_merge = options_to_merge(&as_built);
    sstore_error error;
    const char *const input_path = path;
    char *copy = strdup(scratch_path("copy-of-it"));
    sstore *store = store_must_open(path, SSTORE_IO_PREAD, SSTORE_STRATEGY_AUTO);
    assert_status(sstore_compact(path, SSTORE_COMPACTION_ALL, &to_compact, NULL, &error), SSTORE_ERROR_DAMAGED, &error);
    assert_status(sstore_merge(copy, &path, 1, &to_merge, NULL, &error), SSTORE_ERROR_DAMAGED, &error);
    for (uint32_t i = 0; i < 3; i++)
        assert_status(store_shard(copy, input_path, i, 3, &to_merge, NULL, &error), SSTORE_ERROR_DAMAGED, &error);
    assert_false(scratch_exists(copy));
    assert_status(walk_records(store, ignore_record, NULL, &error), SSTORE_ERROR_DAMAGED, &error);
    sstore_close(store);
    free(copy);
}

/* An addition that would merge them is published apart from them, and says so. */
static void assert_not_merged(const char *path)
{
    const sstore_write_options as_built = build_options();
    sstore_write_options to_add = options_to_add(&as_built);
    sstore_change change = SSTORE_CHANGE_INIT;
    sstore_error error;
    to_add.no_compact = false;
    assert_ok(store_add(path, &to_add, (uint64_t[]){1}, (uint64_t[]){1}, 1, &change, &error), &error);
    assert_int_equal(change.segment_count, change.segment_count_before + 1);
    assert_true(change.damaged_file[0] != '\0');
}

static void test_other_records_than_the_sums_are_not_read(void **state)
{
    char copy[300];
    invalid_store_plan plan = plan_of(true, DENSE, 256);
    add_segment(&plan, 60, 3, 1);
    add_segment(&plan, 30, 40, 1);
    store_case made = make(&plan, (store_defect){.kind = DEFECT_CONTENT_SUM, .value = 1});
    snprintf(copy, sizeof copy, "%s-copy", made.path);
    scratch_remove(copy);
    folder_copy(made.path, copy);
    assert_not_read(made.path);
    assert_true(folders_equal(made.path, copy, ""));
    assert_not_merged(copy);
    scratch_remove(copy);
    store_case_free(&made);
}

/* ----- termination ----- */

static void join_with_itself(const store_case *made)
{
    sstore_join_options options = SSTORE_JOIN_OPTIONS_INIT;
    sstore *store = store_must_open(made->path, SSTORE_IO_PREAD, SSTORE_STRATEGY_AUTO), *again;
    sstore_error error;
    options.distance = 1; /* few records have a pair; the others are skipped */
    options.threads = 1;
    options.tmp_dir = scratch_folder();
    step_count_begin("pairs"); /* ends the program if the call does not end */
    assert_ended(walk_pairs(store, NULL, &options, store_ignore_pair, NULL, NULL));
    assert_ok(sstore_reopen(store, &again, &error), &error);
    step_count_begin("join");
    assert_ended(walk_pairs(store, again, &options, store_ignore_pair, NULL, NULL));
    (void)step_count_end();
    sstore_close(again);
    sstore_close(store);
}

/* The directory has the highest possible keys for all blocks of a segment's table 0. So every search begins in block 0,
 * where most of the wanted fingerprints are not. */
static void test_keys_above_their_blocks_lead_to_no_endless_search(void **state)
{
    invalid_store_plan plan = plan_of(false, CLUSTERED, 256);
    add_segment(&plan, 100, 9, 1);
    add_segment(&plan, 60, 10, 1);
    store_case made = make(&plan, (store_defect){.kind = DEFECT_KEY, .size = 3});
    assert_true(made.truth->broken == BROKEN_DIRECTORY && made.made.segments[0].keys[0].count > 2);
    join_with_itself(&made);
    store_case_free(&made);
}

/* An empty segment with a plan of 64 groups for distance 16, which is slow to prove and to name. */
static void test_a_slow_plan_takes_bounded_work(void **state)
{
    invalid_store_plan plan = plan_of(false, UNIFORM, 256);
    sstore *store = NULL;
    sstore_cursor *cursor = NULL;
    record_set got = {.count = 0};
    add_segment(&plan, 0, 9, 1);
    store_case made = make(&plan, (store_defect){.kind = DEFECT_SLOW_PLAN});
    step_count_begin("open");
    const sstore_status status = sstore_open(made.path, NULL, &store, NULL);
    assert_ended(status);
    if (status == SSTORE_OK) {
        sstore_statistics all = {.struct_size = sizeof all};
        sstore_segment_statistics segment = {.struct_size = sizeof segment};
        step_count_begin("stat");
        assert_ended(sstore_stat(store, &all, NULL));
        step_count_begin("stat of a segment");
        assert_ended(sstore_stat_segment(store, 0, &segment, NULL));
        step_count_begin("cursor");
        assert_ended(sstore_cursor_create(store, &cursor, NULL));
        for (uint32_t distance = 0; distance <= 64; distance += 8) {
            step_count_begin("query");
            assert_ended(sstore_query(cursor, (uint64_t[]){1}, distance, take_match, &got, NULL));
        }
        step_count_begin("each record");
        assert_ended(walk_records(store, take_record, &got, NULL));
        sstore_cursor_free(cursor);
        sstore_close(store);
    }
    step_count_begin("verify");
    assert_ended(sstore_verify(made.path, NULL, NULL, NULL, NULL));
    (void)step_count_end();
    record_set_free(&got);
    store_case_free(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_equal_fingerprints_are_reported_once, testing_teardown),
        cmocka_unit_test_teardown(test_equal_neighbours_are_reported_once, testing_teardown),
        cmocka_unit_test_teardown(test_records_added_again_are_reported_once, testing_teardown),
        cmocka_unit_test_teardown(test_equal_fingerprints_are_not_rewritten, testing_teardown),
        cmocka_unit_test_teardown(test_descending_fingerprints_are_not_rewritten, testing_teardown),
        cmocka_unit_test_teardown(test_records_added_again_are_not_rewritten, testing_teardown),
        cmocka_unit_test_teardown(test_other_records_than_the_sums_are_not_read, testing_teardown),
        cmocka_unit_test_teardown(test_keys_above_their_blocks_lead_to_no_endless_search, testing_teardown),
        cmocka_unit_test_teardown(test_a_slow_plan_takes_bounded_work, testing_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

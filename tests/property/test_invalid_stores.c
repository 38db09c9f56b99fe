/*
 * test_invalid_stores.c - stores with wrong contents and correct checksums: calls that read, join or rewrite them must
 * report damage or give their contents. They must not access memory outside of buffers, report a record twice or one
 * that is too far, write records out of order, or remove what they could not read; and they must end. Stores of one
 * word have one clear case of each; the fuzz targets have the others. Stores of several words are random: equal
 * fingerprints at two ranks or in two segments, fingerprints that do not ascend, block keys and ranks that lead
 * elsewhere, word indexes of other fingerprints, radii that do not suffice.
 *
 * A failing case prints its seed; SSTORE_TEST_SEED=<seed> SSTORE_TEST_CASES=1 runs that case first.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "output/walk.h"
#include "sstore_statistics.h"
#include "support/reference_block.h"
#include "support/scratch.h"
#include "support/store_case.h"
#include "support/use_store.h"

#define WORDS 3u
#define PAIRS 90u /* of fingerprints that differ in word 0 alone */
#define BLOCK_BYTES 256u
#define A_BLOCK ((BLOCK_BYTES - 8) / (8 * WORDS))
#define DISTANCE 5u
#define QUERIES 12u
#define TRAILING 8u
#ifdef NDEBUG
#define CASES 32u
#else
#define CASES 12u
#endif

/* Universes of invalid_store.h. */
enum { CLUSTERED, DENSE, FEW, UNIFORM };

/* ----- stores of one word ----- */

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

/* What is asked of a store, in every way. */
typedef struct asking {
    const char *path;
    uint32_t words;
    const uint64_t *queries; /* `count` of them; the first ones also one by one */
    size_t count, alone;
    uint32_t distances[3];
} asking;

/* The matches of one query, or of those of a batch, one after the other. */
typedef struct answer {
    const asking *asked;
    uint32_t distance;
    size_t query, last; /* that of a query or the first of a batch; that of the last match */
    record_set got;
} answer;

static const uint64_t *query_of(const asking *self, size_t number)
{
    return self->queries + number * self->words;
}

static int take_record(void *context, const uint64_t *fingerprint, uint64_t id)
{
    record_set_put(context, fingerprint, id);
    return 0;
}

/* Pairs as records, whose fingerprints and ids are mixed. */
typedef struct pairs_found {
    uint32_t words;
    record_set got;
} pairs_found;

static int take_pair(void *context, const sstore_pair *pair)
{
    pairs_found *self = context;
    uint64_t mixed = 0;
    for (uint32_t i = 0; i < self->words; i++)
        mixed = rng_mix(mixed ^ pair->fingerprint[i]) + pair->other_fingerprint[i];
    record_set_put(&self->got, &mixed, rng_mix(pair->id) ^ pair->other_id);
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

static int take_match(void *context, const sstore_match *match)
{
    answer *self = context;
    const size_t query = self->query + match->query_index;
    assert_int_equal(fingerprint_distance(match->fingerprint, query_of(self->asked, query), self->asked->words),
                     match->distance);
    assert_true(match->distance <= self->distance);
    record_set_put(&self->got, match->fingerprint, match->id);
    return 0;
}

static uint64_t opened_count, call_count, damaged_count;

static void assert_ended(sstore_status status)
{
    call_count++;
    damaged_count += status == SSTORE_ERROR_DAMAGED;
    assert_true(status == SSTORE_OK || status == SSTORE_ERROR_DAMAGED);
}

static int take_match_in_turn(void *context, const sstore_match *match)
{
    answer *self = context;
    if (self->got.count > 0 && match->query_index != self->last)
        assert_no_repeats(&self->got);
    self->last = match->query_index;
    return take_match(self, match);
}

/* Many queries, which are answered together. A single one would not be. */
static void assert_no_query_repeats(const sstore *store, const asking *asked, size_t count, uint32_t distance)
{
    answer answers = {.asked = asked, .distance = distance, .got = {.words = asked->words}};
    sstore_batch_options options = SSTORE_BATCH_OPTIONS_INIT;
    options.threads = 2;
    assert_ended(walk_matches(store, asked->queries, count, distance, &options, take_match_in_turn, &answers, NULL));
    assert_no_repeats(&answers.got);
}

static void ask_one(sstore_cursor *cursor, const asking *asked, size_t query, uint32_t distance, bool nearest)
{
    answer found = {.asked = asked, .distance = distance, .query = query, .got = {.words = asked->words}};
    const uint64_t *fingerprint = query_of(asked, query);
    assert_ended(nearest ? store_nearest(cursor, fingerprint, distance, take_match, &found, NULL)
                         : sstore_query(cursor, fingerprint, distance, take_match, &found, NULL));
    assert_no_repeats(&found.got);
}

static void ask_all(const sstore *store, const asking *asked)
{
    sstore_cursor *cursor = store_must_cursor(store);
    for (size_t i = 0; i < 3; i++) {
        for (size_t query = 0; query < asked->alone; query++)
            ask_one(cursor, asked, query, asked->distances[i], false);
        for (size_t count = 1; count <= asked->count; count *= 10)
            assert_no_query_repeats(store, asked, count, asked->distances[i]);
    }
    ask_one(cursor, asked, 0, 64 * asked->words, true);
    sstore_cursor_free(cursor);
}

static void join_all(const sstore *store)
{
    sstore_join_options join = SSTORE_JOIN_OPTIONS_INIT;
    pairs_found found = {.words = sstore_fingerprint_bits(store) / 64};
    sstore *again;
    sstore_error error;
    join.threads = 1;
    join.tmp_dir = scratch_folder();
    assert_ok(sstore_reopen(store, &again, &error), &error);
    assert_ended(walk_pairs(store, again, &join, take_pair, &found, NULL));
    assert_no_repeats(&found.got);
    assert_ended(walk_pairs(store, NULL, &join, take_pair, &found, NULL));
    assert_no_repeats(&found.got);
    sstore_close(again);
}

/* Read all records in every way; none may be reported twice. A store of several words may be refused. */
static void assert_none_twice(const asking *asked)
{
    const sstore_strategy strategies[] = {SSTORE_STRATEGY_FULL_SCAN, SSTORE_STRATEGY_AUTO, SSTORE_STRATEGY_PROBE};
    for (uint32_t i = 0; i < 3; i++) {
        sstore_open_options options = SSTORE_OPEN_OPTIONS_INIT;
        sstore *store;
        record_set got = {.words = asked->words};
        options.strategy = strategies[i];
        options.io = (run_seed + i) % 2 == 0 ? SSTORE_IO_PREAD : SSTORE_IO_MMAP;
        const sstore_status status = sstore_open(asked->path, &options, &store, NULL);
        assert_true(status == SSTORE_OK || asked->words > 1);
        if (status != SSTORE_OK) {
            assert_true(status == SSTORE_ERROR_DAMAGED || status == SSTORE_ERROR_UNSUPPORTED);
            continue;
        }
        opened_count++;
        assert_ended(walk_records(store, take_record, &got, NULL));
        assert_no_repeats(&got);
        ask_all(store, asked);
        join_all(store);
        sstore_close(store);
    }
}

/* A fingerprint and others above it are asked for. */
static void assert_none_twice_near(const store_case *made, uint64_t fingerprint)
{
    static uint64_t queries[1000];
    const asking asked = {made->path, 1, queries, 1000, 1, {3, 64, 3}};
    for (size_t i = 0; i < 1000; i++)
        queries[i] = i % 2 == 0 ? fingerprint : fingerprint + i;
    assert_none_twice(&asked);
}

static void test_equal_fingerprints_are_reported_once(void **state)
{
    store_case made = make_equal(true);
    assert_none_twice_near(&made, 1);
    store_case_free(&made);
    made = make_equal(false);
    assert_none_twice_near(&made, 1);
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
        assert_none_twice_near(&made, sample_fingerprint(DENSE, place[1]));
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
        assert_none_twice_near(&made, 1);
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
    matches found = {.count = 0};
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
            assert_ended(sstore_query(cursor, (uint64_t[]){1}, distance, store_collect, &found, NULL));
        }
        step_count_begin("each record");
        assert_ended(walk_records(store, take_record, &got, NULL));
        sstore_cursor_free(cursor);
        sstore_close(store);
    }
    step_count_begin("verify");
    assert_ended(sstore_verify(made.path, NULL, NULL, NULL, NULL));
    (void)step_count_end();
    matches_free(&found);
    record_set_free(&got);
    store_case_free(&made);
}

/* ----- several words ----- */

/* Fingerprints (0, x, y) and (1, x, y). The two have the same id, so that they are one record if their words 0 become
 * equal. Word 0 is skewed, so its index is not probed. */
typedef struct rows {
    uint64_t words[2 * PAIRS][WORDS], ids[2 * PAIRS];
} rows;

static rows make_rows(rng *random)
{
    rows made;
    for (size_t i = 0; i < PAIRS; i++) {
        const bool is_near = i > 0 && rng_one_in(random, 2);
        const uint64_t x = is_near ? rng_flip(random, made.words[i - 1][1], 1) : rng_next(random),
                       y = is_near ? rng_flip(random, made.words[i - 1][2], 2) : rng_next(random);
        for (uint64_t j = 0; j < 2; j++) {
            memcpy(made.words[i + j * PAIRS], (uint64_t[]){j, x, y}, sizeof made.words[i]);
            made.ids[i + j * PAIRS] = i;
        }
    }
    return made;
}

/* Build the store, in one segment or with the second half added in another one. */
static edited_store build(const char *path, const rows *from, bool has_ids, bool in_two)
{
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    sstore_builder *builder;
    sstore_error error;
    options.fingerprint_bits = 64 * WORDS;
    options.distance = DISTANCE;
    options.block_bytes = BLOCK_BYTES;
    options.no_ids = !has_ids;
    options.threads = 1;
    scratch_remove(path);
    for (size_t part = 0; part < (in_two ? 2 : 1); part++) {
        const size_t first = part * PAIRS, count = in_two ? PAIRS : 2 * PAIRS;
        if (part == 0)
            assert_ok(sstore_builder_create(path, &options, &builder, &error), &error);
        else
            assert_ok(sstore_builder_create_addition(path, &change_apart, &builder, &error), &error);
        assert_ok(sstore_builder_add(builder, from->words[first], has_ids ? from->ids + first : NULL, count, &error),
                  &error);
        assert_ok(sstore_builder_finish(builder, NULL, &error), &error);
    }
    return edited_load(path);
}

/* The number of whole fingerprints of a segment. */
static size_t row_count(edited_store *store, uint32_t segment)
{
    size_t blocks = 0;
    while (edited_block(store, segment, 0, blocks) != NULL)
        blocks++;
    const size_t all = store->segment_count > 1 + WORDS ? PAIRS : 2 * PAIRS;
    assert_int_equal(blocks, (all + A_BLOCK - 1) / A_BLOCK);
    return all;
}

static uint8_t *row_of(edited_store *store, uint32_t segment, size_t rank)
{
    return edited_block(store, segment, 0, rank / A_BLOCK) + rank % A_BLOCK * 8 * WORDS;
}

static void set_word_0(edited_store *store, uint32_t segment, size_t rank, uint64_t value)
{
    memset(row_of(store, segment, rank), 0, 8);
    row_of(store, segment, rank)[0] = (uint8_t)value;
}

static void set_keys(edited_store *store, uint32_t segment, rng *random, bool right)
{
    edited_array *keys = &store->segments[segment].keys[0];
    uint64_t last = 0;
    for (size_t i = 0; i < keys->count; i++) {
        const size_t end = (i + 1) * A_BLOCK, rank = end < row_count(store, segment) ? end : row_count(store, segment);
        const uint64_t is = row_of(store, segment, rank - 1)[0];
        const uint64_t key = right ? is : rng_below(random, 3);
        keys->values[i] = last = key < last ? last : key;
    }
    store->segments[segment].new_directory = true;
}

static void use(edited_store *made, const char *path, const rows *from)
{
    uint64_t queries[QUERIES][WORDS];
    const asking asked = {path, WORDS, queries[0], QUERIES, QUERIES, {0, 4, DISTANCE + 3}};
    for (size_t i = 0; i < QUERIES; i++)
        memcpy(queries[i], from->words[i * PAIRS / QUERIES], sizeof queries[i]);
    edited_set_checksums(made);
    scratch_remove(path);
    edited_write(made, path);
    assert_none_twice(&asked);
}

static void assert_refused(const char *path, const char *reason)
{
    sstore_error error;
    sstore *store;
    const sstore_status status = sstore_open(path, NULL, &store, &error);
    assert_null(store);
    assert_true(status == SSTORE_ERROR_DAMAGED || status == SSTORE_ERROR_UNSUPPORTED);
    if (strstr(error.message, reason) == NULL)
        fail_msg("'%s' is not in '%s'", reason, error.message);
}

static void assert_damaged(const char *path)
{
    sstore_error error;
    assert_status(sstore_verify(path, NULL, NULL, NULL, &error), SSTORE_ERROR_DAMAGED, &error);
    assert_true(error.file[0] != '\0');
}

static char path[256];

static uint64_t case_seed(uint64_t number)
{
    const uint64_t seed = run_seed + number;
    testing_doing("case of seed %" PRIu64, seed);
    return seed;
}

/* Words 0 become any, and so do the block keys: fingerprints are equal within blocks, in blocks apart, in runs of
 * blocks with equal first words, and in two segments. Their word indexes still lead to them. */
static void test_equal_fingerprints(void **state)
{
    const uint64_t cases = testing_number("SSTORE_TEST_CASES", CASES);
    for (uint64_t number = 0; number < cases; number++) {
        rng random = rng_seeded(case_seed(number));
        const rows from = make_rows(&random);
        const bool in_two = rng_one_in(&random, 2), constant = rng_one_in(&random, 3);
        edited_store made = build(path, &from, rng_one_in(&random, 2), in_two);
        for (uint32_t segment = 0; segment < made.segment_count; segment += 1 + WORDS) {
            const size_t count = row_count(&made, segment);
            for (size_t rank = 0; rank < count; rank++)
                if (constant || rng_one_in(&random, 2))
                    set_word_0(&made, segment, rank, constant ? 0 : rng_below(&random, 2));
            set_keys(&made, segment, &random, !rng_one_in(&random, 3));
        }
        use(&made, path, &from);
        assert_damaged(path);
        edited_free(&made);
    }
    testing_done();
}

/* The fingerprints are those of another store, so the word indexes do not fit; or ids or blocks of indexes are. */
static void test_parts_of_another_store(void **state)
{
    const uint64_t cases = testing_number("SSTORE_TEST_CASES", CASES / 4);
    uint64_t others_differ = 0;
    for (uint64_t number = 0; number < cases; number++) {
        rng random = rng_seeded(case_seed(number));
        const rows from = make_rows(&random), others = make_rows(&random);
        for (uint32_t part = 0; part <= WORDS; part++)
            for (uint32_t which = 0; which < 2; which++) {
                testing_doing("seed %" PRIu64 ", part %u, %s of another store", run_seed + number, part,
                              which == 0 ? "table 0" : "ids");
                edited_store other = build(path, &others, true, false), made = build(path, &from, true, false);
                const uint32_t file = which == 0 ? 0 : EDITED_IDS;
                bool differs = false;
                for (size_t i = 0; edited_block(&made, part, file, i) != NULL; i++) {
                    const uint8_t *source = edited_block(&other, part, file, i);
                    if (source == NULL || rng_one_in(&random, 5))
                        continue;
                    uint8_t *target = edited_block(&made, part, file, i);
                    differs |= memcmp(target, source, BLOCK_BYTES - TRAILING) != 0;
                    memcpy(target, source, BLOCK_BYTES);
                    made.segments[part].keys[file].values[i] = other.segments[part].keys[file].values[i];
                }
                made.segments[part].new_directory = true;
                use(&made, path, &from);
                others_differ += differs; /* words 0, ids, and the order of words 1 are the same */
                if (differs)
                    assert_damaged(path);
                edited_free(&made);
                edited_free(&other);
            }
    }
    assert_true(others_differ >= cases);
    testing_done();
}

/* Ranks that the segment does not have, that two words share, or that do not ascend: ids of word indexes. */
static void test_wrong_ranks(void **state)
{
    const uint64_t cases = testing_number("SSTORE_TEST_CASES", 2 * CASES);
    for (uint64_t number = 0; number < cases; number++) {
        rng random = rng_seeded(case_seed(number));
        const rows from = make_rows(&random);
        edited_store made = build(path, &from, rng_one_in(&random, 2), false);
        for (uint64_t changes = rng_between(&random, 1, 4); changes > 0; changes--) {
            const uint32_t part = 1 + (uint32_t)rng_below(&random, WORDS);
            uint8_t *block = edited_block(&made, part, EDITED_IDS, 0);
            block[rng_between(&random, 20, BLOCK_BYTES - TRAILING - 1)] ^= (uint8_t)(1u << rng_below(&random, 8));
        }
        use(&made, path, &from);
        assert_damaged(path);
        edited_free(&made);
    }
    testing_done();
}

/* The kind of an index: its number, and its radius. */
static void test_radii(void **state)
{
    rng random = rng_seeded(run_seed);
    const rows from = make_rows(&random);
    for (uint32_t word = 0; word < WORDS; word++)
        for (uint32_t above = 0; above <= 18; above++) { /* the radius, plus 1 */
            testing_doing("word %u with the radius %d", word, (int)above - 1);
            edited_store made = build(path, &from, true, false);
            edited_set(&made, 1 + word, EDITED_KIND, 0, 2 | word << 8 | above << 16);
            use(&made, path, &from); /* a smaller radius than the plan is complete for may be enough */
            if (above > 17)
                assert_refused(path, "radius");
            edited_free(&made);
        }
    edited_store made = build(path, &from, true, false);
    for (uint32_t word = 0; word < WORDS; word++)
        edited_set(&made, 1 + word, EDITED_KIND, 0, 2 | word << 8 | 1 << 16);
    use(&made, path, &from);
    assert_refused(path, "do not reach the store's distance");
    edited_set(&made, 2, EDITED_KIND, 0, 2 | 2 << 8 | 4 << 16); /* another word's */
    use(&made, path, &from);
    assert_refused(path, "kind");
    edited_free(&made);
    testing_done();
}

#define SEGMENTS 60u
#define IN_FIRST 6000u
#define IN_OTHERS 100u

static int count_match(void *context, const sstore_match *match)
{
    ++*(uint64_t *)context;
    return match->distance > 128;
}

/* A valid store: to look up each match in the segments that were added later, all of whose first words are equal, takes
 * many steps, but as many are allowed. */
static void test_valid_store_of_many_segments(void **state)
{
    static uint64_t fingerprints[IN_FIRST][2];
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    const data_set first = {.id_kind = DATA_ASSIGNED, .words = 2, .count = IN_FIRST, .fingerprints = fingerprints[0]};
    sstore_error error;
    rng random = rng_seeded(run_seed);
    uint64_t found = 0;
    options.distance = DISTANCE;
    options.block_bytes = BLOCK_BYTES;
    options.threads = 1;
    scratch_remove(path);
    for (uint32_t segment = 0; segment < SEGMENTS; segment++) {
        for (size_t i = 0; i < (segment == 0 ? IN_FIRST : IN_OTHERS); i++)
            fingerprints[i][1] = rng_next(&random);
        if (segment == 0)
            store_must_build(path, &options, &first);
        else
            assert_ok(store_add(path, NULL, fingerprints[0], NULL, IN_OTHERS, NULL, &error), &error);
    }
    sstore *store = store_must_open(path, SSTORE_IO_AUTO, SSTORE_STRATEGY_AUTO);
    sstore_cursor *cursor = store_must_cursor(store);
    assert_ok(sstore_query(cursor, fingerprints[0], 128, count_match, &found, &error), &error);
    assert_int_equal(found, IN_FIRST + (SEGMENTS - 1) * IN_OTHERS);
    sstore_cursor_free(cursor);
    sstore_close(store);
}

int main(void)
{
    rng_start_run();
    snprintf(path, sizeof path, "%s", scratch_path("invalid-words"));
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
        cmocka_unit_test_teardown(test_equal_fingerprints, testing_teardown),
        cmocka_unit_test_teardown(test_parts_of_another_store, testing_teardown),
        cmocka_unit_test_teardown(test_wrong_ranks, testing_teardown),
        cmocka_unit_test_teardown(test_radii, testing_teardown),
        cmocka_unit_test_teardown(test_valid_store_of_many_segments, testing_teardown),
    };
    const int failed_count = cmocka_run_group_tests(tests, NULL, NULL);
    testing_figure("invalid stores opened %" PRIu64 " times, and read by %" PRIu64 " calls, of which %" PRIu64
                   " found damage",
                   opened_count, call_count, damaged_count);
    return failed_count;
}

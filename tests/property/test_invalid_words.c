/*
 * test_invalid_words.c - stores of several words with correct checksums and wrong contents: equal fingerprints at two
 * ranks or in two segments, fingerprints that do not ascend, block keys and ranks that lead elsewhere, word indexes of
 * other fingerprints, radii that do not suffice. Calls must report damage, or no record twice and none that is too far;
 * they must not access memory outside of buffers, and they must end.
 *
 * A failing case prints its seed; SSTORE_TEST_SEED=<seed> SSTORE_TEST_CASES=1 runs that case first.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "output/walk_matches.h"
#include "sstore.h"
#include "support/edited_store.h"
#include "support/random.h"
#include "support/scratch.h"
#include "support/testing.h"

#define WORDS 3u
#define PAIRS 90u /* of fingerprints that differ in word 0 alone */
#define BLOCK_BYTES 256u
#define A_BLOCK ((BLOCK_BYTES - 8) / (8 * WORDS))
#define DISTANCE 5u
#define QUERIES 12u
#define TRAILING 8u
#ifdef NDEBUG
#define CASES 40u
#else
#define CASES 12u
#endif

/* ----- stores ----- */

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
    options.without_ids = !has_ids;
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

/* ----- calls ----- */

/* What one query reported. */
typedef struct answer {
    const uint64_t *query;
    uint32_t distance;
    bool has_ids;
    size_t count;
    struct found {
        uint64_t words[WORDS], id;
    } found[4 * PAIRS];
} answer;

static int take_match(void *context, const sstore_match *match)
{
    answer *self = context;
    uint32_t distance = 0;
    self += match->query_index;
    for (uint32_t i = 0; i < WORDS; i++)
        distance += sstore_hamming_distance(match->fingerprint[i], self->query[i]);
    assert_int_equal(distance, match->distance);
    assert_true(distance <= self->distance);
    for (size_t i = 0; i < self->count; i++)
        if (memcmp(self->found[i].words, match->fingerprint, sizeof self->found[i].words) == 0 &&
            self->found[i].id == match->id)
            fail_msg("a record was reported twice");
    assert_in_range(self->count, 0, 4 * PAIRS - 1);
    memcpy(self->found[self->count].words, match->fingerprint, sizeof self->found[0].words);
    self->found[self->count++].id = match->id;
    return 0;
}

typedef struct tally {
    uint64_t stores, calls, damaged;
} tally;
static tally all;

static void note(sstore_status status, const sstore_error *error)
{
    all.calls++;
    all.damaged += status != SSTORE_OK;
    if (status != SSTORE_OK && status != SSTORE_ERROR_DAMAGED && status != SSTORE_ERROR_UNSUPPORTED)
        assert_ok(status, error);
}

/* Queries, alone and as a batch. */
static void ask(const sstore *store, const rows *from, uint32_t distance)
{
    static answer answers[QUERIES];
    uint64_t queries[QUERIES][WORDS];
    sstore_batch_options options = SSTORE_BATCH_OPTIONS_INIT;
    sstore_cursor *cursor;
    sstore_error error;
    options.threads = 2;
    assert_ok(sstore_cursor_create(store, &cursor, &error), &error);
    for (size_t i = 0; i < QUERIES; i++) {
        memcpy(queries[i], from->words[i * PAIRS / QUERIES], sizeof queries[i]);
        answers[i] = (answer){.query = queries[i], .distance = distance};
        note(sstore_query(cursor, queries[i], distance, take_match, &answers[i], &error), &error);
        answers[i].count = 0;
    }
    note(walk_matches(store, queries[0], QUERIES, distance, &options, take_match, answers, &error), &error);
    answers[0].count = 0;
    answers[0].distance = 64 * WORDS;
    note(sstore_query_nearest(cursor, queries[0], 64 * WORDS, take_match, answers, &error), &error);
    sstore_cursor_free(cursor);
}

static void use(edited_store *made, const char *path, const rows *from)
{
    edited_set_checksums(made);
    scratch_remove(path);
    edited_write(made, path);
    all.stores++;
    for (sstore_io io = SSTORE_IO_PREAD; io <= SSTORE_IO_MMAP; io++)
        for (sstore_strategy strategy = SSTORE_STRATEGY_AUTO; strategy <= SSTORE_STRATEGY_FULL_SCAN; strategy++) {
            sstore_open_options options = SSTORE_OPEN_OPTIONS_INIT;
            sstore_error error;
            sstore *store;
            options.io = io;
            options.strategy = strategy;
            const sstore_status status = sstore_open(path, &options, &store, &error);
            note(status, &error);
            for (uint32_t distance = 0; status == SSTORE_OK && distance <= DISTANCE + 3; distance += 4)
                ask(store, from, distance);
            sstore_close(store);
        }
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

/* ----- tests ----- */

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
    sstore_builder *builder;
    sstore_cursor *cursor;
    sstore_error error;
    sstore *store;
    rng random = rng_seeded(run_seed);
    uint64_t all_records = 0, found = 0;
    options.fingerprint_bits = 128;
    options.distance = DISTANCE;
    options.block_bytes = BLOCK_BYTES;
    options.threads = 1;
    scratch_remove(path);
    for (uint32_t segment = 0; segment < SEGMENTS; segment++) {
        const size_t count = segment == 0 ? IN_FIRST : IN_OTHERS;
        for (size_t i = 0; i < count; i++)
            fingerprints[i][1] = rng_next(&random);
        assert_ok(segment == 0 ? sstore_builder_create(path, &options, &builder, &error)
                               : sstore_builder_create_addition(path, &change_apart, &builder, &error),
                  &error);
        assert_ok(sstore_builder_add(builder, fingerprints[0], NULL, count, &error), &error);
        assert_ok(sstore_builder_finish(builder, NULL, &error), &error);
        all_records += count;
    }
    assert_ok(sstore_open(path, NULL, &store, &error), &error);
    assert_ok(sstore_cursor_create(store, &cursor, &error), &error);
    assert_ok(sstore_query(cursor, fingerprints[0], 128, count_match, &found, &error), &error);
    assert_int_equal(found, all_records);
    sstore_cursor_free(cursor);
    sstore_close(store);
}

static int tell(void **state)
{
    testing_figure("invalid stores of several words: %" PRIu64 ", read by %" PRIu64 " calls, of which %" PRIu64
                   " reported damage; no record twice",
                   all.stores, all.calls, all.damaged);
    return 0;
}

int main(void)
{
    rng_start_run();
    snprintf(path, sizeof path, "%s", scratch_path("invalid"));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_equal_fingerprints, testing_teardown),
        cmocka_unit_test_teardown(test_parts_of_another_store, testing_teardown),
        cmocka_unit_test_teardown(test_wrong_ranks, testing_teardown),
        cmocka_unit_test_teardown(test_radii, testing_teardown),
        cmocka_unit_test_teardown(test_valid_store_of_many_segments, testing_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, tell);
}

/* The full check of blocks: it accepts the blocks of writers, and no others. Each flipped bit, and blocks that end too
 * early, must be refused unless a writer could have made the result. */
#include "read/block_check.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "support/block_table.h"
#include "support/random.h"
#include "support/reference_block.h"
#include "support/testing.h"

#define CONTENTS_BITS(bytes) (8 * ((bytes)-SS_BLOCK_TRAILER_BYTES))

/* ----- tables ----- */

/* Decode as a verification does, to a buffer of exactly the right size. NULL if the block is refused. */
static uint64_t *decode(const uint8_t *bytes, uint32_t block_bytes, const ss_code *code, uint32_t *count_out)
{
    ss_block block;
    const char *reason;
    if (!ss_block_open(&block, bytes, block_bytes, code, &reason))
        return NULL;
    uint64_t *values = malloc(block.count * sizeof *values);
    const bool passed = ss_block_decode(&block, values);
    *count_out = block.count;
    if (passed)
        return values;
    free(values);
    return NULL;
}

static bool pass(ss_block_check *canonical, const uint8_t *bytes)
{
    uint32_t count = 0;
    const char *reason = NULL;
    uint64_t *values = decode(bytes, canonical->block_bytes, canonical->code, &count);
    if (values == NULL)
        return false;
    const bool passed = ss_block_check_table(canonical, bytes, values, count, &reason);
    assert_true(passed || (reason != NULL && *reason != '\0'));
    free(values);
    return passed;
}

static void canonical_init(ss_block_check *canonical, uint32_t block_bytes, const ss_code *code)
{
    sstore_error error;
    assert_ok(ss_block_check_init(canonical, block_bytes, code, &error), &error);
}

static void test_tables(void **state)
{
    rng random = rng_seeded(run_seed);
    for (uint32_t trial = 0; trial < 60; trial++) {
        const uint32_t block_bytes = 256u << rng_below(&random, BLOCK_SIZE_COUNT);
        block_table table;
        ss_block_check canonical;
        testing_doing("trial %" PRIu32, trial);
        block_table_make(&table, &random, (data_kind)rng_below(&random, DATA_KIND_COUNT),
                         1 + (size_t)rng_below(&random, 20000));
        canonical_init(&canonical, block_bytes, &table.code);
        uint8_t *bytes = malloc(block_bytes);
        for (size_t done = 0; done < table.count;) {
            done += block_table_encode(&table, done, block_bytes, bytes);
            assert_true(pass(&canonical, bytes));
        }
        free(bytes);
        ss_block_check_free(&canonical);
        block_table_free(&table);
    }
    testing_done();
}

/* Flip each bit of a table's second block: the result is either a wrong encoding, or a writer's encoding of other
 * fingerprints. Only the latter may be accepted. */
static void flip_bits(const block_table *table, uint32_t block_bytes, uint64_t *others, uint64_t *unsound)
{
    uint8_t first[1024], second[1024], again[1024];
    reference_code slow;
    const uint32_t before = block_table_encode(table, 0, block_bytes, first);
    if (before == table->count)
        return;
    reference_code_init(&slow, table->code.lengths);
    block_table_encode(table, before, block_bytes, second);
    for (uint32_t bit = 0; bit < CONTENTS_BITS(block_bytes); bit++) {
        ss_block_check canonical;
        uint32_t count;
        second[bit / 8] ^= (uint8_t)(1u << bit % 8);
        uint64_t *values = decode(second, block_bytes, &table->code, &count);
        if (values != NULL && values[0] > table->values[before - 1]) {
            const char *reason;
            uint64_t *slowly = malloc(count * sizeof *slowly);
            const bool is_sound = reference_block_decode(second, block_bytes, &slow, slowly);
            canonical_init(&canonical, block_bytes, &table->code);
            assert_true(pass(&canonical, first));
            if (ss_block_check_table(&canonical, second, values, count, &reason)) {
                assert_true(is_sound);
                reference_block_encode(again, block_bytes, table->code.lengths, values, count);
                assert_memory_equal(again, second, block_bytes - SS_BLOCK_TRAILER_BYTES);
            } else {
                *others += is_sound;
                *unsound += !is_sound;
            }
            ss_block_check_free(&canonical);
            free(slowly);
        }
        free(values);
        second[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
}

static void test_flipped_bits(void **state)
{
    rng random = rng_seeded(run_seed + 1);
    uint64_t others = 0, unsound = 0;
    for (uint32_t trial = 0; trial < (testing_slow() ? 20 : 60); trial++) {
        const uint32_t block_bytes = 256u << rng_below(&random, 3);
        block_table table;
        testing_doing("trial %" PRIu32, trial);
        block_table_make(&table, &random, (data_kind)rng_below(&random, DATA_KIND_COUNT), 3000);
        flip_bits(&table, block_bytes, &others, &unsound);
        block_table_free(&table);
    }
    testing_figure("blocks not as a writer makes them: %" PRIu64 " sound, %" PRIu64 " decoded though not sound", others,
                   unsound);
    assert_true(others > 0 && (unsound > 0 || testing_slow()));
    testing_done();
}

/* Blocks that end before they are full. */
static void test_early_ends(void **state)
{
    rng random = rng_seeded(run_seed + 2);
    for (uint32_t trial = 0; trial < 40; trial++) {
        const uint32_t block_bytes = 256u << rng_below(&random, BLOCK_SIZE_COUNT);
        block_table table;
        ss_block_check canonical;
        testing_doing("trial %" PRIu32, trial);
        block_table_make(&table, &random, (data_kind)rng_below(&random, DATA_KIND_COUNT),
                         2 + (size_t)rng_below(&random, 5000));
        canonical_init(&canonical, block_bytes, &table.code);
        uint8_t *bytes = malloc(block_bytes);
        const uint32_t fitting = block_table_encode(&table, 0, block_bytes, bytes);
        if (fitting > 1) {
            block_table shorter = table;
            shorter.count = fitting - 1;
            assert_int_equal(block_table_encode(&shorter, 0, block_bytes, bytes), fitting - 1);
            assert_true(pass(&canonical, bytes));
            block_table_encode(&table, fitting - 1, block_bytes, bytes);
            assert_false(pass(&canonical, bytes));
            /* After an unreadable block this is unknown. */
            ss_block_check_skip(&canonical);
            assert_true(pass(&canonical, bytes));
        }
        free(bytes);
        ss_block_check_free(&canonical);
        block_table_free(&table);
    }
    testing_done();
}

/* Each byte of a frame and of padding. */
static void test_each_kind_of_other_bytes(void **state)
{
    /* A larger key shift than necessary: the same fingerprints in another frame. */
    uint64_t many[65];
    uint8_t many_bits[65], large[1024];
    ss_block_check other;
    const uint8_t equal[SS_SYMBOL_COUNT] = {[32] = 1};
    static ss_code equal_code;
    ss_code_init(&equal_code, equal);
    for (uint32_t i = 0; i < 65; i++)
        many[i] = i;
    ss_step_bits(&equal_code, many, 65, many_bits);
    ss_block_encode(1024, &equal_code, many, many_bits, 65, large);
    canonical_init(&other, 1024, &equal_code);
    assert_true(pass(&other, large));
    large[1024 - 16 + 2] = 5; /* the last group's own bits are padding, which is 0 */
    ss_block_check_skip(&other);
    assert_false(pass(&other, large));
    large[1024 - 16 + 2] = 0;
    /* A byte between groups 0 and 1 */
    ss_store_le16(large + 1024 - 16 - 4, (uint16_t)(reference_begin(large, 1024, 1) + 1));
    ss_block_check_skip(&other);
    assert_false(pass(&other, large));
    ss_block_check_free(&other);
}

/* ----- the id column ----- */

/* Records of few ids a rank, as a column has them. */
static void make_ids(rng *random, uint64_t *ids, uint8_t *starts, size_t count)
{
    const uint32_t width = (uint32_t)rng_between(random, 1, 64);
    const bool repeats = rng_one_in(random, 2);
    for (size_t i = 0; i < count; i++) {
        const uint64_t id = rng_next(random) >> (64 - width);
        starts[i] = i == 0 || !repeats || ids[i - 1] >= id || rng_one_in(random, 3);
        ids[i] = id;
    }
}

static bool pass_ids(ss_block_check *canonical, const uint8_t *bytes)
{
    ss_ids_block block;
    const char *reason = NULL;
    if (!ss_ids_block_open(&block, bytes, canonical->block_bytes, &reason))
        return false;
    const bool passed = ss_block_check_ids(canonical, &block, &reason);
    assert_true(passed || (reason != NULL && *reason != '\0'));
    return passed;
}

#define ID_COUNT 4000u

/* Write a block of `count` records, all of which fit, from the `first` on. */
static void write_ids(uint32_t block_bytes, const uint64_t *ids, const uint8_t *starts, size_t first, uint32_t count,
                      uint8_t *bytes)
{
    ss_ids_frame frame;
    uint64_t rank = 0;
    for (size_t i = 1; i <= first; i++)
        rank += starts[i];
    assert_int_equal(ss_ids_fit(block_bytes, ids + first, starts + first, count, &frame), count);
    ss_ids_encode(block_bytes, &frame, ids + first, starts + first, rank,
                  first + count < ID_COUNT && starts[first + count] == 0, bytes);
}

static void test_id_columns(void **state)
{
    rng random = rng_seeded(run_seed + 3);
    uint64_t ids[ID_COUNT], flips = 0;
    uint8_t starts[ID_COUNT], *bytes = malloc(65536);
    for (uint32_t trial = 0; trial < 100; trial++) {
        const uint32_t block_bytes = 256u << rng_below(&random, BLOCK_SIZE_COUNT);
        ss_block_check canonical;
        sstore_error error;
        ss_ids_frame frame;
        testing_doing("trial %" PRIu32, trial);
        make_ids(&random, ids, starts, ID_COUNT);
        assert_ok(ss_block_check_init(&canonical, block_bytes, NULL, &error), &error);
        for (uint32_t done = 0; done < ID_COUNT;) {
            const uint32_t fitting = ss_ids_fit(block_bytes, ids + done, starts + done, ID_COUNT - done, &frame);
            write_ids(block_bytes, ids, starts, done, fitting, bytes);
            assert_true(pass_ids(&canonical, bytes));
            if (fitting > 1) { /* the first record of the next block comes too early */
                write_ids(block_bytes, ids, starts, done, fitting - 1, bytes);
                canonical.count = 0;
                assert_true(pass_ids(&canonical, bytes));
                write_ids(block_bytes, ids, starts, done + fitting - 1, 1, bytes);
                assert_false(pass_ids(&canonical, bytes));
            }
            /* A bit behind the last value */
            write_ids(block_bytes, ids, starts, done, fitting, bytes);
            const uint32_t used = 160 + (frame.has_starts ? (frame.count + 7) / 8 * 8 : 0) + frame.count * frame.width;
            if (used < CONTENTS_BITS(block_bytes)) {
                const uint32_t bit = (uint32_t)rng_between(&random, used, CONTENTS_BITS(block_bytes) - 1);
                bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
                canonical.count = 0;
                assert_false(pass_ids(&canonical, bytes));
                flips++;
            }
            canonical.count = 0;
            done += fitting;
        }
        ss_block_check_free(&canonical);
    }
    free(bytes);
    assert_true(flips > 0);
    testing_done();
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_tables, testing_teardown),
        cmocka_unit_test_teardown(test_flipped_bits, testing_teardown),
        cmocka_unit_test_teardown(test_early_ends, testing_teardown),
        cmocka_unit_test(test_each_kind_of_other_bytes),
        cmocka_unit_test_teardown(test_id_columns, testing_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

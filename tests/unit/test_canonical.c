/* What writers make is passed, and every other way to write the same is not: each bit flipped that leaves a block sound, and
 * blocks that end too early. */
#include "store/canonical.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "support/block_table.h"
#include "support/random.h"
#include "support/testing.h"

#define CONTENTS_BITS(bytes) (8 * ((bytes) - SS_BLOCK_TRAILER_BYTES))

static uint64_t run_seed;

/* ----- tables ----- */

/* Decode as a verification does; ascending strictly, and in room of exactly the right size. NULL if it is not sound. */
static uint64_t *decode(const uint8_t *bytes, ss_geometry geometry, const ss_code *code, uint32_t *count_out)
{
    ss_block block;
    const char *reason;
    if (!ss_block_open(&block, bytes, geometry, code, &reason))
        return NULL;
    uint64_t *values = malloc(block.count * sizeof *values);
    bool sound = ss_block_decode_strictly(&block, values);
    for (uint32_t i = 1; sound && i < block.count; i++)
        sound = values[i] > values[i - 1];
    *count_out = block.count;
    if (sound)
        return values;
    free(values);
    return NULL;
}

static bool pass(ss_canonical_table *canonical, const uint8_t *bytes)
{
    uint32_t count = 0;
    const char *reason = NULL;
    uint64_t *values = decode(bytes, canonical->geometry, canonical->code, &count);
    if (values == NULL)
        return false;
    const bool passed = ss_canonical_table_next(canonical, bytes, values, count, &reason);
    assert_true(passed || (reason != NULL && *reason != '\0'));
    free(values);
    return passed;
}

static void canonical_init(ss_canonical_table *canonical, ss_geometry geometry, const ss_code *code)
{
    sstore_error error;
    assert_ok(ss_canonical_table_init(canonical, geometry, code, &error), &error);
}

static void test_tables(void **state)
{
    (void)state;
    rng random;
    rng_init(&random, run_seed);
    for (uint32_t trial = 0; trial < 60; trial++) {
        const ss_geometry geometry = {.block_bytes = 256u << rng_below(&random, BLOCK_SIZE_COUNT),
                                      .restart_interval = block_intervals[rng_below(&random, BLOCK_INTERVAL_COUNT)]};
        block_table table;
        ss_canonical_table canonical;
        testing_doing("trial %" PRIu32, trial);
        block_table_make(&table, &random, (data_kind)rng_below(&random, DATA_KIND_COUNT), 1 + (size_t)rng_below(&random, 20000));
        canonical_init(&canonical, geometry, &table.code);
        uint8_t *bytes = malloc(geometry.block_bytes);
        for (size_t done = 0; done < table.count;) {
            done += block_table_encode(&table, done, geometry, bytes);
            assert_true(pass(&canonical, bytes));
        }
        free(bytes);
        ss_canonical_table_free(&canonical);
        block_table_free(&table);
    }
    testing_done();
}

/* Flip each bit of a table's second block: what is still sound after it is another way to write something. */
static uint64_t flip_bits(const block_table *table, ss_geometry geometry)
{
    uint8_t first[512], second[512];
    uint64_t sound = 0;
    const uint32_t before = block_table_encode(table, 0, geometry, first);
    if (before == table->count)
        return 0;
    block_table_encode(table, before, geometry, second);
    for (uint32_t bit = 0; bit < CONTENTS_BITS(geometry.block_bytes); bit++) {
        ss_canonical_table canonical;
        uint32_t count;
        second[bit / 8] ^= (uint8_t)(1u << bit % 8);
        uint64_t *values = decode(second, geometry, &table->code, &count);
        if (values != NULL && values[0] > table->values[before - 1]) {
            const char *reason;
            canonical_init(&canonical, geometry, &table->code);
            assert_true(pass(&canonical, first));
            /* It is passed only where the bytes are what a writer makes of other fingerprints: none is missing then. */
            if (ss_canonical_table_next(&canonical, second, values, count, &reason)) {
                uint8_t *step_bits = malloc(count);
                uint8_t again[512];
                ss_step_bits(&table->code, values, count, step_bits);
                ss_block_encode(geometry, &table->code, values, step_bits, count, again);
                assert_memory_equal(again, second, geometry.block_bytes - SS_BLOCK_TRAILER_BYTES);
                free(step_bits);
            } else {
                sound++;
            }
            ss_canonical_table_free(&canonical);
        }
        free(values);
        second[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    return sound;
}

static void test_flipped_bits(void **state)
{
    (void)state;
    rng random;
    rng_init(&random, run_seed + 1);
    uint64_t sound = 0;
    for (uint32_t trial = 0; trial < 60; trial++) {
        const ss_geometry geometry = {.block_bytes = 256u << rng_below(&random, 2),
                                      .restart_interval = block_intervals[rng_below(&random, BLOCK_INTERVAL_COUNT)]};
        block_table table;
        testing_doing("trial %" PRIu32, trial);
        block_table_make(&table, &random, (data_kind)rng_below(&random, DATA_KIND_COUNT), 3000);
        sound += flip_bits(&table, geometry);
        block_table_free(&table);
    }
    testing_figure("blocks that are sound, but not as a writer makes them: %" PRIu64, sound);
    assert_true(sound > 0);
    testing_done();
}

/* Blocks that end before they are full. */
static void test_early_ends(void **state)
{
    (void)state;
    rng random;
    rng_init(&random, run_seed + 2);
    for (uint32_t trial = 0; trial < 40; trial++) {
        const ss_geometry geometry = {.block_bytes = 256u << rng_below(&random, BLOCK_SIZE_COUNT),
                                      .restart_interval = block_intervals[rng_below(&random, BLOCK_INTERVAL_COUNT)]};
        block_table table;
        ss_canonical_table canonical;
        testing_doing("trial %" PRIu32, trial);
        block_table_make(&table, &random, (data_kind)rng_below(&random, DATA_KIND_COUNT), 2 + (size_t)rng_below(&random, 5000));
        canonical_init(&canonical, geometry, &table.code);
        uint8_t *bytes = malloc(geometry.block_bytes);
        const uint32_t fitting = block_table_encode(&table, 0, geometry, bytes);
        if (fitting > 1) {
            block_table shorter = table;
            shorter.count = fitting - 1;
            assert_int_equal(block_table_encode(&shorter, 0, geometry, bytes), fitting - 1);
            assert_true(pass(&canonical, bytes));
            block_table_encode(&table, fitting - 1, geometry, bytes);
            assert_false(pass(&canonical, bytes));
            /* After a block that could not be read it cannot be told. */
            ss_canonical_table_skip(&canonical);
            assert_true(pass(&canonical, bytes));
        }
        free(bytes);
        ss_canonical_table_free(&canonical);
        block_table_free(&table);
    }
    testing_done();
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

static bool pass_ids(ss_canonical_ids *canonical, const uint8_t *bytes)
{
    ss_ids_block block;
    const char *reason = NULL;
    if (!ss_ids_block_open(&block, bytes, canonical->block_bytes, &reason))
        return false;
    const bool passed = ss_canonical_ids_next(canonical, &block, &reason);
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
    (void)state;
    rng random;
    rng_init(&random, run_seed + 3);
    uint64_t ids[ID_COUNT], flips = 0;
    uint8_t starts[ID_COUNT], *bytes = malloc(65536);
    for (uint32_t trial = 0; trial < 100; trial++) {
        const uint32_t block_bytes = 256u << rng_below(&random, BLOCK_SIZE_COUNT);
        ss_canonical_ids canonical;
        sstore_error error;
        ss_ids_frame frame;
        testing_doing("trial %" PRIu32, trial);
        make_ids(&random, ids, starts, ID_COUNT);
        assert_ok(ss_canonical_ids_init(&canonical, block_bytes, &error), &error);
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
        ss_canonical_ids_free(&canonical);
    }
    free(bytes);
    assert_true(flips > 0);
    testing_done();
}

int main(void)
{
    run_seed = rng_run_seed();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_tables, testing_teardown),
        cmocka_unit_test_teardown(test_flipped_bits, testing_teardown),
        cmocka_unit_test_teardown(test_early_ends, testing_teardown),
        cmocka_unit_test_teardown(test_id_columns, testing_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

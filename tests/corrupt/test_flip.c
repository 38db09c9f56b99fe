/*
 * test_flip.c - one flipped bit in any file of a store must be found by verify, and must never lead to a wrong answer,
 * a signal or an excessive allocation. A few hundred bits of each file are tried, a tenth of them with sanitizers, and
 * every bit with SSTORE_TEST_LONG=1. Stores of several words have more files, of which fewer bits are tried.
 */
#include <inttypes.h>

#include "support/damage.h"
#include "support/widened.h"

#define FLIPS_A_FILE 220
/* Where the fields are: more bits of every file's head are tried. */
#define HEAD_BITS 512
#define HEAD_STEP 5

/* Flip a bit, check that this is found, and restore it. */
static void flip(damage_store *store, size_t file, size_t bit, unsigned io_mask)
{
    const uint8_t whole = store->contents[file].data[bit / 8], broken = (uint8_t)(whole ^ (1u << bit % 8));
    testing_doing("%s: bit %zu of byte %zu flipped (%02x is %02x)", store->files.names[file], bit % 8, bit / 8, whole,
                  broken);
    file_patch(damage_path(store, file), bit / 8, &broken, 1);
    damage_check(store, io_mask);
    file_patch(damage_path(store, file), bit / 8, &whole, 1);
}

static void flip_file(damage_store *store, size_t file, rng *random)
{
    const size_t bits = store->contents[file].size * 8;
    if (testing_long()) {
        for (size_t bit = 0; bit < bits; bit++)
            flip(store, file, bit, ALL_WAYS);
        return;
    }
    const size_t fewer = (testing_sanitized() ? 10u : 1u) * (widened_words == 1 ? 1u : 10u),
                 head_step = fewer * HEAD_STEP;
    for (size_t bit = rng_below(random, head_step); bit < HEAD_BITS && bit < bits; bit += head_step)
        flip(store, file, bit, PREAD_AND_MEMORY);
    /* The step varies, so that several runs try every bit. */
    const size_t mean = fewer * bits / FLIPS_A_FILE + 1;
    for (size_t bit = rng_below(random, mean); bit < bits; bit += 1 + rng_below(random, 2 * mean))
        flip(store, file, bit, rng_one_in(random, 4) ? ONLY_MMAP : PREAD_AND_MEMORY);
}

static void flip_all(uint64_t seed, uint32_t block_bytes, data_ids ids, bool changed)
{
    damage_store store;
    rng random = rng_seeded(seed);
    damage_store_make(&store, seed, block_bytes, ids, changed);
    for (size_t file = 0; file < store.files.count; file++) {
        flip_file(&store, file, &random);
        testing_doing("%s whole again", store.files.names[file]);
        damage_check_whole(&store);
    }
    testing_done();
    damage_report(&store, "flipped bits");
    damage_store_free(&store);
}

static void test_flip_ids(void **state)
{
    flip_all(run_seed, 512, DATA_IDS, false);
}

static void test_flip_no_ids(void **state)
{
    flip_all(run_seed, 256, DATA_NO_IDS, false);
}

/* In a segment that adds, one that adds to it, and one that removes. */
static void test_flip_in_segments(void **state)
{
    flip_all(run_seed, 512, run_seed % 4 == 0 ? DATA_NO_IDS : DATA_IDS, true);
}

/* Of stores of several words: whole fingerprints, and the folders of word indexes. */
static void test_flip_in_words(void **state)
{
    widened_words = 3;
    flip_all(run_seed, 512, DATA_IDS, false);
    widened_words = 2;
    flip_all(run_seed, 256, run_seed % 2 == 0 ? DATA_NO_IDS : DATA_IDS, true);
    widened_words = 1;
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_flip_ids, testing_teardown),
        cmocka_unit_test_teardown(test_flip_no_ids, testing_teardown),
        cmocka_unit_test_teardown(test_flip_in_segments, testing_teardown),
        cmocka_unit_test_teardown(test_flip_in_words, testing_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

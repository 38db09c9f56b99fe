/*
 * test_statistics.c - statistics of tables and blocks, and samples, must equal what brute force counts in the sorted,
 * permuted words of random stores of 1 to 16 words. The permutation and the size of a block are computed here as
 * format-spec/ defines them, bit by bit.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sstore_statistics.h"
#include "support/random.h"
#include "support/record_set.h"
#include "support/scratch.h"
#include "support/testing.h"
#include "support/use_store.h"

#ifdef NDEBUG
#define CASES 400u
#else
#define CASES 100u
#endif
#define MAX_RECORDS 3000u

static struct {
    uint64_t stores, tables, blocks, sampled;
} compared;

/* The key bits first, in their order; then the others from the one after the last key bit on, and around. */
static uint64_t permute(uint64_t fingerprint, uint64_t key_mask)
{
    uint64_t permuted = 0;
    uint32_t after = 0;
    for (uint32_t bit = 0; bit < 64; bit++)
        if (key_mask << bit >> 63 != 0) {
            permuted = permuted << 1 | (fingerprint << bit >> 63);
            after = bit + 1;
        }
    for (uint32_t i = 0; i < 64; i++) {
        const uint32_t bit = (after + i) % 64;
        if (key_mask << bit >> 63 == 0)
            permuted = permuted << 1 | (fingerprint << bit >> 63);
    }
    return permuted;
}

/* The distinct values of a table, sorted. Freed with free(). */
static uint64_t *make_table(const record_set *truth, uint32_t word, uint64_t key_mask, size_t *count_out)
{
    uint64_t *values = calloc(truth->count + 1, sizeof *values);
    size_t count = 0;
    assert_non_null(values);
    for (size_t i = 0; i < truth->count; i++)
        values[i] = permute(record_set_at(truth, i)[word], key_mask);
    qsort(values, truth->count, sizeof *values, compare_numbers);
    for (size_t i = 0; i < truth->count; i++)
        if (i == 0 || values[i] != values[count - 1])
            values[count++] = values[i];
    *count_out = count;
    return values;
}

static uint32_t first_difference(uint64_t a, uint64_t b)
{
    uint32_t bit = 0;
    while ((a ^ b) << bit >> 63 == 0)
        bit++;
    return bit;
}

/* Bits a fingerprint, by the entropy of the symbols, the suffixes, and the lower halves. */
static double bound_of(const uint64_t counts[64], size_t count)
{
    double bits = 0, all_of_last = 0;
    for (uint32_t i = 32; i < 64; i++)
        all_of_last += (double)counts[i];
    for (uint32_t h = 0; h < 33; h++) {
        const double of_symbol = h < 32 ? (double)counts[h] : all_of_last;
        if (of_symbol > 0)
            bits += of_symbol * (log2((double)(count - 1) / of_symbol) + (h < 32 ? 31 - h : 0) + 32);
    }
    return count == 0 ? 0 : bits / (double)count;
}

static void check_symbols(const uint64_t *values, size_t count, const sstore_table_statistics *table)
{
    uint64_t counts[64] = {0};
    double share = 0; /* of all codes: the code is complete */
    for (size_t i = 1; i < count; i++)
        counts[first_difference(values[i - 1], values[i])]++;
    assert_memory_equal(table->difference_counts, counts, sizeof counts);
    for (uint32_t h = 0; h < 33; h++)
        share += table->code_lengths[h] > 0 ? 1.0 / (double)(1u << table->code_lengths[h]) : 0;
    for (uint32_t i = 0; i < 64; i++)
        assert_true(counts[i] == 0 || table->code_lengths[i < 32 ? i : 32] > 0);
    assert_true(share == 0 || share == 0.5 || share == 1);
    assert_true(fabs(table->bound_bits_per_fingerprint - bound_of(counts, count)) < 1e-6);
    assert_int_equal(table->prefix_bits, __builtin_popcountll(table->key_mask));
}

/* Bytes of a block of these fingerprints, by format-spec/block-codec.md, section 7. */
static uint32_t block_bytes_of(const uint64_t *values, uint32_t count, const uint8_t code_lengths[33])
{
    const uint32_t groups = (count + 63) / 64;
    const uint64_t last = (values[64 * (groups - 1)] >> 32) - (values[0] >> 32);
    uint32_t bytes = 4 * count + 4 * (groups - 1) + 16, key_shift = 0;
    while (last >> key_shift >= 65536)
        key_shift++;
    for (uint32_t group = 0; group < groups; group++) {
        uint32_t bits = group > 0 ? key_shift : 0;
        for (uint32_t i = 64 * group + 1; i < 64 * (group + 1) && i < count; i++) {
            const uint32_t bit = first_difference(values[i - 1], values[i]);
            bits += bit < 32 ? code_lengths[bit] + 31 - bit : code_lengths[32];
        }
        bytes += (bits + 7) / 8;
    }
    return bytes;
}

static void check_blocks(const sstore *store, uint32_t table, uint64_t block_count, const uint64_t *values,
                         size_t count, const uint8_t code_lengths[33])
{
    size_t at = 0;
    for (uint64_t i = 0; i < block_count; i++) {
        sstore_block_statistics block = SSTORE_BLOCK_STATISTICS_INIT;
        sstore_error error;
        assert_ok(sstore_stat_block(store, 0, table, i, &block, &error), &error);
        assert_in_range(block.fingerprint_count, 1, count - at);
        assert_int_equal(block.used_bytes, block_bytes_of(values + at, block.fingerprint_count, code_lengths));
        at += block.fingerprint_count;
        compared.blocks++;
    }
    assert_int_equal(at, count);
}

static void check_table(const sstore *store, uint32_t table, const record_set *truth)
{
    sstore_table_statistics statistics = SSTORE_TABLE_STATISTICS_INIT;
    sstore_error error;
    size_t count;
    assert_ok(sstore_stat_table(store, 0, table, &statistics, &error), &error);
    uint64_t *values = make_table(truth, statistics.word, statistics.key_mask, &count);
    check_symbols(values, count, &statistics);
    check_blocks(store, table, statistics.block_count, values, count, statistics.code_lengths);
    free(values);
    compared.tables++;
}

/* A sample has fingerprints of the store, each once; all of them if it has room. */
static void check_sample(const sstore *store, const record_set *truth, uint64_t seed, size_t capacity)
{
    const size_t size = truth->words * sizeof(uint64_t);
    uint64_t *sample = calloc(capacity + 1, size), *again = calloc(capacity + 1, size);
    size_t count, again_count, at = 0;
    sstore_error error;
    assert_true(sample != NULL && again != NULL);
    assert_ok(sstore_sample(store, seed, sample, capacity, &count, &error), &error);
    assert_ok(sstore_sample(store, seed, again, capacity, &again_count, &error), &error);
    assert_int_equal(count, again_count);
    assert_memory_equal(sample, again, count * size);
    assert_true(count <= capacity && (count > 0 || capacity == 0 || truth->count == 0));
    if (capacity >= record_set_count_distinct(truth))
        assert_int_equal(count, record_set_count_distinct(truth));
    for (size_t i = 0; i < count; i++) { /* they ascend, as the truth does */
        while (at < truth->count && memcmp(record_set_at(truth, at), sample + i * truth->words, size) != 0)
            at++;
        assert_true(at < truth->count);
        while (at + 1 < truth->count && record_set_alike(truth, at, at + 1))
            at++;
        at++;
    }
    compared.sampled += count;
    free(sample);
    free(again);
}

static void check_case(uint64_t seed)
{
    static const char *const plans[] = {"16", "10", "4", "3", "2", "1", "5c2", "auto", "24:1,20:0,20:0"};
    static const char *const wide_plans[] = {"auto", "24,20,20", "1"};
    rng random = rng_seeded(seed);
    const fingerprint_form form = rng_one_in(&random, 8) ? form_any(&random, 2) : form_with(&random, 1, 3);
    const size_t count = rng_one_in(&random, 4) ? rng_below(&random, 4) : rng_below(&random, MAX_RECORDS / form.words);
    const char *path = scratch_path("store");
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    sstore_statistics statistics = SSTORE_STATISTICS_INIT;
    data_set data;
    record_set truth;
    options.block_bytes = UINT32_C(256) << rng_below(&random, 9);
    options.distance = form.distance;
    options.plan = form.words == 1 ? plans[rng_below(&random, sizeof plans / sizeof *plans)]
                                   : wide_plans[rng_below(&random, sizeof wide_plans / sizeof *wide_plans)];
    testing_doing("statistics of %zu records of %s, plan %s, blocks of %" PRIu32 " bytes, seed %" PRIu64, count,
                  form_text(&form), options.plan, options.block_bytes, seed);
    data_make_form(&random, &form, (data_ids)rng_below(&random, DATA_IDS_COUNT), count, true, &data);
    truth = record_set_of_data(&data);
    store_must_build(path, &options, &data);
    sstore *store = store_must_open(path, (sstore_io)rng_below(&random, 4), SSTORE_STRATEGY_AUTO);
    assert_ok(sstore_stat(store, &statistics, NULL), NULL);
    for (uint32_t table = 0; table < statistics.table_count; table++)
        check_table(store, table, &truth);
    check_sample(store, &truth, rng_next(&random), rng_below(&random, 2 * count + 2));
    sstore_close(store);
    scratch_remove(path);
    record_set_free(&truth);
    data_free(&data);
    compared.stores++;
}

static void test_random_stores(void **state)
{
    const uint64_t cases = testing_number("SSTORE_TEST_CASES", CASES);
    for (uint64_t i = 0; i < cases; i++)
        check_case(run_seed + i);
    testing_done();
    testing_figure("statistics of %" PRIu64 " stores, %" PRIu64 " tables, %" PRIu64 " blocks; %" PRIu64
                   " sampled fingerprints",
                   compared.stores, compared.tables, compared.blocks, compared.sampled);
}

/* Of several segments, and of about as many fingerprints as they have; each is drawn about equally often. */
static void test_sample_of_segments(void **state)
{
    enum { SEGMENTS = 3, DRAWS = 400, CAPACITY = 30 };
    static const uint32_t sizes[SEGMENTS] = {50, 1, 249};
    const char *path = scratch_path("segments");
    uint64_t fingerprints[300], sample[301], drawn[300] = {0};
    size_t count, at = 0;
    sstore_error error;
    rng random = rng_seeded(run_seed);
    data_set empty = {.id_kind = DATA_NO_IDS};
    for (size_t i = 0; i < 300; i++)
        fingerprints[i] = rng_next(&random);
    store_must_build(path, NULL, &empty);
    for (size_t i = 0; i < SEGMENTS; at += sizes[i++])
        assert_ok(store_add(path, NULL, fingerprints + at, NULL, sizes[i], NULL, &error), &error);
    assert_ok(store_remove(path, NULL, fingerprints, NULL, 5, NULL, &error), &error);
    sstore *store = store_must_open(path, SSTORE_IO_PREAD, SSTORE_STRATEGY_AUTO);
    assert_ok(sstore_sample(store, 0, sample, 301, &count, &error), &error);
    assert_int_equal(count, 300); /* also the removed ones */
    qsort(fingerprints, 300, sizeof *fingerprints, compare_numbers);
    for (uint64_t seed = 0; seed < DRAWS; seed++) {
        assert_ok(sstore_sample(store, run_seed + seed, sample, CAPACITY, &count, &error), &error);
        assert_in_range(count, CAPACITY / 2, CAPACITY);
        for (size_t i = 0; i < count; i++) {
            const uint64_t *found = bsearch(&sample[i], fingerprints, 300, sizeof *fingerprints, compare_numbers);
            assert_non_null(found);
            drawn[found - fingerprints]++;
        }
    }
    for (size_t i = 0; i < 300; i++)
        assert_in_range(drawn[i], 8, 90); /* 38 are expected, with a deviation of 6 */
    sstore_close(store);
    scratch_remove(path);
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_random_stores, testing_teardown),
        cmocka_unit_test(test_sample_of_segments),
    };
    return cmocka_run_group_tests_name("statistics", tests, NULL, NULL);
}

/* The radix sorts must equal qsort(). */
#include "sort/radix.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "support/data.h"
#include "support/random.h"
#include "support/testing.h"

#define MAX 30000

typedef enum order {
    ORDER_RANDOM,
    ORDER_SORTED,
    ORDER_REVERSED,
    ORDER_EQUAL,
    ORDER_FEW,      /* a few distinct values */
    ORDER_LOW_BYTE, /* differing in the last digit only */
    ORDER_TOP_BYTE,
    ORDER_SKEWED, /* nearly all under one prefix */
    ORDER_COUNT
} order;

/* Sizes near the limit of insertion sort, and others. */
static const size_t sizes[] = {0, 1, 2, 3, 23, 24, 25, 26, 50, 97, 255, 256, 257, 4000, MAX};
#define SIZE_COUNT (sizeof sizes / sizeof *sizes)

static uint64_t make_value(rng *random, order kind, size_t i)
{
    const uint64_t base = UINT64_C(0x5a5a000000000000);
    switch (kind) {
    case ORDER_SORTED: return base + i * 3;
    case ORDER_REVERSED: return UINT64_MAX - i * 977;
    case ORDER_EQUAL: return base;
    case ORDER_FEW: return rng_mix(rng_below(random, 5));
    case ORDER_LOW_BYTE: return base + rng_below(random, 256);
    case ORDER_TOP_BYTE: return rng_below(random, 256) << 56;
    case ORDER_SKEWED: return rng_one_in(random, 50) ? rng_next(random) : base | rng_below(random, 1 << 20);
    default: return rng_one_in(random, 500) ? (rng_one_in(random, 2) ? 0 : UINT64_MAX) : rng_next(random);
    }
}

static void test_keys(void **state)
{
    rng random = rng_seeded(run_seed);
    for (size_t i = 0; i < ORDER_COUNT * SIZE_COUNT; i++) {
        const order kind = (order)(i % ORDER_COUNT);
        const size_t count = sizes[i / ORDER_COUNT];
        uint64_t *keys = malloc((count + 1) * sizeof *keys), *wanted = malloc((count + 1) * sizeof *keys);
        testing_doing("%zu keys of kind %d, seed %" PRIu64, count, (int)kind, run_seed);
        for (size_t j = 0; j < count; j++)
            wanted[j] = keys[j] = make_value(&random, kind, j);
        qsort(wanted, count, sizeof *wanted, compare_numbers);
        uint64_t *scratch = malloc((count + 1) * sizeof *scratch);
        ss_sort_keys(keys, scratch, count);
        assert_memory_equal(keys, wanted, count * sizeof *keys);
        free(scratch);
        free(keys);
        free(wanted);
    }
    testing_done();
}

static int compare_records(const void *left, const void *right)
{
    const ss_record *a = left, *b = right;
    const int by_fingerprint = compare_numbers(&a->fingerprint, &b->fingerprint);
    return by_fingerprint != 0 ? by_fingerprint : compare_numbers(&a->id, &b->id);
}

/* Fingerprints of one kind with ids of another. */
static void check_records(rng *random, order fingerprints, order ids, size_t count)
{
    ss_record *records = malloc((count + 1) * sizeof *records), *wanted = malloc((count + 1) * sizeof *records);
    testing_doing("%zu records, fingerprints of kind %d, ids of kind %d, seed %" PRIu64, count, (int)fingerprints,
                  (int)ids, run_seed + 1);
    for (size_t i = 0; i < count; i++)
        wanted[i] = records[i] = (ss_record){.fingerprint = make_value(random, fingerprints, i),
                                             .id = make_value(random, ids, i)};
    qsort(wanted, count, sizeof *wanted, compare_records);
    ss_record *scratch = malloc((count + 1) * sizeof *scratch);
    ss_sort_records(records, scratch, count);
    free(scratch);
    assert_memory_equal(records, wanted, count * sizeof *records);
    free(records);
    free(wanted);
}

static void test_records(void **state)
{
    rng random = rng_seeded(run_seed + 1);
    for (size_t i = 0; i < ORDER_COUNT * SIZE_COUNT; i++) {
        const size_t count = sizes[i / ORDER_COUNT] / (i / ORDER_COUNT + 1 == SIZE_COUNT ? 3 : 1);
        check_records(&random, (order)(i % ORDER_COUNT), ORDER_RANDOM, count);
        check_records(&random, ORDER_EQUAL, (order)(i % ORDER_COUNT), count);
        check_records(&random, ORDER_FEW, (order)(i % ORDER_COUNT), count);
    }
    testing_done();
}

static int compare_triples(const void *left, const void *right)
{
    const ss_triple *a = left, *b = right;
    int by_first = compare_numbers(&a->first, &b->first), by_second = compare_numbers(&a->second, &b->second);
    return by_first != 0 ? by_first : by_second != 0 ? by_second : compare_numbers(&a->third, &b->third);
}

/* Each word of a separate kind. */
static void check_triples(rng *random, order first, order second, order third, size_t count)
{
    ss_triple *triples = malloc((count + 1) * sizeof *triples), *wanted = malloc((count + 1) * sizeof *triples);
    ss_triple *scratch = malloc((count + 1) * sizeof *scratch);
    testing_doing("%zu triples of kinds %d, %d, %d, seed %" PRIu64, count, (int)first, (int)second, (int)third,
                  run_seed + 2);
    for (size_t i = 0; i < count; i++)
        wanted[i] = triples[i] = (ss_triple){make_value(random, first, i), make_value(random, second, i),
                                             make_value(random, third, i)};
    qsort(wanted, count, sizeof *wanted, compare_triples);
    ss_sort_triples(triples, scratch, count);
    assert_memory_equal(triples, wanted, count * sizeof *triples);
    free(scratch);
    free(triples);
    free(wanted);
}

static void test_triples(void **state)
{
    rng random = rng_seeded(run_seed + 2);
    for (size_t i = 0; i < ORDER_COUNT * SIZE_COUNT; i++) {
        const size_t count = sizes[i / ORDER_COUNT] / (i / ORDER_COUNT + 1 == SIZE_COUNT ? 3 : 1);
        const order kind = (order)(i % ORDER_COUNT);
        check_triples(&random, kind, ORDER_RANDOM, ORDER_RANDOM, count);
        check_triples(&random, ORDER_EQUAL, kind, ORDER_FEW, count); /* many equal first words */
        check_triples(&random, ORDER_FEW, ORDER_EQUAL, kind, count); /* and many equal second ones */
        check_triples(&random, ORDER_SKEWED, ORDER_FEW, kind, count);
    }
    testing_done();
}

static uint32_t compared_words; /* by compare_rows() */

static int compare_rows(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;
    for (uint32_t word = 0; word < compared_words; word++)
        if (a[word] != b[word])
            return a[word] < b[word] ? -1 : 1;
    return 0;
}

/* `first`: the kind of the words before `word`, which has another one; all others are any kinds. */
static void check_rows(rng *random, uint32_t words, order first, uint32_t word, order kind, size_t count)
{
    const size_t row_bytes = words * sizeof(uint64_t);
    uint64_t *rows = malloc((count + 1) * row_bytes), *wanted = malloc((count + 1) * row_bytes);
    uint64_t *scratch = malloc(count * row_bytes + 1); /* not a word more, so that a sanitizer finds what is too far */
    order kinds[SS_MAX_ITEM_WORDS];
    testing_doing("%zu rows of %u words, kind %d, then %d from word %u on, seed %" PRIu64, count, words, (int)first,
                  (int)kind, word, run_seed + 3);
    for (uint32_t j = 0; j < words; j++)
        kinds[j] = j < word ? first : j == word ? kind : (order)rng_below(random, ORDER_COUNT);
    for (size_t i = 0; i < count; i++) {
        for (uint32_t j = 0; j < words; j++)
            rows[i * words + j] = make_value(random, kinds[j], i);
        if (i > 0 && rng_one_in(random, 4)) { /* a repeat, or one that differs late */
            memcpy(rows + i * words, rows + rng_below(random, i) * words, row_bytes);
            rows[i * words + words - 1] += rng_below(random, 2);
        }
    }
    memcpy(wanted, rows, count * row_bytes);
    compared_words = words;
    qsort(wanted, count, row_bytes, compare_rows);
    ss_sort_rows(rows, scratch, count, words);
    assert_memory_equal(rows, wanted, count * row_bytes);
    free(scratch);
    free(rows);
    free(wanted);
}

static void test_rows(void **state)
{
    rng random = rng_seeded(run_seed + 3);
    for (size_t i = 0; i < ORDER_COUNT * SIZE_COUNT; i++) {
        const size_t count = sizes[i / ORDER_COUNT] / (i / ORDER_COUNT + 1 == SIZE_COUNT ? 3 : 1);
        const order kind = (order)(i % ORDER_COUNT);
        const uint32_t words = 4 + (uint32_t)rng_below(&random, SS_MAX_ITEM_WORDS - 3);
        check_rows(&random, words, ORDER_RANDOM, 0, kind, count);
        check_rows(&random, words, ORDER_EQUAL, (uint32_t)rng_below(&random, words), kind, count);
        check_rows(&random, words, ORDER_FEW, 1, kind, count);
        check_rows(&random, 4, ORDER_EQUAL, 3, kind, count); /* the least scratch beside the pairs */
        check_rows(&random, SS_MAX_ITEM_WORDS, kind, SS_MAX_ITEM_WORDS - 1, ORDER_FEW, count);
        check_rows(&random, words, ORDER_EQUAL, words, kind, count); /* only repeats and the last word differ */
    }
    testing_done();
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_keys, testing_teardown),
        cmocka_unit_test_teardown(test_records, testing_teardown),
        cmocka_unit_test_teardown(test_triples, testing_teardown),
        cmocka_unit_test_teardown(test_rows, testing_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

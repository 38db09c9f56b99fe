/* Look-ups in the key index must equal a linear search of the keys, for all distributions of keys. */
#include "store/segment.h"

#include <stdlib.h>

#include "base/memory.h"
#include "support/data.h"
#include "support/random.h"
#include "support/testing.h"

#define MAX 5000u
#define LOOKUPS 400u

/* Ascending distinct keys: spread evenly, under one prefix, or close together. */
static uint64_t make_keys(rng *random, uint64_t *keys, uint64_t count)
{
    uint32_t fixed = (uint32_t)rng_below(random, 3) * 20;
    uint64_t prefix = rng_next(random), used = 0;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t low = fixed == 0 ? rng_next(random) : rng_next(random) >> fixed;
        keys[i] = fixed == 0 ? low : (prefix & ~(~UINT64_C(0) >> fixed)) | low;
    }
    qsort(keys, count, sizeof *keys, compare_numbers);
    for (uint64_t i = 0; i < count; i++)
        if (used == 0 || keys[i] != keys[used - 1])
            keys[used++] = keys[i];
    return used;
}

/* An array as the directory has it: little-endian, in one chunk. */
static ss_array make_array(const uint64_t *keys, uint64_t count, uint8_t *bytes)
{
    ss_array array = {.count = count, .chunks = ss_alloc(1, sizeof *array.chunks)};
    assert_non_null(array.chunks);
    for (uint64_t i = 0; i < count; i++)
        ss_store_le64(bytes + 8 * i, keys[i]);
    array.chunks[0] = bytes;
    return array;
}

static uint64_t find_slowly(const uint64_t *keys, uint64_t count, uint64_t target)
{
    uint64_t i = 0;
    while (i < count && keys[i] < target)
        i++;
    return i;
}

static void check_lookup(const ss_key_index *index, const uint64_t *keys, uint64_t count, uint64_t target)
{
    ss_key_index_prefetch(index, target);
    assert_int_equal(ss_key_index_find(index, target), find_slowly(keys, count, target));
}

static void test_lookups(void **state)
{
    rng random = rng_seeded(run_seed);
    uint64_t *keys = malloc(MAX * sizeof *keys);
    uint8_t *bytes = malloc(MAX * 8);
    for (uint64_t round = 0; round < 60; round++) {
        uint64_t wanted = round < 10 ? round : rng_below(&random, MAX + 1);
        uint64_t count = make_keys(&random, keys, wanted);
        ss_array array = make_array(keys, count, bytes);
        ss_key_index index;
        sstore_error error;
        testing_doing("round %u, %u keys", (unsigned)round, (unsigned)count);
        assert_ok(ss_key_index_init(&index, &array, &error), &error);
        check_lookup(&index, keys, count, 0);
        check_lookup(&index, keys, count, UINT64_MAX);
        for (uint32_t i = 0; i < LOOKUPS; i++) {
            uint64_t target = rng_next(&random);
            if (count > 0 && rng_one_in(&random, 2))
                target = keys[rng_below(&random, count)] + rng_below(&random, 3) - 1;
            check_lookup(&index, keys, count, target);
        }
        ss_key_index_free(&index);
    }
    free(keys);
    free(bytes);
    testing_done();
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_lookups, testing_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

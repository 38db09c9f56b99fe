/* The external sorter against sorting in memory: with and without spilling, with and without ids, read twice. */
#include "sort/extsort.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "support/random.h"
#include "support/scratch.h"
#include "support/testing.h"

#define LEAST_MEMORY ((uint64_t)1 << 20) /* 65,536 records or 131,072 keys */
#define SPILLING_RECORDS 300000

static uint64_t run_seed;

/* ----- what the tests share ----- */

typedef struct input {
    bool with_ids;
    size_t count;
    uint64_t *fingerprints, *ids;
    sstore_record *wanted; /* sorted, each once */
    size_t wanted_count;
} input;

static int compare_records(const void *left, const void *right)
{
    const sstore_record *a = left, *b = right;
    int by_fingerprint = (a->fingerprint > b->fingerprint) - (a->fingerprint < b->fingerprint);
    return by_fingerprint != 0 ? by_fingerprint : (a->id > b->id) - (a->id < b->id);
}

/* `distinct` bounds how many fingerprints there are, so that equal records come up in different runs; 0: any. */
static void input_make(input *made, rng *random, bool with_ids, size_t count, uint64_t distinct)
{
    *made = (input){.with_ids = with_ids, .count = count};
    made->fingerprints = malloc((count + 1) * sizeof(uint64_t));
    made->ids = malloc((count + 1) * sizeof(uint64_t));
    made->wanted = malloc((count + 1) * sizeof(sstore_record));
    for (size_t i = 0; i < count; i++) {
        made->fingerprints[i] = distinct == 0 ? rng_next(random) : rng_mix(rng_below(random, distinct));
        made->ids[i] = rng_one_in(random, 100) ? UINT64_MAX : rng_below(random, 4);
        made->wanted[i] = (sstore_record){made->fingerprints[i], with_ids ? made->ids[i] : 0};
    }
    qsort(made->wanted, count, sizeof *made->wanted, compare_records);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || compare_records(&made->wanted[i], &made->wanted[made->wanted_count - 1]) != 0)
            made->wanted[made->wanted_count++] = made->wanted[i];
}

static void input_free(input *made)
{
    free(made->fingerprints);
    free(made->ids);
    free(made->wanted);
}

static ss_dir open_scratch(void)
{
    ss_dir dir;
    sstore_error error = {.status = SSTORE_OK};
    assert_ok(ss_dir_open(scratch_folder(), &dir, &error), &error);
    return dir;
}

/* A sorter with the input in it, added in pieces of any size. */
static ss_sorter *fill_sorter(const input *from, const ss_dir *dir, uint64_t memory_bytes, rng *random)
{
    ss_sorter *sorter = NULL;
    sstore_error error = {.status = SSTORE_OK};
    assert_ok(ss_sorter_create(from->with_ids, memory_bytes, dir, &sorter, &error), &error);
    for (size_t done = 0; done < from->count;) {
        size_t piece = rng_one_in(random, 3) ? rng_below(random, 3) : rng_between(random, 1, 50000);
        piece = piece < from->count - done ? piece : from->count - done;
        const uint64_t *ids = from->with_ids ? from->ids + done : NULL;
        assert_ok(ss_sorter_add(sorter, from->fingerprints + done, ids, piece, &error), &error);
        done += piece;
    }
    return sorter;
}

/* Rewind and read all, at most `capacity` at once. */
static void check_read(ss_sorter *sorter, const input *from, size_t capacity)
{
    sstore_error error = {.status = SSTORE_OK};
    sstore_record *batch = malloc(capacity * sizeof *batch);
    size_t done = 0, count;
    assert_ok(ss_sorter_rewind(sorter, &error), &error);
    do {
        assert_ok(ss_sorter_read(sorter, batch, capacity, &count, &error), &error);
        assert_in_range(count, 0, capacity);
        assert_true(count <= from->wanted_count - done);
        assert_memory_equal(batch, from->wanted + done, count * sizeof *batch);
        done += count;
    } while (count > 0);
    assert_int_equal(done, from->wanted_count);
    assert_ok(ss_sorter_read(sorter, batch, capacity, &count, &error), &error); /* the end stays the end */
    assert_int_equal(count, 0);
    free(batch);
}

static void check_sort(rng *random, bool with_ids, size_t count, uint64_t distinct, uint64_t memory_bytes)
{
    input from;
    ss_dir dir = open_scratch();
    testing_doing("%zu %s, %" PRIu64 " distinct, %" PRIu64 " bytes of memory, seed %" PRIu64, count,
                  with_ids ? "records" : "keys", distinct, memory_bytes, run_seed);
    input_make(&from, random, with_ids, count, distinct);
    ss_sorter *sorter = fill_sorter(&from, &dir, memory_bytes, random);
    check_read(sorter, &from, 1000);
    check_read(sorter, &from, 1 + rng_below(random, 5000)); /* again from the start */
    check_read(sorter, &from, 1);
    ss_sorter_free(sorter);
    file_list left = file_list_make(scratch_folder(), "");
    assert_int_equal(left.count, 0); /* what was spilled has no name */
    file_list_free(&left);
    input_free(&from);
    ss_dir_close(&dir);
}

/* ----- tests ----- */

static void test_in_memory(void **state)
{
    (void)state;
    rng random;
    rng_init(&random, run_seed);
    static const size_t counts[] = {0, 1, 2, 3, 100, 4095, 4096, 4097, 20000};
    for (size_t i = 0; i < sizeof counts / sizeof *counts * 4; i++) {
        const size_t count = counts[i / 4];
        check_sort(&random, i % 2 == 0, count, i % 4 < 2 ? 0 : count / 3 + 1, (uint64_t)1 << 30);
    }
    testing_done();
}

static void test_spilling(void **state)
{
    (void)state;
    rng random;
    rng_init(&random, run_seed + 1);
    check_sort(&random, true, SPILLING_RECORDS, 0, LEAST_MEMORY);
    check_sort(&random, true, SPILLING_RECORDS, SPILLING_RECORDS / 6, LEAST_MEMORY); /* equal ones in different runs */
    check_sort(&random, false, SPILLING_RECORDS, SPILLING_RECORDS / 2, LEAST_MEMORY);
    check_sort(&random, true, SPILLING_RECORDS, 1, LEAST_MEMORY); /* one fingerprint, five ids */
    check_sort(&random, true, SPILLING_RECORDS, 0, 0);            /* less than the least is the least */
    testing_done();
}

/* As many as fit without spilling, one more, two full runs. */
static void test_run_boundaries(void **state)
{
    (void)state;
    rng random;
    rng_init(&random, run_seed + 2);
    for (int with_ids = 0; with_ids < 2; with_ids++) {
        const size_t run = LEAST_MEMORY / (with_ids ? 16 : 8);
        const size_t counts[] = {run - 1, run, run + 1, 2 * run, 2 * run + 1};
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
            check_sort(&random, with_ids, counts[i], 0, LEAST_MEMORY);
    }
    testing_done();
}

/* Rewinding in the middle starts over. */
static void test_rewind_in_the_middle(void **state)
{
    (void)state;
    rng random;
    rng_init(&random, run_seed + 3);
    ss_dir dir = open_scratch();
    for (size_t count = 1000; count <= 100000; count *= 100) {
        input from;
        sstore_record batch[300];
        size_t got;
        sstore_error error = {.status = SSTORE_OK};
        input_make(&from, &random, true, count, count / 2);
        ss_sorter *sorter = fill_sorter(&from, &dir, LEAST_MEMORY, &random);
        assert_ok(ss_sorter_rewind(sorter, &error), &error);
        for (int i = 0; i < 2; i++) {
            assert_ok(ss_sorter_read(sorter, batch, 300, &got, &error), &error);
            assert_int_equal(got, 300);
        }
        check_read(sorter, &from, 777);
        ss_sorter_free(sorter);
        input_free(&from);
    }
    ss_dir_close(&dir);
}

static void test_free_at_any_time(void **state)
{
    (void)state;
    rng random;
    rng_init(&random, run_seed + 4);
    ss_dir dir = open_scratch();
    ss_sorter *sorter = NULL;
    input from;
    sstore_error error = {.status = SSTORE_OK};
    ss_sorter_free(NULL);
    assert_ok(ss_sorter_create(true, LEAST_MEMORY, &dir, &sorter, &error), &error);
    ss_sorter_free(sorter);
    input_make(&from, &random, true, 100000, 0);
    ss_sorter_free(fill_sorter(&from, &dir, LEAST_MEMORY, &random));
    sorter = fill_sorter(&from, &dir, LEAST_MEMORY, &random);
    assert_ok(ss_sorter_rewind(sorter, &error), &error);
    ss_sorter_free(sorter);
    input_free(&from);
    ss_dir_close(&dir);
}

/* Where nothing can be spilled, adding says so. */
static void test_no_place_to_spill(void **state)
{
    (void)state;
    rng random;
    rng_init(&random, run_seed + 5);
    ss_sorter *sorter = NULL;
    sstore_error error = {.status = SSTORE_OK};
    char path[] = "closed";
    const ss_dir closed = {.fd = -1, .path = path};
    input from;
    input_make(&from, &random, true, 100000, 0);
    assert_ok(ss_sorter_create(true, LEAST_MEMORY, &closed, &sorter, &error), &error);
    assert_status(ss_sorter_add(sorter, from.fingerprints, from.ids, from.count, &error), SSTORE_ERROR_IO, &error);
    assert_true(error.system_errno != 0);
    ss_sorter_free(sorter);
    input_free(&from);
}

int main(void)
{
    run_seed = rng_run_seed();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_in_memory, testing_teardown),
        cmocka_unit_test_teardown(test_spilling, testing_teardown),
        cmocka_unit_test_teardown(test_run_boundaries, testing_teardown),
        cmocka_unit_test(test_rewind_in_the_middle),
        cmocka_unit_test(test_free_at_any_time),
        cmocka_unit_test(test_no_place_to_spill),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
